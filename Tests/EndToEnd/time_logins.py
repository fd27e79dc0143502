"""How much time AppVault costs a login: su, sudo and login with and without it, on the same
boot, in turns."""

import os
import unittest

import installed
from places import LABS

TIMEOUT = 600
NEEDS_ALONE = True
# What is looked at is measured often, what is only shown is not.
ROUNDS, FEW = 10, 4
# For a person without a store a login may take at most this much longer.
ALLOWED = 0.005


class Times(installed.Case):
    POLICY = installed.COUNTING + "Onboard=cli\n"

    def setting(self, name, *profiles):
        """Keeps the PAM stacks as they are with these profiles."""
        for profile in ("appvault-unlock", "appvault"):
            self.profile(profile, on=profile in profiles)
        self.machine.check(f"mkdir -p /var/tmp/pam/{name} && cp /etc/pam.d/common-* /var/tmp/pam/{name}/")

    def measure(self, person, what, rounds=ROUNDS):
        """For each program and stack how much longer it took than without AppVault. Prints all
        of it."""
        with open(os.path.join(LABS, "stopwatch.py"), encoding="utf-8") as file:
            self.machine.write("/var/tmp/stopwatch.py", file.read())
        self.machine.check(f"loginctl enable-linger {person.name}; appvault status --user root")
        self.goes_first()
        lines = self.machine.check(
            f"chrt --rr 5 python3 /var/tmp/stopwatch.py {rounds} {person.name} {person.password}", timeout=300)
        taken = {(program, stack): (float(median), float(more))
                 for program, stack, median, more in map(str.split, lines.splitlines())}
        for (program, stack), (median, more) in taken.items():
            if stack != "without":
                ratio = median / taken[program, "without"][0]
                print(f"        {program}, {stack}, {what}: {ratio:.2f} of one without us ({more * 1000:+.1f} ms)")
        return {key: more for key, (_, more) in taken.items()}

    def test_a_person_without_a_store_pays_nothing_to_speak_of(self):
        self.setting("without")
        self.setting("passcode", "appvault-unlock", "appvault")
        self.setting("unlock", "appvault-unlock")
        person = self.person()
        least = self.measure(person, "no store")
        # AppVault's own time is in every round; what else a busy computer does is not.
        for _ in range(6):
            if max(least.values()) >= ALLOWED:
                again = self.measure(person, "no store, again")
                least = {key: min(more, again[key]) for key, more in least.items()}
        for key, more in least.items():
            self.assertLess(more, ALLOWED, key)
        self.machine.check("cp /var/tmp/pam/unlock/* /etc/pam.d/")
        self.policy(installed.COUNTING)
        self.measure(self.with_store(self.person()), "a store", FEW)


if __name__ == "__main__":
    unittest.main()
