"""A broken policy file never means "no policy". What is in force is tested by what the daemon
does, not by what it says."""

import os
import pwd
import re
import unittest

import wire
from daemonlab import IS_ROOT, answers, as_uid, wait_until
from faultlab import Lab, code, policy
from places import VECTORS
from slow import slow

WRONG = os.path.join(VECTORS, "policy-wrong.txt")
BAD_VALUE = "[Passcode]\nMinLength = 4\nRetryLimit = many\n"
UNKNOWN_KEY = "[Passcode]\nMinLenght = 4\n"


def wrong_files():
    """Every wrong file with the line that describes its problem, without the file's name."""
    found = []
    with open(WRONG, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("> f:"):
                found.append((line[4:], []))
            elif line.startswith("|"):
                found[-1][1].append(line[2:])
    found.append(("2: the line is not UTF-8: plain UTF-8", ["[Passcode]", "MinLength = \udcff4"]))
    return [("\n".join(lines), line) for line, lines in found]


class Policy(unittest.TestCase):
    # The longest text on the wire.
    longest = 255

    def setUp(self):
        self.lab = Lab(policy(MinLength="12", RetryLimit="7"))
        self.addCleanup(self.lab.close)
        self.file = os.path.join(self.lab.config, "policy.conf")

    def write(self, text, name="policy.conf"):
        path = os.path.join(self.lab.config, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)

    def comes(self, minimum):
        """The daemon follows the file by itself, too: the reading that was waited for may be the one before."""
        wait_until(lambda: self.minimum() == minimum, f"at least {minimum} characters")

    def reload(self):
        before = self.lab.log().count("policy")
        self.lab.process.send_signal(1)
        wait_until(lambda: self.lab.log().count("policy") > before, "the policy was read again")

    def minimum(self):
        """The shortest passcode that may be set, as the daemon tells a person."""
        answer = self.lab.ask("create", answers("x"), store="nobody's", way="ownPasscode")
        self.assertEqual(code(answer), wire.CODES["underMinLength"], answer)
        return int(answer.parameters["minimum"])

    def says(self, line, file=None):
        """File, line, key, what is wrong and what would be right, in the journal's last line of the policy and in
        status."""
        whole = f"{file or self.file}:{line}"
        wait_until(lambda: whole in self.last_line(), f"the journal says {whole}", 5)
        self.assertIn(whole[: self.longest], self.lab.state_of("nobody's").trouble)

    def last_line(self):
        return ([text for text in self.lab.log().splitlines() if "policy" in text] or [""])[-1]

    def test_good(self):
        """a policy that was read completely is in force at once"""
        self.assertEqual(self.minimum(), 12)
        self.write(policy(MinLength="5"))
        self.reload()
        self.assertEqual(self.minimum(), 5)

    @slow
    def test_wrong(self):
        """each wrong file is reported in full, and the last good policy stays in force, also over a restart"""
        files = wrong_files()
        self.assertGreaterEqual(len(files), 30)
        for text, line in files:
            with self.subTest(line):
                self.write(text)
                self.reload()
                self.says(line)
                self.assertEqual(self.minimum(), 12)
                # The daemon is killed: what it keeps does not depend on a clean end.
                self.lab.kill()
                self.lab.start()
                self.says(line)
                self.assertEqual(self.minimum(), 12)

    def test_sections(self):
        """the last good policy holds for whom it held, each value with its line, over a restart"""

        def shown():
            answer = self.lab.ask("policyShow")
            self.assertEqual(answer.name, "policyValues", answer)
            value = next(each for each in answer.values if each["key"] == "MinLength")
            return value["value"], value["file"], value["line"]

        mine = pwd.getpwuid(os.getuid()).pw_name
        self.write(
            f"[Passcode user:{mine}]\nMinLength=15\n[Passcode user:{mine}x]\nMinLength=20\n[Passcode]\nMinLength=9\n")
        self.reload()
        self.assertEqual(shown(), ("15", self.file, 2))
        self.write(BAD_VALUE)
        self.reload()
        self.assertEqual(shown(), ("15", self.file, 2))
        self.lab.kill()
        self.lab.start()
        self.assertEqual(shown(), ("15", self.file, 2))

    def test_last_of_before(self):
        """a last good policy as the previous release wrote it does not break the start, and does not count"""
        self.never_good(BAD_VALUE, last=b"[Passcode]\nEnabled=yes\nMinLength=16\n# whole\n")
        answer = self.lab.ask("passcode", answers("correct horse battery"), change="change")
        self.assertEqual(code(answer), wire.CODES["policyBroken"], answer)
        self.assertEqual(self.lab.open("correct horse battery").name, "done")
        self.write(policy(MinLength="11"))
        self.reload()
        self.assertEqual(self.minimum(), 11)

    def test_retry_limit(self):
        """the last good retry limit applies while the file is broken"""
        self.lab.make("correct horse battery")
        self.write(BAD_VALUE)
        self.lab.restart()
        self.assertEqual(self.lab.state_of().ownTriesLeft, 7)
        self.assertEqual(self.lab.authenticate("wrong").code, 5)
        self.assertEqual(self.lab.state_of().ownTriesLeft, 6)
        self.assertEqual(self.lab.authenticate("correct horse battery").outcome, "success")

    def test_drop_in(self):
        """a broken drop-in is named, and none of the other drop-ins comes into force"""
        self.write("[Passcode]\nMinLength = 6\n", "policy.d/10-good.conf")
        self.write("[Passcode]\nThrottleMax = never\n", "policy.d/20-bad.conf")
        self.reload()
        times = "a time from 1s to 24h, such as 90s, 15min or 1h 30min"
        line = f"2: ThrottleMax: 'never' is not a time: {times}"
        self.says(line, os.path.join(self.lab.config, "policy.d", "20-bad.conf"))
        self.assertEqual(self.minimum(), 12)
        os.unlink(os.path.join(self.lab.config, "policy.d", "20-bad.conf"))
        self.reload()
        self.assertEqual(self.minimum(), 6)
        self.assertEqual(self.lab.state_of("nobody's").trouble, "")

    def test_mended(self):
        """a corrected file is in force, and status reports no problem"""
        self.write(UNKNOWN_KEY)
        self.reload()
        self.write(policy(MinLength="9"))
        self.reload()
        self.comes(9)
        self.assertEqual(self.lab.state_of("nobody's").trouble, "")

    def never_good(self, text, last=None):
        """A daemon whose policy was never good, with a store from before."""
        self.lab.make("correct horse battery")
        self.lab.kill()
        path = os.path.join(self.lab.state, "policy.last")
        os.unlink(path)
        if last is not None:
            with open(path, "wb") as file:
                file.write(last)
        self.write(text)
        self.lab.start()

    def test_never_good(self):
        """without a last good policy stores open, and creating and changing is answered with 42, file, line and key"""
        self.never_good(BAD_VALUE)
        expected = {"file": self.file, "line": "3", "key": "RetryLimit"}
        for request, fields in (
            ("create", {"store": "new", "way": "ownPasscode"}),
            ("passcode", {"change": "change"}),
            ("passcode", {"change": "turnOff"}),
            ("recover", {}),
        ):
            answer = self.lab.ask(request, answers("correct horse battery"), **fields)
            self.assertEqual(code(answer), wire.CODES["policyBroken"], answer)
            self.assertEqual(answer.parameters, expected)
            self.assertTrue(answer.hint)
        self.says("3: RetryLimit: 'many' is not a whole number: a whole number from 0 (no limit) to 100")
        self.assertEqual(self.lab.open("correct horse battery").name, "done")
        self.assertEqual(self.lab.set(b"a", b"b").name, "done")
        self.assertEqual(self.lab.authenticate("correct horse battery").outcome, "success")
        self.assertNotIn("policy.last", os.listdir(self.lab.state))

    def test_last_damaged(self):
        """a last good policy that is cut short or damaged does not count"""
        path = os.path.join(self.lab.state, "policy.last")
        with open(path, "rb") as file:
            whole = file.read()
        self.lab.make("correct horse battery")
        for damaged in (whole[:-3], whole[: len(whole) // 2], b"", whole.replace(b"=", b"~"), os.urandom(400)):
            self.lab.kill()
            with open(path, "wb") as file:
                file.write(damaged)
            self.write(BAD_VALUE)
            self.lab.start()
            answer = self.lab.ask("passcode", answers("correct horse battery"), change="change")
            self.assertEqual(code(answer), wire.CODES["policyBroken"], answer)
            self.assertEqual(self.lab.open("correct horse battery").name, "done")
        self.lab.kill()
        self.write(policy(MinLength="11"))
        self.lab.start()
        self.assertEqual(self.minimum(), 11)
        with open(path, "rb") as file:
            self.assertTrue(file.read().endswith(whole[-8:]))

    @unittest.skipUnless(IS_ROOT, "only root can start a daemon that may not read a folder")
    def test_unreadable(self):
        """a folder or a file that cannot be read is a broken policy, not a missing one"""
        for what in ("policy.conf", "policy.d", "."):
            with self.subTest(what), Lab(policy(MinLength="13"), uid=65432) as lab:

                def shortest():
                    script = answers("x")
                    with wire.Client(lab.socket, 10) as client:
                        client.hello()
                        answer = client.run("create", script, store="s", way="ownPasscode")
                        return code(answer), dict(answer.parameters)

                lab.kill()
                path = os.path.normpath(os.path.join(lab.config, what))
                if what == "policy.d":
                    os.mkdir(path)
                os.chmod(path, 0)
                os.chown(path, 0, 0)
                lab.start()
                lines = [line for line in lab.log().splitlines() if re.search(r"policy.*\(42\)", line)]
                self.assertTrue(lines, lab.log())
                self.assertIn(path, lines[-1])
                answer, parameters = as_uid(0, shortest)
                self.assertEqual((answer, parameters.get("minimum")), (14, "13"), parameters)


if __name__ == "__main__":
    unittest.main()
