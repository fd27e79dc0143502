"""A finger at PAM: the real module, the real daemon, the real worker with libfprint's virtual reader, and logind by
python3-dbusmock."""

import os
import shutil
import signal
import subprocess
import threading
import unittest

from daemonlab import answers, wait_until
from fingerlab import Finger
from pamlab import PAM_AUTH_ERR, PAM_AUTHINFO_UNAVAIL, PAM_SILENT, PAM_SUCCESS
from patience import Stopwatch
from personlab import Person
from programlab import NAMESPACE, SUDOERS, Terminal
from slow import slow
from touchlab import PLACE, Case, Touching
from wayslab import LOGIN, PASSCODE, in_child

NEEDS_ROOT = True
TIMEOUT = 300
WAIT = ["{}: swipe your finger over the reader, or type the passcode in 8 s.", "The fingerprint matches."]
AGAIN = "It does not match. Lift the finger. Try again ({} left, then the passcode)."
PROMPT = "Passcode or login password: "


class First(Case):
    def test_match(self):
        """the finger is the login: the line names the service, nothing is asked or derived, the store is open"""
        count, _ = self.machine.derivations(lambda: self.enter("alice"))
        self.assertEntered(lines=[PLACE.format("login")])
        self.assertEqual((count, self.machine.is_open), (0, True))
        wait_until(lambda: not self.worker.is_open(), "the reader is free again")

    def test_services(self):
        """first at login, sudo and su"""
        for service in ("login", "su", "su-l"):
            with self.subTest(service):
                self.machine.way_b(service)
                self.machine.lock()
                self.enter("alice", service=service)
                self.assertEntered(lines=[PLACE.format(service)])
        self.at_seat()
        self.machine.way_b("sudo")
        self.machine.lock()
        self.enter("alice", service="sudo", flags=PAM_SILENT)
        self.assertEntered(lines=[PLACE.format("sudo")])

    def test_no_match(self):
        """a touch that does not match is reported with what is left, three times, and then the passcode is asked for
        once"""
        self.enter("bob", "carol", "dave", typed=[PASSCODE])
        self.assertEntered(
            [PROMPT],
            [PLACE.format("login"), AGAIN.format(4), AGAIN.format(3),
             "The fingerprint does not match."])
        self.assertEqual(self.failures_left(), 5, "the passcode forgives")

    def test_second_touch(self):
        """another touch that matches"""
        self.enter("bob", "alice")
        self.assertEntered(lines=[PLACE.format("login"), AGAIN.format(4)])

    @slow
    def test_display(self):
        """a greeter's keys are not watched, and its last line stays: each line is true until the next one"""
        place, matches = (line.format("lightdm") for line in WAIT)
        self.machine.way_b("lightdm")
        self.enter("alice", service="lightdm")
        self.assertEntered(lines=[place, matches])
        self.machine.stack("lightdm", "auth required {ours} timeout=5")
        self.machine.lock()
        self.enter(service="lightdm", typed=[PASSCODE])
        self.assertEqual(
            (self.code, self.lines),
            (PAM_SUCCESS, [place.replace("8", "5"), "No finger was read. Please type your passcode."]))

    def test_no_match_at_sudo(self):
        """where no lines are shown, the result of the finger is part of the question"""
        self.at_seat()
        self.machine.way_b("sudo")
        self.enter("bob", "bob", "bob", service="sudo", typed=[PASSCODE], flags=PAM_SILENT)
        self.assertEqual((self.code, self.prompts), (PAM_SUCCESS, ["The fingerprint does not match. " + PROMPT]))

    def test_failures(self):
        """after FingerprintMaxFailures only the passcode is asked for"""
        self.enter("bob", "bob", "bob", typed=["wrong", LOGIN])
        self.enter("bob", "bob", typed=["wrong"])
        self.assertEqual(
            self.lines[1:3], [AGAIN.format(1), "The fingerprint does not match. Please type your passcode."])
        self.enter("alice", typed=[PASSCODE])
        self.assertEntered([PROMPT])

    def test_retry(self):
        """a touch that could not be read is explained, and costs nothing"""
        self.enter("RETRY 1", "alice")
        self.assertEqual(self.code, PAM_SUCCESS)
        self.assertEqual(len(self.lines), 2)
        self.assertEqual(self.failures_left(), 5)

    def test_login_password(self):
        """after the finger one prompt, whose answer may be the login password"""
        self.enter("bob", "bob", "bob", typed=[LOGIN])
        self.assertEqual((self.code, self.prompts), (PAM_SUCCESS, [PROMPT]))
        self.assertFalse(self.machine.is_open)

    def test_timeout(self):
        """nobody touches the reader: the passcode"""
        self.machine.stack("login", "auth required {ours} timeout=1")
        self.enter(typed=[PASSCODE])
        self.assertEqual((self.code, len(self.prompts)), (PAM_SUCCESS, 1))
        self.assertGreater(self.took.seconds, 0.9)
        self.took.assert_within(5)
        self.assertEqual(self.failures_left(), 5)

    def test_enter(self):
        """Enter and Ctrl-C at the terminal go on to the passcode at once; nothing is counted, the terminal is as
        before"""
        for key in (b"\r", b"\x03"):
            with self.subTest(key):
                self.machine.lock()

                def work():
                    self.enter(typed=[PASSCODE], tty="/dev/tty1")
                    return self.code, self.prompts

                person = Person(work)
                self.addCleanup(person.close)
                person.press(key)
                code, prompts = person.result()
                self.assertEqual((code, prompts), (PAM_SUCCESS, [PROMPT]))
                self.assertEqual(person.modes(), person.before)
                self.assertEqual(self.failures_left(), 5)

    def test_not_asked(self):
        """at once to the passcode: by an option, from a remote host, before the passcode was ever typed, without a
        reader"""
        def passcode(**more):
            self.machine.lock()
            self.enter("alice", typed=[PASSCODE], **more)
            self.assertEqual((self.code, len(self.prompts), self.lines), (PAM_SUCCESS, 1, []))
            self.took.assert_within(2)

        self.machine.stack("login", "auth required {ours} fingerprint=off")
        passcode()
        self.machine.way_b("login")
        passcode(RHOST="192.0.2.7")
        self.machine.daemon.restart()
        passcode()
        self.machine.lock()
        self.enter("alice")
        self.assertEntered(lines=[PLACE.format("login")])
        self.worker.process.kill()
        self.worker.process.wait()
        passcode()

    def test_worker_dies(self):
        """a worker that dies in the middle of a scan: the passcode, soon"""
        class Killing(Touching):
            def answer(self, style, text):
                if "swipe your finger" in text:
                    os.killpg(self.worker.process.pid, signal.SIGKILL)
                return super().answer(style, text)

        talk = Killing(self.worker, [PASSCODE])
        stopwatch = Stopwatch()
        with self.machine.login("login", talk, tty=":0") as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
        self.assertEqual(len(talk.prompts), 1)
        stopwatch.assert_within(6)

    def test_daemon_dies(self):
        """a daemon that dies in the middle of a scan lets nobody in, and the next module asks"""
        class Killing(Touching):
            def answer(this, style, text):
                if "swipe your finger" in text:
                    self.machine.daemon.kill()
                return super().answer(style, text)

        talk = Killing(self.worker, [LOGIN])
        with self.machine.login("login", talk, tty=":0") as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
        self.assertEqual(talk.prompts, ["Password: "])


class OnEmpty(Case):
    def locker(self, *fingers, typed, service="swaylock", uids=None):
        """A screen locker, which is a process of the person's own."""
        _, uid = self.machine.daemon.person

        play = self.worker.play

        def as_root(*words):
            """As root: the person has no access to the reader."""
            os.seteuid(0)
            try:
                return play(*words)
            finally:
                os.seteuid(uid)

        def work():
            self.worker.play = as_root
            self.enter(*fingers, typed=typed, service=service)
            return self.code, self.prompts, self.lines

        return in_child(work, (uid, uid, 0))

    def setUp(self):
        super().setUp()
        self.at_seat()
        self.machine.stack("swaylock", "auth required {ours}")

    def test_empty(self):
        """an empty answer starts the reader, and the finger opens"""
        code, prompts, lines = self.locker("alice", typed=[""])
        self.assertEqual((code, len(prompts), lines), (PAM_SUCCESS, 1, [WAIT[0].format("swaylock")]))
        self.assertTrue(self.machine.is_open)

    def test_typed(self):
        """a typed passcode starts no reader"""
        code, prompts, lines = self.locker("alice", typed=[PASSCODE])
        self.assertEqual((code, len(prompts), lines), (PAM_SUCCESS, 1, []))

    def test_one_question(self):
        """a locker asks only one question: a finger that does not match is a failed login"""
        code, prompts, lines = self.locker("bob", "bob", "bob", typed=["", PASSCODE])
        self.assertEqual((code, len(prompts)), (PAM_AUTH_ERR, 1))
        self.assertFalse(self.machine.is_open)

    def test_converses(self):
        """a service that can converse asks once more, and an empty answer then means no"""
        self.before_session()
        self.machine.stack("login", "auth required {ours} fingerprint=on-empty")
        self.enter("bob", "bob", "bob", typed=["", PASSCODE])
        self.assertEqual((self.code, len(self.prompts)), (PAM_SUCCESS, 2))
        self.machine.lock()
        self.enter("bob", "bob", "bob", typed=["", ""])
        self.assertEqual((self.code, len(self.prompts)), (PAM_AUTH_ERR, 2))

    def test_not_enrolled(self):
        """where no finger can be asked for, an empty answer does what it always did"""
        with self.machine.daemon.client(frontEnd="terminal") as client:
            done = client.run(
                "fingerprintSwitch", answers(PASSCODE), subject=self.machine.daemon.person, on=False)
            self.assertEqual(done.name, "done")
        self.machine.lock()
        code, prompts, lines = self.locker("alice", typed=[""])
        self.assertEqual((code, len(prompts), lines), (PAM_AUTH_ERR, 1, []))


class Only(Case):
    def setUp(self):
        super().setUp()
        self.machine.stack("login", "auth required {ours} fingerprint=only")

    def test_match(self):
        """the finger, and nothing else"""
        self.enter("alice", typed=[PASSCODE])
        self.assertEntered(lines=[PLACE.format("login")])

    def test_no_match(self):
        """no match is a failed login, without a question"""
        self.enter("bob", "bob", "bob", typed=[PASSCODE])
        self.assertEqual((self.code, self.prompts), (PAM_AUTH_ERR, []))

    def test_unavailable(self):
        """no finger can be asked for: the next module decides"""
        self.machine.daemon.restart()
        self.enter("alice", typed=[PASSCODE])
        self.assertEqual((self.code, self.prompts, self.lines), (PAM_AUTHINFO_UNAVAIL, [], []))


class Two(Case):
    def test_two_at_once(self):
        """sudo waits, and the lock screen asks: one touch answers the request whose line is shown, never the other"""
        self.at_seat()
        self.machine.stack("sudo", "auth required {ours}")
        self.machine.stack("swaylock", "auth required {ours}")
        waiting, asked = threading.Event(), []

        class Waiting(Touching):
            def answer(self, style, text):
                if "swipe your finger" in text:
                    waiting.set()
                asked.append(text)
                return super().answer(style, text)

        def sudo():
            with self.machine.login("sudo", Waiting(self.worker, [PASSCODE]), tty=":0") as login:
                asked.append(login.authenticate())

        thread = threading.Thread(target=sudo)
        thread.start()
        self.assertTrue(waiting.wait(10))
        self.enter("alice", typed=[""], service="swaylock")
        self.assertEntered(["AppVault passcode: "], [WAIT[0].format("swaylock")])
        thread.join(20)
        self.assertEqual(asked, [PLACE.format("sudo"), "AppVault passcode: ", PAM_SUCCESS])


class Offer(Case):
    """The offer of a finger at the end of create."""

    def setUp(self):
        super().setUp()
        self.at_seat()
        with self.machine.daemon.client(frontEnd="terminal") as client:
            done = client.run("reset", answers(PASSCODE), subject=self.machine.daemon.person)
            self.assertEqual(done.name, "done")

    def create(self, choice, finger="alice"):
        def touch(scan):
            if scan.event == "place" or (scan.event == "stage" and scan.stage < scan.stages):
                self.worker.play("device", f"SCAN {finger}")

        def script(ask):
            if ask.purpose == "choice":
                return choice
            return "" if ask.purpose == "acknowledge" else PASSCODE

        with self.machine.daemon.client(frontEnd="terminal") as client:
            conversation = Finger(client, script, enter=touch)
            done = conversation.run("create", subject=self.machine.daemon.person, way="ownPasscode", store="",
                                    openExisting=False)
            while done.name == "reveal":
                done = conversation.follow()
            self.assertEqual(done.name, "done", done)
            return [ask.purpose for ask in client.asked], conversation

    def is_on(self):
        with self.machine.daemon.client(frontEnd="terminal") as client:
            return client.run("fingerprintList", subject=self.machine.daemon.person).on

    def test_yes(self):
        """yes: the finger is enrolled without typing the passcode again, and opens the store"""
        asked, conversation = self.create("y")
        self.assertEqual(asked.count("choice"), 1)
        self.assertNotIn("passcode", asked)
        self.assertTrue(self.is_on())
        self.machine.lock()
        self.before_session()
        self.enter("alice")
        self.assertEntered(lines=[PLACE.format("login")])

    def test_no(self):
        """no, and a question that is left unanswered: the store exists, without a finger"""
        for answer in ("n", None):
            with self.subTest(answer):
                asked, conversation = self.create(answer)
                self.assertEqual((asked.count("choice"), conversation.scans), (1, []))
                self.assertFalse(self.is_on())
                with self.machine.daemon.client(frontEnd="terminal") as client:
                    client.run("reset", answers(PASSCODE), subject=self.machine.daemon.person)

    def test_no_reader(self):
        """without a reader nothing is offered"""
        self.worker.process.kill()
        self.worker.process.wait()
        self.machine.daemon.restart()
        asked, _ = self.create("y")
        self.assertNotIn("choice", asked)


class Programs(Case):
    """The real sudo, su and login on a terminal, with a private /etc/pam.d."""

    def setUp(self):
        tried = subprocess.run(["unshare", "-m", "--propagation", "private", "true"], capture_output=True, check=False)
        if tried.returncode != 0:
            self.skipTest("no mount namespace here: " + tried.stderr.decode().strip())
        super().setUp()

    def terminal(self, *words, as_person=True):
        return Terminal(self.command(*words, as_person=as_person))

    def command(self, *words, as_person=True):
        if shutil.which(words[0]) is None:
            self.skipTest(f"no {words[0]} here")
        sudoers = os.path.join(self.machine.lab.folder, "sudoers")
        with open(sudoers, "w") as file:
            file.write(SUDOERS % self.machine.name)
        os.chmod(sudoers, 0o440)
        uid = str(self.machine.uid)
        person = ("setpriv", "--reuid", uid, "--regid", uid, "--clear-groups") if as_person else ()
        return [
            "unshare", "-m", "--propagation", "private", "sh", "-c", NAMESPACE, "sh", self.machine.lab.services,
            sudoers if os.path.exists("/etc/sudoers") else "", *person, *words]

    def test_sudo(self):
        """sudo, which shows no lines of PAM's: the finger, and Enter at the only prompt"""
        self.at_seat()
        self.machine.way_b("sudo")
        sudo = self.terminal("sudo", "id", "-u")
        sudo.expect(PLACE.format("sudo"))
        self.worker.play("device", "SCAN alice")
        self.assertEqual(sudo.end(), 0)
        self.assertTrue(sudo.shown.endswith("0\n"), sudo.shown)
        self.assertNotIn("Passcode", sudo.shown)
        sudo = self.terminal("sudo", "id", "-u")
        sudo.expect(PLACE.format("sudo"))
        sudo.type("")
        sudo.expect(PROMPT)
        sudo.type(PASSCODE)
        self.assertEqual(sudo.end(), 0)

    def piped(self, *words, typed, service="sudo", as_person=True):
        """With a pipe as its input, and without a terminal."""
        self.at_seat()
        self.machine.way_b(service)
        command = self.command(*words, as_person=as_person)
        stopwatch = Stopwatch()
        done = subprocess.run(
            ["setsid", "-w", *command], input=typed, capture_output=True, text=True, timeout=60, cwd="/",
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C"})
        stopwatch.assert_within(5)
        self.assertNotIn("finger", done.stdout + done.stderr)
        return done

    def test_login_shells(self):
        """sudo -i and su -l, which have services of their own"""
        self.at_seat()
        for service, words in (("sudo-i", ("sudo", "-i", "id", "-u")),
                               ("su-l", ("su", "-l", self.machine.name, "-c", "id -u"))):
            with self.subTest(service):
                self.machine.way_b(service)
                program = self.terminal(*words)
                program.expect(PLACE.format(service))
                self.worker.play("device", "SCAN alice")
                self.assertEqual(program.end(), 0)

    def test_sudo_of_nobody_known(self):
        """sudo where logind knows of no session: the passcode at once"""
        self.logind.set()
        self.machine.way_b("sudo")
        sudo = self.terminal("sudo", "id", "-u")
        sudo.expect(PROMPT)
        self.assertNotIn("finger", sudo.shown)
        sudo.type(PASSCODE)
        self.assertEqual(sudo.end(), 0)

    def test_sudo_in_a_pipe(self):
        """echo pw | sudo -S: the passcode and the login password as before, at once; an empty line starts no reader"""
        for typed, code in ((PASSCODE, 0), (LOGIN, 0), ("", 1)):
            with self.subTest(typed):
                done = self.piped("sudo", "-S", "-p", "", "id", "-u", typed=typed + "\n")
                self.assertEqual((done.returncode, done.stdout), (code, "" if code else "0\n"), done.stderr)

    def test_sudo_asks_a_program(self):
        """sudo -A without a terminal, as a desktop starts it: the program is asked at once"""
        asked = os.path.join(self.machine.lab.folder, "asked")
        with open(asked, "w") as file:
            file.write(f"#!/bin/sh\necho '{PASSCODE}'\n")
        os.chmod(asked, 0o755)
        done = self.piped("env", f"SUDO_ASKPASS={asked}", "sudo", "-A", "id", "-u", typed="")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)

    def test_su_in_a_pipe(self):
        """su from a pipe: as before, at once; an empty line starts no reader, also at a terminal"""
        for typed, code in ((PASSCODE, 0), ("", 1)):
            with self.subTest(typed):
                done = self.piped("su", self.machine.name, "-c", "id -u", typed=typed + "\n", service="su")
                self.assertEqual(
                    (done.returncode, done.stdout), (code, "" if code else f"{self.machine.uid}\n"), done.stderr)
                shell = f"echo '{typed}' | su {self.machine.name} -c 'id -u'"
                su = self.terminal("sh", "-c", shell)
                self.assertEqual(su.end(5), code)
                self.assertNotIn("finger", su.shown)

    def test_pipe_at_a_terminal(self):
        """the input is a pipe, somebody may sit at the terminal: the question first; Enter alone starts the reader"""
        self.at_seat()
        self.machine.way_b("sudo")
        sudo = self.terminal("sh", "-c", f"echo '{PASSCODE}' | sudo -S -p '' id -u")
        self.assertEqual(sudo.end(5), 0)
        self.assertNotIn("finger", sudo.shown)
        sudo = self.terminal("sh", "-c", "echo more | sudo cat")
        sudo.expect(PROMPT)
        self.assertNotIn("finger", sudo.shown)
        sudo.type("")
        sudo.expect(PLACE.format("sudo"))
        self.worker.play("device", "SCAN alice")
        self.assertEqual(sudo.end(), 0)
        self.assertTrue(sudo.shown.endswith("more\n"), sudo.shown)

    def test_su(self):
        """su: the finger of the person that one becomes"""
        self.at_seat()
        self.machine.way_b("su")
        su = self.terminal("su", self.machine.name, "-c", "id -u")
        su.expect(PLACE.format("su"))
        self.worker.play("device", "SCAN alice")
        self.assertEqual(su.end(), 0)
        self.assertTrue(su.shown.endswith(f"{self.machine.uid}\n"), su.shown)

    def test_login(self):
        """login: the finger, at a console before any session exists"""
        self.machine.way_b("login")
        login = self.terminal("login", self.machine.name, as_person=False)
        login.expect(PLACE.format("login"))
        self.worker.play("device", "SCAN alice")
        login.expect("$ ")
        self.assertTrue(self.machine.is_open)
        login.type("exit")
        login.end()


if __name__ == "__main__":
    unittest.main()
