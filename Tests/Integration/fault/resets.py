"""A reset that is killed: there is the store as it was, or none; never one that wrong passcodes erased."""

import os
import shutil
import unittest

import pamlab
import wire
from daemonlab import answers, derivation_counter
from faultlab import Lab, policy
from slow import slow

PASSCODE = "correct horse"
TIMEOUT = 900


class Resets(unittest.TestCase):
    @slow
    def test_killed(self):
        """SIGKILL before each step of a reset: the store opens, or its name is free; the next start finishes it"""
        lab = Lab(policy(RetryLimit="5"), start=False)
        self.addCleanup(lab.close)
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        steps = os.path.join(lab.folder, "steps")
        lab.env = {
            "LD_PRELOAD": f"{derivation_counter()} {preload}", "KILL_STEPS": steps,
            "STEPS_FOLDER": os.path.join(lab.state, "stores")}
        lab.start()
        lab.make(PASSCODE)
        self.assertEqual(lab.set(b"name", b"value").name, "done")
        lab.stop()
        template = os.path.join(lab.folder, "template")
        shutil.copytree(lab.state, template)
        seen = []
        for step in range(200):
            for name in os.listdir(lab.state):
                path = os.path.join(lab.state, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            shutil.copytree(template, lab.state, dirs_exist_ok=True)
            lab.start()
            self.assertEqual(lab.open(PASSCODE).name, "done")
            with open(steps, "w") as file:
                file.write(f"{step}\n")
            try:
                answer = lab.ask("reset", answers(PASSCODE))
            except (OSError, wire.WireError):
                answer = None
            os.unlink(steps)
            lab.kill()
            lab.start()
            state = lab.state_of()
            seen.append(state.lock)
            where = f"killed before step {step}"
            if answer is not None:
                self.assertEqual((answer.name, state.lock), ("done", "absent"), where)
            self.assertIn(state.lock, ("locked", "absent"), where)
            if state.lock == "locked":
                self.assertEqual(lab.open(PASSCODE).name, "done", where)
                self.assertEqual(lab.get(b"name").payload, b"value", where)
            else:
                self.assertEqual(os.listdir(os.path.join(lab.state, "stores")), [], where)
                self.assertEqual(os.listdir(os.path.join(lab.state, "owners")), [], where)
                lab.make("another horse")
            lab.kill()
            if answer is not None:
                break
        self.assertEqual(set(seen), {"locked", "absent"})
        # Once it was none, it stays so.
        self.assertEqual(seen, sorted(seen, reverse=True))


if __name__ == "__main__":
    unittest.main()
