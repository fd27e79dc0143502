"""People leave their screens on a booted machine, and its own logind says so: what becomes of their stores."""

import re

from installed import COUNTING, Seated

NEEDS_ROOT = True
TIMEOUT = 600


class Screens(Seated):
    POLICY = COUNTING + "LockGrace=0\n"

    def setUp(self):
        self.alice = self.with_store(self.person())
        self.session = self.sits_down(self.alice)

    def unlocks(self, person):
        """The person proves who they are; no session begins by that."""
        self.machine.check("appvault unlock --passcode-fd 3 3<&0", user=person.name, stdin=person.password + "\n")
        self.assertEqual(self.state(person), "unlocked")

    def test_locked_and_unlocked(self):
        """the locker says that the screen is locked, and that it is not; told by loginctl, it says nothing"""
        self.unlocks(self.alice)
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        self.hint(self.session, False)
        self.assertEqual(self.state(self.alice), "locked")
        self.hint(self.session, True)
        self.unlocks(self.alice)
        self.hint(self.session, False)
        self.assertEqual(self.state(self.alice), "unlocked")
        self.machine.check(f"loginctl lock-session {self.session}")
        self.until_state(self.alice, "locked")

    def test_silent_locker(self):
        """a locker that tells nobody, run by `appvault screen` from a program of the person's user manager"""
        self.unlocks(self.alice)
        self.machine.check(
            f"systemd-run --quiet --collect --unit=locker --uid={self.alice.name} -p PAMName=systemd-user"
            " appvault screen -- sh -c 'until test -e /run/unlocked; do sleep 0.1; done'")
        self.addCleanup(self.machine.run, "systemctl stop locker; rm -f /run/unlocked")
        self.until_state(self.alice, "locked")
        self.unlocks(self.alice)
        # The locker ends by itself.
        self.machine.check("touch /run/unlocked")
        hint = f"loginctl show-session -P LockedHint {self.session}"
        self.until(lambda: self.machine.run(hint)[1].strip() == "no")
        self.assertEqual(self.state(self.alice), "unlocked")

    def test_another_person(self):
        """another person's session comes in front, and the first one's again"""
        self.unlocks(self.alice)
        bob = self.with_store(self.person())
        other = self.sits_down(bob)
        self.until_state(self.alice, "locked")
        self.unlocks(bob)
        self.machine.check(f"loginctl activate {self.session}")
        self.until_state(bob, "locked")
        self.assertEqual(self.state(self.alice), "locked")
        self.machine.check(f"loginctl activate {other}")

    def test_logind_restarts(self):
        """logind forgets over a restart which screens are locked, and nothing opens by that"""
        self.unlocks(self.alice)
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        self.machine.check("systemctl restart systemd-logind.service")
        self.assertEqual(self.state(self.alice), "locked")
        self.unlocks(self.alice)
        # The next lock is heard.
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")

    def test_ended(self):
        """the session with the screen is ended, or killed"""
        for how in ("terminate-session", "kill-session --signal=KILL"):
            with self.subTest(how):
                session = self.sits_down(self.alice)
                self.unlocks(self.alice)
                self.machine.check(f"loginctl {how} {session}")
                self.machine.run(f"loginctl terminate-session {self.session}")
                self.until_state(self.alice, "locked")

    def test_it_says_why(self):
        """the journal has one line for each lock"""
        self.unlocks(self.alice)
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        self.until(lambda: re.search(
            "a store was locked: the screen was locked",
            self.machine.run("journalctl -b -u appvaultd -o cat --no-pager")[1]))
