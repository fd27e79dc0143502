"""appvault-rules by itself: what it answers, whom it answers, and what it can no longer do when it looks at a
candidate."""

import os
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from daemonlab import IS_ROOT, as_uid, wait_until
from patience import Stopwatch
from ruleslab import CATASTROPHE, Worker, dictionary, frame, library, matches, question, read_answers, rejects
from slow import slow

SATISFIED, UNMET, CANNOT = ("satisfied", ""), ("unmet", ""), ("cannotRun", "")
class Judging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker()

    @classmethod
    def tearDownClass(cls):
        cls.worker.close()

    def test_patterns(self):
        """Match has to be found, Reject must not; by characters, anywhere unless anchored, as POSIX extends it"""
        for candidate, rule, wanted in [
            ("hunter2", matches("[0-9]"), SATISFIED),
            ("hunter", matches("[0-9]"), UNMET),
            ("hunter2", rejects("[0-9]"), UNMET),
            ("hunter", rejects("[0-9]"), SATISFIED),
            ("hunter", matches("^unt"), UNMET),
            ("hunter", matches("unt"), SATISFIED),
            ("hunter", matches("^(hu|x)n{1}t+er$"), SATISFIED),
            ("hunterhunter", rejects(r"(.{3,})\1"), UNMET),
            ("Hunter", matches("h"), UNMET),
            ("hunter", matches(""), SATISFIED),
            ("", matches("^$"), SATISFIED),
            ("été", matches("^.{3}$"), SATISFIED),
            ("été", matches("^[[:alpha:]]{3}$"), SATISFIED),
            ("пароль", matches("^[льопра]{6}$"), SATISFIED),
            # glibc has no ranges of characters beyond ASCII in C.UTF-8.
            ("пароль", matches("[а-я]"), CANNOT),
            ("密码", matches("^.{2}$"), SATISFIED),
            ("😀", matches("^.$"), SATISFIED),
            ("a b", matches("[[:space:]]"), SATISFIED),
            ("hunter", matches("("), CANNOT),
            ("hunter", rejects("("), CANNOT),
            ("hunter", rejects("[[:nothing:]]"), CANNOT),
            ("hunter", matches("a{1,2"), CANNOT),
        ]:
            with self.subTest(candidate=candidate, rule=rule):
                self.assertEqual(self.worker.judge(candidate, rule), [wanted])

    def test_memory(self):
        """A pattern that needs more memory than there is cannot run, or uses up its second"""
        found = self.worker.judge("a", matches("a"), matches("((((a{1,255}){1,255}){1,255}){1,255})"))
        self.assertIn(found, ([SATISFIED, CANNOT], [SATISFIED]))

    def test_dictionary(self):
        """libpwquality's opinion comes with its words; a word it does not know passes, whatever our user is"""
        for candidate, wanted in [
            ("kJ7#vb2Lqx", SATISFIED),
            ("correct horse battery", SATISFIED),
            ("peggy1", ("unmet", "it is based on a dictionary word")),
            ("abcdefgh", ("unmet", "it is too simplistic/systematic")),
            ("racecar racecar", ("unmet", "The password is a palindrome")),
            ("a1B", ("unmet", "The password is shorter than 6 characters")),
        ]:
            with self.subTest(candidate=candidate):
                self.assertEqual(self.worker.judge(candidate, dictionary()), [wanted])

    def test_order(self):
        """Every rule gets its answer, in the order of the question"""
        found = self.worker.judge("peggy1", matches("1"), dictionary(), rejects("e"), matches("("), rejects("x"))
        self.assertEqual(
            found, [SATISFIED, ("unmet", "it is based on a dictionary word"), UNMET, CANNOT, SATISFIED])
        self.assertEqual(self.worker.judge("x", *[matches("x")] * 255), [SATISFIED] * 255)
        longest = "y" * 1024
        self.assertEqual(self.worker.judge("x" * 1024, *[rejects(longest)] * 100), [SATISFIED] * 100)

    def test_second(self):
        """A pattern that never ends is stopped after its second; what was judged before it is answered"""
        stopwatch = Stopwatch()
        self.assertEqual(self.worker.judge("a" * 64, matches("a"), matches(CATASTROPHE), matches("a")), [SATISFIED])
        self.assertGreater(stopwatch.seconds, 0.5)
        stopwatch.assert_within(3)

    def test_silence(self):
        """A peer that connects and sends nothing, or half a question, is disconnected after a second"""
        for data in (b"", question("hunter2", [matches("x")])[:-1]):
            stopwatch = Stopwatch()
            self.assertEqual(self.worker.ask(data), [])
            stopwatch.assert_within(3)

    def test_nonsense(self):
        """Bytes that are no question get no answer, and the next one is judged"""
        good = question("hunter2", [matches("x")])
        body = good[10:]
        bad = {
            "type": frame(0x61, body), "tag": frame(0x60, body, tag=1), "more": good + b"x",
            "trailing": frame(0x60, body + b"x"), "short": frame(0x60, body[:-1]), "empty": frame(0x60, b""),
            "huge": struct.pack("<IHI", 0xFFFFFFFF, 0x60, 0), "no rules": question("hunter2", []),
            "kind 0": question("x", [(0, b"x")]),
            "kind 4": question("x", [(4, b"x")]), "long pattern": question("x", [matches("x" * 1025)]),
            "long candidate": question("x" * 1025, [matches("x")]), "no text": question(b"\xff", [matches("x")]),
            "NUL": question(b"a\0b", [matches("x")]), "pattern of no text": question("x", [(1, b"\xff")]),
            "NUL in a pattern": question("x", [(1, b"a\0b")]),
        }
        for name, data in bad.items():
            with self.subTest(name):
                self.assertEqual(self.worker.ask(data), [])
        self.assertEqual(self.worker.judge("hunter2", matches("x")), [UNMET])

    def test_one(self):
        """A process judges one candidate: what comes after it is not read"""
        with self.worker.connect() as connection:
            connection.sendall(question("a", [matches("a")]))
            self.assertEqual(len(connection.recv(4096)), 30)
            try:
                connection.sendall(question("b", [matches("a")]))
            except (BrokenPipeError, ConnectionResetError):
                pass
            try:
                self.assertEqual(connection.recv(4096), b"")
            except ConnectionResetError:
                pass

    def test_ends(self):
        """No process is left behind"""
        for _ in range(20):
            self.worker.judge("a", matches("a"))
        wait_until(lambda: not self.worker.children(), "every child ended and was waited for")


class Peers(unittest.TestCase):
    def test_at_once(self):
        """So many run at once, the next one waits until one of them has ended"""
        with Worker("--limit", "2") as worker:
            held = [worker.connect() for _ in range(2)]
            wait_until(lambda: len(worker.children()) == 2, "both are served")
            with worker.connect() as third:
                third.sendall(question("a", [matches("a")]))
                third.settimeout(0.2)
                with self.assertRaises(TimeoutError):
                    third.recv(1)
                self.assertEqual(len(worker.children()), 2)
                for each in held:
                    each.close()
                third.settimeout(5)
                self.assertEqual(len(read_answers(third)), 1)

    @unittest.skipUnless(IS_ROOT, "needs other users")
    def test_peer(self):
        """Only the user that it works for gets an answer, not even root"""
        with Worker("--for", "47011") as worker:
            os.chmod(worker.socket, 0o666)
            self.assertEqual(worker.ask(question("a", [matches("a")])), [])
            self.assertEqual(as_uid(47012, lambda: worker.ask(question("a", [matches("a")]))), [])
            self.assertEqual(as_uid(47011, lambda: worker.judge("a", matches("a"))), [SATISFIED])
        with Worker("--for", "nobody") as worker:
            os.chmod(worker.socket, 0o666)
            self.assertEqual(worker.ask(question("a", [matches("a")])), [])
            self.assertEqual(as_uid(65534, lambda: worker.judge("a", matches("a"))), [SATISFIED])

    def test_socket(self):
        """Only its user may connect to its socket"""
        with Worker() as worker:
            self.assertEqual(os.stat(worker.socket).st_mode & 0o777, 0o600)

    def test_handed_over(self):
        """systemd hands over one connection and gets one process; without a connection it says so"""
        from daemonlab import build

        ours, theirs = socket.socketpair()
        script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&%d' % theirs.fileno()
        with ours:
            with theirs:
                child = subprocess.Popen(
                    ["/bin/sh", "-c", script, "sh", build("appvault-rules")], pass_fds=[theirs.fileno()],
                    env={"PATH": "/usr/bin:/bin"})
            ours.settimeout(5)
            ours.sendall(question("peggy1", [dictionary(), matches("1")]))
            self.assertEqual([outcome for _, _, outcome, _ in read_answers(ours)], [1, 0])
            self.assertEqual(child.wait(5), 0)
        done = subprocess.run([build("appvault-rules")], capture_output=True, text=True, check=False, env={})
        self.assertEqual(done.returncode, 2)
        self.assertIn("no connection was handed over", done.stderr)


def outside(what):
    """The same attempt by a process without a sandbox: 1 means that it worked."""
    script = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).attempt(sys.argv[2].encode()))"
    return subprocess.run([sys.executable, "-c", script, library(), what], check=False).returncode


class Sandbox(unittest.TestCase):
    """What a compromised worker tries, each attempt once with a dictionary and once without."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-sandbox-")
        os.chmod(cls.folder, 0o777)
        cls.file = os.path.join(cls.folder, "file")
        with open(cls.file, "w") as file:
            file.write("everybody may read and write this")
        os.chmod(cls.file, 0o666)
        cls.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        cls.listener.bind(os.path.join(cls.folder, "socket"))
        cls.listener.listen(64)
        os.chmod(os.path.join(cls.folder, "socket"), 0o777)
        cls.victim = subprocess.Popen(["sleep", "600"])
        cls.worker = Worker(env={"LD_PRELOAD": library()})

    @classmethod
    def tearDownClass(cls):
        cls.worker.close()
        cls.victim.kill()
        cls.victim.wait()
        cls.listener.close()
        subprocess.run(["rm", "-rf", cls.folder], check=True)

    def attempts(self):
        pid = self.victim.pid
        yield from (
            "fork", "raw-fork", "clone3", "thread", "exec", "internet", "netlink", "socketpair", "pipe", "print")
        yield from (f"read:{self.file}", "read:/etc/passwd", f"list:{self.folder}", "path:/etc/passwd")
        yield from (f"write:{self.file}", f"unnamed:{self.folder}", f"connect:{self.folder}/socket")
        yield from (f"create:{self.folder}/new", f"unlink:{self.folder}/new", f"mkdir:{self.folder}/folder")
        yield from (f"kill:{pid}", f"limits:{pid}")
        yield from ("code", "make-code", "memory-file", "more-time", "ignore-alarm", "dumpable", "filter")
        if IS_ROOT:
            # For other processes many kernels refuse these even outside the sandbox.
            yield from (f"trace:{pid}", f"peek:{pid}", "namespace", "root")

    @slow
    def test_refused(self):
        """Processes, programs, files, sockets, signals, tracing, code, more time: each is refused, and possible without
        the sandbox"""
        for what in self.attempts():
            with self.subTest(what):
                self.assertEqual(self.worker.judge(what, matches("x")), [SATISFIED], "tried by a pattern")
                self.assertEqual(self.worker.judge(what, dictionary()), [SATISFIED], "tried by a dictionary")
                # Without a sandbox it works; a program that was started ends with 0.
                self.assertEqual(outside(what), 0 if what == "exec" else 1, "possible outside")
        self.assertIsNone(self.victim.poll())

    def test_dictionary_only(self):
        """The dictionary can be read where a rule asks for it, and nothing anywhere else"""
        path = "read:/var/cache/cracklib/cracklib_dict.pwd"
        self.assertEqual(self.worker.judge(path, dictionary()), [("unmet", "The password is a palindrome")])
        self.assertEqual(self.worker.judge(path, matches("x")), [SATISFIED])

    def test_misbehaves(self):
        """A worker that hangs, crashes or eats memory is gone after its second, and harms nobody else"""
        for what in ("hang", "crash", "abort", "eat"):
            with self.subTest(what):
                stopwatch = Stopwatch()
                self.assertEqual(self.worker.judge(what, matches("x")), [])
                stopwatch.assert_within(3)
        wait_until(lambda: not self.worker.children(), "none is left")
        self.assertEqual(self.worker.judge("fork", matches("x")), [SATISFIED])


if __name__ == "__main__":
    unittest.main()
