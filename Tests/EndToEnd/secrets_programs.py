"""secret-tool, git, a mail account as Evolution keeps it, and programs of Qt's and Python's keep their secrets in
AppVault: while the store is open, while it is locked and a dialog asks, and behind a locked screen. Where the policy
locks the store with the screen no dialog opens there; the locker opens the store, by passcode or finger, and what had
asked goes on. Pictures are kept."""

import collections
import shlex
import unittest

import clientlab
import packages

NEEDS_ROOT = True
TIMEOUT = 2400

Client = collections.namedtuple("Client", "name store lookup attributes")
# With the attributes by which each finds its item.
CLIENTS = (
    Client("secret-tool", "printf %s {} | secret-tool store --label=Otter river sea", "secret-tool lookup river sea",
           "river sea"),
    Client("git", "printf 'protocol=https\\nhost=git.example\\nusername=alice\\npassword=%s\\n' {}"
           " | git -c credential.helper=libsecret credential approve",
           "printf 'protocol=https\\nhost=git.example\\nusername=alice\\n'"
           " | GIT_ASKPASS=false git -c credential.helper=libsecret credential fill | sed -n 's/^password=//p'",
           "server git.example"),
    Client("Evolution's account", "mail-account store {}", "mail-account lookup", "e-source-uid otter-mail"),
    Client("QtKeychain", "keychain {}", "keychain", "server org.example.Otter"),
    Client("python3-keyring", "echo {} | python3 -m keyring set otter alice",
           "python3 -m keyring get otter alice", "service otter username alice"))


@packages.on_later_releases
class Programs(clientlab.Locked):
    def test_1_open(self):
        """each stores, replaces and finds its secret, also after a new login, without a question"""
        self.command("mail-account make")
        for client in CLIENTS:
            with self.subTest(client.name):
                for secret in ("first otter", "otters hold hands"):
                    self.command(client.store.format(shlex.quote(secret)))
                    self.assertEqual(self.command(client.lookup).strip(), secret)
                self.assertEqual(self.items(client.attributes), 1)
        self.again()
        for client in CLIENTS:
            with self.subTest(client.name):
                self.assertEqual(self.command(client.lookup).strip(), "otters hold hands")
                self.assertEqual(self.items(client.attributes), 1)
        self.assertEqual(self.dialogs(), "0")

    def test_2_locked(self):
        """each has the person asked, and gets the secret"""
        for number, client in enumerate(CLIENTS):
            with self.subTest(client.name):
                self.command("appvault lock")
                self.asks(client.lookup, "found")
                self.until(lambda: self.window("--name", "^AppVault$"), "a dialog")
                self.desktop.run("sleep 1")
                self.picture(f"programs-{number}-dialog")
                self.types_the_password()
                self.until(lambda: self.result("found"), "the secret")
                self.assertEqual(self.result("found"), "otters hold hands ended 0")
                self.assertEqual(self.items(client.attributes), 1)

    def test_3_behind_the_lock(self):
        """the store stays open behind the screen's lock: each finds and stores without a question"""
        self.locks_the_screen()
        for client in CLIENTS:
            with self.subTest(client.name):
                self.assertEqual(self.command(client.lookup).strip(), "otters hold hands")
                self.command(client.store.format("behind"))
                self.assertEqual(self.command(client.lookup).strip(), "behind")
                self.assertEqual(self.items(client.attributes), 1)
        self.assertEqual(self.dialogs(), "0")
        self.assertTrue(self.is_locked())
        self.unlocks_the_screen(self.types_the_password)

    def test_4_locked_with_the_screen(self):
        """where the policy locks it no dialog opens behind the lock; each goes on once the locker has opened the store,
        by passcode and by finger, and writes no second item"""
        self.enrols_a_finger()
        self.policy("[Passcode store:secrets]\nLockOnBackground=immediate\n")
        for how, act in (("passcode", self.types_the_password), ("finger", self.touches)):
            with self.subTest(how):
                self.locks_the_screen()
                for number, client in enumerate(CLIENTS):
                    self.asks(client.lookup, f"found{number}")
                    self.asks(client.store.format(how), f"stored{number}")
                self.until(lambda: self.prompts() >= 2 * len(CLIENTS), "programs that wait")
                self.desktop.run("sleep 3")
                self.assertEqual((self.dialogs(), self.is_locked()), ("0", True))
                for number in range(len(CLIENTS)):
                    self.assertEqual((self.result(f"found{number}"), self.result(f"stored{number}")), ("", ""))
                self.picture(f"programs-behind-{how}")
                self.unlocks_the_screen(act)
                for number, client in enumerate(CLIENTS):
                    for name in (f"found{number}", f"stored{number}"):
                        self.until(lambda name=name: self.result(name), name)
                        self.assertRegex(self.result(name), r"ended 0$", client.name)
                    self.assertEqual(self.command(client.lookup).strip(), how)
                    self.assertEqual(self.items(client.attributes), 1)
                self.assertEqual(self.dialogs(), "0")


if __name__ == "__main__":
    unittest.main()
