"""A policy that is edited during 50 logins: each of them sees the old one or the new one, as a
whole."""

import random
import threading
import time
import unittest

from daemonlab import IS_ROOT, PASSCODE, answers, wait_until
from policylab import PolicyLab, policy
from slow import slow

TIMEOUT = 300
LOGINS, SECONDS = 50, 12
# A mixture of the two policies would warn of an erasure, or erase, or answer otherwise than it has
# warned.
ONE_TRY = policy(RetryLimit="1", OnRetryLimit="lock")
NO_LIMIT = policy(RetryLimit="0", OnRetryLimit="erase")
WRONG, LIMIT = 5, 23


@unittest.skipUnless(IS_ROOT, "acts for others")
class InFlight(unittest.TestCase):
    @slow
    def test_whole(self):
        """one snapshot of the policy from the first word to the verdict"""
        lab = PolicyLab(NO_LIMIT)
        self.addCleanup(lab.close)
        people = [(f"person{number}", 41000 + number) for number in range(LOGINS)]
        for person in people:
            made = lab.ask("create", answers(PASSCODE), subject=person, store="", way="ownPasscode")
            self.assertEqual(made.name, "done", made)
            lab.ask("lock", subject=person, store="")
        before = lab.log().count("the policy was read")
        end = time.monotonic() + SECONDS
        seen, wrong = [], []

        def login(person):
            while time.monotonic() < end:
                with lab.client(frontEnd="pamAuth", service="login") as client:
                    def answer(_ask):
                        time.sleep(random.random() * 1.6)
                        return "wrong"

                    verdict = client.run("authenticate", answer, [b""], subject=person)
                    warned = [line for line in client.shown if "now " in line]
                if any("now erases" in line or "was erased" in line for line in client.shown):
                    wrong.append((person, client.shown))
                expected = LIMIT if warned else WRONG
                if verdict.code != expected:
                    wrong.append((person, client.shown, verdict))
                seen.append(expected)
                state = lab.ask("status", subject=person, store="")
                if state.lock not in ("locked", "retryLocked"):
                    wrong.append((person, state))
                cleared = lab.ask("triesClear", subject=person, store="")
                if cleared.name != "done":
                    wrong.append((person, cleared))

        threads = [threading.Thread(target=login, args=(person,)) for person in people]
        for thread in threads:
            thread.start()
        turn = 0
        while time.monotonic() < end:
            turn += 1
            lab.write((ONE_TRY, NO_LIMIT)[turn % 2] + f"# {turn}\n")
            time.sleep(0.05 + random.random() * 0.4)
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        # Both were seen, and the file really was read under them.
        self.assertEqual(set(seen), {WRONG, LIMIT})
        self.assertGreater(lab.log().count("the policy was read") - before, 5)
        # No connection was dropped, and nothing is left over.
        lab.write(NO_LIMIT + "# the end\n")
        wait_until(
            lambda: lab.ask("status", subject=people[0], store="").ownTriesLeft == -1, "the last one is in force")
        for person in people:
            opened = lab.ask("openStore", answers(PASSCODE), subject=person, store="")
            self.assertEqual(opened.name, "done", opened)


if __name__ == "__main__":
    unittest.main()
