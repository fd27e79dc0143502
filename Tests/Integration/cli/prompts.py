"""Questions: on the terminal without echo, from a descriptor, or not at all; and every way that they can end."""

import json
import os
import signal
import subprocess
import time
import unittest

import wire
from clilab import END_OF_FILE, INTERRUPT, Lab
from patience import Stopwatch


def unlocking(daemon, request):
    """Asks as the daemon does: again after a wrong answer."""
    while daemon.ask("passcode", "Passcode") != b"right":
        daemon.reply("show", style="error", line="that is not the passcode; 2 tries left")
    daemon.done("the store is open")


def changing(daemon, request):
    daemon.ask("passcode")
    new = daemon.ask("newPasscode")
    assert daemon.ask("confirmPasscode") == new
    daemon.done("passcode successfully changed")


class Prompts(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("openStore", unlocking)
        self.lab.answer("passcode", changing)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def test_a_passcode_does_not_show_and_the_terminal_is_put_back(self):
        with self.lab.terminal("unlock") as screen:
            screen.expect("Passcode: ")
            self.assertFalse(screen.echoes)
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
            self.assertEqual(screen.seen, b"\r\nthe store is open\r\n")
            self.assertTrue(screen.is_restored)

    def test_a_wrong_one_is_told_and_asked_again(self):
        with self.lab.terminal("unlock", env={"NO_COLOR": "1"}) as screen:
            screen.expect("Passcode: ")
            screen.type("wrong\n")
            screen.expect("appvault: that is not the passcode; 2 tries left\r\n")
            screen.expect("Passcode: ")
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)

    def test_the_passcode_never_comes_from_standard_input(self):
        reading, writing = os.pipe()
        os.write(writing, b"right\n")
        os.close(writing)
        with self.lab.terminal("unlock", stdin=reading) as screen:
            screen.expect("Passcode: ")
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(os.read(reading, 100), b"right\n")
        os.close(reading)

    def test_ctrl_c_and_end_of_input_cancel_with_130(self):
        for key in [INTERRUPT, END_OF_FILE]:
            with self.lab.terminal("unlock", env={"NO_COLOR": "1"}) as screen:
                screen.expect("Passcode: ")
                screen.type(b"half")
                screen.type(b"\x15" + key)
                self.assertEqual(screen.end(), 130)
                self.assertEqual(screen.seen, b"\r\nappvault: cancelled; nothing was changed\r\n")
                self.assertTrue(screen.is_restored)
        self.assertEqual(self.lab.aborts, ["cancelled", "cancelled"])

    def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(self):
        for number in [signal.SIGTERM, signal.SIGHUP]:
            with self.lab.terminal("unlock") as screen:
                screen.expect("Passcode: ")
                self.assertFalse(screen.echoes)
                screen.signal(number)
                self.assertEqual(screen.end(), -number)
                self.assertTrue(screen.is_restored)

    def test_a_terminal_whose_settings_changed_meanwhile_is_quiet_again_after_a_stop(self):
        with self.lab.terminal("unlock") as screen:
            screen.expect("Passcode: ")
            import termios

            termios.tcsetattr(screen.slave, termios.TCSANOW, screen.before)
            self.assertTrue(screen.echoes)
            screen.signal(signal.SIGSTOP)
            screen.signal(signal.SIGCONT)
            screen.expect("Passcode: ")
            self.assertFalse(screen.echoes)
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
            self.assertTrue(screen.is_restored)

    def test_json_on_a_terminal_still_asks(self):
        reading, writing = os.pipe()
        with self.lab.terminal("--json", "unlock", stdout=writing) as screen:
            os.close(writing)
            screen.expect("Passcode: ")
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(
            json.loads(os.read(reading, 4096)),
            {"action": "unlock", "result": "done", "message": "the store is open"})
        os.close(reading)

    def test_without_terminal_and_descriptor_it_is_refused_with_a_hint(self):
        result = self.lab.run("unlock", input=b"right\n")
        self.assertEqual((result.status, result.out), (1, b""))
        self.assertEqual(
            result.err,
            b"appvault: this needs an answer, but there is no terminal to ask on: Passcode\n"
            b"hint: run it on a terminal, or give passcodes with --passcode-fd\n")
        self.assertEqual(self.lab.aborts, ["conversationFailed"])
        self.assertEqual(json.loads(self.lab.run("--json", "unlock").out)["code"], 9)

    def test_a_descriptor_answers_a_line_a_question_and_confirms_with_the_same(self):
        result = self.lab.run("passwd", passcodes=[b"old", b"new one"])
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertEqual(result.out, b"passcode successfully changed\n")

    def test_a_descriptor_need_not_end_its_last_line(self):
        reading, writing = os.pipe()
        os.write(writing, b"right")
        os.close(writing)
        command = self.lab.command("unlock", "--passcode-fd", str(reading))
        done = subprocess.run(command, capture_output=True, pass_fds=[reading], start_new_session=True)
        os.close(reading)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_wrong_one_from_a_descriptor_costs_one_try_and_is_code_5(self):
        result = self.lab.run("--json", "unlock", passcodes=[b"wrong", b"wrong", b"right"])
        told = json.loads(result.out)
        self.assertEqual((result.status, told["code"]), (1, 5))
        self.assertEqual(told["message"], "that is not the passcode; 2 tries left")
        self.assertEqual(self.lab.aborts, ["cancelled"])

    def test_a_descriptor_with_too_few_lines_is_code_9(self):
        for lines in [[], [b"old"]]:
            result = self.lab.run("--json", "passwd", passcodes=lines)
            self.assertEqual(json.loads(result.out)["code"], 9)
        self.assertEqual(self.lab.run("unlock", "--passcode-fd", "9").status, 1)

    def test_an_answer_that_is_too_long_is_not_cut(self):
        result = self.lab.run("--json", "unlock", passcodes=[b"x" * 1025])
        self.assertEqual(json.loads(result.out)["code"], 33)
        self.assertEqual(self.lab.aborts, ["answerTooLong"])

    def test_secrets_that_are_not_text_arrive_as_they_were_typed(self):
        answers = []
        self.lab.answer("openStore", lambda daemon, request: (answers.append(daemon.ask("passcode")), daemon.done()))
        with self.lab.terminal("unlock") as screen:
            screen.expect("passcode: ")
            screen.type(b"\xc3\xa9\xff \x7fx\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.lab.run("unlock", passcodes=[b"\xc3\xa9\xff x"]).status, 0)
        # The terminal itself has removed the erased space.
        self.assertEqual(answers, [b"\xc3\xa9\xffx", b"\xc3\xa9\xff x"])

    def test_a_line_from_the_daemon_cannot_steer_the_terminal(self):
        def hostile(daemon, request):
            daemon.reply("show", style="info", line="\x1b]0;gone\x07")
            daemon.ask("passcode", "a\x1b[2J\u202eb")
            daemon.done("\x1b[31mdone")

        self.lab.answer("openStore", hostile)
        with self.lab.terminal("unlock", env={"NO_COLOR": "1"}) as screen:
            screen.expect("a\\x1b[2J\\xe2\\x80\\xaeb: ")
            screen.type("x\n")
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(b"\x1b", screen.seen)
            self.assertNotIn(b"\x07", screen.seen)

    def test_an_acknowledgement_is_enter(self):
        def notice(daemon, request):
            assert daemon.ask("acknowledge", "Press Enter", echo=True) == b""
            daemon.done("on we go")

        self.lab.answer("openStore", notice)
        with self.lab.terminal("unlock") as screen:
            screen.expect("Press Enter: ")
            screen.type("\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.lab.run("unlock", passcodes=[]).out, b"on we go\n")

    def test_what_is_due_is_told_where_it_is_cancelled(self):
        def due(daemon, request):
            daemon.reply("show", style="info", line="The rules have changed.")
            daemon.reply("ask", question=1, purpose="acknowledge", echo=True, line="Continue")
            message = daemon.channel.receive(30)
            assert message.name == "abort", message
            daemon.refuse(36, "a new passcode is due; the store stays locked", "appvault unlock goes on", flow="change")

        self.lab.answer("openStore", due)
        for key in [INTERRUPT, END_OF_FILE]:
            with self.lab.terminal("unlock", env={"NO_COLOR": "1"}) as screen:
                screen.expect("The rules have changed.\r\nContinue: ")
                screen.type(key)
                self.assertEqual(screen.end(), 130)
                # A question that shows what is typed shows ^C as well.
                self.assertEqual(
                    screen.seen.removeprefix(b"^C"),
                    b"\r\nappvault: a new passcode is due; the store stays locked\r\nhint: appvault unlock goes on\r\n")
        with self.lab.terminal("--json", "unlock") as screen:
            screen.expect("Continue: ")
            screen.type(INTERRUPT)
            self.assertEqual(screen.end(), 130)
            told = json.loads(screen.seen[screen.seen.index(b"{"):])
        self.assertEqual((told["code"], told["parameters"]["flow"]), (27, "change"))

    def test_a_choice_shows_what_is_typed_and_nobody_is_no(self):
        given = []

        def choose(daemon, request):
            given.append(daemon.ask("choice", "Use your fingerprint to unlock? (y/n)", echo=True))
            daemon.done("so be it")

        self.lab.answer("openStore", choose)
        with self.lab.terminal("unlock") as screen:
            screen.expect("Use your fingerprint to unlock? (y/n): ")
            self.assertTrue(screen.echoes)
            screen.type("y\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.lab.run("unlock", passcodes=[b"right"]).status, 0)
        self.assertEqual(given, [b"y", b""])

    def test_a_front_end_is_a_terminal_only_where_a_person_reads(self):
        def look(daemon, request):
            daemon.done("seen")

        self.lab.answer("lock", look)
        with self.lab.terminal("lock") as screen:
            screen.end()
        with self.lab.terminal("lock", stdout=subprocess.DEVNULL) as screen:
            screen.end()
        self.lab.run("lock")
        self.assertEqual([hello["frontEnd"] for hello in self.lab.hellos], ["terminal", "program", "program"])
        self.assertTrue(self.lab.hellos[0]["tty"].startswith("/dev/pts/"))
        self.assertEqual(self.lab.hellos[0]["language"], "C.UTF-8")

    def test_a_recovery_key_is_shown_on_the_terminal_alone(self):
        def new(daemon, request):
            daemon.reply("reveal", [b"AAAA-BBBB"], line="Write this key down:")
            # The tool itself reports that it has shown the key; nobody has to press Enter.
            daemon.ask("acknowledge", "Enter when you have", echo=True)
            daemon.done("made")

        self.lab.answer("recoveryNew", new)
        reading, writing = os.pipe()
        with self.lab.terminal("recovery", "new", stdout=writing) as screen:
            os.close(writing)
            screen.expect("Write this key down:\r\n\r\n    AAAA-BBBB\r\n\r\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(os.read(reading, 4096), b"made\n")
        os.close(reading)


class Offer(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.offered = 0
        self.lab.answer("lock", lambda daemon, request: daemon.done("the store is locked"))
        self.lab.answer("openStore", lambda daemon, request: daemon.done("the store is open"))
        self.lab.answer(
            "status", lambda daemon, request: daemon.reply("state", lock="unlocked", recoveryOffer=self.offered == 0))
        self.lab.answer("offerRecovery", self.offer)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def offer(self, daemon, request):
        self.offered += 1
        if daemon.ask("choice", "Show a recovery key now? (y/n)", echo=True) == b"y":
            daemon.reply("reveal", [b"AAAA-BBBB"], line="Write this key down:")
            daemon.ask("acknowledge", "Enter when you have", echo=True)
            daemon.done("a recovery key was made")
        else:
            daemon.done()

    def test_a_verb_that_only_looks_says_in_one_line_how_to_make_a_key(self):
        with self.lab.terminal("lock", env={"NO_COLOR": "1"}) as screen:
            self.assertEqual(screen.end(), 0)
            self.assertEqual(
                screen.seen.decode(),
                "the store is locked\r\n"
                "hint: `appvault recovery new` makes a way back for a forgotten passcode\r\n")
        result = self.lab.run("lock")
        self.assertEqual((result.out, result.err), (b"the store is locked\n", b""))
        self.assertEqual(self.offered, 0)

    def test_the_first_verb_on_a_terminal_that_succeeds_offers_the_key_once(self):
        with self.lab.terminal("unlock") as screen:
            screen.expect("the store is open\r\n")
            screen.expect("(y/n): ")
            screen.type("y\n")
            screen.expect("AAAA-BBBB")
            screen.expect("a recovery key was made")
            self.assertEqual(screen.end(), 0)
        with self.lab.terminal("unlock") as screen:
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.offered, 1)

    def test_nobody_is_offered_anything_without_a_terminal_or_with_json_or_for_another(self):
        self.assertEqual(self.lab.run("unlock").status, 0)
        with self.lab.terminal("--json", "unlock") as screen:
            self.assertEqual(screen.end(), 0)
        with self.lab.terminal("unlock", stdout=subprocess.DEVNULL) as screen:
            self.assertEqual(screen.end(), 0)
        with self.lab.terminal("unlock", "--user", "root") as screen:
            self.assertEqual(screen.end(), 0)
        self.lab.answer("openStore", lambda daemon, request: daemon.refuse(6))
        with self.lab.terminal("unlock") as screen:
            self.assertEqual(screen.end(), 4)
        self.assertEqual(self.offered, 0)
        self.assertNotIn("status", [request.name for request in self.lab.requests])

    def test_an_offer_that_is_cancelled_or_fails_is_no_failure_of_the_verb(self):
        with self.lab.terminal("unlock") as screen:
            screen.expect("(y/n): ")
            screen.type(INTERRUPT)
            self.assertEqual(screen.end(), 0)
        self.offered = 0
        self.lab.answer("offerRecovery", lambda daemon, request: daemon.refuse(31, "not now"))
        with self.lab.terminal("unlock") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertIn(b"not now", screen.seen)
        self.lab.answer("status", lambda daemon, request: daemon.refuse(31, "not now"))
        with self.lab.terminal("unlock") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(b"not now", screen.seen)


class Waits(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.__exit__)

    def test_no_daemon_is_exit_5_with_what_to_do(self):
        os.unlink(self.lab.path)
        stopwatch = Stopwatch()
        result = self.lab.run("unlock")
        stopwatch.assert_within(1)
        self.assertEqual(result.status, 5)
        self.assertTrue(result.err.startswith(b"appvault: appvaultd is not running\nhint: `systemctl "), result.err)
        self.assertIn(b"`appvault doctor`", result.err)

    def test_a_socket_at_which_nobody_listens_is_the_same(self):
        self.lab.stop_listening()
        self.assertIn(b"appvaultd is not running", self.lab.run("status").err)

    def test_five_seconds_of_silence_end_it(self):
        self.lab.answer("lock", lambda daemon, request: time.sleep(8))
        stopwatch = Stopwatch()
        result = self.lab.run("lock")
        stopwatch.stop()
        self.assertEqual(result.status, 5)
        self.assertIn(b"does not answer", result.err)
        self.assertGreater(stopwatch.seconds, 4.5)
        stopwatch.assert_within(6.5)

    def test_signs_of_life_keep_it_waiting(self):
        def slow(daemon, request):
            for _ in range(7):
                time.sleep(0.9)
                daemon.reply("working")
            daemon.done("at last")

        self.lab.answer("lock", slow)
        self.assertEqual(self.lab.run("lock").out, b"at last\n")

    def test_a_daemon_that_hangs_up_is_exit_5(self):
        self.lab.answer("lock", lambda daemon, request: daemon.channel.close())
        result = self.lab.run("lock")
        self.assertEqual(result.status, 5)
        self.assertIn(b"closed the connection", result.err)

    def test_a_refusal_before_the_hang_up_is_heard(self):
        def late(daemon, request):
            daemon.reply("ask", question=1, purpose="passcode", line="Passcode")
            daemon.refuse(27, "nobody answered in time")
            daemon.channel.close()

        self.lab.answer("openStore", late)
        with self.lab.terminal("unlock") as screen:
            screen.expect("Passcode: ")
            time.sleep(0.1)
            screen.type("right\n")
            self.assertEqual(screen.end(), 130)
            self.assertIn(b"nobody answered in time", screen.seen)

    def test_nonsense_is_code_34(self):
        for sent in [
            wire.raw_frame(0x0D, 2, b"\xff"), wire.raw_frame(0x99, 2, b""), wire.raw_frame(0x41, 2, b"\0" * 4),
            wire.raw_frame(0x0D, 77, b"\0" * 5), b"\xff" * 10, wire.encode("done", 2)[:-1] + b"\x01",
        ]:
            self.lab.answer("lock", lambda daemon, request, sent=sent: daemon.channel.send_raw(sent))
            told = json.loads(self.lab.run("--json", "lock").out)
            self.assertEqual((told["code"], told["name"]), (34, "ProtocolError"), sent)

    @unittest.skipUnless(os.getuid() == 0, "needs root, to listen as somebody else")
    def test_a_stranger_at_the_socket_gets_no_byte(self):
        import socket

        os.unlink(self.lab.path)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.lab.path)
        listens, told = os.pipe()
        self.addCleanup(os.close, listens)
        child = os.fork()
        if child == 0:
            status = 1
            signal.alarm(60)
            try:
                os.setuid(54321)
                listener.listen(1)
                os.write(told, b"+")
                connected, _ = listener.accept()
                connected.settimeout(60)
                status = 0 if connected.recv(1) == b"" else 2
            finally:
                os._exit(status)
        os.close(told)
        self.assertEqual(os.read(listens, 1), b"+")
        result = self.lab.run("unlock")
        _, status = os.waitpid(child, 0)
        listener.close()
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertEqual(result.status, 5)
        self.assertIn(b"the socket belongs to uid 54321", result.err)


if __name__ == "__main__":
    unittest.main()
