"""What `apt install` gives and nothing else: the login opens the store in silence, the logout locks it."""

import time
import unittest

import installed
import machine
from installed import Person


class Follows(installed.Case):
    POLICY = ""

    def test_from_the_installation_to_a_first_secret_in_one_login(self):
        """apt install, a login at the console, a secret; locked after the logout, open and readable at the next"""
        alice = Person("alice", machine.PASSWORDS["alice"])
        console = self.machine.console

        def login():
            console.send("alice")
            console.expect("Password: ")
            console.send(alice.password)
            return installed.Shell(console).ready()

        shell = login()
        self.assertEqual(self.state(alice), "unlocked")
        self.assertEqual(shell("echo the wifi is otter | appvault set wifi"), (0, "stored wifi\n"))
        console.send("appvault get wifi")
        console.expect("\nthe wifi is otter\n")
        # The first command on a terminal offers a recovery key, and no other does.
        console.expect(r"\[y/n\] ")
        console.send("n")
        shell.ready()
        self.assertEqual(shell("appvault get wifi"), (0, "the wifi is otter\n"))
        console.send("exit")
        console.expect("machine login: ")
        self.until_state(alice, "locked")

        shell = login()
        self.assertEqual(self.state(alice), "unlocked")
        self.assertEqual(shell("appvault get wifi"), (0, "the wifi is otter\n"))
        console.send("exit")
        console.expect("machine login: ")

        for off in (self.machine.off, self.machine.cut):
            off()
            self.machine.boot()
            self.assertEqual(self.state(alice), "locked")
            console = self.machine.console
            shell = login()
            self.assertEqual(shell("appvault get wifi"), (0, "the wifi is otter\n"))


if __name__ == "__main__":
    unittest.main()
