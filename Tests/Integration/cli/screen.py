"""screen: a locker runs, and its session counts as locked as long. logind is played; what becomes of the store is in
EndToEnd/screen_lock.py."""

import contextlib
import os
import random
import resource
import signal
import socket
import subprocess
import time
import unittest

from clilab import INTERRUPT, Lab
from daemonlab import wait_until
from screenlab import SESSION, SleepyLogind, path
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 240
# More by hand.
ROUNDS = int(os.environ.get("ROUNDS") or 12)
# A locker that goes to the background once it has locked, as `swaylock -f` does, and its exit status.
FORKING = 'sleep 1000 & echo $! > "$1"; exit "$2"'


class Screen(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("lock", lambda daemon, request: daemon.done("the store is locked"))
        self.mark, self.told = (os.path.join(self.lab.folder, name) for name in ("mark", "told"))
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        self.session()

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def session(self, kind="x11", seat="seat0", state="active"):
        """The session that the tool is in; what it is told is noted."""
        import dbus

        self.logind.appears("auto")
        mock = self.logind._object(path("auto"))
        mock.AddProperties(SESSION, {
            "Type": kind, "State": state, "Seat": dbus.Struct((seat, dbus.ObjectPath("/")), signature="so")})
        mock.AddMethod(
            SESSION, "SetLockedHint", "b", "",
            f"self.UpdateProperties('{SESSION}', {{'LockedHint': args[0]}})\n"
            f"open('{self.told}', 'a').write('yes ' if args[0] else 'no ')")

    def is_locked(self):
        import dbus

        session = self.logind.connection.get_object("org.freedesktop.login1", path("auto"))
        return bool(dbus.Interface(session, "org.freedesktop.DBus.Properties").Get(SESSION, "LockedHint"))

    def was_told(self):
        with contextlib.suppress(FileNotFoundError), open(self.told) as file:
            return file.read().split()
        return []

    def asked(self):
        return [request.name for request in self.lab.requests]

    def environment(self, **more):
        return {**self.logind.env, "XDG_RUNTIME_DIR": self.lab.folder, **more}

    def run_it(self, *command, env=None, **more):
        return self.lab.run("screen", *command, env=self.environment(**(env or {})), **more)

    def start(self, *command, env=None, words=None, **more):
        """The same, and it goes on while the test looks."""
        process = subprocess.Popen(
            words or self.lab.command("screen", *command), env=self.lab.environment(**self.environment(**(env or {}))),
            **more)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()

        self.addCleanup(end)
        return process

    def marked(self):
        """What the locker has written, once it has."""
        def text():
            with contextlib.suppress(FileNotFoundError), open(self.mark) as file:
                return file.read().strip()
            return ""

        wait_until(text, "the locker runs")
        return text()

    def running(self, *way, script="exec sleep 1000", **more):
        """A locker that runs, and the session counts as locked."""
        process = self.start(*way, "--", "sh", "-c", f"echo $$ > {self.mark}; {script}", **more)
        locker = int(self.marked())
        self.addCleanup(self.end, locker)
        wait_until(self.is_locked, "the session counts as locked")
        return process, locker

    def end(self, process, number=signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)

    def is_over(self):
        wait_until(lambda: not self.is_locked(), "the session is not locked any more")

    # as long as it runs

    def test_while_it_runs(self):
        """the session counts as locked while the locker runs, and no longer"""
        process, locker = self.running()
        self.assertEqual(self.asked(), [])
        self.end(locker, signal.SIGTERM)
        self.assertEqual(process.wait(30), 128 + signal.SIGTERM)
        self.assertEqual(self.was_told(), ["yes", "no"])

    def test_status(self):
        """the locker's status is ours"""
        for status in (0, 3, 255):
            with self.subTest(status):
                done = self.run_it("--", "sh", "-c", f"exit {status}")
                self.assertEqual((done.status, done.out, done.err), (status, b"", b""))
                self.assertFalse(self.is_locked())
        self.assertEqual(self.asked(), [])

    def test_crash(self):
        """a locker that a signal ends has unlocked nothing: the store is locked, whatever the policy says of screens"""
        for number in (signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number):
                self.lab.requests.clear()
                done = self.run_it("--", "sh", "-c", f"kill -{number:d} $$")
                self.assertEqual((done.status, done.out, done.err), (128 + number, b"", b""))
                self.assertEqual(self.asked(), ["lock"])
                self.assertFalse(self.is_locked())

    def test_not_there(self):
        """a locker that is not there, or is no program, leaves the session as it was, and says so"""
        plain = os.path.join(self.lab.folder, "plain")
        with open(plain, "w"):
            pass
        for command, status, reason in (("no-such-locker", 127, b"No such file"), (plain, 126, b"Permission denied")):
            for way in ([], ["--detach"]):
                with self.subTest(command, way=way):
                    done = self.run_it(*way, "--", command)
                    self.assertEqual(done.status, status, done)
                    self.assertIn(b"appvault: the screen is not locked, because " + command.encode(), done.err)
                    self.assertIn(reason, done.err)
                    self.assertEqual(self.was_told(), [])

    def test_it_is_itself(self):
        """the locker gets its arguments, input, output, descriptors and limits as if it were started alone"""
        script = 'printf "%s|" "$@"; cat; echo problem >&2; ulimit -Sc; ulimit -Hc; grep SigBlk /proc/self/status'
        arguments = ["a b", "", "-x", "--", "é\udcff"]

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (4096, 8192))

        done = self.run_it("--", "sh", "-c", script, "sh", *arguments, input=b"typed\n", preexec_fn=limit)
        expected = "a b||-x|--|é".encode() + b"\xff|typed\n8\n16\nSigBlk:\t0000000000000000\n"
        self.assertEqual((done.status, done.out, done.err), (0, expected, b"problem\n"))

    # in the background

    def test_background(self):
        """what a locker has left running is waited for, whatever its own status is"""
        for status in (0, 3):
            with self.subTest(status):
                process = self.start("--", "sh", "-c", FORKING, "sh", self.mark, str(status))
                left = int(self.marked())
                self.addCleanup(self.end, left)
                wait_until(self.is_locked, "the session counts as locked")
                # Its former parent has ended.
                wait_until(lambda: self.parent(left) == process.pid, "it was adopted")
                time.sleep(0.3)
                self.assertTrue(self.is_locked())
                self.assertIsNone(process.poll())
                # What is sent to us goes to what is left.
                process.terminate()
                self.assertEqual(process.wait(30), status)
                self.is_over()
                os.remove(self.mark)

    @staticmethod
    def parent(process):
        with open(f"/proc/{process}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])

    def test_wrapper(self):
        """a script that is ended while its locker goes on: the session counts as locked until that has ended"""
        process, wrapper = self.running(script=f"sleep 1000 & echo $! > {self.mark}.own; wait; exit 0")
        process.terminate()
        with open(self.mark + ".own") as file:
            left = int(file.read())
        self.addCleanup(self.end, left)
        wait_until(lambda: self.parent(left) == process.pid, "it was adopted")
        time.sleep(0.3)
        self.assertTrue(self.is_locked())
        self.end(left)
        self.assertEqual(process.wait(30), 143)
        self.is_over()

    def test_detached(self):
        """detached, it returns with the locker's status once that is in the background; the session counts as locked"""
        # A locker for which it loses patience would give 0.
        for status in (0, 3):
            with self.subTest(status):
                process = self.start("--detach", "--", "sh", "-c", FORKING, "sh", self.mark, str(status))
                left = int(self.marked())
                self.addCleanup(self.end, left)
                self.assertEqual(process.wait(30), status)
                self.assertTrue(self.is_locked())
                self.end(left)
                self.is_over()
                os.remove(self.mark)

    @slow
    def test_detached_in_front(self):
        """detached with a locker that never goes to the background, it returns after 5 seconds"""
        began = time.monotonic()
        process, locker = self.running("--detach")
        self.assertEqual(process.wait(60), 0)
        self.assertGreater(time.monotonic() - began, 4.9)
        self.assertTrue(self.is_locked())
        self.end(locker, signal.SIGTERM)
        self.is_over()

    def test_detached_and_failed(self):
        """a detached locker that fails gives its status"""
        self.assertEqual(self.run_it("--detach", "--", "sh", "-c", "sleep 0.2; exit 9").status, 9)
        self.is_over()

    def test_nobody_waits(self):
        """detached, and whoever waited is killed, or has closed everything: the session's lock ends with the locker"""
        process, locker = self.running("--detach")
        process.kill()
        process.wait()
        time.sleep(0.2)
        self.assertTrue(self.is_locked())
        self.end(locker, signal.SIGTERM)
        self.is_over()
        os.remove(self.mark)
        words = self.lab.command("screen", "--detach", "--", "sh", "-c", f"'{FORKING}'", "sh", self.mark, "4")
        command = " ".join(words)
        process = self.start(words=["sh", "-c", f"exec {command} <&- >&- 2>&-"])
        self.assertEqual(process.wait(30), 4)
        self.assertTrue(self.is_locked())
        self.end(int(self.marked()))
        self.is_over()

    # who else is there

    def test_another(self):
        """a second locker for the same screen, which ends at once, ends nothing for the first"""
        process, locker = self.running()
        self.assertEqual(self.run_it("--", "sh", "-c", "exit 1").status, 1)
        self.assertTrue(self.is_locked())
        self.end(locker, signal.SIGTERM)
        process.wait(30)
        self.assertFalse(self.is_locked())
        self.assertEqual(self.was_told(), ["yes", "no"])

    def test_left_behind(self):
        """a session that still counts as locked is told anew, so that somebody hears it"""
        process, _ = self.running()
        process.kill()
        process.wait()
        self.assertTrue(self.is_locked())
        self.assertEqual(self.run_it("--", "sleep", "0.1").status, 0)
        self.assertEqual(self.was_told(), ["yes", "no", "yes", "no"])

    def test_children_of_others(self):
        """what ran in this process before has left a child, or does not hear of children: neither is waited for"""
        command = " ".join(self.lab.command("screen", "--", "sh", "-c", "'exit 6'"))
        process = self.start(words=["sh", "-c", f"sleep 1000 & echo $! > {self.mark}; exec {command}"])
        self.addCleanup(lambda: self.end(int(self.marked())))
        self.assertEqual(process.wait(30), 6)
        self.assertEqual(self.was_told(), ["yes", "no"])
        done = self.run_it(
            "--", "sh", "-c", "exit 7", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.status, 7)
        self.assertEqual(self.was_told(), ["yes", "no"] * 2)

    # signals

    def test_signals(self):
        """what is sent to us goes to the locker; what a terminal sends to both reaches it once"""
        script = f'trap "echo one >> {self.mark}.seen" {{}}; touch {self.mark}.trap; while :; do sleep 0.05; done'

        def seen():
            with contextlib.suppress(FileNotFoundError), open(self.mark + ".seen") as file:
                return file.read().split()
            return []

        def is_trapped():
            return os.path.exists(self.mark + ".trap")

        process, locker = self.running(script=script.format("USR1"))
        wait_until(is_trapped, "the locker waits for the signal")
        process.send_signal(signal.SIGUSR1)
        wait_until(seen, "the locker was told")
        self.end(locker)
        process.wait(30)
        for name in (self.mark, self.mark + ".seen", self.mark + ".trap"):
            os.remove(name)
        words = ["screen", "--", "sh", "-c", f"echo $$ > {self.mark}; " + script.format("INT")]
        with self.lab.terminal(*words, env=self.environment()) as screen:
            wait_until(is_trapped, "the locker waits for the signal")
            wait_until(self.is_locked, "the session counts as locked")
            screen.type(INTERRUPT)
            wait_until(seen, "the locker was told")
            time.sleep(0.3)
            self.assertEqual(seen(), ["one"])
            self.end(int(self.marked()))
            self.assertEqual(screen.end(), 137)
        self.assertFalse(self.is_locked())

    def test_signals_at_any_time(self):
        """signals at the beginning and at the end: the session never counts as locked when all is over"""
        dice = random.Random(time.time_ns())
        for _ in range(ROUNDS):
            process = self.start("--", "sleep", "1000", start_new_session=True)
            for _ in range(3):
                time.sleep(dice.random() * 0.02)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
            # Before it runs at all, a signal ends it like any other program.
            self.assertIn(process.wait(30), (143, -15))
            self.assertFalse(self.is_locked(), self.was_told())

    def test_sleep_goes_on(self):
        """the descriptor that xss-lock waits for is the locker's alone; one that is no more harms nothing"""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        closing = f'eval "exec $XSS_SLEEP_LOCK_FD>&-"; echo $$ > {self.mark}; exec sleep 1000'
        process = self.start(
            "--", "bash", "-c", closing, pass_fds=[writing], env={"XSS_SLEEP_LOCK_FD": str(writing)})
        self.addCleanup(lambda: self.end(int(self.marked())))
        os.close(writing)
        os.set_blocking(reading, False)
        wait_until(lambda: self.read_or_none(reading) == b"", "nobody has it any more")
        self.assertIsNone(process.poll())
        for number in range(3, 9):
            self.assertEqual(self.run_it("--", "true", env={"XSS_SLEEP_LOCK_FD": str(number)}).status, 0)

    @staticmethod
    def read_or_none(descriptor):
        try:
            return os.read(descriptor, 1)
        except BlockingIOError:
            return None

    # what is not there

    def untold(self, *command, **more):
        """logind cannot be told: the locker runs, and the store is locked."""
        self.lab.requests.clear()
        done = self.run_it("--", "sh", "-c", "echo runs; exit 5", **more)
        self.assertEqual((done.status, done.out), (5, b"runs\n"), done)
        self.assertEqual(self.asked(), ["lock"])
        return done.err

    def nowhere(self):
        return {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + os.path.join(self.lab.folder, "nothing")}

    def test_without_logind(self):
        """without logind, or with one that says no: the store is locked, a line says so, and the locker runs"""
        said = self.untold(env=self.nowhere())
        self.assertRegex(
            said, b"systemd-logind does not know that the screen is locked: .+. The store was locked instead.")
        self.logind._object(path("auto")).AddMethod(
            SESSION, "SetLockedHint", "b", "", "raise dbus.exceptions.DBusException('not allowed', name='a.b')")
        self.assertIn(b"not allowed", self.untold())

    def test_silent_bus(self):
        """a bus that does not answer: the locker runs before anybody waits for it"""
        with socket.socket(socket.AF_UNIX) as silent:
            place = os.path.join(self.lab.folder, "silent")
            silent.bind(place)
            silent.listen(8)
            process = self.start(
                "--", "sh", "-c", f"echo $$ > {self.mark}; exec sleep 1000",
                env={"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + place}, stderr=subprocess.PIPE)
            locker = int(self.marked())
            self.addCleanup(self.end, locker)
            self.assertEqual(self.asked(), [])
            wait_until(lambda: self.asked() == ["lock"], "the store was locked instead", 60)
            self.end(locker, signal.SIGTERM)
            self.assertEqual(process.wait(30), 143)
            self.assertIn(b"there was no answer", process.stderr.read())
            process.stderr.close()

    def test_no_screen(self):
        """a session without a screen, or one that is over, counts for nobody: the store is locked instead"""
        for how in ({"kind": "tty", "seat": ""}, {"state": "closing"}):
            with self.subTest(how):
                self.logind._mock().RemoveObject(path("auto"))
                self.session(**how)
                self.assertIn(b"this session has no screen", self.untold())
                self.assertEqual(self.was_told(), [])

    def test_debugging(self):
        """what systemd's programs write when they are asked for more is not taken for an answer"""
        done = self.run_it("--", "true", env={"SYSTEMD_LOG_LEVEL": "debug"})
        self.assertEqual((done.status, done.err), (0, b""))
        self.assertEqual(self.was_told(), ["yes", "no"])

    def test_without_daemon(self):
        """without the daemon nothing is open, and the locker runs"""
        self.lab.stop_listening()
        done = self.run_it("--", "sh", "-c", "exit 5", env=self.nowhere())
        self.assertEqual(done.status, 5)

    def test_refused(self):
        """a lock that is refused is told of, and the locker runs"""
        self.lab.answer("lock", lambda daemon, request: daemon.refuse(33, "the disk is full"))
        said = self.untold(env=self.nowhere())
        self.assertIn(b"the disk is full", said)
        self.assertNotIn(b"locked instead", said)

    def test_nobody_reads(self):
        """where nobody reads what it says, the locker runs all the same"""
        reading, writing = os.pipe()
        os.close(reading)
        process = self.start("--", "sh", "-c", f"echo $$ > {self.mark}; exit 5", env=self.nowhere(), stderr=writing)
        os.close(writing)
        self.assertEqual(process.wait(30), 5)
        self.marked()

    def test_usage(self):
        """no locker named, options of the locker without --, and --json"""
        self.assertEqual(self.run_it().status, 2)
        for words, said in (
            (["swaylock", "-f"], b"goes behind --"), (["--json", "--", "true"], b"does not go with screen"),
        ):
            done = self.run_it(*words)
            self.assertEqual(done.status, 2)
            self.assertIn(said, done.err + done.out)
