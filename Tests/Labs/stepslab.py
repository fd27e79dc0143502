"""A process that is killed at each of its steps: before each write, sync, renaming and removal in a folder, before each
message that it sends, and after each that it has read.

    steps = Steps(folder, "daemon")
    process started with steps.environment(state)
    steps.arm(3)                       # it is killed at its fourth step from here on
    ...
    left = steps.disarm()              # 0 where it came to that
    steps.count(act)                   # how many steps an act has
"""

import os
import time

import pamlab
from daemonlab import derivation_counter

MANY = 1_000_000


class Steps:
    def __init__(self, folder, name):
        self.path = os.path.join(folder, f"steps-{name}")
        self.killer = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")

    def environment(self, folder=None):
        """Counted are the changes in this folder, too."""
        more = {} if folder is None else {"STEPS_FOLDER": folder}
        preloaded = f"{derivation_counter()} {self.killer}"
        return {"LD_PRELOAD": preloaded, "KILL_STEPS": self.path, "STEPS_MESSAGES": "1", **more}

    def arm(self, step):
        with open(self.path, "w", encoding="ascii") as file:
            file.write(f"{step}\n")

    def left(self):
        # While it is written anew there may be nothing in it.
        for _ in range(1000):
            with open(self.path, encoding="ascii") as file:
                text = file.read().strip()
            if text:
                return int(text)
            time.sleep(0.001)
        raise AssertionError("no number of steps")

    def disarm(self):
        left = self.left()
        os.unlink(self.path)
        return left

    def comes_to_rest(self, process):
        """Waits until the process has ended, or does nothing more that counts, also behind its answer."""
        last, since = self.left(), time.monotonic()
        while process.poll() is None:
            time.sleep(0.005)
            if (now := self.left()) != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > 0.1:
                return

    def count(self, process, act):
        self.arm(MANY)
        act()
        self.comes_to_rest(process)
        return MANY - self.disarm()
