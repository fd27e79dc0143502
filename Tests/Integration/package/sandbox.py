"""What the daemon takes away from itself, because its unit cannot; and the rules worker in a
container."""

import errno
import os
import tempfile
import unittest

import pamlab
from daemonlab import Daemon
from ruleslab import Worker, dictionary, matches


def library(name):
    return pamlab.compiled(f"{name}.c", f"{name}.so", "-shared", "-fPIC", "-ldl", "-lpthread")


class Keeper(unittest.TestCase):
    def test_refused(self):
        """A compromised daemon can start no program and no process, and read no other process's memory; threads work"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "attempts")
            with Daemon(env={"LD_PRELOAD": library("keeperpreload"), "ATTEMPTS": path}, uid=os.getuid()) as daemon:
                self.assertIsNone(daemon.process.poll())
                with open(path) as file:
                    found = dict(line.split() for line in file)
            refused = str(errno.EPERM)
            self.assertEqual(found, {
                "fork": refused, "clone": refused, "clone3": str(errno.ENOSYS), "program": refused, "peek": refused,
                "trace": refused, "thread": "0"})


class Container(unittest.TestCase):
    def test_no_landlock(self):
        """Where a container refuses Landlock the worker still judges, under its other limits"""
        with Worker(env={"LD_PRELOAD": library("nolandlock")}) as worker:
            self.assertEqual(
                worker.judge("hunter2", matches("[0-9]"), matches("x")), [("satisfied", ""), ("unmet", "")])
            self.assertEqual(worker.judge("peggy1", dictionary()), [("unmet", "it is based on a dictionary word")])


if __name__ == "__main__":
    unittest.main()
