"""Questions in dialogs: where there is a display and no terminal, with a pinentry that a test writes."""

import json
import os
import select
import signal
import subprocess
import threading
import time
import unittest

import wire
from clilab import Aborted, Lab
from memorylab import open_files
from pinentrylab import Pinentry
from realcli import SECRET, Real
from slow import slow


def telling_much(daemon, request):
    """More than one dialog holds, and then a question."""
    for number in range(30):
        daemon.reply("show", style="info", line=f"line {number} " + "x" * 60)
    daemon.ask("passcode")
    daemon.done()


def unlocking(daemon, request):
    """Asks as the daemon does: again after a wrong answer."""
    for left in (2, 1, 0):
        if daemon.ask("passcode", "Passcode: ") == b"right":
            return daemon.done("the store is open")
        if left:
            daemon.reply("show", style="error", line=f"that is not the passcode; {left} tries left")
    daemon.refuse(5, "that is not the passcode", "")


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.pinentry = Pinentry(self.lab.folder)
        self.lab.answer("openStore", unlocking)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def run_dialogs(self, *arguments, **env):
        return self.lab.run(*arguments, env={**self.pinentry.environment, **env})

    def fresh(self, name):
        folder = os.path.join(self.lab.folder, name)
        os.mkdir(folder)
        self.pinentry = Pinentry(folder)

    def start(self, *arguments, **env):
        process = subprocess.Popen(
            self.lab.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=self.lab.environment(**{**self.pinentry.environment, **env}))
        self.addCleanup(self.put_away, process)
        return process

    @staticmethod
    def put_away(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def ended(self, process, seconds=20):
        out, err = process.communicate(timeout=seconds)
        return process.returncode, out, err

    def aborted(self, reasons):
        """The daemon's side notes them after the front end has ended."""
        self.until(lambda: len(self.lab.aborts) >= len(reasons))
        self.assertEqual(self.lab.aborts, reasons)

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class Questions(Case):
    def test_the_passcode_comes_from_a_dialog(self):
        self.pinentry.answers("right")
        result = self.run_dialogs("unlock")
        self.assertEqual((result.status, result.out, result.err), (0, b"the store is open\n", b""))
        [dialog] = self.pinentry.dialogs
        self.assertEqual(
            dialog.told,
            ["SETTITLE AppVault", "SETDESC Asked by: appvault unlock", "SETPROMPT Passcode:", "SETCANCEL Cancel",
             "GETPIN"])
        self.assertFalse(dialog.lives)
        self.assertEqual(self.lab.hellos[0]["frontEnd"], "dialog")

    def test_an_answer_is_decoded_and_nothing_is_lost(self):
        answers = []
        self.lab.answer("openStore", lambda daemon, request: (answers.append(daemon.ask("passcode")), daemon.done()))
        self.pinentry.answers("100%25 %0Ay%c3%A9s ")
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        self.assertEqual(answers, ["100% \ny\u00e9s ".encode()])

    def test_a_wrong_one_is_told_in_the_next_dialog_three_times(self):
        self.pinentry.answers("one", "two", "three")
        result = self.run_dialogs("unlock")
        self.assertEqual(result.status, 1)
        self.assertEqual(
            [dialog.error for dialog in self.pinentry.dialogs],
            [None, "that is not the passcode; 2 tries left", "that is not the passcode; 1 tries left"])

    def test_what_is_shown_is_in_the_next_dialog_alone(self):
        def telling(daemon, request):
            daemon.reply("show", style="info", line="The rules have <b>changed</b>: 50% of\x1b[0m them & more_")
            daemon.ask("newPasscode", "New passcode: ")
            daemon.ask("confirmPasscode", "Once more, so that we know that it is what you meant: ")
            daemon.done()

        self.lab.answer("openStore", telling)
        self.pinentry.answers("new", "new")
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        first, second = self.pinentry.dialogs
        self.assertEqual(
            first.desc, "The rules have \u2039b>changed\u2039/b>: 50% of\\x1b[0m them \n& more_")
        self.assertEqual(first.prompt, "New passcode:")
        self.assertEqual(second.desc, "Once more, so that we know that it is what you \nmeant:")
        self.assertEqual(second.prompt, "Answer:")

    def test_more_lines_than_one_dialog_holds_come_in_several(self):
        self.lab.answer("openStore", telling_much)
        self.pinentry.answers(["ok"], ["ok"], "right")
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        dialogs = self.pinentry.dialogs
        self.assertEqual([dialog.last for dialog in dialogs], ["CONFIRM --one-button"] * 2 + ["GETPIN"])
        together = "\n".join(dialog.desc for dialog in dialogs)
        for number in range(30):
            self.assertIn(f"line {number} ", together.replace("\n", " "))
        for dialog in dialogs:
            self.assertLessEqual(max(len(line.encode()) for line in dialog.told), 1000)

    def test_a_choice_has_two_buttons_and_an_acknowledgement_one(self):
        given = []

        def choosing(daemon, request):
            daemon.reply("show", style="info", line="Your passcode has expired.")
            given.append(daemon.ask("acknowledge", "Continue [Enter]: "))
            given.append(daemon.ask("choice", "Use your fingerprint to unlock? [y/n] ", echo=True))
            given.append(daemon.ask("choice", "Really? [y/n] ", echo=True))
            daemon.done()

        self.lab.answer("openStore", choosing)
        self.pinentry.answers(["ok"], ["ok"], ["error", 83886194])
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        self.assertEqual(given, [b"", b"yes", b"no"])
        notice, question, _ = self.pinentry.dialogs
        self.assertEqual((notice.desc, notice.last), ("Your passcode has expired.", "CONFIRM --one-button"))
        self.assertEqual((notice.ok, notice.cancel), ("Continue", None))
        self.assertEqual((question.desc, question.last), ("Use your fingerprint to unlock?", "CONFIRM"))
        self.assertEqual((question.ok, question.cancel), ("Yes", "No"))

    def test_what_cannot_be_undone_is_confirmed_in_a_dialog(self):
        self.lab.answer("actions", lambda daemon, request: daemon.reply("actionList"))
        self.lab.answer("reset", lambda daemon, request: daemon.done("gone"))
        self.pinentry.answers(["cancel"], ["ok"])
        result = self.run_dialogs("reset")
        self.assertEqual((result.status, result.err), (130, b"appvault: cancelled; nothing was changed\n"))
        self.assertEqual(self.run_dialogs("reset").out, b"gone\n")
        self.assertEqual(self.run_dialogs("reset", "--yes").out, b"gone\n")
        first, _ = self.pinentry.dialogs
        self.assertIn("will be erased", first.desc)
        self.assertEqual((first.ok, first.cancel, first.last), ("Continue", "Cancel", "CONFIRM"))

    def test_a_recovery_key_is_in_no_dialog(self):
        def new(daemon, request):
            daemon.reply("reveal", [b"AAAA-BBBB"], line="Write this key down:")
            daemon.done("made")

        self.lab.answer("recoveryNew", new)
        result = self.run_dialogs("recovery", "new")
        self.assertNotIn(b"AAAA", result.out + result.err)
        self.assertEqual(self.pinentry.dialogs, [])


class Ends(Case):
    def test_a_cancel_is_130_and_no_try(self):
        self.pinentry.answers(["cancel"])
        result = self.run_dialogs("unlock")
        self.assertEqual((result.status, result.err), (130, b"appvault: cancelled; nothing was changed\n"))
        self.aborted(["cancelled"])

    def test_a_cancel_before_the_last_dialog_has_cancelled_them_all(self):
        self.lab.answer("openStore", telling_much)
        self.pinentry.answers(["ok"], ["cancel"], "right")
        self.assertEqual(self.run_dialogs("unlock").status, 130)
        self.assertEqual(len(self.pinentry.dialogs), 2)
        self.aborted(["cancelled"])

    def test_one_that_dies_has_cancelled(self):
        for step in (["die"], ["error", 62]):
            self.fresh(step[0])
            self.pinentry.answers(step)
            self.assertEqual(json.loads(self.run_dialogs("--json", "unlock").out)["code"], 27)
        self.aborted(["cancelled"] * 2)

    def test_one_that_is_killed_under_the_person_has_cancelled(self):
        self.pinentry.answers(["wait"])
        process = self.start("unlock")
        os.kill(self.pinentry.wait().pid, signal.SIGKILL)
        self.assertEqual(self.ended(process)[0], 130)
        self.aborted(["cancelled"])

    def test_one_that_cannot_show_a_dialog_is_refused_and_says_what_to_do(self):
        steps = [["error", 83918950], ["raw", "", "end"], ["raw", "ERR 1 no\n", "end"], ["raw", "hello\n"],
                 ["raw", "x" * 5000], ["raw", "INQUIRE PIN\n"], ["raw", "OK\nD secret\n"]]
        self.pinentry.answers(*steps)
        for step in steps:
            result = self.run_dialogs("unlock")
            self.assertEqual(result.status, 1, step)
            self.assertEqual(
                result.err,
                b"appvault: this needs an answer, but pinentry could not show a dialog: Passcode: \n"
                b"hint: install pinentry-gnome3, pinentry-qt or pinentry-gtk2, run it on a terminal, or give passcodes"
                b" with --passcode-fd\n")
        self.aborted(["conversationFailed"] * len(steps))

    @slow
    def test_one_that_says_nothing_is_not_waited_for_for_ever(self):
        self.pinentry.answers(["mute"])
        process = self.start("unlock")
        self.assertEqual(self.ended(process, 30)[0], 1)
        self.assertFalse(self.pinentry.dialogs[0].lives)

    def test_one_that_floods_is_ended(self):
        self.pinentry.answers(["flood"], ["line"])
        self.assertEqual(json.loads(self.run_dialogs("--json", "unlock").out)["code"], 33)
        self.assertEqual(json.loads(self.run_dialogs("--json", "unlock").out)["code"], 27)
        self.aborted(["answerTooLong", "cancelled"])
        self.assertFalse(any(dialog.lives for dialog in self.pinentry.dialogs))

    def test_an_answer_that_is_too_long_is_not_cut(self):
        self.pinentry.answers("x" * 990)
        self.assertEqual(self.run_dialogs("unlock").status, 130)
        self.aborted(["cancelled"])

    def test_a_broken_escape_is_no_answer(self):
        self.pinentry.answers("righ%t", "right%7")
        for _ in range(2):
            self.assertEqual(self.run_dialogs("unlock").status, 130)

    def test_when_the_daemon_goes_on_without_the_answer_the_dialog_ends(self):
        def late(daemon, request):
            daemon.reply("ask", question=1, purpose="passcode", line="Passcode: ")
            self.pinentry.wait()
            for _ in range(3):
                daemon.reply("working")
            daemon.refuse(27, "that took too long")

        self.lab.answer("openStore", late)
        self.pinentry.answers(["wait"])
        process = self.start("unlock")
        status, _, err = self.ended(process)
        self.assertEqual((status, err), (130, b"appvault: that took too long\n"))
        self.assertFalse(self.pinentry.dialogs[0].lives)

    def test_a_question_that_is_over_as_soon_as_it_comes_hangs_nobody(self):
        def over(daemon, request):
            ask = wire.encode("ask", daemon.tag, question=1, purpose="passcode", line="Passcode: ")
            daemon.channel.socket.sendall(ask + wire.encode("refused", daemon.tag, code=27, message="over"))
            daemon.receive()

        self.lab.answer("openStore", over)
        self.pinentry.answers(["wait"])
        self.assertEqual(self.run_dialogs("unlock").err, b"appvault: over\n")

    def test_when_the_daemon_is_gone_the_dialog_ends(self):
        def gone(daemon, request):
            daemon.reply("ask", question=1, purpose="passcode", line="Passcode: ")
            self.pinentry.wait()
            raise Aborted("gone")

        self.lab.answer("openStore", gone)
        self.pinentry.answers(["wait"])
        self.assertEqual(self.ended(self.start("unlock"))[0], 5)
        self.assertFalse(self.pinentry.dialogs[0].lives)

    def test_a_signal_ends_the_dialog_too_and_counts_nothing(self):
        for number, step in ((signal.SIGTERM, "wait"), (signal.SIGINT, "stubborn"), (signal.SIGKILL, "stubborn")):
            self.fresh(str(int(number)))
            self.pinentry.answers([step])
            process = self.start("unlock")
            dialog = self.pinentry.wait()
            process.send_signal(number)
            self.assertEqual(self.ended(process)[0], -number)
            self.until(lambda: not dialog.lives)
        self.aborted(["hung up"] * 3)

    def test_a_stubborn_one_is_gone_with_the_answer(self):
        self.pinentry.answers(["stubborn"])
        process = self.start("unlock")
        dialog = self.pinentry.wait()
        dialog.go("right")
        self.assertEqual(self.ended(process)[0], 0)
        self.assertFalse(dialog.lives)


class Where(Case):
    def nobody(self, **env):
        result = self.lab.run("unlock", env={**self.pinentry.environment, **env})
        self.assertEqual((result.status, result.out), (1, b""))
        self.assertEqual(self.pinentry.dialogs, [])
        self.assertEqual(self.lab.hellos[-1]["frontEnd"], "program")
        return result.err

    def test_without_a_display_or_with_no_program_named_all_is_as_before(self):
        told = (
            b"appvault: this needs an answer, but there is no terminal to ask on: Passcode: \n"
            b"hint: run it on a terminal, or give passcodes with --passcode-fd\n")
        self.assertEqual(self.nobody(DISPLAY=""), told)
        self.assertEqual(self.nobody(APPVAULT_PINENTRY=""), told)

    def test_without_the_program_a_hint_names_it(self):
        for path in ("/no/such/program", "pinentry", self.lab.folder):
            self.assertIn(b"hint: install pinentry-gnome3,", self.nobody(APPVAULT_PINENTRY=path))

    def test_wayland_is_a_display(self):
        self.pinentry.answers("right")
        self.assertEqual(self.run_dialogs("unlock", DISPLAY="", WAYLAND_DISPLAY="wayland-0").status, 0)

    def test_a_terminal_and_a_descriptor_come_first(self):
        with self.lab.terminal("unlock", env=self.pinentry.environment) as screen:
            screen.expect("Passcode: ")
            screen.type("right\n")
            self.assertEqual(screen.end(), 0)
        result = self.lab.run("unlock", passcodes=[b"right"], env=self.pinentry.environment)
        self.assertEqual(result.status, 0)
        self.assertEqual(self.pinentry.dialogs, [])

    def test_the_program_gets_what_it_needs_and_no_secret(self):
        self.pinentry.answers("not%20the%20one", "right")
        self.assertEqual(self.run_dialogs("unlock", TOKEN="a secret of others", LD_PRELOAD="").status, 0)
        for dialog in self.pinentry.dialogs:
            self.assertEqual(dialog.arguments, [])
            self.assertEqual(dialog.environment["DISPLAY"], ":99")
            self.assertLessEqual(
                set(dialog.environment),
                {"DISPLAY", "HOME", "LC_ALL", "LC_CTYPE", "PATH", "XDG_RUNTIME_DIR"})
            # The fourth is the listing of the folder itself, the others this program's own.
            self.assertLessEqual(set(dialog.open), {"0", "1", "2", "3", "4"})
        self.assertNotIn(b"not the one", self.pinentry.kept())
        self.assertNotIn(b"right", self.pinentry.kept())


class AtOnce(Case):
    def test_two_programs_ask_one_after_the_other(self):
        self.pinentry.answers(["wait"], ["wait"])
        first = self.start("unlock")
        shown = self.pinentry.wait()
        second = self.start("unlock")
        self.until(lambda: len(self.lab.requests) == 2)
        time.sleep(0.5)
        self.assertEqual(len(self.pinentry.dialogs), 1)
        shown.go("right")
        self.assertEqual(self.ended(first)[0], 0)
        self.pinentry.wait(2).go("right")
        self.assertEqual(self.ended(second)[0], 0)

    def test_the_next_one_comes_also_if_the_first_is_killed(self):
        self.pinentry.answers(["wait"], "right")
        first = self.start("unlock")
        self.pinentry.wait()
        second = self.start("unlock")
        first.kill()
        self.assertEqual(self.ended(second)[0], 0)

    def test_who_waits_until_the_daemon_gives_up_is_told_that_another_is_open(self):
        waits = threading.Event()

        def late(daemon, request):
            daemon.reply("ask", question=1, purpose="passcode", line="Passcode: ")
            if len(self.lab.requests) == 2:
                waits.wait(20)
                daemon.refuse(27, "that took too long")
            daemon.receive()

        self.lab.answer("openStore", late)
        self.pinentry.answers(["wait"])
        self.start("unlock")
        self.pinentry.wait()
        second = self.start("--json", "unlock")
        self.until(lambda: self.has_open(second, "appvault-dialog"))
        waits.set()
        status, out, _ = self.ended(second)
        self.assertEqual((status, json.loads(out)["code"]), (5, 35))

    @staticmethod
    def has_open(process, name):
        try:
            return any(each.endswith(name) for each in open_files(process.pid))
        except FileNotFoundError:
            return False

    def test_without_a_runtime_folder_nobody_waits(self):
        for folder in ("", "relative", "/no/such/folder"):
            self.fresh(str(len(folder)))
            self.pinentry.answers("right")
            self.assertEqual(self.run_dialogs("unlock", XDG_RUNTIME_DIR=folder).status, 0)


PLACE = ("fingerprint.place.type", [], "Place your finger on the reader, or type the passcode.")


class Fingers(Case):
    def scanning(self, then):
        """A daemon that waits for a finger until the front end gives it up, or `then` says what happens."""

        def handler(daemon, request):
            daemon.reply("scan", question=7, event="place", line=PLACE)
            if then(daemon):
                return
            end = time.monotonic() + 20
            while not select.select([daemon.channel.socket], [], [], 0.1)[0]:
                assert time.monotonic() < end
                daemon.reply("working")
            message = daemon.channel.receive(1)
            assert message.name == "abort" and message.question == 7, message
            daemon.reply("scan", question=7, event="ended")
            unlocking(daemon, request)

        self.lab.answer("openStore", handler)

    def test_a_passcode_that_is_typed_ends_the_scan_and_is_used(self):
        self.scanning(lambda daemon: False)
        self.pinentry.answers(["wait"])
        process = self.start("unlock")
        dialog = self.pinentry.wait()
        self.assertEqual((dialog.desc, dialog.prompt, dialog.last), (
            "Place your finger on the reader, or type the \npasscode.", "Passcode:", "GETPIN"))
        dialog.go("right")
        self.assertEqual(self.ended(process)[:2], (0, b"the store is open\n"))
        self.assertEqual(len(self.pinentry.dialogs), 1)

    def test_a_wrong_one_that_is_typed_is_asked_again(self):
        self.scanning(lambda daemon: False)
        self.pinentry.answers("wrong", "right")
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        self.assertEqual(self.pinentry.dialogs[1].error, "that is not the passcode; 2 tries left")

    def test_ok_without_an_answer_goes_on_to_the_question(self):
        self.scanning(lambda daemon: False)
        self.pinentry.answers("", "right")
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        self.assertEqual(len(self.pinentry.dialogs), 2)

    def test_a_cancel_cancels_all(self):
        self.scanning(lambda daemon: False)
        for step in (["cancel"], ["die"]):
            self.fresh(step[0])
            self.pinentry.answers(step, "right")
            self.assertEqual(self.run_dialogs("unlock").status, 130)
            self.assertEqual(len(self.pinentry.dialogs), 1)
        self.aborted(["cancelled"] * 2)

    def test_a_match_ends_the_dialog(self):
        def match(daemon):
            self.pinentry.wait()
            daemon.reply("scan", question=7, event="ended")
            daemon.done("the store is open")
            return True

        self.scanning(match)
        self.pinentry.answers(["stubborn"])
        result = self.run_dialogs("unlock")
        self.assertEqual((result.status, result.out), (0, b"the store is open\n"))
        self.assertFalse(self.pinentry.dialogs[0].lives)

    def test_no_match_leaves_the_dialog_to_the_person(self):
        def fail(daemon):
            self.pinentry.wait()
            daemon.reply("scan", question=7, event="ended")
            daemon.reply("show", style="error", line="that finger was not recognised")
            threading.Timer(0.3, lambda: self.pinentry.wait().go("right")).start()
            unlocking(daemon, None)
            return True

        self.scanning(fail)
        self.pinentry.answers(["wait"])
        self.assertEqual(self.run_dialogs("unlock").status, 0)
        self.assertEqual(len(self.pinentry.dialogs), 1)

    def test_a_typed_passcode_answers_no_other_question(self):
        def due(daemon):
            time.sleep(0.3)
            daemon.reply("scan", question=7, event="ended")
            daemon.channel.receive(10)
            assert daemon.ask("newPasscode", "New passcode: ") == b"new"
            daemon.done("changed")
            return True

        self.scanning(due)
        self.pinentry.answers("right", "new")
        self.assertEqual(self.run_dialogs("unlock").out, b"changed\n")

    def test_where_no_passcode_helps_there_is_a_button_only(self):
        def verifying(daemon, request):
            daemon.reply("scan", question=7, event="place", line="Place your finger on the reader.")
            message = daemon.channel.receive(20)
            assert message.name == "abort" and message.question == 7, message
            daemon.reply("scan", question=7, event="ended")
            daemon.refuse(27, "cancelled")

        self.lab.answer("fingerprintVerify", verifying)
        self.pinentry.answers(["ok"])
        self.assertEqual(self.run_dialogs("fingerprint", "verify").status, 130)
        [dialog] = self.pinentry.dialogs
        self.assertEqual((dialog.desc, dialog.ok, dialog.last), (
            "Place your finger on the reader.", "Cancel", "CONFIRM --one-button"))


class Life(unittest.TestCase):
    """The real daemon."""

    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)
        self.times = 0

    def run_dialogs(self, *arguments, steps=()):
        self.times += 1
        folder = os.path.join(self.lab.folder, str(self.times))
        os.mkdir(folder)
        self.pinentry = Pinentry(folder)
        self.pinentry.answers(*steps)
        return self.lab.run(*arguments, env=self.pinentry.environment)

    def test_a_store_is_made_changed_opened_and_erased_by_dialogs(self):
        secret, other = SECRET.decode(), "another long passcode"
        result = self.run_dialogs("create", "--own-passcode", steps=[secret, secret])
        self.assertEqual(result.status, 0, result)
        # A recovery key is not shown, so none was made.
        state = json.loads(self.lab.run("--json", "status").out)
        self.assertEqual((state["state"], state["recoveryKey"]), ("unlocked", False))
        self.assertEqual(self.run_dialogs("recovery", "new", steps=[secret]).status, 1)
        self.assertEqual(self.pinentry.dialogs, [])
        self.assertEqual(self.run_dialogs("passwd", steps=[secret, other, "different", other, other]).status, 0)
        self.assertEqual(len(self.pinentry.dialogs), 5)
        self.lab.run("lock")
        refused = self.run_dialogs("--json", "unlock", steps=["one", "two", "three", other])
        self.assertEqual(json.loads(refused.out)["code"], 5)
        self.assertEqual(len(self.pinentry.dialogs), 3)
        self.assertEqual([dialog.error is None for dialog in self.pinentry.dialogs], [True, False, False])
        self.assertEqual(self.run_dialogs("unlock", steps=["wrong", other]).status, 0)
        self.assertEqual(json.loads(self.lab.run("--json", "status").out)["state"], "unlocked")
        self.assertEqual(self.run_dialogs("reset", steps=[["ok"], "wrong", "wrong", "wrong"]).status, 1)
        self.assertEqual(self.run_dialogs("reset", steps=[["ok"], other]).status, 0)
        self.assertEqual(json.loads(self.lab.run("--json", "status").out)["state"], "absent")

    def test_a_dialog_that_is_not_answered_is_no_try(self):
        self.run_dialogs("create", "--own-passcode", steps=[SECRET.decode()] * 2)
        self.lab.run("lock")
        before = json.loads(self.lab.run("--json", "status").out)
        for step in (["cancel"], ["die"], ["error", 83918950], ["raw", "", "end"]):
            self.assertNotEqual(self.run_dialogs("unlock", steps=[step]).status, 0)
        self.assertEqual(json.loads(self.lab.run("--json", "status").out), before)


if __name__ == "__main__":
    unittest.main()
