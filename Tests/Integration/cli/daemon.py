"""The real tool and the real daemon, as an ordinary user runs a private one: the whole life of a
store."""

import concurrent.futures
import json
import os
import re
import time
import unittest

import clilab
from realcli import POLICY, SECRET, Real

OTHER = b"another long passcode"
PHRASE = b"a phrase for the file"


class Life(unittest.TestCase):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)

    def ok(self, *arguments, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, 0, result)
        return result.out

    def fails(self, status, *arguments, **more):
        result = self.lab.run("--json", *arguments, **more)
        self.assertEqual(result.status, status, result)
        return json.loads(result.out)

    def state(self):
        return json.loads(self.ok("--json", "status"))

    def create(self):
        self.ok("create", "--own-passcode", passcodes=[SECRET])

    def test_a_store_is_made_shut_opened_and_erased(self):
        self.assertEqual(self.state()["state"], "absent")
        self.assertEqual(self.fails(3, "get", "name")["name"], "DoesNotExist")
        self.create()
        self.assertEqual((self.state()["state"], self.state()["passcode"]), ("unlocked", "passcode"))
        self.assertEqual(self.fails(1, "create", "--own-passcode", passcodes=[SECRET])["name"], "AlreadyExists")
        self.ok("lock")
        self.assertEqual(self.fails(4, "get", "name")["name"], "Locked")
        self.assertEqual(self.fails(1, "unlock", passcodes=[b"not the passcode"])["name"], "InvalidPasscode")
        self.ok("unlock", passcodes=[SECRET])
        self.assertEqual(self.fails(1, "reset", "--yes", passcodes=[b"not the passcode"])["code"], 5)
        self.ok("reset", "--yes", passcodes=[SECRET])
        self.assertEqual(self.state()["state"], "absent")

    def test_values_come_back_as_they_went(self):
        self.create()
        values = {b"empty": b"", b"\xff\x01": b"\x00\xff\n", b"large": os.urandom(1048576)}
        for name, value in values.items():
            self.ok("set", name, input=value)
        self.ok("lock")
        self.ok("unlock", passcodes=[SECRET])
        for name, value in values.items():
            self.assertEqual(self.ok("get", name), value)
        self.ok("delete", "large")
        self.fails(3, "get", "large")

    def test_a_listing_longer_than_a_page_is_whole(self):
        self.create()
        names = [f"name/{number:04}" for number in range(1100)]
        with concurrent.futures.ThreadPoolExecutor(11) as pool:
            list(pool.map(self.store, [names[start::11] for start in range(11)]))
        self.assertEqual(self.ok("list").decode().split(), names)
        self.assertEqual(self.ok("list", "name/109").decode().split(), names[1090:1100])

    def store(self, names):
        """Stores values over one connection: one process for each name would take minutes."""
        with clilab.wire.Client(self.lab.path, timeout=60) as client:
            client.hello()
            for index, name in enumerate(names):
                client.send_raw(self.setting(index + 2, name))
                answer = client.receive(60)
                self.assertEqual(answer.name, "done", answer)

    @staticmethod
    def setting(tag, name):
        writer = clilab.wire.Writer()
        writer.text("")
        writer.text(name)
        writer.payload(b"value")
        return clilab.wire.raw_frame(0x42, tag, bytes(writer.out))

    def test_the_passcode_changes_and_goes_and_comes_back(self):
        self.create()
        self.ok("set", "name", input=b"value")
        self.ok("passwd", passcodes=[SECRET, OTHER])
        self.ok("lock")
        self.fails(1, "unlock", passcodes=[SECRET])
        self.ok("unlock", passcodes=[OTHER])
        self.ok("passwd", "--off", "--yes", passcodes=[OTHER])
        self.assertEqual(self.state()["passcode"], "none")
        self.ok("lock")
        self.assertEqual(self.ok("get", "name"), b"value")
        self.ok("passwd", "--on", passcodes=[SECRET])
        self.ok("lock")
        self.ok("unlock", passcodes=[SECRET])
        self.assertEqual(self.ok("get", "name"), b"value")

    def test_a_recovery_key_from_the_terminal_opens_a_forgotten_store(self):
        with self.lab.terminal("create", "--own-passcode") as screen:
            for prompt in ("passcode: ", "again: "):
                screen.expect(prompt)
                self.assertFalse(screen.echoes)
                screen.type(SECRET + b"\n")
            self.assertEqual(screen.end(), 0)
            key = re.search(rb"\n    ([0-9A-Z-]{20,})\r\n", screen.seen).group(1)
        self.assertTrue(self.state()["recoveryKey"])
        self.ok("lock")
        wrong = key[:-1] + (b"0" if key[-1:] != b"0" else b"1")
        self.assertIn(json.loads(self.lab.run("--json", "recover", passcodes=[wrong, OTHER]).out)["code"], [4, 41])
        self.assertEqual(self.state()["state"], "locked")
        self.ok("recover", passcodes=[key.lower().replace(b"-", b" "), OTHER])
        self.ok("lock")
        self.ok("unlock", passcodes=[OTHER])

    def test_an_export_comes_back_into_an_empty_store(self):
        self.create()
        values = {"a": b"1", "b": os.urandom(900_000), "c": b""}
        for name, value in values.items():
            self.ok("set", name, input=value)
        file = os.path.join(self.lab.folder, "backup")
        self.ok("export", file, passcodes=[SECRET, PHRASE])
        with open(file, "rb") as whole:
            exported = whole.read()
        self.assertEqual(self.fails(1, "import", file, passcodes=[PHRASE])["name"], "AlreadyExists")
        self.ok("reset", "--yes", passcodes=[SECRET])
        self.create()
        self.assertEqual(self.fails(1, "import", file, passcodes=[b"another phrase"])["name"], "InvalidPasscode")
        for cut in [0, 10, 60, 100, len(exported) - 1]:
            self.assertNotEqual(self.lab.run("import", input=exported[:cut], passcodes=[PHRASE]).status, 0, cut)
        self.assertEqual(self.ok("list"), b"")
        self.ok("import", file, passcodes=[PHRASE])
        for name, value in values.items():
            self.assertEqual(self.ok("get", name), value)
        self.ok("import", "--replace", "--yes", input=exported, passcodes=[PHRASE])

    def test_nothing_changes_when_a_person_gives_up(self):
        self.create()
        self.ok("lock")
        before = self.state()
        for arguments in [["unlock"], ["passwd"], ["recovery", "new"], ["reset", "--yes"]]:
            with self.lab.terminal(*arguments) as screen:
                screen.expect(": ")
                screen.type(clilab.INTERRUPT)
                self.assertEqual(screen.end(), 130, arguments)
                self.assertTrue(screen.is_restored)
        self.assertEqual(self.state(), before)
class Held(unittest.TestCase):
    def setUp(self):
        self.lab = Real(POLICY + "HoldMax=1h\n")
        self.addCleanup(self.lab.__exit__)
        self.assertEqual(self.lab.run("create", "--own-passcode", passcodes=[SECRET]).status, 0)

    def run_it(self, *arguments, status=0, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, status, result)
        return result

    def held_until(self):
        """As `status` says it, with and without --json, and `policy show`. Each is told anew by two clocks, whose
        seconds do not begin together: one second more or less is the same moment."""
        until = json.loads(self.run_it("--json", "status").out)["heldUntil"]
        near = [until - 1, until, until + 1] if until else [0]
        self.assertIn(json.loads(self.run_it("--json", "policy", "show").out)["heldUntil"], near)
        status, shown = self.run_it("status").out, self.run_it("policy", "show").out
        rows = [
            time.strftime(
                "locks      not by itself until %Y-%m-%d %H:%M (`appvault resume` ends that)\n",
                time.localtime(each)).encode() for each in near]
        self.assertEqual(any(row in status for row in rows), until > 0)
        self.assertEqual(any(f"# held until {each}\n".encode() in shown for each in near), until > 0)
        return until

    def hold(self, *arguments, seconds):
        began = int(time.time())
        self.run_it("hold", *arguments, passcodes=[SECRET])
        # The daemon counts in whole seconds.
        until = self.held_until()
        self.assertTrue(began + seconds - 1 <= until <= time.time() + seconds + 1, (began, until))

    def test_a_store_is_held_as_long_as_the_person_says_or_the_policy_allows(self):
        self.assertEqual(self.held_until(), 0)
        self.hold("30min", seconds=1800)
        # A further one counts from its own moment.
        self.hold("90", seconds=90)
        self.hold(seconds=3600)
        self.run_it("resume")
        self.assertEqual(self.held_until(), 0)

    def test_only_the_passcode_holds_it_and_every_lock_ends_that(self):
        self.assertIn(b"wrong passcode", self.run_it("hold", status=1, passcodes=[b"not the passcode"]).err)
        too_long = self.run_it("hold", "2h", status=1, passcodes=[SECRET])
        self.assertIn(b"the policy allows 60 min at most", too_long.err)
        self.assertEqual(self.held_until(), 0)
        self.hold(seconds=3600)
        self.run_it("lock")
        self.run_it("unlock", passcodes=[SECRET])
        self.assertEqual(self.held_until(), 0)




if __name__ == "__main__":
    unittest.main()
