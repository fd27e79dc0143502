"""The bench cannot break unseen: each of its rows runs once, as short as it can be. No figure is looked at."""

import os
import subprocess
import sys
import unittest

from places import ROOT
from restartlab import has_secret_memory

# Only root may open other people's stores, which one of the rows does.
NEEDS_ROOT = True
IS_SLOW = True


class Rows(unittest.TestCase):
    def test_every_row_runs(self):
        """every row of `make bench` runs to its end, and none is left out"""
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "Benchmarks", "run")], env={**os.environ, "BENCH_SMOKE": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        # The first and the last of them: a table was shown.
        self.assertRegex(done.stdout, r"(?m)^pam_start\.\.pam_end")
        self.assertRegex(done.stdout, r"(?m)^64 characters judged by all built-in rules")
        left_out = [line for line in done.stdout.splitlines() if "skipped: " in line]
        may = int(len(os.sched_getaffinity(0)) == 1) + int(not has_secret_memory())
        self.assertLessEqual(len(left_out), may, left_out)


if __name__ == "__main__":
    unittest.main()
