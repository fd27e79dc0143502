"""SIGKILL at random instants: nothing that was answered is lost, and every store opens. The long
form: fault/soak."""

import unittest

import killlab
from slow import slow


class Kills(unittest.TestCase):
    def test_some(self):
        """12 kills at random instants lose nothing that was answered"""
        killlab.run(12)

    @slow
    def test_many(self):
        """60 kills at random instants lose nothing that was answered"""
        killlab.run(60)


if __name__ == "__main__":
    unittest.main()
