"""SIGKILL of the daemon before each write, sync, renaming and removal, while a finger is enrolled, enrolled anew,
deleted, turned off, counted, given back or cleared. What was answered is lasting; what was not has happened or has not;
nobody is given a touch, and no print is left that nobody knows of."""

import os
import shutil
import unittest

import pamlab
from daemonlab import answers, derivation_counter, wait_until
from fingerlab import MATCH, Desk, FakeWorker, Reader

TIMEOUT = 600
IS_SLOW = True
POLICY = "DerivationMemory=19MiB\nDerivationPasses=2\n"
SIX, SEVEN = "rightThumb", "rightIndex"


class Act:
    """Something that is done with the store of `Kills.prepare`, which has two fingers and a
    count of two failures."""

    # The fingers that are enrolled before it.
    fingers = (6, 7)
    after = None
    # What is gone where the act was begun and came to nothing.
    between = None
    # The count of failures before and afterwards; in between one more may be counted.
    left, left_after = 3, 3
    # Whether a touch is counted that the person then does not make.
    gives_back = 0

    def __init__(self, desk, worker):
        self.desk, self.worker = desk, worker

    def run(self):
        raise NotImplementedError

    def ask(self, request, script=(), enter=None, **fields):
        """The last answer; None where there was none."""
        try:
            finger = self.desk.ask(request, script, enter, **fields)
        except OSError:
            return None
        return finger.last


class EnrollAnother(Act):
    """a third finger"""

    after = {"leftThumb"}
    left_after = 5

    def run(self):
        self.worker.touches("match", "match")
        return self.ask("fingerprintEnroll", answers(), finger="leftThumb")


class EnrollAgain(Act):
    """a finger that is enrolled already, which its former print tells"""

    left_after = 5
    between = {SIX}

    def run(self):
        self.worker.touches("match 0", "match", "match")
        return self.ask("fingerprintEnroll", answers(), finger=SIX, enrolls=False)


class EnrollOnlyAgain(EnrollAgain):
    """the only finger that is enrolled, which its former print tells"""

    fingers = (6,)


class DeleteOne(Act):
    """one of two"""

    after = {SIX}
    left_after = 5

    def run(self):
        return self.ask("fingerprintDelete", answers(), finger=SIX)


class Off(Act):
    """all of them"""

    after = {SIX, SEVEN}
    left_after = 5

    def run(self):
        return self.ask("fingerprintSwitch", answers(), on=False)


class NoMatch(Act):
    """a touch that does not match"""

    left_after = 2
    gives_back = 1

    def run(self):
        self.worker.touches("no")
        return self.ask("fingerprintVerify", enter=self.worker.waits_again(2))


class GivenUp(Act):
    """Enter"""

    gives_back = 1

    def run(self):
        return self.ask("fingerprintVerify", enter=lambda scan: scan.event == "place")


class Matches(Act):
    """a touch that matches"""

    left_after = 5

    def run(self):
        self.worker.touches("match")
        return self.ask("fingerprintVerify")


class Passcode(Act):
    """the passcode"""

    left_after = 5
    gives_back = 1

    def run(self):
        return self.ask("openStore", answers(), enter=lambda scan: True)


class Kills(unittest.TestCase):
    def prepare(self, act):
        self.act_type = act
        self.worker = FakeWorker(Reader(stores=True, stages=2))
        self.addCleanup(self.worker.close)
        self.desk = Desk(self.worker, POLICY)
        self.addCleanup(self.desk.close)
        self.daemon = self.desk.daemon
        for number in self.act_type.fingers:
            self.desk.enroll(number)
        self.worker.forget()
        self.worker.touches("no", "no")
        self.desk.ask("fingerprintVerify", enter=self.worker.waits_again(3))
        wait_until(lambda: self.desk.list().failuresLeft == 3, "Enter is given back")
        self.chip = list(self.worker.chip)
        self.daemon.stop()
        self.template = os.path.join(self.daemon.folder, "template")
        shutil.copytree(self.daemon.state, self.template)
        self.steps = os.path.join(self.daemon.folder, "steps")
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        self.daemon.env = {"LD_PRELOAD": f"{derivation_counter()} {preload}", "KILL_STEPS": self.steps}
        self.act = act(self.desk, self.worker)

    def fresh(self):
        if self.daemon.is_running:
            self.daemon.kill()
        self.worker.rest()
        shutil.rmtree(self.daemon.state)
        shutil.copytree(self.template, self.daemon.state)
        for folder, _, names in os.walk(self.daemon.state):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:
                os.chown(path, self.daemon.uid, -1)
        self.worker.chip[:] = self.chip
        self.worker.forget()
        self.daemon.start()

    def arm(self, steps):
        with open(self.steps, "w") as file:
            file.write(f"{steps}\n")
        os.chmod(self.steps, 0o666)

    def disarm(self):
        with open(self.steps) as file:
            left = int(file.read())
        os.unlink(self.steps)
        return left

    def files(self):
        """The files of all fingers."""
        found = []
        for _, _, names in os.walk(os.path.join(self.daemon.state, "fingers")):
            found += names
        return sorted(found)

    def check(self, answer):
        """Checks the store after the daemon was started again."""
        act = self.act
        state = self.desk.list()
        fingers = {each["finger"] for each in state.fingers}
        before = {SIX, SEVEN} if len(act.fingers) == 2 else {SIX}
        after = before ^ (act.after or set())
        done = answer is not None and answer.name == "done"
        self.assertIn(fingers, [after] if done else [before, after, before - (act.between or set())])
        self.assertEqual(state.on, bool(fingers))
        self.assertEqual(len(self.files()), len(fingers), self.files())
        if fingers:
            # The count is given back after the answer.
            certain = answer is not None and not act.gives_back
            between = {act.left, act.left - 1, act.left_after, act.left_after - act.gives_back}
            expected = {act.left_after} if certain else between
            self.assertIn(state.failuresLeft, expected)
        if isinstance(act, NoMatch) and MATCH in self.worker.kinds():
            self.assertLessEqual(state.failuresLeft, act.left_after, "it was seen, and is on the count")
        # The passcode opens the store, and then each enrolled finger does, and no other.
        self.assertFalse(state.ready)
        self.desk.lock()
        self.assertEqual(self.desk.open(answers()).last.name, "done", self.daemon.log())
        if fingers:
            self.desk.lock()
            self.worker.forget()
            self.worker.touches(f"match {len(fingers) - 1}")
            self.assertEqual(self.desk.open().last.name, "done", self.daemon.log())
            (match,) = [request for request in self.worker.heard if request.kind == MATCH]
            self.assertEqual(len(match.templates), len(fingers))

    def killed(self, act):
        self.prepare(act)
        self.fresh()
        self.arm(10000)
        self.act.run()
        wait_until(lambda: self.desk.list().failuresLeft in (self.act.left_after, 0), "all is written")
        self.daemon.stop()
        steps = 10000 - self.disarm()
        self.assertGreater(steps, 1)
        for step in range(steps):
            with self.subTest(step=step):
                self.fresh()
                self.arm(step)
                answer = self.act.run()
                wait_until(lambda: not self.daemon.is_running, "it is killed, maybe behind the answer")
                self.worker.rest()
                self.assertEqual(self.disarm(), 0)
                self.daemon.start()
                self.check(answer)
        return steps


def method(act):
    def test(self):
        print(f"        {act.__name__}: killed at {self.killed(act)} steps", flush=True)

    test.__doc__ = f"killed at every step: {act.__name__}: {act.__doc__}"
    return test


for _act in (EnrollAnother, EnrollAgain, EnrollOnlyAgain, DeleteOne, Off, NoMatch, GivenUp, Matches, Passcode):
    setattr(Kills, f"test_{_act.__name__}", method(_act))


if __name__ == "__main__":
    unittest.main()
