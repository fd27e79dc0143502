"""Custom rules in a real daemon: judged by the real worker, and by workers that hang, crash, flood, lie or are not
there. Whatever they do, the passcode is refused in about a second, and nobody else waits or loses anything.
"""

import os
import pwd
import signal
import socket
import struct
import threading
import time
import unittest

from daemonlab import CHEAP, IS_ROOT, Daemon, answers, as_uid, wait_until
from patience import Stopwatch
from ruleslab import CATASTROPHE, DICTIONARY, MATCHES, REJECTS, FakeWorker, Worker, answer, library, read_question

GOOD = "kJ7#vb2Lqx"
RULES = """
[Passcode]
%s
[Rule number]
Display=a number at the end
Match=[0-9]x$|[0-9]$

[Rule name]
Display=not the company
Reject=[Aa]cme

[Rule words]
Display=no word of a dictionary
Dictionary=yes
""" % CHEAP
ONE = "[Passcode]\n" + CHEAP + "[Rule one]\nDisplay=one\nMatch=.\n[Rule two]\nDisplay=two\nReject=zzz\n"


def daemon(policy, socket):
    return Daemon(policy=policy, options=["--rules-socket", socket])


def check(lab, candidate, custom=True, **more):
    """The checklist: findings and reasons by id."""
    candidate = candidate.encode() if isinstance(candidate, str) else candidate
    found = lab.ask("policyCheck", payloads=[candidate], custom=custom, store="", **more)
    assert found is not None and found.name == "checklist", found
    return {entry["id"]: (entry["finding"], entry["reason"]) for entry in found["entries"]}


def findings(lab, candidate, **more):
    return {name: finding for name, (finding, _) in check(lab, candidate, **more).items()}


class RealWorker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker()
        cls.daemon = daemon(RULES, cls.worker.socket)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.close()
        cls.worker.close()

    def test_check(self):
        """The checklist has each custom rule after the length, met or not, with the dictionary's words"""
        found = check(self.daemon, GOOD + "7")
        self.assertEqual(list(found), ["minLength", "rule.number", "rule.name", "rule.words", "same"])
        self.assertEqual([finding for finding, _ in found.values()], ["satisfied"] * 4 + ["notChecked"])
        found = check(self.daemon, "acme acme")
        self.assertEqual(found["rule.number"][0], "unmet")
        self.assertEqual(found["rule.name"][0], "unmet")
        found = check(self.daemon, "Peggy123")
        self.assertEqual(found["rule.words"][0], "unmet")
        self.assertIn("dictionary word", found["rule.words"][1])

    def test_not_asked_for(self):
        """A check without custom rules reports them as unchecked"""
        found = findings(self.daemon, GOOD + "7", custom=False)
        self.assertEqual([found[f"rule.{name}"] for name in ("number", "name", "words")], ["notChecked"] * 3)

    def test_normalised(self):
        """A rule sees the passcode as it will be stored: composed, every space a space"""
        with daemon("[Passcode]\n" + CHEAP + "[Rule r]\nMatch=^.{7} \u00e9$\n", self.worker.socket) as lab:
            self.assertEqual(findings(lab, "abcdefg\u00a0e\u0301")["rule.r"], "satisfied")
            self.assertEqual(findings(lab, "abcdefg\u00a0e")["rule.r"], "unmet")

    def test_create(self):
        """A store is made only with a passcode that every rule accepts"""
        with daemon(RULES, self.worker.socket) as lab:
            for bad in ("no number", "acmeacme77x", "Peggy123"):
                refused = lab.ask("create", answers(bad), way="ownPasscode", subject=lab.person, store="")
                self.assertEqual(refused.name, "refused", bad)
                self.assertIn(refused.code, (20, 22), bad)
            lab.create(GOOD + "7")
            self.assertEqual(lab.authenticate(GOOD + "7").code, 0)

    def test_catastrophe(self):
        """A pattern that never ends refuses the passcode within about a second, and nobody else waits for it"""
        policy = (
            "[Passcode]\n" + CHEAP + "[Rule slow]\nDisplay=slow\nReject=" + CATASTROPHE + "\n[Rule next]\nMatch=.\n")
        candidate = "a" * 64
        with daemon("", self.worker.socket) as lab:
            lab.create(GOOD)
            lab.policy(policy, reload=True)
            done = []

            def slow():
                stopwatch = Stopwatch()
                done.append((findings(lab, candidate), stopwatch.stop()))

            thread = threading.Thread(target=slow)
            thread.start()
            others = []
            while thread.is_alive():
                stopwatch = Stopwatch()
                self.assertEqual(lab.status().name, "state")
                others.append(stopwatch.stop())
            thread.join()
            found, took = done[0]
            self.assertEqual((found["rule.slow"], found["rule.next"]), ("unmet", "unmet"))
            took.assert_within(4)
            longest = max(others, key=lambda each: each.seconds)
            longest.assert_within(0.9, "another request waited for the rule")
            self.assertEqual(lab.unlock(GOOD).name, "done")

    def test_no_rules(self):
        """Without a custom rule no worker is asked"""
        with FakeWorker(lambda connection: None) as fake, daemon("", fake.socket) as lab:
            self.assertEqual(findings(lab, GOOD)["minLength"], "satisfied")
            lab.create(GOOD)
            self.assertEqual(fake.connections, 0)


def good(connection, mangle=lambda data: data):
    nonce, rules, _ = read_question(connection)
    connection.sendall(mangle(b"".join(answer(nonce, place) for place in range(len(rules)))))


def hang(connection):
    read_question(connection)
    connection.recv(1)


def close_early(connection):
    read_question(connection)


def half(connection):
    nonce, _, _ = read_question(connection)
    connection.sendall(answer(nonce, 0) + answer(nonce, 1)[:-3])


def flood(connection):
    read_question(connection)
    while True:
        connection.sendall(b"\xff" * 65536)


def flood_answers(connection):
    nonce, _, _ = read_question(connection)
    while True:
        connection.sendall(answer(nonce, 0) * 1000)


def drip(connection):
    """A good byte now and then, so that no single wait is long."""
    nonce, rules, _ = read_question(connection)
    for byte in b"".join(answer(nonce, place) for place in range(len(rules))):
        time.sleep(0.05)
        connection.sendall(bytes([byte]))


def read_nothing(connection):
    time.sleep(3)


def lie(**change):
    def serve(connection):
        nonce, rules, _ = read_question(connection)
        nonce = change.get("nonce", nonce)
        more = {key: value for key, value in change.items() if key in ("kind", "tag", "outcome", "reason")}
        count = change.get("count", len(rules))
        connection.sendall(b"".join(answer(nonce, place + change.get("place", 0), **more) for place in range(count)))
        connection.recv(1)

    return serve


WORKERS = {
    "hangs": hang, "closes early": close_early, "closes in the middle": half, "floods": flood,
    "floods with answers": flood_answers, "drips": drip, "reads nothing": read_nothing,
    "another nonce": lie(nonce=b"x" * 16), "no answer too few": lie(count=1), "one answer too many": lie(count=3),
    "other places": lie(place=1), "another type": lie(kind=0x60), "a tag": lie(tag=7),
    "an outcome of its own": lie(outcome=3),
    "reasons for nothing": lie(reason=b"because"), "a long reason": lie(outcome=1, reason=b"x" * 300),
    "another order": lambda connection: good(connection, lambda data: data[30:] + data[:30]),
    "a huge length": lambda connection: good(connection, lambda data: struct.pack("<I", 0x7FFFFFFF) + data[4:]),
}


class FalseWorkers(unittest.TestCase):
    def test_question(self):
        """The question holds the rules in the order of the file, the passcode, and a nonce that is new each time"""
        asked = []

        def serve(connection):
            nonce, rules, candidate = read_question(connection)
            asked.append((nonce, rules, candidate))
            connection.sendall(b"".join(answer(nonce, place) for place in range(len(rules))))

        with FakeWorker(serve) as fake, daemon(RULES, fake.socket) as lab:
            for _ in range(2):
                self.assertEqual(findings(lab, GOOD)["rule.words"], "satisfied")
        self.assertEqual(
            [rules for _, rules, _ in asked],
            [[(MATCHES, b"[0-9]x$|[0-9]$"), (REJECTS, b"[Aa]cme"), (DICTIONARY, b"")]] * 2)
        self.assertEqual({candidate for _, _, candidate in asked}, {GOOD.encode()})
        self.assertNotEqual(asked[0][0], asked[1][0])

    def test_refused(self):
        """A worker that hangs, crashes, floods or lies: unmet with a reason in about a second, the daemon goes on"""
        serve = [good]
        with FakeWorker(lambda connection: serve[0](connection)) as fake, daemon("", fake.socket) as lab:
            lab.create(GOOD)
            lab.policy(ONE, reload=True)
            pid = lab.pid
            self.assertEqual(findings(lab, GOOD)["rule.one"], "satisfied")
            for name, behaviour in WORKERS.items():
                with self.subTest(name):
                    serve[0] = behaviour
                    stopwatch = Stopwatch()
                    found = check(lab, GOOD)
                    stopwatch.assert_within(3)
                    self.assertEqual(found["rule.two"][0], "unmet")
                    self.assertTrue(found["rule.two"][1], "no reason")
                    self.assertEqual(found["minLength"][0], "satisfied")
                    serve[0] = good
                    self.assertEqual(findings(lab, GOOD)["rule.two"], "satisfied")
            self.assertEqual(lab.status().name, "state")
            self.assertEqual(lab.unlock(GOOD).name, "done")
            self.assertEqual(lab.pid, pid)
            self.assertTrue(lab.is_running)

    def test_absent(self):
        """No socket, a socket at which nothing listens, something that is not a socket: unmet at once"""
        with FakeWorker(good) as fake:
            # A thread that waits in accept() would keep a socket alive that is only closed.
            fake.listener.shutdown(socket.SHUT_RDWR)
            fake.listener.close()
            for path in (fake.socket, fake.folder + "/missing", fake.folder, "/" + "x" * 200):
                with self.subTest(path=path[:40]), daemon(ONE, path) as lab:
                    stopwatch = Stopwatch()
                    found = check(lab, GOOD)
                    stopwatch.assert_within(1)
                    self.assertEqual((found["rule.one"][0], found["rule.two"][0]), ("unmet", "unmet"))
                    refused = lab.ask("create", answers(GOOD), way="ownPasscode", subject=lab.person, store="")
                    self.assertEqual((refused.name, refused.code), ("refused", 22))

    @unittest.skipUnless(IS_ROOT, "needs other users")
    def test_stranger(self):
        """A passcode is sent to root's socket or to our own, never to another user's"""
        with FakeWorker(good) as fake:
            os.chmod(fake.folder, 0o777)
            path = os.path.join(fake.folder, "theirs")

            def listen():
                listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                listener.bind(path)
                os.chmod(path, 0o777)
                listener.listen(4)
                # A child holds the socket and reads what is sent.
                if os.fork() == 0:
                    listener.settimeout(5)
                    try:
                        connection, _ = listener.accept()
                        connection.settimeout(2)
                        heard = connection.recv(1)
                        with open(os.path.join(fake.folder, "heard"), "wb") as file:
                            file.write(heard)
                    except OSError:
                        pass
                    os._exit(0)
                return True

            as_uid(47013, listen)
            with daemon(ONE, path) as lab:
                self.assertEqual(findings(lab, GOOD)["rule.one"], "unmet")
                time.sleep(0.1)
            if os.path.exists(fake.folder + "/heard"):
                self.assertEqual(os.path.getsize(fake.folder + "/heard"), 0, "a stranger heard a passcode")


SLOW = "slow and longer"
# A person with an account who keeps the rules busy, and another one.
BUSY, OTHER = 2, 1


def slow_for_some(connection):
    """Takes the whole second for a candidate that says so."""
    nonce, rules, candidate = read_question(connection)
    if candidate.startswith(b"slow"):
        connection.recv(1)
    else:
        connection.sendall(b"".join(answer(nonce, place) for place in range(len(rules))))


@unittest.skipUnless(IS_ROOT, "needs other users")
class Crowd(unittest.TestCase):
    def setUp(self):
        self.fake = FakeWorker(slow_for_some)
        self.addCleanup(self.fake.__exit__)
        self.lab = daemon("", self.fake.socket)
        self.addCleanup(self.lab.close)

    def hold(self, uid, count, ask):
        """A process of that user that sends requests over and over, on so many connections,
        until the test ends."""
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)

                def loop(number):
                    while True:
                        try:
                            ask(number)
                        except (OSError, AssertionError):
                            time.sleep(0.05)

                for number in range(count):
                    threading.Thread(target=loop, args=(number,), daemon=True).start()
                # However the test ends.
                for _ in range(600):
                    time.sleep(0.1)
            finally:
                os._exit(0)

        def end():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

        self.addCleanup(end)
        before = self.fake.connections
        wait_until(lambda: self.fake.connections > before, "the worker is busy")
        # Every connection has sent a request by now.
        time.sleep(0.5)

    def hold_all(self):
        """The most that one user can do: use all the connections that they may have."""
        me = (pwd.getpwuid(BUSY).pw_name, BUSY)
        self.hold(BUSY, 16, lambda number: self.lab.ask(
            "create", answers(SLOW), way="ownPasscode", subject=me, store=f"store {number}"))

    def test_one_user(self):
        """one user with sixteen connections delays nobody: not root, not another person, not their own login"""
        lab, strict = self.lab, ("bob", 47012)
        lab.create(GOOD, way="followLogin", subject=strict)
        lab.policy(ONE, reload=True)
        self.hold_all()
        other = (pwd.getpwuid(OTHER).pw_name, OTHER)
        hello = {"frontEnd": "pamPassword", "service": "passwd", "realUID": strict[1]}
        for number in range(4):
            for subject in (("alice", 47011), (pwd.getpwuid(BUSY).pw_name, BUSY)):
                stopwatch = Stopwatch()
                self.assertEqual(findings(lab, GOOD, subject=subject)["rule.one"], "satisfied")
                stopwatch.assert_within(0.9)
            lab.create(GOOD, subject=("alice", 47011), store=f"s{number}")
            verdict = lab.ask("passwordRules", (), [GOOD, GOOD + "7"], hello=hello, subject=strict)
            self.assertEqual((verdict.outcome, verdict.code), ("success", 0))
            stopwatch = Stopwatch()
            checked = as_uid(OTHER, lambda: findings(lab, GOOD, subject=other))
            self.assertEqual(checked["rule.one"], "satisfied")
            stopwatch.assert_within(0.9)
            made = as_uid(
                OTHER, lambda: lab.ask(
                    "create", answers(GOOD), way="ownPasscode", subject=other, store=f"s{number}").name)
            self.assertEqual(made, "done")

    def test_own_line(self):
        """a person who keeps the rules busy with candidates is refused, and avoids no rule that way"""
        lab, strict = self.lab, ("bob", 47012)
        lab.create(GOOD, way="followLogin", subject=strict)
        lab.policy(ONE, reload=True)
        hello = {"frontEnd": "pamPassword", "service": "passwd", "realUID": strict[1]}
        judge = lambda new: lab.ask("passwordRules", (), [GOOD, new], hello=hello, subject=strict)
        self.hold(0, 8, lambda _: judge(SLOW))
        for _ in range(2):
            verdict = judge(GOOD + "7")
            self.assertEqual((verdict.outcome, verdict.code), ("authError", 22))

    def test_others_in_front(self):
        """if other people use all places, the daemon leaves a login password to the other modules that judge it"""
        lab, strict = self.lab, ("bob", 47012)
        lab.create(GOOD, way="followLogin", subject=strict)
        lab.policy(ONE, reload=True)
        self.hold(0, 24, lambda number: lab.ask(
            "create", answers(SLOW), way="ownPasscode", subject=(f"person{number}", 48000 + number), store=""))
        hello = {"frontEnd": "pamPassword", "service": "passwd", "realUID": strict[1]}
        verdict = lab.ask("passwordRules", (), [GOOD, GOOD + "7"], hello=hello, subject=strict)
        self.assertEqual((verdict.outcome, verdict.code), ("unavailable", 35))
        # A rule that needs no worker still refuses it.
        verdict = lab.ask("passwordRules", (), [GOOD, "short"], hello=hello, subject=strict)
        self.assertEqual((verdict.outcome, verdict.code), ("authError", 14))


class TakenOver(unittest.TestCase):
    """The real worker with a library in it that hangs, dies, eats memory or floods when it looks
    at the candidate."""

    def test_refused(self):
        """The passcode is refused, the daemon has lost nothing"""
        with Worker(env={"LD_PRELOAD": library()}) as worker, daemon(ONE, worker.socket) as lab:
            lab.policy("", reload=True)
            lab.create(GOOD)
            lab.policy(ONE, reload=True)
            for what in ("hang", "crash", "abort", "eat", "flood"):
                with self.subTest(what):
                    stopwatch = Stopwatch()
                    self.assertEqual(findings(lab, what)["rule.one"], "unmet")
                    stopwatch.assert_within(3)
            for what in (f"trace:{lab.pid}", f"kill:{lab.pid}", f"peek:{lab.pid}", f"connect:{lab.socket}", "fork"):
                with self.subTest(what):
                    # The library calls a refusal a match.
                    self.assertEqual(findings(lab, what)["rule.one"], "satisfied")
            self.assertTrue(lab.is_running)
            self.assertEqual(lab.unlock(GOOD).name, "done")


if __name__ == "__main__":
    unittest.main()
