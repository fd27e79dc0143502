"""screen: a locker runs, and its session counts as locked as long. logind is played; what becomes of the store is in
EndToEnd/screen_lock.py."""

import os
import resource
import signal
import subprocess
import time
import unittest

from clilab import INTERRUPT, Lab
from daemonlab import wait_until
from screenlab import SESSION, SleepyLogind, path

NEEDS_ROOT = True
# A locker that goes to the background once it has locked, as `swaylock -f` does.
FORKING = 'sleep "$1" & echo $! > "$2"; exit 0'


class Screen(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("lock", lambda daemon, request: daemon.done("the store is locked"))
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        self.logind.appears("auto")
        self.logind._object(path("auto")).AddMethod(
            SESSION, "SetLockedHint", "b", "", f"self.UpdateProperties('{SESSION}', {{'LockedHint': args[0]}})")
        self.mark = os.path.join(self.lab.folder, "mark")

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def is_locked(self):
        import dbus

        session = self.logind.connection.get_object("org.freedesktop.login1", path("auto"))
        return bool(dbus.Interface(session, "org.freedesktop.DBus.Properties").Get(SESSION, "LockedHint"))

    def run_it(self, *command, **more):
        return self.lab.run("screen", *command, env={**self.logind.env, **more.pop("env", {})}, **more)

    def start(self, *command, env=None, **more):
        """The same, and it goes on while the test looks."""
        process = subprocess.Popen(
            self.lab.command("screen", *command), env=self.lab.environment(**self.logind.env, **(env or {})), **more)

        def end():
            process.terminate()
            process.wait()

        self.addCleanup(end)
        return process

    def while_it_runs(self, *command):
        process = self.start(*command)
        wait_until(lambda: os.path.exists(self.mark), "the locker runs")
        return process

    def test_while_it_runs(self):
        """the session counts as locked while the locker runs, and no longer"""
        process = self.while_it_runs("--", "sh", "-c", f"touch {self.mark}; exec sleep 60")
        self.assertTrue(self.is_locked())
        process.terminate()
        self.assertEqual(process.wait(10), 128 + signal.SIGTERM)
        self.assertFalse(self.is_locked())
        self.assertEqual(self.lab.requests, [])

    def test_status(self):
        """the locker's status is ours: of its end, and of a signal"""
        for command, status in (
            ("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -KILL $$", 137), ("kill -SEGV $$", 139),
        ):
            with self.subTest(command):
                done = self.run_it("--", "sh", "-c", command)
                self.assertEqual((done.status, done.out, done.err), (status, b"", b""))
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
                    self.assertFalse(self.is_locked())

    def test_it_is_itself(self):
        """the locker gets its arguments, input, output, descriptors and limits as if it were started alone"""
        script = 'printf "%s|" "$@"; cat; echo problem >&2; ulimit -Sc; ulimit -Hc; grep SigBlk /proc/self/status'
        arguments = ["a b", "", "-x", "--", "é\udcff"]

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (4096, 8192))

        done = self.run_it("--", "sh", "-c", script, "sh", *arguments, input=b"typed\n", preexec_fn=limit)
        expected = "a b||-x|--|é".encode() + b"\xff|typed\n8\n16\nSigBlk:\t0000000000000000\n"
        self.assertEqual((done.status, done.out, done.err), (0, expected, b"problem\n"))

    def test_background(self):
        """a locker that goes to the background is waited for, too"""
        process = self.while_it_runs("--", "sh", "-c", FORKING, "sh", "60", self.mark)
        self.assertTrue(self.is_locked())
        self.assertIsNone(process.poll())
        wait_until(lambda: open(self.mark).read().strip(), "its process is there")
        os.kill(int(open(self.mark).read()), signal.SIGTERM)
        self.assertEqual(process.wait(10), 0)
        self.assertFalse(self.is_locked())

    def detached(self, *command):
        """Its status, once it has returned. What the locker writes goes where it went before."""
        return self.start("--detach", "--", *command, stdin=subprocess.DEVNULL).wait(30)

    def test_detached(self):
        """detached, it returns once the locker is in the background, and the session counts as locked until its end"""
        began = time.monotonic()
        self.assertEqual(self.detached("sh", "-c", "sleep 0.3; " + FORKING, "sh", "60", self.mark), 0)
        self.assertGreater(time.monotonic() - began, 0.3)
        self.assertTrue(self.is_locked())
        os.kill(int(open(self.mark).read()), signal.SIGTERM)
        wait_until(lambda: not self.is_locked(), "the session is not locked any more")

    def test_detached_in_front(self):
        """detached with a locker that never goes to the background, it returns after a second"""
        self.assertEqual(self.detached("sh", "-c", f"echo $$ > {self.mark}; exec sleep 60"), 0)
        self.assertTrue(self.is_locked())
        os.kill(int(open(self.mark).read()), signal.SIGTERM)
        wait_until(lambda: not self.is_locked(), "the session is not locked any more")

    def test_detached_and_failed(self):
        """a detached locker that fails gives its status"""
        self.assertEqual(self.detached("sh", "-c", "exit 9"), 9)
        self.assertFalse(self.is_locked())

    def test_signals(self):
        """what is sent to us goes to the locker; what a terminal sends to both ends the locker alone"""
        script = f'trap "exit 4" USR1; touch {self.mark}; while :; do sleep 0.05; done'
        process = self.while_it_runs("--", "sh", "-c", script)
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(10), 4)
        os.remove(self.mark)
        script = script.replace("USR1", "INT")
        with self.lab.terminal("screen", "--", "sh", "-c", script, env=self.logind.env) as screen:
            wait_until(lambda: os.path.exists(self.mark), "the locker runs")
            self.assertTrue(self.is_locked())
            screen.type(INTERRUPT)
            self.assertEqual(screen.end(), 4)
            self.assertFalse(self.is_locked())

    def test_sleep_goes_on(self):
        """the descriptor that xss-lock waits for is the locker's alone"""
        reading, writing = os.pipe()
        closing = 'eval "exec $XSS_SLEEP_LOCK_FD>&-"; exec sleep 60'
        process = self.start(
            "--", "bash", "-c", closing, pass_fds=[writing], env={"XSS_SLEEP_LOCK_FD": str(writing)})
        os.close(writing)
        os.set_blocking(reading, False)
        # Everybody has closed it.
        wait_until(lambda: self.read_or_none(reading) == b"", "nobody has it any more")
        self.assertIsNone(process.poll())
        os.close(reading)

    @staticmethod
    def read_or_none(descriptor):
        try:
            return os.read(descriptor, 1)
        except BlockingIOError:
            return None

    def test_locked_already(self):
        """where the session counts as locked already, the daemon would hear nothing new: the store is locked by us"""
        self.logind.hints("auto", locked=True)
        self.assertEqual(self.run_it("--", "true").status, 0)
        self.assertEqual([request.name for request in self.lab.requests], ["lock"])
        self.assertFalse(self.is_locked())

    def test_without_logind(self):
        """without logind the store is locked, a line says so, and the locker runs"""
        nowhere = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + os.path.join(self.lab.folder, "nothing")}
        done = self.run_it("--", "sh", "-c", "echo runs; exit 5", env=nowhere)
        self.assertEqual((done.status, done.out), (5, b"runs\n"))
        self.assertIn(b"systemd-logind was not told that the screen is locked (", done.err)
        self.assertIn(b"the store is locked now", done.err)
        self.assertEqual([request.name for request in self.lab.requests], ["lock"])

    def test_without_daemon(self):
        """without the daemon nothing is open, and the locker runs; a daemon that refuses is told of, and it runs too"""
        self.lab.stop_listening()
        nowhere = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + os.path.join(self.lab.folder, "nothing")}
        done = self.run_it("--", "sh", "-c", "exit 5", env=nowhere)
        self.assertEqual(done.status, 5)
        self.assertEqual(done.err.count(b"\n"), 1, done.err)

    def test_refused(self):
        """a lock that is refused is told of, and the locker runs"""
        self.lab.answer("lock", lambda daemon, request: daemon.refuse(33, "the disk is full"))
        self.logind.hints("auto", locked=True)
        done = self.run_it("--", "sh", "-c", "exit 5")
        self.assertEqual(done.status, 5)
        self.assertIn(b"the disk is full", done.err)

    def test_usage(self):
        """no locker named, and options of the locker without --"""
        self.assertEqual(self.run_it().status, 2)
        done = self.run_it("swaylock", "-f")
        self.assertEqual(done.status, 2)
        self.assertIn(b"goes behind --", done.err)
