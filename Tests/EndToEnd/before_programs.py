"""Every program that logs people in behaves as it did before AppVault was installed. A person's
store opens at the programs at which it should, and at no other."""

import concurrent.futures
import unittest

import installed
import programs

TIMEOUT = 900
WRONG = "not-the-password"

# With the profile that `apt install` sets, a login password opens the store at these programs.
OPENING = {"login", "ssh_password", "ssh_keyboard"}
# With the profile "passcode and fingerprint" these programs ask for the passcode or the login
# password of a person with a store. su does not: another person's su shows the same as for a person
# without a store.
PASSCODE = {"login", "sudo", "sudo_login", "sudo_from_a_pipe", "sudo_with_a_helper", "sudo_interrupted", "polkit"}
NEVER = {"sudo_interrupted", "sudo_without_asking"}


def plays():
    """Gives name, program, and whether the password is right."""
    for program in programs.ASKING:
        yield program.__name__, program, True
        yield program.__name__ + " refused", program, False
    for program in programs.SILENT:
        yield program.__name__, program, True


NAMES = [name for name, _, _ in plays()]


class Programs(installed.Case):
    INSTALLED = False
    # Nobody may get a store by chance.
    POLICY = installed.COUNTING + "Onboard=cli\n"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.machine.check("systemctl unmask dovecot && systemctl start dovecot")
        cls.machine.write(
            "/etc/polkit-1/rules.d/10-test.rules",
            'polkit.addAdminRule(function(action, subject) { return ["unix-user:" + subject.user]; });\n')
        cls.before = cls.play(cls.crowd(len(NAMES)))
        cls.install()

    @classmethod
    def play(cls, people, inside=lambda person: None):
        """What each program shows, with its exit status and what `inside` found once a person
        was logged in."""

        def one(name, program, right, person):
            found = []
            told = program(cls(), person, person.password if right else WRONG, lambda: found.append(inside(person)))
            return name, (told, found)

        # pam_unix makes a person wait after a wrong password: all programs run at the same time.
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            jobs = [pool.submit(one, *play, person) for play, person in zip(plays(), people, strict=True)]
            return dict(job.result() for job in jobs)

    def compare(self, after, leave_out=()):
        for name in NAMES:
            if name.removesuffix(" refused") not in leave_out:
                with self.subTest(name):
                    self.assertEqual(after[name][0], self.before[name][0])
                    self.assertEqual(len(after[name][1]), len(self.before[name][1]))

    def test_0_the_programs_themselves_work_here(self):
        """before AppVault is installed: the right password is let in, a wrong one is not"""
        for name in NAMES:
            with self.subTest(name):
                entered = not name.endswith("refused") and name not in NEVER
                self.assertEqual(len(self.before[name][1]), int(entered), self.before[name])

    def test_1_nothing_changes_for_whom_there_is_no_store(self):
        """nothing changes for a person without a store: as installed, and then with the profiles for passcodes and
        password rules"""
        self.compare(self.play(self.crowd(len(NAMES))))
        self.profile("appvault", "appvault-password-rules")
        self.addCleanup(self.profile, "appvault", "appvault-password-rules", on=False)
        self.compare(self.play(self.crowd(len(NAMES))))

    def people_with_stores(self):
        self.policy(installed.COUNTING)
        people = self.crowd(len(NAMES))
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            list(pool.map(self.with_store, people))
        return dict(zip(NAMES, people, strict=True))

    def test_2_a_store_opens_where_it_should_and_in_silence(self):
        """as installed: no program shows anything new, the store is open inside login and ssh with a password and
        nowhere else"""
        people = self.people_with_stores()
        after = self.play(people.values(), self.state)
        self.compare(after)
        for name in NAMES:
            with self.subTest(name):
                wanted = "unlocked" if name in OPENING else "locked"
                self.assertLessEqual(set(after[name][1]), {wanted})
                self.assertEqual(self.tries(people[name]), (50, 50))

    def test_3_with_the_profile_for_passcodes_only_local_programs_ask(self):
        """ssh, dovecot, cron and all the others show what they always showed, and no try is used up"""
        people = self.people_with_stores()
        self.profile("appvault")
        self.addCleanup(self.profile, "appvault", on=False)
        after = self.play(people.values(), self.state)
        self.compare(after, leave_out=PASSCODE)
        for name in NAMES:
            program = name.removesuffix(" refused")
            with self.subTest(name):
                wanted = "unlocked" if program in OPENING | PASSCODE else "locked"
                self.assertLessEqual(set(after[name][1]), {wanted})
                self.assertEqual(len(after[name][1]), len(self.before[name][1]), after[name])
                if program not in PASSCODE or not name.endswith("refused"):
                    self.assertEqual(self.tries(people[name]), (50, 50))
                if program in PASSCODE - {"sudo_from_a_pipe", "sudo_with_a_helper"}:
                    self.assertIn("Passcode or login password: ", str(after[name][0]))


if __name__ == "__main__":
    unittest.main()
