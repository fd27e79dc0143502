"""What `apt install` sets up and nothing else: the login opens the store without a question, the
logout locks it."""

import os
import re
import time
import unittest

import installed
import machine
from installed import Person


class Follows(installed.Case):
    POLICY = ""

    def readme_status(self):
        """What README.md shows of the first login."""
        with open(os.path.join(machine.ROOT, "README.md"), encoding="utf-8") as file:
            return re.search(r"appvault status\n(.*?)alice@machine", file.read(), re.S).group(1)

    def still(self, text):
        """A status, without what is another in each run."""
        text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
        return re.sub(r"\d+", "N", text).splitlines()

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
        self.assertEqual(self.still(shell("appvault status")[1]), self.still(self.readme_status()))
        self.assertEqual(shell("echo the wifi is otter | appvault set wifi"), (0, "stored wifi\n"))
        console.send("appvault get wifi")
        # What is in the way when it asks says in one line how to make a recovery key.
        console.expect("\nthe wifi is otter\nhint: `appvault recovery new`")
        shell.ready()
        console.send("appvault unlock")
        console.expect(r"Your choice \[1\] ")
        console.send("2")
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

    def test_a_session_that_is_cut_off_locks_as_a_logout_does(self):
        """the terminal gone, login killed, the session ended by an administrator"""
        person = self.with_store(self.person())
        for end in ("hang-up", "pkill -KILL -x -u root login", f"loginctl terminate-user {person.name}"):
            with self.subTest(end):
                shell = self.login(person).ready()
                self.assertEqual(self.state(person), "unlocked")
                if end == "hang-up":
                    shell.terminal.close()
                else:
                    self.machine.check(end)
                self.until_state(person, "locked")
                self.assertEqual(self.status(person)["sessions"], 0)

    def test_the_store_follows_passwd_and_an_administrators_change_asks_for_the_former_password(self):
        """passwd changes the store's passcode with the login's; after chpasswd the login works, the store stays locked,
        resync mends it"""
        person = self.with_store(self.person())
        former, person.password = person.password, "heron-in-the-reeds-9"
        with self.machine.terminal("passwd; read end", user=person.name) as terminal:
            for prompt, answer in (
                ("Current password: ", former), ("New password: ", person.password),
                ("Retype new password: ", person.password)):
                terminal.expect(prompt)
                terminal.send(answer)
            terminal.expect("updated successfully")
        self.machine.reboot()
        shell = self.login(person).ready()
        self.assertEqual(self.state(person), "unlocked")
        shell.leave()

        former, person.password = person.password, "bittern-in-the-reeds-7"
        self.machine.check("chpasswd", stdin=f"{person.name}:{person.password}\n")
        shell = self.login(person)
        shell.terminal.expect("Old login password or recovery key .*: ")
        shell.terminal.send(former)
        shell.ready()
        self.assertEqual(self.state(person), "unlocked")
        shell.leave()
        self.machine.reboot()
        shell = self.login(person).ready()
        self.assertEqual(self.state(person), "unlocked")

    def test_nobody_reaches_another_persons_store(self):
        """the daemon distinguishes two people under the installed unit"""
        one, other = (self.with_store(person) for person in self.crowd(2))
        shell = self.login(one).ready()
        self.assertEqual(shell("echo otter | appvault set animal")[0], 0)
        for command in ("status", "lock", "unlock", "reset --yes", "tries clear --yes"):
            with self.subTest(command):
                code, said = self.machine.run(f"appvault {command} --user {one.name}", user=other.name)
                self.assertEqual(code, 1)
                self.assertRegex(said, "you are not allowed to do that|only root may do that")
        # Each person reaches their own store: their uid counts, and not the name that they give.
        self.assertEqual(self.machine.run("appvault get animal", user=other.name)[0], 4)
        self.assertEqual(self.machine.run("appvault get animal", user=one.name), (0, "otter\n"))
        self.assertNotEqual(self.machine.run("appvault get animal")[0], 0)
        self.assertEqual(self.state(one), "unlocked")
        shell.leave()

    def test_after_the_daemon_left_the_next_login_starts_it(self):
        """the daemon exits when idle, the socket's folder stays, and the next login starts it"""
        self.machine.write(
            "/etc/systemd/system/appvaultd.service.d/idle.conf",
            "[Service]\nExecStart=\nExecStart=/usr/libexec/appvault/appvaultd --deadline idle=1\n")
        self.addCleanup(
            self.machine.check, "rm -r /etc/systemd/system/appvaultd.service.d; systemctl daemon-reload")
        self.machine.check("systemctl daemon-reload; systemctl stop appvaultd.service")
        person = self.person()
        for state in ("absent", "locked"):
            self.assertEqual(self.state(person), state)
            self.until(lambda: self.machine.run("systemctl is-active appvaultd.service")[1] == "inactive\n")
            self.machine.check("test -S /run/appvault/socket && systemctl is-active appvaultd.socket")
            shell = self.login(person).ready()
            self.assertEqual(self.state(person), "unlocked")
            shell.leave()
            self.until_state(person, "locked")


if __name__ == "__main__":
    unittest.main()
