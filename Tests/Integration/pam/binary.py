"""The module as a file, under valgrind, in the journal, and against the clock."""

import os
import re
import subprocess
import time
import unittest

import wire
from daemonlab import wait_until
from pamlab import PAM_AUTHINFO_UNAVAIL, Lab, compiled, module_path
from patience import Stopwatch
from slow import slow

HANDLE = bytes(range(1, 17))

# Everything that the module may call. No getenv, no fork, no thread, no stdio, no signal handler;
# and open only for the terminal.
IMPORTS = {
    *("pam_get_data pam_get_item pam_get_user pam_getenv pam_set_data pam_set_item".split()),
    *("pam_get_authtok pam_modutil_getpwnam pam_syslog".split()),
    *("socket connect fcntl poll send recv close getsockopt clock_gettime getuid geteuid setlocale".split()),
    *("malloc free posix_memalign memcpy memmove memset memcmp strcmp strlen strncmp strnlen".split()),
    *("explicit_bzero __errno_location __stack_chk_fail".split()),
    # The terminal, while a reader waits: signals that would end us meanwhile are held back, and nothing else is done to
    # them.
    *("open read tcgetpgrp getpgrp tcgetattr tcsetattr tcflush".split()),
    *("pthread_sigmask sigemptyset sigaddset sigismember signalfd".split()),
    # Swift's own hasher would take its seed from this; nothing in the module hashes.
    "arc4random_buf",
    *("__cxa_finalize __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable".split()),
}
EXPORTS = {
    "pam_sm_" + name
    for name in "authenticate setcred acct_mgmt open_session close_session chauthtok".split()
}


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@slow
class File(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = module_path()
        cls.symbols = []
        for line in output("readelf", "--dyn-syms", "-W", cls.path).splitlines():
            words = line.split()
            if len(words) >= 8 and words[0].rstrip(":").isdigit():
                cls.symbols.append((words[4], words[6], words[7].split("@")[0]))
        cls.dynamic = output("readelf", "-d", "-W", cls.path)

    def test_exports(self):
        """it exports pam_sm_* and nothing else"""
        exported = {name for bind, where, name in self.symbols if where != "UND" and bind != "LOCAL"}
        self.assertEqual(exported, EXPORTS)

    def test_imports(self):
        """it imports only what is on the list, and nothing of Swift's runtime"""
        imported = {name for _, where, name in self.symbols if where == "UND" and name}
        self.assertEqual(imported - IMPORTS, set())
        self.assertIn("explicit_bzero", imported)

    def test_paths(self):
        """it contains three paths: the daemon's two sockets, and the terminal"""
        with open(self.path, "rb") as file:
            paths = set(re.findall(rb"(?<![\w./])/[a-z][\w/.-]+(?=\x00)", file.read()))
        self.assertEqual(paths - {b"/run/appvault/socket", b"/run/appvault/root.socket", b"/dev/tty"}, set())
        self.assertIn(b"/dev/tty", paths)

    def test_needed(self):
        """it needs libpam and libc"""
        self.assertEqual(
            set(re.findall(r"NEEDED.*\[(.*)\]", self.dynamic)), {"libpam.so.0", "libc.so.6"}
        )

    def test_path(self):
        """no RUNPATH (build with --disable-local-rpath, as make does)"""
        self.assertNotRegex(self.dynamic, "RUNPATH|RPATH")

    def test_flags(self):
        """bound at once, relocations read-only, no executable stack, nothing writable and executable"""
        self.assertIn("BIND_NOW", self.dynamic)
        self.assertNotIn("TEXTREL", self.dynamic)
        segments = output("readelf", "-l", "-W", self.path)
        self.assertIn("GNU_RELRO", segments)
        self.assertRegex(segments, r"GNU_STACK.* RW ")
        self.assertNotRegex(segments, r"LOAD.*RWE")

    def test_size(self):
        """64 KiB at most, stripped"""
        self.assertNotIn(" .debug_info", output("readelf", "-S", "-W", self.path))
        self.assertLessEqual(os.path.getsize(self.path), 65536)


def converse(peer):
    """Everything that the module can do with a daemon that works."""
    request = peer.greet()
    peer.send("working")
    if request.name in ("authenticate", "unlock"):
        peer.show("a line")
        peer.show("an error", "error")
        for event in ("place", "retry", "ended"):
            peer.send("scan", 2, question=9, event=event, stage=0, stages=0, line="a finger")
        answer = peer.ask(question=1, line="Passcode or login password")
        peer.ask(question=2, purpose="acknowledge", line="Read this")
        right = answer.name == "reply" and answer.payload == b"right"
        peer.verdict("success" if right else "authError", handle=HANDLE)
    elif request.name == "passwordRules":
        for number, purpose in enumerate(("newPasscode", "confirmPasscode", "choice")):
            peer.ask(question=number, purpose=purpose, line="New password")
        peer.verdict("success" if request.payloads[0] == b"old" else "authError", code=14)
    elif request.name.startswith("session"):
        peer.show("hello")
        peer.ask()
        peer.verdict("ignore")
    else:
        peer.send("refused", 2, code=31, parameters={"what": "nothing"}, message="no", hint="none")


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        self.driver = compiled("labdriver.c", "labdriver", "-lpam")
        self.journal = os.path.join(self.lab.folder, "journal")
        self.clock = os.path.join(self.lab.folder, "clock")

    def full(self, options="or_password"):
        self.lab.stack(
            f"auth [success=2 default=ignore] {{ours}} {options}",
            "auth requisite {lab} want=login",
            "auth optional {ours} unlock",
            "auth required pam_permit.so",
            "account required {ours}",
            "password required {lab} setold=old",
            "password optional {ours} password_rules",
            "password required {lab} set=new",
            "password required {ours} password_rules always_ask",
            "password optional {ours} use_authtok",
            "session required {lab} env=XDG_SESSION_ID=c1",
            "session optional {ours}",
            "session required pam_permit.so",
        )

    def drive(self, *answers, times=1, wrapper=(), environment=(), **more):
        environment = {**os.environ, "LAB_JOURNAL": self.journal, "LAB_CLOCK": self.clock, **dict(environment)}
        if not wrapper:
            environment["LD_PRELOAD"] = compiled("labpreload.c", "labpreload.so", "-shared", "-fPIC", "-ldl")
        return subprocess.Popen(
            [*wrapper, self.driver, self.lab.services, "lab", "root", str(times), *answers],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def codes(self, *answers, **more):
        process = self.drive(*answers, **more)
        out, error = process.communicate(timeout=60)
        self.assertEqual((process.returncode, error), (0, ""))
        return [int(word) for word in out.split()]

    def lines(self):
        try:
            with open(self.journal) as file:
                # How pam_syslog begins a line is libpam's business.
                return [re.sub(r"^(\d) \w+\(\S+\): ", r"\1 ", line.rstrip("\n")) for line in file]
        except FileNotFoundError:
            return []


@slow
class Valgrind(Case):
    def check(self, *answers):
        report = os.path.join(self.lab.folder, "valgrind")
        process = self.drive(
            *answers,
            times=3,
            wrapper=[
                "valgrind",
                "--error-exitcode=99",
                "--leak-check=full",
                "--errors-for-leak-kinds=definite,indirect",
                "--show-leak-kinds=definite,indirect",
                "--track-fds=no",
                "--keep-debuginfo=yes",
                "--log-file=" + report,
            ],
        )
        out, _ = process.communicate(timeout=240)
        with open(report) as file:
            self.assertEqual(process.returncode, 0, file.read())
        return out.split()

    def test_leaks(self):
        """no leak and no bad access: right, wrong, refused, gone, nonsense"""
        self.full()
        self.lab.daemon(converse)
        self.assertEqual(self.check("right", "")[0], "0")
        self.assertEqual(self.check("right", "", *("new one",) * 6)[4], "0")
        self.assertEqual(self.check("login", "", "right", "")[0], "0")
        self.assertNotEqual(self.check("x" * 3000)[0], "0")
        self.assertNotEqual(self.check()[0], "0")
        for nonsense in (b"\xff" * 20, wire.encode("show", 2, line=b"\xff"), b"\x01"):
            self.lab.daemon(lambda peer, data=nonsense: (peer.greet(), peer.send_raw(data)))
            self.assertEqual(self.check("login")[0], "0")
        self.lab.daemons[-1].stop()
        self.assertEqual(self.check("login")[0], "0")


class Journal(Case):
    def test_absent(self):
        """where AppVault is absent nothing is written to the journal"""
        self.full()
        self.codes("login", times=3)
        self.assertEqual([line for line in self.lines() if "pam_appvault" in line or "appvault" in line], [])

    def ours(self):
        with open(self.journal) as file:
            return [line for line in file if "appvault" in line.lower()]

    def test_option(self):
        """an unknown option is reported once, and ignored"""
        self.full(options="or_password speed=11")
        self.lab.daemon(converse)
        self.assertEqual(self.codes("right", "")[0], 0)
        self.assertEqual(len([line for line in self.lines() if "speed=11" in line]), 1)

    def test_debug(self):
        """debug logs codes, and no secret; without it a good login logs nothing"""
        secret = "right"
        self.lab.daemon(converse)
        self.full()
        self.codes(secret, "")
        quiet = len(self.lines())
        self.full(options="or_password debug")
        self.codes(secret, "")
        more = self.lines()[quiet:]
        self.assertTrue(any("verdict" in line for line in more), more)
        self.assertEqual([line for line in self.lines() if secret in line], [])
        self.assertEqual([line for line in self.lines()[:quiet] if "verdict" in line], [])

    def test_fault(self):
        """a real fault is one line"""
        self.lab.stack("auth required {ours}")
        self.lab.daemon(lambda peer: (peer.greet(), peer.send_raw(b"\xff" * 20)))
        self.assertEqual(self.codes("x")[0], PAM_AUTHINFO_UNAVAIL)
        self.assertEqual(len([line for line in self.lines() if "makes no sense" in line]), 1)

    def test_whole_login(self):
        """a daemon that hangs, or makes no sense, is one line for a whole login and change of password"""
        self.full()
        for handler, says in (
            (lambda peer: (peer.receive(), peer.hang()), "did not answer in time"),
            (lambda peer: (peer.greet(), peer.send_raw(b"\xff" * 20)), "makes no sense"),
        ):
            with self.subTest(says):
                daemon = self.lab.daemon(handler)
                before = len(self.lines())
                self.assertEqual(self.codes("login", "new")[0], 0)
                self.assertEqual(len([line for line in self.lines()[before:] if says in line]), 1)
                self.assertEqual(len(daemon.messages("hello")), 1)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to listen as somebody else")
    def test_stranger(self):
        """a stranger's socket is one line with its uid"""
        self.lab.stack("auth required {ours}")
        self.lab.daemon(lambda peer: peer.hang(), uid=1234)
        self.assertEqual(self.codes("x")[0], PAM_AUTHINFO_UNAVAIL)
        found = [line for line in self.lines() if "somebody else" in line]
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].endswith(" 1234"))


class Memory(Case):
    def spilled(self, *answers):
        self.codes(*answers, times=3, environment={"LAB_SECRET": "kept-to-ourselves"})
        return self.lines().count("0 spilled")

    def stack(self, between="pam_permit.so"):
        self.lab.stack(
            "auth [success=3 default=ignore] {ours} or_password",
            f"auth required {between}",
            "auth optional {ours} unlock",
            "auth optional {ours} use_first_pass",
            "auth required pam_permit.so",
        )

    def test_wiped(self):
        """no memory is freed with a secret in it: answered, refused, handed on, taken over, too long"""
        secret = "kept-to-ourselves"

        def handler(peer):
            request = peer.greet()
            if request.name == "authenticate" and not request.tokenOnly:
                answer = peer.ask()
                right = answer.name == "reply" and answer.payload == f"{secret} right".encode()
                peer.verdict("success" if right else "authError", handle=HANDLE)
            else:
                peer.verdict("authError", handle=HANDLE)

        daemon = self.lab.daemon(handler)
        self.stack()
        for answer in (f"{secret} right", f"{secret} wrong", secret + "x" * 3000):
            self.assertEqual(self.spilled(answer), 0)
        self.assertTrue(any(secret.encode() in each.payload for each in daemon.messages("unlock")))
        self.lab.daemon(lambda peer: (peer.greet(), peer.ask(), peer.send_raw(b"\xff" * 30)))
        self.assertEqual(self.spilled(secret), 0)
        # The password that the store keeps: given to the stack, to no stack, and to a stack that it
        # then does not reach.
        for outcome, options in (("success", "set_authtok"), ("success", "debug"), ("authError", "set_authtok")):
            self.lab.daemon(lambda peer, outcome=outcome: (
                peer.greet(), peer.ask(), peer.send("token", 2, [f"{secret} kept".encode()]), peer.verdict(outcome)))
            self.lab.stack(f"auth required {{ours}} {options}", "auth optional pam_permit.so")
            self.assertEqual(self.spilled("typed"), 0)
        # And a secret would be found.
        self.stack("{lab} spill=1")
        self.assertEqual(self.spilled(secret), 3)


class Directory(Case):
    def test_slow(self):
        """a directory that is slower than the daemon's deadline costs a second connection and no login"""

        def handler(peer):
            peer.hello = peer.receive(2)
            peer.request = peer.receive(2)
            peer.send("welcome", peer.hello.tag)
            answer = peer.ask()
            peer.verdict("success" if answer.payload == b"right" else "authError")

        daemon = self.lab.daemon(handler)
        self.lab.stack("auth required {ours}")
        self.assertEqual(self.codes("right", environment={"LAB_SLOW": "3"})[0], 0)
        self.assertEqual(len(daemon.messages("hello")), 1)

    def test_absent(self):
        """where AppVault is absent not even a name is looked up"""
        self.lab.stack("auth required {ours}", "auth optional {lab} set=x", "auth optional {ours} unlock")
        stopwatch = Stopwatch()
        self.assertEqual(self.codes("x", environment={"LAB_SLOW": "3"})[0], PAM_AUTHINFO_UNAVAIL)
        stopwatch.assert_within(2)


class Clock(Case):
    def advance(self, seconds):
        with open(self.clock + ".new", "w") as file:
            file.write(str(seconds))
        os.rename(self.clock + ".new", self.clock)

    def test_end_of_the_session(self):
        """a daemon that hung at the login is told of the end of the session, when it is well again"""
        self.advance(0)
        daemon = self.lab.daemon(lambda peer: (peer.receive(), peer.hang()))
        later = os.path.join(self.lab.folder, "later")
        with open(later, "w") as file:
            file.write(f"#!/bin/sh\necho 130 > {self.clock}\n")
        os.chmod(later, 0o755)
        self.lab.stack(
            "auth required {lab} set=login",
            "auth optional {ours} unlock",
            "session optional {ours}",
            f"session required pam_exec.so type=open_session {later}",
            "session required pam_permit.so",
        )
        self.assertEqual(self.codes("x")[0], 0)
        self.assertEqual([each.frontEnd for each in daemon.messages("hello")], ["pamAuth", "pamSession"])

    def test_ten_minutes(self):
        """a daemon that works for ever is given up after ten minutes, and not before"""

        def handler(peer):
            peer.greet()
            while True:
                peer.send("working")
                time.sleep(0.2)

        self.advance(0)
        daemon = self.lab.daemon(handler)
        self.lab.stack("auth required {ours}")
        process = self.drive("x")
        self.addCleanup(process.kill)
        wait_until(lambda: daemon.messages("hello"), "the module has connected", 60)
        self.advance(580)
        time.sleep(1)
        self.assertIsNone(process.poll(), self.lines())
        self.advance(601)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out.split()[0], str(PAM_AUTHINFO_UNAVAIL))
        self.assertEqual(len([line for line in self.lines() if "come to an end" in line]), 1)


if __name__ == "__main__":
    unittest.main()
