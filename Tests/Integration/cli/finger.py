"""Fingers at the command line: the reader's line on a terminal and in a pipe, keys that go on without it, and the
list."""

import json
import select
import signal
import termios
import threading
import time
import unittest

from clilab import FINGERS, INTERRUPT, Lab
from daemonlab import wait_until
from patience import Stopwatch

PLAIN = {"NO_COLOR": "1"}


def scan(daemon, event, line="", question=7, stage=0, stages=0):
    daemon.reply("scan", question=question, event=event, stage=stage, stages=stages, line=line)


def aborted(daemon, seconds=10):
    """Waits for the front end's abort; False where none comes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([daemon.channel.socket], [], [], 0.2)[0]:
            message = daemon.channel.receive(1)
            if message is None:
                raise ConnectionResetError
            assert message.name == "abort" and message.question == 7, message
            return True
        daemon.reply("working")
    return False


def enrolling(daemon, request):
    assert daemon.ask("passcode", "Passcode") == b"right"
    scan(daemon, "place", "Place your finger on the reader", stages=3)
    scan(daemon, "stage", stage=1, stages=3)
    scan(daemon, "retry", "Too short: once more", stage=1, stages=3)
    scan(daemon, "stage", "Once more", stage=2, stages=3)
    scan(daemon, "stage", stage=3, stages=3)
    scan(daemon, "ended")
    daemon.done("finger enrolled")


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])


class Stages(Case):
    def test_one_line_is_redrawn_on_a_terminal(self):
        self.lab.answer("fingerprintEnroll", enrolling)
        with self.lab.terminal("fingerprint", "enroll", env=PLAIN) as screen:
            screen.expect("Passcode: ")
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
            drawn = screen.seen.split(b"\r\n", 1)[1]
            self.assertTrue(screen.is_restored)
        for line in (
            b"\r[...] Place your finger on the reader\x1b[K",
            b"\r[#..] 1 of 3\x1b[K",
            b"\r[#..] Too short: once more\x1b[K",
            b"\r[##.] Once more\x1b[K",
            b"\r[###] 3 of 3\x1b[K",
        ):
            self.assertIn(line, drawn)
        self.assertTrue(drawn.endswith(b"\r\x1b[Kfinger enrolled\r\n"), drawn)
        self.assertEqual(drawn.count(b"\n"), 1)
        self.assertEqual(self.lab.requests[0].finger, "unnamed")

    def test_a_narrow_terminal_keeps_it_to_one_line(self):
        self.lab.answer("fingerprintEnroll", enrolling)
        with self.lab.terminal("fingerprint", "enroll", columns=24, env=PLAIN) as screen:
            screen.expect("Passcode: ")
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
            drawn = screen.seen
        self.assertIn(b"\rPlace your finger on...\x1b[K", drawn)

    def test_plain_lines_in_a_pipe(self):
        self.lab.answer("fingerprintEnroll", enrolling)
        done = self.lab.run("fingerprint", "enroll", "left-thumb", passcodes=[b"right"])
        self.assertEqual((done.status, done.out), (0, b"finger enrolled\n"))
        self.assertEqual(
            done.err.decode().splitlines(),
            ["Place your finger on the reader", "1 of 3", "Too short: once more", "Once more", "3 of 3"],
        )
        self.assertEqual(self.lab.requests[0].finger, "leftThumb")

    def test_other_lines_do_not_stand_behind_it(self):
        def verifying(daemon, request):
            scan(daemon, "place", "Place your finger")
            daemon.reply("show", style="info", line="no match")
            scan(daemon, "ended", "that finger is not known")
            daemon.refuse(29, "no match", "the passcode works as before")

        self.lab.answer("fingerprintVerify", verifying)
        with self.lab.terminal("fingerprint", "verify", env=PLAIN) as screen:
            self.assertEqual(screen.end(), 1)
            self.assertEqual(
                screen.seen,
                b"\rPlace your finger\x1b[K\r\x1b[Kno match\r\n\rPlace your finger\x1b[K\r\x1b[K"
                b"that finger is not known\r\nappvault: no match\r\nhint: the passcode works as before\r\n",
            )

    def test_control_characters_of_a_line_are_written_out(self):
        def verifying(daemon, request):
            scan(daemon, "place", "Place")
            daemon.done("known")

        self.lab.answer("fingerprintVerify", verifying)
        done = self.lab.run("fingerprint", "verify", "--json")
        self.assertEqual(json.loads(done.out)["action"], "fingerprint verify")


class Keys(Case):
    def unlocking(self, daemon, request):
        scan(daemon, "place", "Place your finger, or press Enter")
        gave_up = aborted(daemon)
        scan(daemon, "ended")
        assert daemon.ask("passcode", "Passcode") == b"right"
        daemon.done("open" if gave_up else "the finger opened it")

    def test_enter_and_interrupt_go_on_without_the_finger(self):
        self.lab.answer("openStore", self.unlocking)
        for key in ("\n", "\r", INTERRUPT):
            with self.subTest(key), self.lab.terminal("unlock", env=PLAIN) as screen:
                screen.expect("press Enter")
                screen.type(key)
                screen.expect("Passcode: ")
                screen.type("right\n")
                self.assertEqual(screen.end(), 0)
                self.assertIn(b"open\r\n", screen.seen)
                self.assertNotIn(b"the finger", screen.seen)
                self.assertTrue(screen.is_restored)

    def test_other_keys_do_not_show_and_are_no_answer_later(self):
        pressed = threading.Event()

        def unlocking(daemon, request):
            scan(daemon, "place", "Place your finger, or press Enter")
            while not pressed.wait(0.5):
                daemon.reply("working")
            gave_up = aborted(daemon, 1)
            scan(daemon, "ended")
            daemon.refuse(29, "no match") if not gave_up else daemon.done()

        self.lab.answer("openStore", unlocking)
        with self.lab.terminal("unlock", env=PLAIN) as screen:
            screen.expect("press Enter")
            self.addCleanup(pressed.set)
            wait_until(lambda: not screen.echoes, "keys do not show")
            screen.type("secret\x04\x7f")
            wait_until(lambda: not select.select([screen.slave], [], [], 0)[0], "they are read")
            pressed.set()
            self.assertEqual(screen.end(), 1)
            self.assertNotIn(b"secret", screen.seen)
            self.assertTrue(screen.is_restored)
            self.assertFalse(select.select([screen.slave], [], [], 0)[0])

    def test_the_daemon_goes_away_and_the_terminal_is_put_back(self):
        seen = threading.Event()

        def leaving(daemon, request):
            scan(daemon, "place", "Place your finger")
            while not seen.wait(0.5):
                daemon.reply("working")
            raise OSError

        self.lab.answer("openStore", leaving)
        with self.lab.terminal("unlock") as screen:
            self.addCleanup(seen.set)
            screen.expect("Place your finger")
            wait_until(lambda: not screen.settings[3] & termios.ICANON, "each key is read")
            seen.set()
            self.assertEqual(screen.end(), 5)
            self.assertTrue(screen.is_restored)

    def test_the_daemon_falls_silent(self):
        self.lab.answer("openStore", lambda daemon, request: (scan(daemon, "place", "Place"), time.sleep(8)))
        with self.lab.terminal("unlock") as screen:
            stopwatch = Stopwatch()
            self.assertEqual(screen.end(20), 5)
            stopwatch.assert_within(8)
            self.assertTrue(screen.is_restored)

    def test_a_signal_ends_it_and_the_terminal_is_put_back(self):
        self.lab.answer("openStore", self.unlocking)
        with self.lab.terminal("unlock") as screen:
            screen.expect("press Enter")
            screen.signal(signal.SIGTERM)
            self.assertEqual(screen.end(), -signal.SIGTERM)
            self.assertTrue(screen.is_restored)

    def test_a_script_waits_and_is_not_asked(self):
        def verifying(daemon, request):
            scan(daemon, "place", "Place")
            assert not aborted(daemon, 0.5)
            scan(daemon, "ended")
            daemon.done("known")

        self.lab.answer("fingerprintVerify", verifying)
        done = self.lab.run("fingerprint", "verify", input=b"\n\n")
        self.assertEqual((done.status, done.out, done.err), (0, b"known\n", b"Place\n"))


class Lists(Case):
    def setUp(self):
        super().setUp()
        self.state = dict(FINGERS)
        self.lab.answer("fingerprintList", lambda daemon, request: daemon.reply("fingerprintState", **self.state))

    def test_json(self):
        found = json.loads(self.lab.run("fingerprint", "list", "--json").out)
        self.assertEqual((found["on"], found["ready"], found["failuresLeft"], found["foreign"]), (True, False, 4, 2))
        self.assertIsNone(found["unavailable"])
        self.assertEqual(found["fingers"][1]["finger"], "left-thumb")
        self.assertEqual([found["fingers"][1][key] for key in ("usable", "standing")], [False, "away"])
        self.assertEqual(found["readers"][0]["scan"], "swipe")
        self.assertEqual(found["readers"][0]["name"], "Virtual\x1b[2J reader")
        self.state.update(unavailable="no reader", readers=[])
        self.assertEqual(json.loads(self.lab.run("fingerprint", "list", "--json").out)["unavailable"], "no reader")
        self.state.update(advice="plug it in")
        self.assertEqual(json.loads(self.lab.run("fingerprint", "list", "--json").out)["advice"], "plug it in")
        with self.lab.terminal("fingerprint", "list", env=PLAIN) as screen:
            self.assertEqual(screen.end(), 0)
            self.assertTrue(screen.seen.endswith(b"hint: plug it in\r\n"), screen.seen)

    def test_a_pipe(self):
        self.assertEqual(
            self.lab.run("fingerprint", "list").out.decode().splitlines(),
            [
                "right-index\tVirtual reader\t1700000000\tusable",
                "left-thumb\tOther reader\t1700000000\tunusable",
            ],
        )

    def test_a_terminal(self):
        with self.lab.terminal("fingerprint", "list", env={**PLAIN, "TZ": "UTC"}) as screen:
            self.assertEqual(screen.end(), 0)
            seen = screen.seen.decode()
        self.assertIn("finger     opens the store after the next passcode\r\n", seen)
        self.assertIn("failures   4 left, then the passcode is needed\r\n", seen)
        self.assertIn("(swipe, internal)", seen)
        self.assertNotIn("\x1b[2J", seen)
        self.assertIn("\u2713 right index finger  2023-11-14 22:13  Virtual reader\r\n", seen)
        self.assertIn("\u2717 left thumb          2023-11-14 22:13  Other reader (not connected)\r\n", seen)
        self.assertIn("not AppVault's, and left alone: 2 of the fingerprints on it", seen)

    def test_nothing_is_enrolled(self):
        self.state.update(on=False, fingers=[], foreign=0)
        with self.lab.terminal("fingerprint", "list", env=PLAIN) as screen:
            self.assertEqual(screen.end(), 0)
            self.assertIn(b"opens nothing: it is off", screen.seen)
            self.assertIn(b"hint: `appvault fingerprint enroll` enrols one", screen.seen)


class Verbs(Case):
    def test_names_of_fingers(self):
        self.lab.answer("fingerprintEnroll", lambda daemon, request: daemon.done("enrolled"))
        for word, name in (("left-little", "leftLittle"), ("right-index-finger", "rightIndex")):
            self.assertEqual(self.lab.run("fingerprint", "enroll", word).status, 0)
            self.assertEqual(self.lab.requests[-1].finger, name)
        done = self.lab.run("fingerprint", "enroll", "right-indx")
        self.assertEqual(done.status, 2)
        self.assertIn(b"did you mean right-index?", done.err)
        done = self.lab.run("fingerprint", "enroll", "nose")
        self.assertIn(b"left-thumb, left-index", done.err)

    def test_what_is_lost_is_agreed_to(self):
        for verb, request in (("delete", "fingerprintDelete"), ("off", "fingerprintSwitch")):
            self.lab.answer(request, lambda daemon, request: daemon.done("gone"))
            self.lab.answer("actions", lambda daemon, request: daemon.reply("actionList", actions=[]))
            refused = self.lab.run("fingerprint", verb)
            self.assertEqual(refused.status, 2)
            self.assertIn(b"forgotten", refused.err)
            self.assertEqual(self.lab.run("fingerprint", verb, "--yes").out, b"gone\n")
        sent = [each for each in self.lab.requests if each.name != "actions"]
        self.assertEqual([each.name for each in sent], ["fingerprintDelete", "fingerprintSwitch"])
        self.assertEqual(sent[0].finger, "unnamed")
        self.assertIs(sent[1].on, False)

    def test_one_finger_is_deleted_without_a_question(self):
        self.lab.answer("fingerprintDelete", lambda daemon, request: daemon.done("gone"))
        self.assertEqual(self.lab.run("fingerprint", "delete", "left-ring").status, 0)
        self.assertEqual(self.lab.requests[0].finger, "leftRing")

    def test_on(self):
        self.lab.answer("fingerprintSwitch", lambda daemon, request: daemon.done("on"))
        done = self.lab.run("fingerprint", "on", "--json")
        self.assertEqual(json.loads(done.out)["action"], "fingerprint on")
        self.assertIs(self.lab.requests[0].on, True)

    def test_no_reader(self):
        self.lab.answer("fingerprintVerify", lambda daemon, request: daemon.refuse(28))
        done = self.lab.run("fingerprint", "verify", "--json")
        self.assertEqual((done.status, json.loads(done.out)["name"]), (1, "FingerprintUnavailable"))


if __name__ == "__main__":
    unittest.main()
