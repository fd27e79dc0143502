"""A passcode of the store's own, and a finger, where an administrator has selected the profile
for them."""

import re
import socket
import threading
import unittest

import installed
from desktop import READER, READER_DROP_IN, READER_UNIT

TIMEOUT = 900
PASSCODE = "correct horse battery"
LONGER = "correct horse battery staple"
WRONG = "wrong horse battery"
ASKS = "Passcode or login password: "


class Passcode(installed.Seated):
    POLICY = installed.COUNTING + "Onboard=cli\nAllowRecoveryKey=no\n"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.profile("appvault")

    def with_passcode(self):
        person = self.person()
        shell = self.login(person).ready()
        shell.terminal.send("appvault create --own-passcode")
        for prompt in ("New passcode: ", "again: "):
            shell.terminal.expect(prompt)
            shell.terminal.send(PASSCODE)
        shell.terminal.expect("successfully created")
        shell.ready().leave()
        self.until_state(person, "locked")
        return person

    def sudo(self, shell, *typed):
        """Whether sudo accepted these answers."""
        shell.terminal.send("sudo -k id -un; echo status=$?=")
        for answer in typed:
            shell.terminal.expect(re.escape(ASKS) + r"\Z")
            shell.terminal.send(answer)
        code = shell.terminal.expect(r"status=(\d+)=\n").group(1)
        shell.ready()
        return code == "0"

    def test_sudo_takes_the_passcode_and_the_login_password(self):
        """sudo: the passcode, the login password, and a wrong one that is counted"""
        person = self.with_passcode()
        shell = self.login(person, PASSCODE, ASKS).ready()
        self.assertTrue(self.sudo(shell, PASSCODE))
        self.assertEqual(self.tries(person), (50, 50))
        # First an answer that is wrong for both; then the login password, which also was a wrong
        # try and is given back.
        self.assertTrue(self.sudo(shell, WRONG, person.password))
        self.assertEqual(self.tries(person), (49, 50))
        shell.terminal.send("sudo -k id")
        shell.terminal.expect(re.escape(ASKS) + r"\Z")
        while not shell.terminal.shows_more(after=lambda: shell.terminal.key("c")):
            pass
        shell.ready()
        self.assertEqual(self.tries(person), (49, 50))
        self.assertTrue(self.sudo(shell, PASSCODE))
        self.assertEqual(self.tries(person), (50, 50))
        shell.leave()

    def test_a_login_opens_the_store_with_the_passcode_alone(self):
        """login: the passcode logs in and opens, the login password logs in"""
        person = self.with_passcode()
        shell = self.login(person, PASSCODE, ASKS).ready()
        self.assertEqual(shell("echo otter | appvault set animal")[0], 0)
        shell.leave()
        self.until_state(person, "locked")
        shell = self.login(person, None, ASKS).ready()
        self.assertEqual(self.state(person), "locked")
        self.assertEqual(shell("appvault get animal < /dev/null")[0], 4)
        shell.leave()
        self.machine.reboot()
        shell = self.login(person, PASSCODE, ASKS).ready()
        self.assertEqual(shell("appvault get animal"), (0, "otter\n"))
        shell.leave()

    def test_a_policy_that_changed_leads_through_the_change_at_the_next_login(self):
        person = self.with_passcode()
        self.policy(self.POLICY + f"[Passcode user:{person.name}]\nMinLength={len(LONGER)}\n")
        self.addCleanup(self.policy, self.POLICY)
        console = self.machine.console
        console.send(person.name)
        console.expect(re.escape(ASKS))
        console.send(PASSCODE)
        console.expect("meets the new rules")
        console.expect(r"\[Enter\]: ")
        self.assertEqual(self.state(person), "locked")
        console.send()
        for prompt in ("New passcode: ", "again: "):
            console.expect(prompt)
            console.send(LONGER)
        shell = installed.Shell(console).ready()
        self.assertEqual(self.state(person), "unlocked")
        self.assertEqual(self.status(person)["pending"], [])
        console.send("exit")
        console.expect("machine login: ")
        self.machine.reboot()
        self.login(person, PASSCODE, ASKS).terminal.expect("Login incorrect")
        self.login(person, LONGER, ASKS).ready()
        self.assertEqual(self.state(person), "unlocked")

    def test_the_retry_limit_erases_and_the_next_login_begins_anew(self):
        person = self.with_passcode()
        self.policy(
            self.POLICY + f"[Passcode user:{person.name}]\nRetryLimit=2\nOnRetryLimit=erase\nOnboard=silent\n")
        self.addCleanup(self.policy, self.POLICY)
        erased = self.status(person)["store"]
        for told in ("tries left: 1", "The store was erased"):
            with self.machine.getty(f"exec login {person.name}") as terminal:
                terminal.expect(re.escape(ASKS))
                terminal.send(WRONG)
                terminal.expect(told)
                terminal.expect("Login incorrect")
        self.assertEqual(self.state(person), "erased")
        self.machine.reboot()
        # The login works as before, and the store stays as it is until its owner changes it.
        shell = self.login(person).ready()
        self.assertEqual(self.state(person), "erased")
        self.assertEqual(shell("appvault reset --yes")[0], 0)
        shell.leave()
        shell = self.login(person).ready()
        self.assertEqual(self.state(person), "unlocked")
        self.assertNotEqual(self.status(person)["store"], erased)
        self.assertEqual(shell("echo heron | appvault set bird; appvault get bird"), (0, "stored bird\nheron\n"))
        shell.leave()

    def with_finger(self):
        """A person at their terminal, with an enrolled finger."""
        person = self.with_passcode()
        units = "/etc/systemd/system/reader.service", "/etc/systemd/system/appvaultd.service.d/reader.conf"
        self.addCleanup(
            self.machine.check,
            f"systemctl disable --now --quiet reader.service; rm {' '.join(units)}; systemctl daemon-reload;"
            "systemctl restart appvaultd")
        self.machine.write(units[0], READER_UNIT)
        self.machine.write(units[1], READER_DROP_IN)
        self.machine.check(
            "systemctl daemon-reload && systemctl enable --now --quiet reader.service && systemctl restart appvaultd")
        shell = self.login(person, PASSCODE, ASKS).ready()
        shell.terminal.send("appvault fingerprint enroll")
        shell.terminal.expect("asscode: ")
        shell.terminal.send(PASSCODE)
        for stage in range(1, 5):
            self.touch("right")
            shell.terminal.expect(f"{stage} of 5")
        self.touch("right")
        shell.terminal.expect("Enrolled")
        shell.ready()
        return person, shell

    def test_sudo_by_finger(self):
        _, shell = self.with_finger()
        shell.terminal.send("sudo id -un")
        shell.terminal.expect("swipe your finger")
        self.touch("right")
        shell.terminal.expect("\nroot\n")
        shell.ready()
        shell.terminal.send("sudo -k id -un")
        shell.terminal.expect("swipe your finger")
        shell.terminal.send()
        shell.terminal.expect(re.escape(ASKS))
        shell.terminal.send(PASSCODE)
        shell.terminal.expect("\nroot\n")

    def test_screen_by_finger(self):
        """the screen is locked, and so is the store; a finger at the locker opens it, and then the passcode does"""
        person, shell = self.with_finger()
        session = self.sits_down(person)
        for touches, typed in ((["right"], ""), (["wrong", "right"], ""), ([], PASSCODE), ([], person.password)):
            with self.subTest(touches=touches, typed=typed):
                self.hint(session, True)
                self.until_state(person, "locked")
                self.assertTrue(self.status(person)["fingerOpens"])
                fingers = threading.Thread(target=lambda: [self.touch(each) for each in touches])
                fingers.start()
                code, said = self.in_session(
                    session, person, f"pamtester vlock {person.name} authenticate", stdin=typed + "\n")
                fingers.join()
                self.assertEqual(code, 0, said)
                self.assertEqual(self.state(person), "locked" if typed == person.password else "unlocked")
                self.hint(session, False)
                self.assertEqual(self.state(person), "locked" if typed == person.password else "unlocked")
        shell.leave()

    def touch(self, finger):
        """Touches the reader once it waits for a finger."""

        def played():
            with socket.socket(socket.AF_UNIX) as reader:
                try:
                    reader.connect(f"/proc/{self.machine.leader}/root{READER}/reader")
                except OSError:
                    return False
                reader.sendall(f"SCAN {finger}".encode())
                return True

        self.until(played)


if __name__ == "__main__":
    unittest.main()
