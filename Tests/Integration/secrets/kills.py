"""appvaultd and the bridge, each killed at every step of what a program does with its secrets: before each write and
sync, before each message that it sends, and after each that it has read. What was answered is certain; what was not has
happened completely or not at all; no item has the attributes of one version and the secret of another; and nobody waits
longer than clients do. Here at some of the steps, evenly over all of them and others each time; at every one in
`make soak`."""

import os
import signal
import time
import unittest

from daemonlab import PASSCODE, answers, wait_until
from jeepney import MessageType
from secretslab import LOGIN, ROOT, STORE, Caller, Desk
from slow import slow
from stepslab import MANY

IS_LONG = os.environ.get("APPVAULT_TESTS") == "soak"
TIMEOUT = 600
# Of each act and each process, where not all of them are tried.
SOME = 5
# Seconds that a client waits for an answer.
PATIENCE = 25


class Program(Caller):
    """One client, and the one item that is its own, of which it knows two versions."""

    def __init__(self, desk, number):
        super().__init__(desk)
        self.desk, self.number = desk, str(number)
        self.session_path = self.session()

    def answer(self, serial, seconds=PATIENCE):
        return super().answer(serial, seconds)

    def version(self, number, attributes=1):
        """Label, attributes and secret, which tell whether they belong together."""
        text = f"{self.number}.{number}"
        return text, {"n": self.number, "v": str(attributes)}, text.encode() * 100

    def crossing(self, secret):
        return self.session_path, b"", secret, "text/plain"

    def create(self, number, replace=False):
        label, attributes, secret = self.version(number)
        properties = {
            "org.freedesktop.Secret.Item.Label": ("s", label),
            "org.freedesktop.Secret.Item.Attributes": ("a{ss}", attributes)}
        return self.call(
            LOGIN, "Collection", "CreateItem", "a{sv}(oayays)b", properties, self.crossing(secret), replace)

    def made(self):
        """The first version, and its path."""
        answer = self.create(1)
        if isinstance(answer, str):
            raise AssertionError(f"it is not stored: {answer}")
        return answer[0]

    def set(self, path, name, signature, value):
        return self.answer(self.send_to(
            path, "org.freedesktop.DBus.Properties", "Set", "ssv", "org.freedesktop.Secret.Item", name,
            (signature, value)))

    def property(self, path, name, of="Item"):
        answer = self.answer(self.send_to(
            path, "org.freedesktop.DBus.Properties", "Get", "ss", "org.freedesktop.Secret." + of, name))
        return answer[0][1]

    def there(self):
        """What there is of its item, by path."""
        def search(**attributes):
            return self.call(ROOT, "Service", "SearchItems", "a{ss}", attributes)[0]

        paths = search(n=self.number)
        by_version = [*search(n=self.number, v="1"), *search(n=self.number, v="2")]
        if sorted(paths) != sorted(by_version):
            raise AssertionError(f"found by one attribute: {paths}, by both: {by_version}")
        return {
            path: (
                self.property(path, "Label"), self.property(path, "Attributes"),
                bytes(self.call(path, "Item", "GetSecret", "o", self.session_path)[0][2]))
            for path in paths}

    def completes(self, prompt):
        """Whether it was dismissed; nothing if the bridge has ended."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for each in self.heard:
                if each.header.fields[1] == prompt and each.header.fields[3] == "Completed":
                    return bool(each.body[0])
            if self.desk.process.poll() is not None:
                return None
            try:
                message = self.connection.receive(timeout=0.1)
            except TimeoutError:
                continue
            if message.header.message_type == MessageType.signal:
                self.heard.append(message)
        raise AssertionError(f"nobody says what became of the prompt: {self.desk.said.all}")


class Act:
    """What a program does. `run` says whether it was told that it is done."""

    # Versions of its item; none where there is none.
    before, after = (1, 1), (1, 1)

    def __init__(self, program):
        self.program, self.desk = program, program.desk
        self.path = None
        if self.before is not None:
            self.path = program.made()

    def lock(self):
        """Before it begins, where it is about what is locked."""

    def allowed(self, version):
        return None if version is None else self.program.version(*version)


class First(Act):
    """create, with the store"""

    before = None

    def __init__(self, program):
        super().__init__(program)
        # Nothing is kept yet, and the bridge knows that.
        self.desk.daemon.ask("reset", answers(PASSCODE), store=STORE)
        wait_until(lambda: self.program.property(LOGIN, "Items", "Collection") == [], "nothing is there", 30)

    def run(self):
        return not isinstance(self.program.create(1), str)


class Create(Act):
    """create"""

    before = None

    def run(self):
        return not isinstance(self.program.create(1), str)


class Replace(Act):
    """replace"""

    after = (2, 1)

    def run(self):
        answer = self.program.create(2, replace=True)
        return not isinstance(answer, str) and answer[0] == self.path


class Attributes(Act):
    """other attributes"""

    after = (1, 2)

    def run(self):
        return self.program.set(self.path, "Attributes", "a{ss}", self.program.version(1, 2)[1]) == ()


class Delete(Act):
    """delete"""

    after = None

    def run(self):
        return self.program.call(self.path, "Item", "Delete") == ("/",)


class Unlock(Act):
    """unlock"""

    # What the person opens.
    opened = STORE

    def lock(self):
        self.desk.lock()

    def called(self):
        answer = self.program.unlock(self.path)
        return answer if isinstance(answer, str) else answer[1]

    def run(self):
        prompt = self.called()
        times = self.desk.agent.count()
        if not prompt.startswith("/") or self.program.call(prompt, "Prompt", "Prompt", "s", "") != ():
            return False
        if not self.asked(times):
            return False
        self.answered()
        return self.program.completes(prompt) is False

    def asked(self, times):
        """False if the bridge, which asks, has ended."""
        end = time.monotonic() + PATIENCE
        while self.desk.agent.count() == times:
            if self.desk.process.poll() is not None:
                return False
            if time.monotonic() > end:
                raise AssertionError("the person is not asked")
            time.sleep(0.002)
        return True

    def answered(self):
        """The person types the passcode. Where the daemon has ended meanwhile the dialog says so and is gone, or the
        next one comes in time for the person to type it again."""
        try:
            self.desk.open(self.opened)
        except (OSError, AssertionError):
            self.desk.daemon.process.wait(PATIENCE)
            if int(self.program.number) % 2:
                return self.desk.agent.answer(2)
            # This one is not killed.
            self.desk.steps["daemon"].arm(MANY)
            self.desk.daemon.start()
            self.desk.open()
        return self.desk.agent.answer(0)


class UnlockBoth(Unlock):
    """unlock, with the store that it follows"""

    opened = ""

    def lock(self):
        self.desk.lock_all()
        self.desk.is_locked(True)


class DeleteLocked(Unlock):
    """delete what is locked"""

    after = None

    def called(self):
        answer = self.program.call(self.path, "Item", "Delete")
        return answer if isinstance(answer, str) else answer[0]


class Refuse(Unlock):
    """refuse a prompt"""

    def answered(self):
        self.desk.agent.answer(130)


ACTS = (First, Create, Replace, Attributes, Delete, Unlock, UnlockBoth, DeleteLocked, Refuse)


class Killed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.desk = Desk(steps=True)
        cls.addClassCleanup(cls.desk.close)
        cls.number = 0

    def process(self, victim):
        return self.desk.daemon.process if victim == "daemon" else self.desk.process

    def attempt(self, act, victim, step):
        """How many steps were left, and whether it was killed. It is running again afterwards."""
        type(self).number += 1
        program = Program(self.desk, self.number)
        trial = act(program)
        trial.lock()
        steps, process = self.desk.steps[victim], self.process(victim)
        steps.arm(step)
        done = trial.run()
        steps.comes_to_rest(process)
        left = steps.disarm()
        is_killed = self.revived(victim, process)
        program.connection.close()
        self.check(trial, done)
        return left, is_killed

    def revived(self, victim, process):
        """Whether it was killed."""
        desk = self.desk
        # A dialog whose bridge has ended goes with it.
        desk.agent.answer(130)
        # One that has counted to its end is about to end.
        if victim == "daemon":
            try:
                desk.daemon.ask("status")
            except OSError:
                desk.daemon.process.wait(PATIENCE)
        is_killed = process.poll() is not None
        if not desk.daemon.is_running:
            desk.daemon.start()
        elif is_killed and victim == "bridge":
            desk.kill()
            desk.start()
        self.open()
        desk.is_locked(False)
        return is_killed

    def open(self):
        self.desk.open()
        if self.desk.daemon.state_of(STORE).lock == "locked":
            self.desk.open(STORE)

    def check(self, trial, done):
        program = Program(self.desk, trial.program.number)
        there = program.there()
        versions = list(there.values())
        before, after = ([] if each is None else [each] for each in (
            trial.allowed(trial.before), trial.allowed(trial.after)))
        self.assertIn(versions, [after] if done else [before, after])
        if trial.path and there:
            self.assertEqual(list(there), [trial.path])
        for path in there:
            program.call(path, "Item", "Delete")
        program.connection.close()

    def at_each_step(self, act, victim):
        # An act before it may have been killed while it made the store.
        self.attempt(Create, victim, MANY)
        left, is_killed = self.attempt(act, victim, MANY)
        self.assertFalse(is_killed)
        count = MANY - left
        stride = 1 if IS_LONG else max(1, -(-count // SOME))
        kills = 0
        # There may be some more than last time: they are tried until it goes through, or nearly so.
        for step in range(int(time.time()) % stride, count + 5, stride):
            with self.subTest(step=step):
                left, is_killed = self.attempt(act, victim, step)
                kills += is_killed
                if not is_killed and step >= count:
                    break
        return count, kills

    def killed(self, victim):
        for act in ACTS:
            with self.subTest(act=act.__doc__):
                count, kills = self.at_each_step(act, victim)
                print(f"        {act.__doc__}: {count} steps of {victim}, killed {kills} times", flush=True)
                # Else nothing was tried.
                if count >= SOME:
                    self.assertGreater(kills, 0)

    @slow
    def test_daemon(self):
        """appvaultd is killed at the steps of create, replace, delete, unlock and prompt"""
        self.killed("daemon")

    @slow
    def test_looks_after_it(self):
        """whoever was not told what became of a call, and looks, finds what appvaultd has kept"""
        count, _ = self.attempt(Delete, "daemon", MANY)
        count = MANY - count
        deleted = 0
        for step in range(count):
            with self.subTest(step=step):
                type(self).number += 1
                program = Program(self.desk, self.number)
                trial = Delete(program)
                daemon = self.desk.daemon.process
                self.desk.steps["daemon"].arm(step)
                answer = program.call(trial.path, "Item", "Delete")
                if answer == "Failed":
                    # The daemon is there again before the bridge has heard of it.
                    os.kill(self.desk.process.pid, signal.SIGSTOP)
                    try:
                        daemon.wait(PATIENCE)
                        self.desk.steps["daemon"].disarm()
                        self.desk.daemon.start()
                        self.open()
                        serial = program.send(ROOT, "Service", "SearchItems", "a{ss}", {"n": program.number})
                    finally:
                        os.kill(self.desk.process.pid, signal.SIGCONT)
                    paths = program.answer(serial)[0]
                    for path in paths:
                        secret = program.call(path, "Item", "GetSecret", "o", program.session_path)
                        self.assertNotIsInstance(secret, str)
                    deleted += paths == []
                else:
                    self.desk.steps["daemon"].comes_to_rest(daemon)
                    self.desk.steps["daemon"].disarm()
                    self.revived("daemon", daemon)
                program.connection.close()
                self.desk.is_locked(False)
        # Else nothing was shown.
        self.assertGreater(deleted, 0)

    def test_bridge(self):
        """the bridge is killed at the steps of create, replace, delete, unlock and prompt"""
        self.killed("bridge")


if __name__ == "__main__":
    unittest.main(verbosity=2)
