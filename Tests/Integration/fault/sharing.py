"""SIGKILL of the daemon before each write, sync, renaming, link and removal in a shared store's folder, while it is
shared with somebody, while somebody is removed and the store gets a new key, while it gets another name, another owner
or another recovery key; and while a shared store or one that follows another is made. Afterwards it opens for its
members, nothing is lost, and what was begun is done or undone."""

import os
import shutil
import signal
import unittest

import pamlab
import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account, wait_until
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 1800
NO_ONE = ("", wire.UNKNOWN_UID)
# Every step takes twenty minutes: the long run tries them all, the others some all over.
IS_LONG = os.environ.get("APPVAULT_TESTS") == "soak"
STRIDE = 1 if IS_LONG else 11
# Of what has few steps.
SHORT_STRIDE = 1 if IS_LONG else 4


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

    owner, called = "alice", "team"

    def store(self, who):
        return self.called if who == self.owner else f"{self.name(self.owner)}/{self.called}"

    def value(self, who, name):
        answer = self.ask(who, "get", store=self.store(who), name=name)
        return answer.payload if answer.name == "value" else answer.code

    def prepare(self, *members, records=20, more=None):
        """`more` is done at the end, before the state is kept that each step begins with."""
        self.last = records - 1
        self.server.start()
        for who in self.people:
            self.done(who, "create", answers(PASSCODE), way="ownPasscode")
        self.done("alice", "create", store="team", way="shared")

        def fill():
            with self.server.client() as client:
                return [client.run("set", (), [str(number).encode()], store="team", name=f"n{number}").name
                        for number in range(records)]

        self.assertEqual(set(as_uid(self.people["alice"][1], fill)), {"done"})
        for who in members:
            self.assertEqual(self.change("share", who).name, "done")
        if more:
            more()
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
        self.find()
        self.done("alice", "get", store=self.store("alice"), name="n0")

    def find(self):
        """Whose the shared store is by now, and what it is called."""
        (self.owner, self.called), = [
            (who, store["name"]) for who in self.people for store in self.done(who, "stores").stores
            if store["kind"] == "shared" and store["role"] == "owner" and store["records"] > 1]

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

    def every(self, act, check, stride=STRIDE):
        step = 0
        while self.killed(act, step):
            with self.subTest(step=step):
                self.enter()
                for number in (0, 7, self.last):
                    self.assertEqual(self.value("alice", f"n{number}"), str(number).encode())
                check()
            step += stride
            self.assertLess(step, 3000)
        self.assertGreater(step, stride)
        print(f"        killed at {step // stride} of {step} steps", flush=True)

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

    @slow
    def test_removed(self):
        """The others go on, and the new key comes"""
        self.removed(20, STRIDE)

    @slow
    def test_removed_from_many(self):
        """The same where the new key takes more than one piece"""
        self.removed(200, 5 * STRIDE)

    def removed(self, records, stride):
        self.prepare("bob", "carol", records=records)

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

        self.every(lambda: self.change("unshare", "bob"), check, stride)

    def everywhere(self):
        """Also the owners' files, which are beside the stores."""
        self.server.env["STEPS_FOLDER"] = self.server.state

    def made(self, name, **fields):
        """A further store is there, or is not, and can be made."""
        self.everywhere()
        self.prepare("bob")
        make = lambda: self.ask("alice", "create", store=name, **fields)

        def check():
            self.assertEqual(self.value("bob", "n1"), b"1")
            listed = {store["name"] for store in self.done("alice", "stores").stores}
            folders = os.listdir(os.path.join(self.server.state, "stores"))
            self.assertEqual(len(folders), len(self.people) + len(listed) - 1, folders)
            self.assertEqual(sorted(folders), sorted(os.listdir(os.path.join(self.server.state, "owners"))))
            if name not in listed:
                self.assertEqual(make().name, "done")
            self.done("alice", "set", payloads=[b"x"], store=name, name="x")
            self.done("alice", "lock")
            self.done("alice", "openStore", answers(PASSCODE))
            self.assertEqual(self.done("alice", "get", store=name, name="x").payload, b"x")

        self.every(make, check)

    @slow
    def test_follower_made(self):
        self.made("notes", way="followStore")

    @slow
    def test_shared_one_made(self):
        self.made("second", way="shared")

    @slow
    def test_renamed(self):
        """It has one of the two names, for everybody"""
        self.everywhere()
        self.prepare("bob")

        def check():
            self.assertIn(self.called, ("team", "crew"))
            self.assertEqual(self.value("bob", "n1"), b"1")
            other = {"team": "crew", "crew": "team"}[self.called]
            self.assertEqual(self.ask("bob", "get", store=f"{self.name('alice')}/{other}", name="n1").code, 3)
            if self.called == "team":
                self.done("alice", "rename", store="team", name="crew")
                self.called = "crew"
            self.assertEqual(self.value("bob", "n1"), b"1")

        self.every(lambda: self.ask("alice", "rename", store="team", name="crew"), check, SHORT_STRIDE)

    def hand_on(self, who):
        """Alice offers it to bob, or bob takes it."""
        return self.ask(who, "share", answers(PASSCODE), store=self.store(who), kind="person", name=self.name("bob"),
                        role="owner")

    def is_bobs_in_the_end(self):
        if self.owner == "alice":
            for who in ("alice", "bob"):
                self.assertEqual(self.hand_on(who).name, "done")
            self.owner = "bob"
        for who in ("alice", "bob"):
            self.assertEqual(self.value(who, "n1"), b"1")
            self.done(who, "set", payloads=[who.encode()], store=self.store(who), name="x")
        roles = {each["name"]: each["role"] for each in self.done("bob", "members", store=self.called).members}
        self.assertEqual(roles, {self.name("alice"): "writer", self.name("bob"): "owner"})

    @slow
    def test_offered(self):
        """Alice's still, who can offer it again"""
        self.everywhere()
        self.prepare("bob")
        self.every(lambda: self.hand_on("alice"), self.is_bobs_in_the_end, SHORT_STRIDE)

    @slow
    def test_taken(self):
        """Alice's or bob's, and both use it"""
        self.everywhere()
        self.prepare("bob", more=lambda: self.assertEqual(self.hand_on("alice").name, "done"))
        self.every(lambda: self.hand_on("bob"), self.is_bobs_in_the_end, SHORT_STRIDE)

    def recovery_key(self):
        """A new one of the shared store; the answer, which says which was shown."""
        def make():
            shown = []
            try:
                with self.server.client(frontEnd="terminal") as client:
                    client.revealed = shown
                    answer = client.run("recoveryNew", answers(PASSCODE), subject=NO_ONE, store="team")
            except (OSError, wire.WireError):
                answer = None
            return answer, [bytes(key) for key in shown]

        answer, shown = as_uid(self.people["alice"][1], make)
        self.shown += shown
        return answer

    @slow
    def test_recovery_key(self):
        """The former one opens it, or the one that was shown"""
        self.shown = []
        self.prepare("bob", more=self.recovery_key)
        (former,) = self.shown

        def act():
            self.shown = []
            return self.recovery_key()

        def check():
            self.done("bob", "lock")
            self.done("alice", "reset", answers(PASSCODE))
            self.done("alice", "create", answers(PASSCODE), way="ownPasscode")
            self.assertEqual(self.value("alice", "n1"), 26)
            recovers = lambda key: self.ask("alice", "recover", answers("", recoveryKey=key), store="team").name
            # No kill comes between the two: at least one of them.
            self.assertIn("done", [recovers(key) for key in (former, *self.shown)])
            self.assertEqual(self.value("alice", "n1"), b"1")

        self.every(act, check, SHORT_STRIDE)


if __name__ == "__main__":
    unittest.main()
