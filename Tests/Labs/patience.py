"""How long something takes on a machine that may have others to serve at the same time."""

import contextlib
import os
import time

# The kernel adds up every two seconds how long processes have waited.
ADDED_UP = 2.1


# Open from the start: some tests leave a process no descriptor.
COUNTERS = {}
for name in ("pressure/cpu", "pressure/io", "stat"):
    # A kernel that does not count the pressure leaves it out.
    with contextlib.suppress(OSError):
        COUNTERS[name] = os.open(f"/proc/{name}", os.O_RDONLY | os.O_CLOEXEC)


def others_took():
    """For how many seconds, since the machine started, some process has waited for a processor or
    a disk, or the machine itself for the computer that it is a part of. May be two seconds old."""
    waited = 0.0
    for name, number in COUNTERS.items():
        first = os.pread(number, 1000, 0).splitlines()[0]
        if name == "stat":
            waited += int(first.split()[8]) / os.sysconf("SC_CLK_TCK") / os.cpu_count()
        else:
            waited += int(first.rpartition(b"total=")[2]) / 1e6
    return waited


class Stopwatch:
    """Runs from the moment that it is made."""

    def __init__(self):
        self.others = others_took()
        self.began = time.monotonic()

        self.stopped = None

    def stop(self):
        self.stopped = time.monotonic()
        return self

    @property
    def seconds(self):
        return (self.stopped or time.monotonic()) - self.began

    def is_over(self, seconds):
        """Whether so many seconds have passed, without those in which others were served, or ten times as many."""
        passed = self.seconds
        return passed > seconds and (
            passed > 10 * seconds or passed - (others_took() - self.others) > seconds + ADDED_UP)

    def assert_within(self, seconds, *what):
        """Not more than so many seconds have passed, without those in which others were served.
        What waits for a deadline in vain waits as long on any machine, and is found."""
        passed = self.seconds
        if passed < seconds:
            return
        time.sleep(ADDED_UP)
        others = others_took() - self.others
        if passed - others >= seconds:
            raise AssertionError(f"{passed:.2f} s, {others:.2f} of them for others, but not within {seconds} s", *what)
