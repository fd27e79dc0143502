"""The test of fault/kills for about an hour: APPVAULT_KILLS kills, 1,000 by default."""

import os
import unittest

import killlab

TIMEOUT = 600


class ManyKills(unittest.TestCase):
    @unittest.skipUnless(
        os.environ.get("APPVAULT_TESTS") == "soak" or os.environ.get("APPVAULT_KILLS"), "make soak runs it"
    )
    def test_kills(self):
        """a thousand kills at random instants lose nothing that was answered"""
        killlab.run(int(os.environ.get("APPVAULT_KILLS") or 1000))


if __name__ == "__main__":
    unittest.main()
