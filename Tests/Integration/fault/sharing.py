"""SIGKILL of the daemon before each write, sync, renaming, link and removal in a shared store's folder, while it is
shared with somebody, and while somebody is removed and the store gets a new key. Afterwards it opens for its members,
nothing is lost, and what was begun is done or undone."""

import os
import shutil
import signal
import unittest

import pamlab
import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account, wait_until

NEEDS_ROOT = True
TIMEOUT = 900
NO_ONE = ("", wire.UNKNOWN_UID)
# Every step takes five minutes: the long run tries them all, the others some all over.
STRIDE = 1 if os.environ.get("APPVAULT_TESTS") == "soak" else 11


class EveryStep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for name in ("alice", "bob", "carol"):
            cls.people[name] = add_account()
            cls.addClassCleanup(remove_account, cls.people[name][0])

    def setUp(self):
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        self.server = Daemon(policy="RetryLimit=0\nThrottleAfter=0\n", start=False)
        self.addCleanup(self.server.close)
        self.steps = os.path.join(self.server.folder, "steps")
        self.template = os.path.join(self.server.folder, "template")
        self.server.env = {"LD_PRELOAD": preload, "KILL_STEPS": self.steps,
                           "STEPS_FOLDER": os.path.join(self.server.state, "stores")}

    def ask(self, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields["subject"] = NO_ONE
        return as_uid(self.people[who][1], lambda: self.server.ask(request, script, payloads, **fields))

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def name(self, who):
        return self.people[who][0]

    def change(self, request, whom):
        fields = {"role": "writer"} if request == "share" else {}
        return self.ask(
            "alice", request, answers(PASSCODE), store="team", kind="person", name=self.name(whom), **fields)

    def value(self, who, name):
        answer = self.ask(who, "get", store="team" if who == "alice" else f"{self.name('alice')}/team", name=name)
        return answer.payload if answer.name == "value" else answer.code

    def prepare(self, *members):
        self.server.start()
        for who in self.people:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")
        for number in range(20):
            self.done("alice", "set", payloads=[str(number).encode()], store="team", name=f"n{number}")
        for who in members:
            self.assertEqual(self.change("share", who).name, "done")
        self.server.end(signal.SIGTERM)
        shutil.copytree(self.server.state, self.template)

    def fresh(self):
        if self.server.is_running:
            self.server.kill()
        shutil.rmtree(self.server.state)
        shutil.copytree(self.template, self.server.state)
        self.enter()

    def enter(self):
        self.server.start()
        for who in self.people:
            self.done(who, "openStore", answers(PASSCODE))
        # What an opening does by itself is done.
        self.done("alice", "get", store="team", name="n0")

    def killed(self, act, step):
        """False if the act came to its end first."""
        self.fresh()
        with open(self.steps, "w") as file:
            file.write(f"{step}\n")
        try:
            answer = act()
        except (OSError, AssertionError, wire.WireError):
            answer = None
        if self.server.is_running:
            self.server.end(signal.SIGTERM)
        with open(self.steps) as file:
            left = int(file.read())
        os.unlink(self.steps)
        self.assertFalse(left == 0 and answer is not None and answer.name == "refused", answer)
        return left == 0

    def every(self, act, check):
        step = 0
        while self.killed(act, step):
            with self.subTest(step=step):
                self.enter()
                for number in (0, 7, 19):
                    self.assertEqual(self.value("alice", f"n{number}"), str(number).encode())
                check()
            step += STRIDE
            self.assertLess(step, 1000)
        self.assertGreater(step, STRIDE)
        print(f"        killed at {step // STRIDE} of {step} steps", flush=True)

    def members(self):
        return {each["name"]: each["isPending"] for each in self.done("alice", "members", store="team").members}

    def test_shared(self):
        """A member is there, or is not, and can be made one"""
        self.prepare("carol")

        def check():
            self.assertEqual(self.value("carol", "n1"), b"1")
            if self.name("bob") not in self.members():
                self.assertEqual(self.change("share", "bob").name, "done")
            self.assertEqual(self.value("bob", "n1"), b"1")

        self.every(lambda: self.change("share", "bob"), check)

    def test_removed(self):
        """The others go on, and the new key comes"""
        self.prepare("bob", "carol")

        def check():
            wait_until(lambda: not self.done("alice", "members", store="team").newKeyIsDue, "the new key")
            self.assertEqual(self.value("carol", "n1"), b"1")
            if self.name("bob") in self.members():
                self.assertEqual(self.value("bob", "n1"), b"1")
                self.assertEqual(self.change("unshare", "bob").name, "done")
            self.assertEqual(self.value("bob", "n1"), 3)
            self.done("carol", "set", payloads=[b"x"], store=f"{self.name('alice')}/team", name="x")
            self.assertEqual(self.value("alice", "x"), b"x")
            (team,) = [store for store in self.server.stores() if os.path.isdir(os.path.join(store, "members"))]
            self.assertEqual(
                {name.split(".")[0] for name in os.listdir(os.path.join(team, "members"))},
                {f"u{self.people[who][1]}" for who in ("alice", "carol")})
            wait_until(lambda: not {"records.new", "records.old"} & set(os.listdir(team)), "nothing is left over")

        self.every(lambda: self.change("unshare", "bob"), check)


if __name__ == "__main__":
    unittest.main()
