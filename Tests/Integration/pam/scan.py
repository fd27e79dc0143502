"""While a reader waits for a finger: the module shows the line, watches the keys, and gives the terminal back."""

import json
import os
import select
import signal
import subprocess
import termios
import time
import unittest

import wire
from pamlab import (
    PAM_AUTH_ERR,
    PAM_AUTHINFO_UNAVAIL,
    PAM_PERM_DENIED,
    PAM_SILENT,
    PAM_SUCCESS,
    PAM_TTY,
    TEXT_INFO,
    Footprint,
    Lab,
    Talk,
    compiled,
)
from patience import Stopwatch
from personlab import RAW, Person

HANDLE = bytes(range(1, 17))
LINE = "sudo: place your finger on the reader, or press Enter"


def scan(peer, event, question=7, line="", **fields):
    peer.send("scan", 2, question=question, event=event, line=line, **{"stage": 0, "stages": 0, **fields})


def told(peer, seconds=10.0):
    """What the module sends next; None if it sends nothing for so long."""
    ready, _, _ = select.select([peer.socket], [], [], seconds)
    return peer.receive() if ready else None


def working_until(peer, seconds):
    """Sends `working`, as a daemon does while it waits. Returns what the module sends meanwhile,
    or None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        said = told(peer, 0.5)
        if said is not None:
            return said
        peer.send("working", 2)
    return None


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        self.addCleanup(self.no_faults)
        self.lab.stack("auth required {ours}")

    def no_faults(self):
        for daemon in self.lab.daemons:
            self.assertEqual(daemon.faults(), "")

    def login(self, answers=("right",), flags=0):
        """One authenticate. Returns its code, what was shown, and the state of the terminal at
        each prompt."""
        modes = []
        given = list(answers)

        def answer():
            try:
                modes.append(termios.tcgetattr(0)[3])
            except termios.error:
                modes.append(None)
            return given.pop(0)

        talk = Talk([answer] * len(given))
        before = Footprint()
        with self.lab.transaction("lab", talk=talk) as pam:
            code = pam.authenticate(flags)
        return {"code": code, "messages": talk.messages, "modes": modes, "clean": before == Footprint()}

    def person(self, work=None, **more):
        person = Person(work or self.login, **more)
        self.addCleanup(person.close)
        return person

    def assertRestored(self, person):
        self.assertEqual(person.modes(), person.before)

    def asks_after(self, ended_by=None):
        """A daemon whose scan ends with an abort, and which then asks for the passcode."""

        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            said = working_until(peer, 10)
            scan(peer, "ended")
            answer = peer.ask(question=8)
            right = answer.name == "reply" and answer.payload == b"right"
            peer.verdict("success" if right and said is not None else "authError", handle=HANDLE)

        return self.lab.daemon(handler)


class Finger(Case):
    def matches(self, touched=None, **more):
        """`touched`: the finger waits until something can be read there."""
        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            while touched is not None and not select.select([touched], [], [], 0.5)[0]:
                peer.send("working", 2)
            scan(peer, "retry", line="too short: once more")
            scan(peer, "ended", **more)
            peer.verdict("success", handle=HANDLE)

        return self.lab.daemon(handler)

    def test_match(self):
        """a match lets the person in: the line is shown, nothing is asked, nothing is left behind"""
        touched, touches = os.pipe()
        for end in (touched, touches):
            self.addCleanup(os.close, end)
        daemon = self.matches(touched)
        person = self.person()
        person.wait(person.is_raw)
        os.write(touches, b"+")
        done = person.result()
        self.assertEqual(done["code"], PAM_SUCCESS)
        self.assertEqual(done["messages"], [[TEXT_INFO, LINE], [TEXT_INFO, "too short: once more"]])
        self.assertTrue(done["clean"])
        self.assertRestored(person)
        self.assertEqual(daemon.messages("abort"), [])

    def test_confirmed(self):
        """a login by finger is confirmed at setcred"""
        daemon = self.matches()
        with self.lab.transaction("lab") as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
            pam.setcred()
        self.assertEqual([each.handle for each in daemon.messages("confirm")], [HANDLE])

    def test_silent(self):
        """PAM_SILENT, as with sudo: the line takes the place of a question, and is shown"""
        self.matches()
        done = self.login(flags=PAM_SILENT)
        self.assertEqual(done["code"], PAM_SUCCESS)
        self.assertEqual(done["messages"][0], (TEXT_INFO, LINE))

    def test_ended_line(self):
        """the last line of a scan is shown when the terminal has been given back"""
        self.matches(line="no match: 2 tries left")
        self.assertEqual(self.login()["messages"][-1], (TEXT_INFO, "no match: 2 tries left"))

    def test_two_scans(self):
        """a second scan with a number of its own, and a second touch of the same one"""

        def handler(peer):
            peer.greet()
            for question in (7, 8):
                for _ in range(2):
                    scan(peer, "place", question=question, line="finger")
                scan(peer, "ended", question=question)
            peer.verdict("success", handle=HANDLE)

        self.lab.daemon(handler)
        done = self.login()
        self.assertEqual((done["code"], len(done["messages"])), (PAM_SUCCESS, 4))

    def test_options(self):
        """the options arrive; an unknown one is named in the journal and changes nothing"""
        daemon = self.matches()
        for options, sent in (
            ("", ("byService", 0)),
            ("fingerprint=first timeout=15", ("first", 15)),
            ("fingerprint=on-empty timeout=120", ("onEmpty", 120)),
            ("fingerprint=only timeout=1", ("only", 1)),
            ("fingerprint=off timeout=0", ("off", 0)),
            ("fingerprint=always timeout=121", ("byService", 0)),
            ("fingerprint= timeout=", ("byService", 0)),
            ("fingerprint timeout=-1", ("byService", 0)),
            ("timeout=99999999999999999999", ("byService", 0)),
            ("timeout=5s", ("byService", 0)),
        ):
            with self.subTest(options):
                self.lab.stack(f"auth required {{ours}} {options}")
                self.login()
                request = daemon.messages("authenticate")[-1]
                self.assertEqual((request.finger, request.fingerSeconds), sent)


class Keys(Case):
    def test_give_up(self):
        """Enter, as either of its characters, and Ctrl-C lead to the passcode; the terminal is as before when it
        asks"""
        for key in (b"\r", b"\n", b"\x03"):
            with self.subTest(key):
                daemon = self.asks_after()
                person = self.person()
                person.press(key)
                done = person.result()
                self.assertEqual(done["code"], PAM_SUCCESS)
                self.assertEqual(done["modes"], [person.before[3]])
                self.assertTrue(done["clean"])
                self.assertRestored(person)
                aborts = daemon.messages("abort")
                self.assertEqual([(each.question, each.reason) for each in aborts], [(7, "cancelled")])

    def test_other_keys(self):
        """other keys mean nothing, are not shown, and are not input for a program afterwards"""

        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            said = working_until(peer, 1.5)
            scan(peer, "ended")
            peer.verdict("authError" if said else "success", handle=HANDLE)

        self.lab.daemon(handler)

        def work():
            done = self.login()
            done["left"] = select.select([0], [], [], 0.2)[0] != []
            return done

        person = self.person(work)
        person.press(b"my passcode \x1a\x1c\x04\x7f\x1b[A\t")
        done = person.result()
        self.assertEqual((done["code"], done["left"]), (PAM_SUCCESS, False))
        self.assertNotIn(b"pass", person.shown())
        self.assertRestored(person)

    def test_typed_before(self):
        """an Enter typed before the line was shown does not count for it"""

        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            said = working_until(peer, 1.0)
            scan(peer, "ended")
            peer.verdict("authError" if said else "success", handle=HANDLE)

        self.lab.daemon(handler)
        person = self.person(ready=lambda person: os.write(person.terminal, b"ls\n\n"))
        self.assertEqual(person.result()["code"], PAM_SUCCESS)

    def test_crossing(self):
        """Enter that crosses with a match: the daemon decides"""

        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            told(peer)
            scan(peer, "ended")
            peer.verdict("success", handle=HANDLE)

        self.lab.daemon(handler)
        person = self.person()
        person.press(b"\r")
        self.assertEqual(person.result()["code"], PAM_SUCCESS)

    def test_once(self):
        """Enter is sent once"""
        daemon = self.asks_after()
        person = self.person()
        person.press(b"\r\r\r\x03")
        self.assertEqual(person.result()["code"], PAM_SUCCESS)
        self.assertEqual(len(daemon.messages("abort")), 1)


class Restored(Case):
    """However the scan ends, the terminal is as before."""

    def faults(self, then, least, most, code=PAM_AUTHINFO_UNAVAIL):
        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            told(peer, 0.3)
            then(peer)

        daemon = self.lab.daemon(handler)
        person = self.person()
        person.wait(person.is_raw)
        stopwatch = Stopwatch()
        done = person.result()
        stopwatch.stop()
        self.assertEqual(done["code"], code)
        self.assertTrue(done["clean"])
        self.assertRestored(person)
        self.assertGreaterEqual(stopwatch.seconds, least)
        stopwatch.assert_within(most)
        return daemon

    def test_hangs_up(self):
        """the daemon hangs up"""
        self.faults(lambda peer: peer.close(), 0, 2)

    def test_dies(self):
        """the daemon is killed"""
        self.faults(lambda peer: os.kill(os.getpid(), signal.SIGKILL), 0, 2)

    def test_nonsense(self):
        """the daemon sends nonsense"""
        self.faults(lambda peer: peer.send_raw(b"\xff" * 20), 0, 2)

    def test_silent(self):
        """the daemon falls silent: five seconds"""
        self.faults(lambda peer: peer.hang(), 4, 7)

    def test_drips(self):
        """half a frame and no more: five seconds"""
        self.faults(lambda peer: (peer.send_raw(wire.encode("working", 2)[:5]), peer.hang()), 4, 7)

    def test_timeout(self):
        """nobody touched the reader: the daemon ends the scan, and refuses"""
        self.faults(lambda peer: (scan(peer, "ended"), peer.verdict("authError")), 0, 2, PAM_AUTH_ERR)

    def test_refused(self):
        """a refusal in the middle of a scan"""
        self.faults(lambda peer: peer.send("refused", 2, code=28, message="no reader"), 0, 2)

    def ended_by(self, number):
        self.lab.daemon(lambda peer: (peer.greet(), scan(peer, "place", line=LINE), working_until(peer, 10)))
        person = self.person()
        person.wait(person.is_raw)
        os.kill(person.pid, number)
        return person

    def test_terminated(self):
        """a signal that ends the process does so, after the terminal was given back"""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGQUIT):
            with self.subTest(number):
                person = self.ended_by(number)
                self.assertIsNone(person.result())
                self.assertEqual(os.WTERMSIG(person.status), number)
                self.assertRestored(person)

    def test_stopped(self):
        """a stopped process gives the terminal back to the shell, and takes it again when it goes on"""
        self.asks_after()
        read, write = os.pipe()
        self.addCleanup(os.close, read)

        # The leader of a session is an orphan, which cannot be stopped; a process below it can.
        def work():
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
                os.tcsetpgrp(0, os.getpid())
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})
                os._exit(0 if self.login()["code"] == PAM_SUCCESS else 1)
            while termios.tcgetattr(0)[3] & RAW:
                time.sleep(0.005)
            os.kill(child, signal.SIGTSTP)
            _, status = os.waitpid(child, os.WUNTRACED)
            stopped, modes = os.WIFSTOPPED(status), termios.tcgetattr(0)[3]
            os.write(write, b"+")
            os.kill(child, signal.SIGCONT)
            _, status = os.waitpid(child, 0)
            return {"stopped": stopped, "modes": modes, "code": status}

        person = self.person(work)
        os.close(write)
        self.assertEqual(os.read(read, 1), b"+")
        person.press(b"\r")
        self.assertEqual(person.result(), {"stopped": True, "modes": person.before[3], "code": 0})
        self.assertRestored(person)

    def test_hung_up(self):
        """a terminal that goes away counts as given up"""
        daemon = self.asks_after()

        def work():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            return self.login()

        person = self.person(work)
        person.wait(person.is_raw)
        os.close(person.terminal)
        self.assertEqual(person.result()["code"], PAM_SUCCESS)
        self.assertEqual(len(daemon.messages("abort")), 1)

    def test_others(self):
        """if another program changed the terminal's settings meanwhile, they stay"""

        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            working_until(peer, 1.0)
            scan(peer, "ended")
            peer.verdict("success", handle=HANDLE)

        self.lab.daemon(handler)
        person = self.person()
        person.wait(person.is_raw)
        theirs = person.modes()
        theirs[3] |= termios.ECHO
        termios.tcsetattr(person.terminal, termios.TCSANOW, theirs)
        self.assertEqual(person.result()["code"], PAM_SUCCESS)
        self.assertEqual(person.modes(), theirs)


class Elsewhere(Case):
    """Without a terminal of ours, the module only waits for the scan."""

    def waits(self, work):
        def handler(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            said = working_until(peer, 1.0)
            scan(peer, "ended")
            peer.verdict("authError" if said else "success", handle=HANDLE)

        self.lab.daemon(handler)
        return work()

    def forked(self, before):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            before()
            os.write(write, json.dumps(self.login()).encode())
            os._exit(0)
        os.close(write)
        answer = b""
        while part := os.read(read, 65536):
            answer += part
        os.waitpid(child, 0)
        return json.loads(answer)

    def test_none(self):
        """no controlling terminal, though its input is a terminal with an Enter in it"""

        def before():
            master, slave = os.openpty()
            os.setsid()
            os.write(master, b"\n")
            os.dup2(slave, 0)
            # Opened before setsid, or it would have become the controlling one.
            self.master = master

        done = self.waits(lambda: self.forked(before))
        self.assertEqual(done["code"], PAM_SUCCESS)

    def test_background(self):
        """in the background of a terminal the module leaves it alone, and no process is stopped"""

        def work():
            return self.forked(lambda: os.setpgid(0, 0))

        def run():
            person = self.person(work)
            raw = False
            while not select.select([person.answers], [], [], 0.01)[0]:
                raw = raw or person.is_raw()
            return person, raw, person.result()

        person, raw, done = self.waits(run)
        self.assertEqual((done["code"], raw), (PAM_SUCCESS, False))
        self.assertRestored(person)


class Presence(Case):
    """What the module reports about where the person is."""

    def said(self, work=None):
        daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.verdict("ignore")))
        work() if work else self.login()
        (request,) = daemon.messages("authenticate")
        return request.presence

    def in_child(self, before, items=()):
        """Runs it in a child, without the terminal that the tests may have."""

        def work():
            pid = os.fork()
            if pid == 0:
                try:
                    before()
                    with self.lab.transaction("lab", talk=Talk(["right"]), items=dict(items)) as pam:
                        pam.authenticate()
                finally:
                    os._exit(0)
            os.waitpid(pid, 0)

        return self.said(work)

    def at_terminal(self, before=lambda: None):
        def work():
            before()
            fd = Footprint()
            self.login()
            return fd == Footprint()

        def run():
            person = self.person(work)
            self.assertEqual(person.result(), True)
            self.assertRestored(person)

        return self.said(run)

    @staticmethod
    def pipe():
        read, _ = os.pipe()
        os.dup2(read, 0)

    def test_in_front(self):
        """its input is its terminal, and it is in the foreground there"""
        self.assertEqual(self.at_terminal(), "inFront")

    def test_aside(self):
        """a terminal, and a pipe, a file, another terminal or nothing as its input"""

        def another():
            self.master, slave = os.openpty()
            os.dup2(slave, 0)

        for before in (self.pipe, another, lambda: os.dup2(os.open("/dev/null", os.O_RDWR), 0), lambda: os.close(0)):
            self.assertEqual(self.at_terminal(before), "aside")

    def test_background(self):
        """in the background of its terminal nobody counts as present"""

        def work():
            self.forked_group()

        self.assertEqual(self.said(lambda: self.person(work).result()), "unseen")

    def forked_group(self):
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            self.login()
            os._exit(0)
        os.waitpid(pid, 0)

    def test_unseen(self):
        """no controlling terminal, also where the input is some terminal"""

        def another():
            os.setsid()
            self.master, slave = os.openpty()
            os.dup2(slave, 0)

        def none():
            os.setsid()
            self.pipe()

        for before in (none, another):
            self.assertEqual(self.in_child(before), "unseen")
        self.assertEqual(self.in_child(none, {PAM_TTY: "/dev/tty1"}), "unseen")

    def test_display(self):
        """the terminal's name is a display's: a greeter"""
        self.assertEqual(self.in_child(os.setsid, {PAM_TTY: ":0"}), "inFront")


class Sequence(Case):
    """Messages of a scan in an order that cannot be."""

    def says(self, *steps):
        def handler(peer):
            peer.greet()
            for step in steps:
                step(peer)
            peer.hang()

        self.lab.daemon(handler)
        return self.login()["code"]

    def test_nonsense(self):
        """messages of a scan out of order end the exchange, and let nobody in"""

        def place(number=7):
            return lambda peer: scan(peer, "place", question=number)

        def other(event, number=7):
            return lambda peer: scan(peer, event, question=number)

        def success(peer):
            peer.verdict("success", handle=HANDLE)

        for name, steps in {
            "ended before it began": [other("ended"), success],
            "a stage before it began": [other("stage"), success],
            "another one's end": [place(), other("ended", 8), success],
            "a second one within": [place(), place(8), success],
            "success within": [place(), success],
            "a question within": [place(), lambda peer: peer.ask(question=8), success],
            "the same again": [place(), other("ended"), place(), other("ended"), success],
            "the number of a question": [lambda peer: peer.ask(question=7), place(), other("ended"), success],
            "an event that is none": [
                lambda peer: peer.send_raw(wire.encode("scan", 2, question=7, event="place").replace(
                    b"\x07\x00\x00\x00\x01", b"\x07\x00\x00\x00\x05")),
                success,
            ],
            "without end": [place()] + [lambda peer: scan(peer, "retry", line="again")] * 100,
        }.items():
            with self.subTest(name):
                self.assertEqual(self.says(*steps), PAM_AUTHINFO_UNAVAIL)

    def test_not_asked(self):
        """where nobody may be asked no finger is waited for, and no terminal is touched"""

        def handler(peer):
            request = peer.greet()
            if request.name == "authenticate":
                peer.ask()
                return peer.verdict("success", handle=HANDLE)
            scan(peer, "place", line=LINE)
            peer.receive()
            scan(peer, "ended")
            peer.verdict("success", handle=HANDLE)

        daemon = self.lab.daemon(handler)

        def work():
            with self.lab.transaction("lab", talk=Talk(["right"])) as pam:
                pam.authenticate()
                pam.setcred()
                return pam.open_session()

        self.lab.stack("auth required {ours}", "session required {ours}")
        person = self.person(work)
        raw = False
        while not select.select([person.answers], [], [], 0.01)[0]:
            raw = raw or person.is_raw()
        self.assertEqual(person.result(), PAM_PERM_DENIED)
        self.assertFalse(raw)
        self.assertEqual(len(daemon.messages("abort")), 2)


class Valgrind(Case):
    def test_scan(self):
        """no leak and no bad access: matched, given up, refused, gone"""
        driver = compiled("labdriver.c", "labdriver", "-lpam")
        report = os.path.join(self.lab.folder, "valgrind")
        words = [
            *("valgrind", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"),
            *("--show-leak-kinds=definite,indirect", "--track-fds=no", "--keep-debuginfo=yes", "--log-file=" + report),
            *(driver, self.lab.services, "lab", "root", "1", "right"),
        ]

        def matched(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            scan(peer, "retry", line="again")
            scan(peer, "ended")
            peer.verdict("success", handle=HANDLE)

        def gone(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            peer.send_raw(b"\xff" * 20)

        def refused(peer):
            peer.greet()
            scan(peer, "place", line=LINE)
            peer.send("refused", 2, code=28, message="no reader")

        for name, handler, code, press in (
            ("matched", matched, "0", b""),
            ("gone", gone, "9", b""),
            ("refused", refused, "9", b""),
            ("given up", None, "0", b"\r"),
        ):
            with self.subTest(name):
                self.asks_after() if handler is None else self.lab.daemon(handler)

                def work():
                    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
                    return done.returncode, done.stdout

                person = self.person(work)
                if press:
                    person.wait(person.is_raw, 60)
                    os.write(person.terminal, press)
                status, out = person.result(120)
                with open(report) as file:
                    self.assertEqual(status, 0, file.read())
                self.assertEqual(out.split()[0], code)
                self.assertRestored(person)


if __name__ == "__main__":
    unittest.main()
