"""A person who has forgotten the passcode resets their store with polkit's own agent: at the
console, and not elsewhere."""

import installed

TIMEOUT = 600
PASSCODE = "correct horse battery"
CONFIRM = "type the store's name, default, to go on: "


class Reset(installed.Case):
    POLICY = installed.COUNTING + "Onboard=cli\nAllowRecoveryKey=no\n"

    def at_console(self, person):
        console = self.machine.console
        console.send(person.name)
        console.expect("Password: ")
        console.send(person.password)
        return installed.Shell(console).ready()

    def test_polkit(self):
        """the login password is enough at the console; from another person's session it is the passcode or root"""
        person = self.person(sudo=False)
        shell = self.at_console(person)
        terminal = shell.terminal
        terminal.send("appvault create --own-passcode")
        for prompt in ("New passcode: ", "again: "):
            terminal.expect(prompt)
            terminal.send(PASSCODE)
        terminal.expect("successfully created")
        shell.ready()

        with self.machine.terminal(f"su - {person.name}") as elsewhere:
            installed.Shell(elsewhere).ready()
            elsewhere.send("appvault reset")
            elsewhere.expect(CONFIRM)
            elsewhere.send("default")
            elsewhere.expect("polkit does not allow it here")
            elsewhere.expect("Current passcode: ")
            elsewhere.key("c")
        self.assertEqual(self.state(person), "unlocked")

        terminal.send("appvault reset")
        terminal.expect(CONFIRM)
        terminal.send("default")
        terminal.expect("AUTHENTICATING FOR org.appvault.reset")
        terminal.expect("Password: ")
        # polkit's agent shows its question first, and then drops what was typed until the echo is off.
        hidden = "stty -F /dev/$(ps -o tty= -C pkttyagent | tr -d ' ') -a | grep -q -e ' -echo '"
        self.machine.check(f"for i in $(seq 300); do {hidden} && exit; sleep 0.05; done; exit 1")
        terminal.send(person.password)
        terminal.expect("AUTHENTICATION COMPLETE")
        terminal.expect("The store was erased")
        shell.ready()
        self.assertEqual(self.state(person), "absent")
        journal = self.machine.check("journalctl -b -q -u appvaultd -o cat")
        self.assertIn("a store was reset without its passcode, as polkit allows", journal)
        terminal.send("exit")
        terminal.expect("machine login: ")
