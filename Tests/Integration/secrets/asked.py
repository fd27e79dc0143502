"""The person is asked in a dialog of the agent's, and not while the screen is locked."""

import os
import unittest

import secretstorage
from daemonlab import PASSCODE, wait_until
from screenlab import SleepyLogind
from secretslab import Desk

TIMEOUT = 240
NEEDS_ROOT = True


class Dialogs(unittest.TestCase):
    def setUp(self):
        self.desk = Desk(real_agent=True)
        self.addCleanup(self.desk.close)
        self.desk.tool("store", "--label=Mail", "user", "ann", typed="otter")
        self.dialogs = self.desk.pinentry

    def test_opens(self):
        """the passcode in the dialog opens the store, and the program gets its secret"""
        self.desk.lock_all()
        self.desk.is_locked(True)
        self.dialogs.answers("wrong", PASSCODE)
        self.assertEqual(self.desk.tool("lookup", "user", "ann"), (0, "otter", ""))
        self.assertEqual(len(self.dialogs.dialogs), 2)

    def test_secrets_alone(self):
        """where only this store was locked, and the one that it follows is open, the person is not troubled twice"""
        self.desk.lock()
        self.dialogs.answers(PASSCODE, PASSCODE)
        self.assertEqual(self.desk.tool("lookup", "user", "ann"), (0, "otter", ""))
        self.assertLessEqual(len(self.dialogs.dialogs), 1)

    def test_cancelled(self):
        """whoever cancels the dialog gets nothing, and is not asked again for the same call"""
        self.desk.lock_all()
        self.desk.is_locked(True)
        self.dialogs.answers(["cancel"], PASSCODE)
        self.assertEqual(self.desk.tool("lookup", "user", "ann"), (1, "", ""))
        self.assertEqual(len(self.dialogs.dialogs), 1)

    def test_leaves(self):
        """the program ends while the dialog is open: the dialog goes"""
        self.desk.lock_all()
        self.desk.is_locked(True)
        self.dialogs.answers(["wait"], PASSCODE)
        process = self.desk.start_tool("lookup", "user", "ann")
        dialog = self.dialogs.wait(1)
        process.kill()
        process.communicate()
        wait_until(lambda: not dialog.lives, "the dialog is gone", 30)
        self.assertEqual(self.desk.tool("lookup", "user", "ann"), (0, "otter", ""))

    def test_opened_elsewhere(self):
        """the store is opened elsewhere meanwhile: the program goes on, and the dialog goes"""
        self.desk.lock_all()
        self.desk.is_locked(True)
        self.dialogs.answers(["wait"])
        process = self.desk.start_tool("lookup", "user", "ann")
        dialog = self.dialogs.wait(1)
        self.desk.open()
        self.assertEqual(process.communicate(timeout=60)[0], b"otter")
        wait_until(lambda: not dialog.lives, "the dialog is gone", 30)


class Screen(unittest.TestCase):
    def desk(self, policy):
        self.logind = SleepyLogind()
        self.addCleanup(self.logind.close)
        uid = os.getuid()
        self.logind.session("c7", uid)
        self.logind.appears("c7", announced=True)
        self.logind.shows("c7", uid)
        text = "[Passcode]\nDerivationMemory=19MiB\nDerivationPasses=2\nLockGrace=0\nLockOnBackground=immediate\n"
        desk = Desk(text + policy, screen=self.logind)
        self.addCleanup(desk.close)
        desk.tool("store", "--label=Mail", "user", "ann", typed="otter")
        self.assertEqual(desk.agent.count(), 0)
        return desk

    def locks(self, desk):
        self.logind.hints("c7", locked=True)
        wait_until(lambda: desk.daemon.state_of().lock == "locked", "the person's store is locked", 60)

    def test_usual(self):
        """what reconnects behind the screen's lock gets its secret: this store stays open"""
        desk = self.desk("")
        self.locks(desk)
        self.assertEqual(desk.tool("lookup", "user", "ann"), (0, "otter", ""))
        self.assertEqual(desk.tool("store", "--label=x", "user", "ann", typed="new")[0], 0)
        self.assertEqual(desk.agent.count(), 0)

    def test_locked(self):
        """where the policy locks it, no dialog opens behind the lock; the locker opens it, and the program goes on"""
        desk = self.desk("[Passcode store:secrets]\nLockOnBackground=immediate\n")
        self.locks(desk)
        desk.is_locked(True)
        self.assertEqual(desk.agent.count(), 0)
        process = desk.start_tool("lookup", "user", "ann")
        connection = desk.connect()
        for _ in range(20):
            self.assertEqual(len(list(secretstorage.search_items(connection, {"user": "ann"}))), 1)
        self.assertIsNone(process.poll())
        self.assertEqual(desk.agent.count(), 0)
        desk.open()
        self.logind.hints("c7", locked=False)
        self.assertEqual(process.communicate(timeout=60)[0], b"otter")
        self.assertEqual(desk.agent.count(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
