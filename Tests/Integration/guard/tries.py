"""Guessers: whatever they do, they get no more tries than the policy allows, and take none from
the owner."""

import os
import subprocess
import threading
import time
import unittest

import pamlab
import wire
from daemonlab import IS_ROOT, PASSCODE, Daemon, answers, wait_until
from patience import Stopwatch

TIMEOUT = 120
LIMIT = "RetryLimit=10\nThrottleAfter=0\n"
# In PasscodeServices, not in LocalServices.
APART = "swaylock"
OWN = "login"
INVALID, DELETED, LIMIT_REACHED, THROTTLED, BUSY = 5, 16, 23, 24, 35


def at_once(count, attempt):
    """Runs `attempt(index, go)` in so many threads; each connects, waits for `go()`, and returns
    its answer."""
    barrier, results = threading.Barrier(count), [None] * count

    def run(index):
        try:
            results[index] = attempt(index, barrier.wait)
        except BaseException as error:
            barrier.abort()
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def guess(daemon, service, word="wrong {}"):
    """Sends the module's request with a wrong passcode. Returns the code of the verdict."""

    def attempt(index, go):
        with daemon.client(frontEnd="pamAuth", service=service) as client:
            go()
            return client.run("authenticate", answers(word.format(index)), subject=daemon.person).code

    return attempt


def boot_clock():
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000)


class Case(unittest.TestCase):
    def daemon(self, policy=LIMIT, **options):
        daemon = Daemon(policy=policy, **options)
        self.addCleanup(daemon.close)
        return daemon

    def with_store(self, policy=LIMIT, **options):
        daemon = self.daemon(policy, **options)
        daemon.create()
        daemon.lock()
        self.before = daemon.derivations()
        return daemon

    def derived(self, daemon):
        return daemon.derivations() - self.before

    def assertErased(self, daemon):
        self.assertEqual(daemon.status().lock, "erased")
        # The store counts as erased from the moment the last try was wrong; the files are removed a
        # moment later.
        wait_until(lambda: os.listdir(daemon.store()) == ["slots"], "only the tombstone is left")
        blocks = daemon.blocks()
        self.assertNotEqual(blocks[0], bytes(512), "the tombstone says whose it was")
        for number in range(3, 16):
            self.assertEqual(blocks[number], bytes(512), f"block {number}")

    def assertLives(self, daemon, service=OWN):
        self.assertEqual(daemon.authenticate(service=service).outcome, "success")


class OwnTries(Case):
    def test_64_at_once_get_ten(self):
        """64 wrong passcodes at once as own tries: ten derivations, the store is erased, the 65th gets 16"""
        daemon = self.with_store()
        codes = at_once(64, guess(daemon, OWN))
        self.assertEqual(self.derived(daemon), 10)
        self.assertEqual(sorted(codes), [INVALID] * 9 + [DELETED] * 54 + [LIMIT_REACHED])
        self.assertErased(daemon)
        for typed in ("wrong 65", PASSCODE):
            verdict = daemon.authenticate(typed)
            self.assertEqual((verdict.outcome, verdict.code), ("userUnknown", DELETED))
        refused = daemon.unlock()
        self.assertEqual((refused.name, refused.code), ("refused", DELETED))
        daemon.kill()
        daemon.start()
        self.assertErased(daemon)
        self.assertEqual(daemon.authenticate().code, DELETED)
        self.assertEqual(self.derived(daemon), 10)

    def test_open_store_is_erased_too(self):
        """An open store is locked and erased by the last wrong try, whoever is reading it"""
        daemon = self.with_store("RetryLimit=2\nThrottleAfter=0")
        self.assertLives(daemon)
        before = daemon.derivations()
        self.assertEqual([daemon.authenticate("wrong").code for _ in range(2)], [INVALID, LIMIT_REACHED])
        self.assertEqual(daemon.derivations() - before, 2)
        self.assertErased(daemon)

    def test_same_wrong_passcode_counts_each_time(self):
        """The same wrong passcode from 64 peers at once is ten tries"""
        daemon = self.with_store()
        at_once(64, guess(daemon, OWN, "wrong"))
        self.assertEqual(self.derived(daemon), 10)
        self.assertErased(daemon)

    def test_right_one_among_them(self):
        """With the right passcode among 63 wrong ones, no more derivations than tries, never an open erased store"""
        daemon = self.with_store()

        def attempt(index, go):
            with daemon.client(frontEnd="pamAuth", service=OWN) as client:
                go()
                typed = PASSCODE if index == 31 else f"wrong {index}"
                return client.run("authenticate", answers(typed), subject=daemon.person)

        verdicts = at_once(64, attempt)
        wrong = sum(1 for verdict in verdicts if verdict.code in (INVALID, LIMIT_REACHED))
        # More than ten: the right one was among them, whatever became of the store before it was answered.
        right = verdicts[31].code == 0 or wrong > 10
        self.assertEqual(self.derived(daemon), wrong + right)
        self.assertLessEqual(wrong + right, 20)
        # At most nine wrong before it, and ten after it.
        self.assertErased(daemon)

    def test_gone_after_sending(self):
        """64 peers that answer the question and disconnect at once: all are counted"""
        daemon = self.with_store()

        def attempt(index, go):
            with daemon.client(frontEnd="pamAuth", service=OWN) as client:
                client.send("authenticate", 2, [b""], subject=daemon.person)
                question = client.receive().question
                go()
                client.send("reply", 2, [f"wrong {index}".encode()], question=question)

        at_once(64, attempt)
        wait_until(lambda: daemon.status().lock == "erased", "the tries of those who left are counted")
        self.assertEqual(self.derived(daemon), 10)
        self.assertErased(daemon)

    def test_all_in_one_piece(self):
        """64 peers that send greeting, request and guess in one piece and read nothing: what is derived is counted"""
        for leave in (wire.socket.SHUT_WR, wire.socket.SHUT_RDWR):
            daemon = self.with_store()

            def attempt(index, go, leave=leave, daemon=daemon):
                client = daemon.client(greet=False)
                self.addCleanup(client.close)
                frames = wire.encode("hello", 1, frontEnd="pamAuth", service=OWN, realUID=os.getuid())
                frames += wire.encode("authenticate", 2, [b""], subject=daemon.person)
                frames += wire.encode("reply", 2, [f"wrong {index}".encode()], question=1)
                go()
                client.send_raw(frames)
                client.socket.shutdown(leave)

            at_once(64, attempt)
            if leave == wire.socket.SHUT_WR:
                wait_until(lambda: daemon.status().lock == "erased", "the tries are counted")
                self.assertEqual(self.derived(daemon), 10)
            # A peer that can no longer be asked has not answered: its guess was not tried, or tried
            # and counted. The next one may be tried at any moment, so what is read is read once more.
            wait_until(lambda: self.settled(daemon), "what was derived is counted")
            if daemon.status().lock == "erased":
                self.assertEqual(self.derived(daemon), 10)

    def settled(self, daemon):
        time.sleep(0.1)
        if daemon.status().lock == "erased":
            return True
        own = daemon.tally().own
        return own.unresolved == 0 and own.wrong == self.derived(daemon)

    def test_gone_while_it_is_derived(self):
        """A peer that disconnects during the derivation has used that try"""
        daemon = self.with_store()
        daemon.hold()
        with daemon.client(frontEnd="pamAuth", service=OWN) as client:
            client.send("authenticate", 2, [b""], subject=daemon.person)
            question = client.receive().question
            client.send("reply", 2, [b"wrong"], question=question)
            wait_until(lambda: self.derived(daemon) == 1, "the derivation began")
            self.assertEqual((daemon.tally().own.wrong, daemon.tally().own.unresolved), (0, 1))
        daemon.release()
        wait_until(lambda: daemon.tally().own.wrong == 1, "the try was counted as wrong")
        self.assertEqual(daemon.tally().own.unresolved, 0)

    def test_abort_is_no_try(self):
        """No answer, an empty answer and a hang-up before the answer are no tries"""
        daemon = self.with_store()
        self.assertEqual(daemon.authenticate(typed=None).code, 27)
        self.assertEqual(daemon.authenticate(typed="").code, 27)
        with daemon.client(frontEnd="pamAuth", service=OWN) as client:
            client.send("authenticate", 2, [b""], subject=daemon.person)
            self.assertEqual(client.receive().name, "ask")
        self.assertEqual(daemon.status().ownTriesLeft, 10)
        self.assertEqual(self.derived(daemon), 0)
        self.assertEqual(daemon.tally().counts(), (0, 0, 0))


class ApartTries(Case):
    def test_64_at_once_get_ten_and_the_person_comes_in(self):
        """64 at once as apart tries: ten derivations, one each ThrottleMax; the owner's unlock works and clears them"""
        daemon = self.with_store()
        codes = at_once(64, guess(daemon, APART))
        self.assertEqual(self.derived(daemon), 10)
        self.assertEqual(sorted(codes), [INVALID] * 10 + [THROTTLED] * 54)
        self.assertEqual(daemon.tally().counts(), (0, 10, 0))
        self.assertEqual(daemon.authenticate(service=APART).code, THROTTLED)
        self.assertEqual(daemon.unlock().code, THROTTLED)
        self.assertEqual(self.derived(daemon), 10)
        self.assertEqual(daemon.status().lock, "locked")

        stopwatch = Stopwatch()
        self.assertLives(daemon)
        stopwatch.assert_within(1.5)
        self.assertEqual(daemon.tally().counts(), (0, 0, 0))
        self.assertLives(daemon, service=APART)

    def test_every_apart_door_is_one_count(self):
        """The CLI, a locker and a token of another module share one count"""
        daemon = self.with_store("RetryLimit=3\nThrottleAfter=0")
        self.assertEqual(daemon.unlock("wrong 1").code, INVALID)
        self.assertEqual(daemon.authenticate("wrong 2", service=APART).code, INVALID)
        self.assertEqual(daemon.authenticate(None, b"wrong 3", tokenOnly=True).code, INVALID)
        for refused in (
            daemon.unlock(),
            daemon.authenticate(service=APART),
            daemon.authenticate(None, PASSCODE.encode(), tokenOnly=True),
        ):
            self.assertEqual(refused.code, THROTTLED)
        self.assertEqual(self.derived(daemon), 3)
        self.assertLives(daemon)

    def test_apart_costs_the_owner_nothing(self):
        """Used-up apart tries do not reduce the owner's tries, and the owner's wrong ones do not give them back"""
        daemon = self.with_store("RetryLimit=4\nThrottleAfter=0")
        at_once(16, guess(daemon, APART))
        self.assertEqual(daemon.tally().counts(), (0, 4, 0))
        self.assertEqual(daemon.authenticate("wrong").code, INVALID)
        self.assertEqual(daemon.authenticate(service=APART).code, THROTTLED)
        self.assertEqual(daemon.tally().counts(), (1, 4, 0))
        self.assertLives(daemon)

    def test_root_clears(self):
        """When root runs `tries clear` there are apart tries again"""
        daemon = self.with_store("RetryLimit=2\nThrottleAfter=0")
        at_once(8, guess(daemon, APART))
        self.assertEqual(daemon.ask("triesClear").name, "done")
        self.assertEqual(daemon.tally().counts(), (0, 0, 0))
        self.assertLives(daemon, service=APART)

    def test_one_wrong_try_is_enough_for_the_limit_of_one(self):
        """With a limit of one, an apart try erases nothing"""
        daemon = self.with_store("RetryLimit=1\nThrottleAfter=0")
        self.assertEqual(daemon.authenticate("wrong", service=APART).code, INVALID)
        self.assertEqual(daemon.status().lock, "locked")
        self.assertLives(daemon)

    def test_full_queue(self):
        """A full queue refuses apart tries with 35, uncounted; an own try goes first"""
        daemon = self.with_store("RetryLimit=0\nThrottleAfter=0")
        daemon.hold()
        clients = []
        self.addCleanup(lambda: [client.close() for client in clients])

        def send(service, typed):
            client = daemon.client(frontEnd="pamAuth", service=service)
            clients.append(client)
            client.send("authenticate", 2, [b""], subject=daemon.person)
            client.send("reply", 2, [typed.encode()], question=client.receive().question)
            client.tag = 2
            return client

        send(APART, "wrong")
        wait_until(lambda: self.derived(daemon) == 1, "the first derivation is held")
        for number in range(64):
            send(APART, f"wrong {number}")
        verdict = send(APART, "one too many").follow()
        self.assertEqual((verdict.outcome, verdict.code), ("unavailable", BUSY))
        owner = send(OWN, PASSCODE)
        self.assertEqual(self.derived(daemon), 1)
        self.assertEqual(daemon.tally().counts(), (0, 1, 0))
        daemon.release()
        self.assertEqual(owner.follow().outcome, "success")
        # In its turn it would have been behind 65 others. How many of them end before this process looks depends on the
        # machine.
        self.assertLess(daemon.derivations_ended() - self.before, 65)
        self.assertEqual([client.follow().code for client in clients[:65]], [INVALID] * 65)
        self.assertEqual(self.derived(daemon), 66)
        self.assertEqual(daemon.tally().counts(), (0, 64, 0))


class LockInstead(Case):
    POLICY = LIMIT + "OnRetryLimit=lock\n"

    def use_up(self):
        daemon = self.daemon(self.POLICY)
        self.key = daemon.create_with_recovery()
        daemon.lock()
        self.before = daemon.derivations()
        codes = at_once(64, guess(daemon, OWN))
        self.assertEqual(self.derived(daemon), 10)
        self.assertEqual(sorted(codes), [INVALID] * 9 + [LIMIT_REACHED] * 55)
        return daemon

    def assertRefused(self, daemon):
        self.assertEqual(daemon.status().lock, "retryLocked")
        for verdict in (daemon.authenticate(), daemon.authenticate(service=APART)):
            self.assertEqual((verdict.outcome, verdict.code), ("maxTries", LIMIT_REACHED))
        self.assertEqual(daemon.unlock().code, LIMIT_REACHED)
        self.assertEqual(self.derived(daemon), 10)

    def test_recovery_key_ends_it(self):
        """OnRetryLimit=lock: even the right passcode is refused, also after a restart, until the recovery key is
        used"""
        daemon = self.use_up()
        self.assertRefused(daemon)
        daemon.kill()
        daemon.start()
        self.assertRefused(daemon)
        done = daemon.ask("recover", answers("another horse", recoveryKey=self.key))
        self.assertEqual(done.name, "done")
        self.assertEqual(daemon.tally().counts(), (0, 0, 0))
        self.assertEqual(daemon.authenticate(PASSCODE).code, INVALID)
        self.assertEqual(daemon.authenticate("another horse").outcome, "success")

    def test_root_ends_it(self):
        """OnRetryLimit=lock: root ends it with `tries clear`"""
        daemon = self.use_up()
        self.assertEqual(daemon.ask("triesClear").name, "done")
        self.assertEqual(daemon.status().lock, "locked")
        self.assertLives(daemon)

    def test_looser_policy_does_not_end_it(self):
        """A store locked by its tries stays locked when the limit is removed"""
        daemon = self.use_up()
        daemon.policy("RetryLimit=0\nThrottleAfter=0", reload=True)
        self.assertRefused(daemon)


class Throttling(Case):
    def test_early_costs_nothing_and_gives_nothing(self):
        """A try before its time is refused with 24 and the seconds: not derived, not counted, also the right one"""
        # Once more on a machine that takes longer than the wait between two tries.
        while not self.waits():
            pass

    def waits(self):
        daemon = self.with_store("RetryLimit=0\nThrottleAfter=2\nThrottleMax=2")
        self.assertEqual([daemon.authenticate("wrong").code for _ in range(2)], [INVALID, INVALID])
        tally = repr(daemon.tally())
        at = daemon.tally().own.at
        for wait, count in ((1000, 2), (2000, 3), (2000, 4)):
            early = 0
            while boot_clock() < at + wait - 250:
                verdicts = [daemon.authenticate("wrong"), daemon.authenticate(PASSCODE)]
                if boot_clock() >= at + wait:
                    return False
                self.assertEqual([v.code for v in verdicts], [THROTTLED] * 2)
                self.assertEqual({v.outcome for v in verdicts}, {"authError"})
                early += 2
                time.sleep(0.1)
            if early <= 2:
                return False
            self.assertEqual(repr(daemon.tally()), tally, "nothing was written")
            self.assertEqual(self.derived(daemon), count)
            time.sleep(max(0, at + wait + 5 - boot_clock()) / 1000)
            if count < 4:
                self.assertEqual(daemon.authenticate("wrong").code, INVALID)
                tally, at = repr(daemon.tally()), daemon.tally().own.at
        self.assertLives(daemon)
        self.assertEqual(daemon.tally().counts(), (0, 0, 0))
        return True

    def test_64_at_once_get_the_free_ones(self):
        """64 at once get the tries before the throttle and no more"""
        daemon = self.with_store("RetryLimit=0\nThrottleAfter=3\nThrottleMax=60")
        began = time.monotonic()
        codes = at_once(64, guess(daemon, OWN))
        took = time.monotonic() - began
        wrong = codes.count(INVALID)
        self.assertEqual(sorted(codes), [INVALID] * wrong + [THROTTLED] * (64 - wrong))
        self.assertEqual(self.derived(daemon), wrong)
        self.assertGreaterEqual(wrong, 3)
        # Behind these one after a second, another two seconds later: a machine with others to serve takes as long.
        self.assertLessEqual(2 ** (wrong - 3) - 1, took)

    def test_seconds_are_told(self):
        """The seconds until the next try are in the answer and in `status`; those of the owner count separately"""
        daemon = self.with_store("RetryLimit=0\nThrottleAfter=1\nThrottleMax=60")
        for wrong in range(6):
            daemon.policy("RetryLimit=0\nThrottleAfter=0", reload=True)
            self.assertEqual(daemon.unlock(f"wrong {wrong}").code, INVALID)
        daemon.policy("RetryLimit=0\nThrottleAfter=1\nThrottleMax=60", reload=True)
        last = daemon.tally().apart.at
        refused, left = self.timed(daemon.unlock, last + 32_000)
        self.assertEqual(refused.code, THROTTLED)
        self.assertIn(int(refused.parameters["seconds"]), left)
        status, left = self.timed(daemon.status, last + 32_000)
        self.assertEqual(status.throttledSeconds, 0, "apart tries never delay the owner's")
        self.assertIn(status.apartThrottledSeconds, left)
        self.assertEqual(daemon.authenticate("wrong").code, INVALID)
        status, left = self.timed(daemon.status, daemon.tally().own.at + 1000)
        self.assertIn(status.throttledSeconds, left)
        status, left = self.timed(daemon.status, last + 32_000)
        self.assertIn(status.apartThrottledSeconds, left)

    def timed(self, ask, moment):
        """Its answer, and how many seconds were left until that moment when it came, at least and at most."""
        before = boot_clock()
        answer = ask()
        after = boot_clock()
        return answer, range(max(0, moment - after + 999) // 1000, max(0, moment - before + 999) // 1000 + 1)

    def test_last_try_before_an_erasure_waits(self):
        """The try that would erase waits ThrottleMax after the one before it"""
        daemon = self.with_store("RetryLimit=3\nThrottleAfter=50\nThrottleMax=2")
        self.assertEqual([daemon.authenticate("wrong").code for _ in range(3)], [INVALID, INVALID, THROTTLED])
        at = daemon.tally().own.at
        time.sleep(max(0, at + 1500 - boot_clock()) / 1000)
        verdict = daemon.authenticate("wrong")
        if boot_clock() < at + 2000:
            self.assertEqual(verdict.code, THROTTLED)
        self.assertEqual(self.derived(daemon), 2)
        time.sleep(max(0, at + 2005 - boot_clock()) / 1000)
        self.assertEqual(daemon.authenticate("wrong").code, LIMIT_REACHED)
        self.assertErased(daemon)

    def test_recovery_key_is_throttled_and_never_erases(self):
        """Wrong recovery keys have a count of their own, which throttles and never erases"""
        other = Daemon(policy=LIMIT)
        self.addCleanup(other.close)
        foreign = other.create_with_recovery()
        script = dict(passcode="another horse")
        is_late = True
        while is_late:
            daemon = self.daemon("RetryLimit=2\nThrottleAfter=2\nThrottleMax=60")
            key = daemon.create_with_recovery()
            daemon.lock()
            recover = lambda typed: daemon.ask("recover", answers(recoveryKey=typed, **script))
            codes = [recover(foreign).code]
            began = time.monotonic()
            answered = [recover(typed) for typed in (foreign, foreign, foreign, key)]
            # The wait after two of them is a second. On a machine that takes longer once more.
            is_late = time.monotonic() - began >= 1
        codes += [answer.fields.get("code") for answer in answered]
        self.assertEqual(codes, [41, 41, THROTTLED, THROTTLED, THROTTLED])
        self.assertEqual(daemon.tally().counts(), (0, 0, 2))
        self.assertLives(daemon)


class Restarts(Case):
    def test_restarts_between_tries(self):
        """A restart after each try, clean or killed, gives no try more and loses none"""
        daemon = self.with_store("RetryLimit=5\nThrottleAfter=0")
        codes = []
        for number in range(7):
            codes.append(daemon.authenticate(f"wrong {number}").code)
            self.assertEqual(daemon.tally().own.unresolved if number < 4 else 0, 0)
            daemon.stop() if number % 2 else daemon.kill()
            daemon.start()
        self.assertEqual(codes, [INVALID] * 4 + [LIMIT_REACHED] + [DELETED] * 2)
        self.assertEqual(self.derived(daemon), 5)

    def test_kill_in_every_derivation(self):
        """Killed in the middle of each derivation: every one counts, the limit reached so locks instead of erasing"""
        daemon = self.daemon("RetryLimit=4\nThrottleAfter=0")
        key = daemon.create_with_recovery()
        daemon.lock()
        self.before = daemon.derivations()
        for number in range(4):
            daemon.hold()
            # Those after the last one are not even asked.
            peers = 8 if number < 3 else 1
            clients = [self.send_guess(daemon, f"wrong {number} {index}") for index in range(peers)]
            wait_until(lambda: self.derived(daemon) == number + 1, "the derivation began")
            self.assertEqual((daemon.tally().own.wrong, daemon.tally().own.unresolved), (0, number + 1))
            daemon.kill()
            for client in clients:
                client.close()
            daemon.release()
            daemon.start()
            self.assertEqual(daemon.status().ownTriesLeft, 3 - number)
        self.assertEqual(daemon.authenticate().code, LIMIT_REACHED)
        self.assertEqual(daemon.status().lock, "retryLocked")
        self.assertEqual(self.derived(daemon), 4)
        self.assertEqual(daemon.ask("recover", answers("another horse", recoveryKey=key)).name, "done")
        self.assertEqual(daemon.authenticate("another horse").outcome, "success")

    def test_clean_end_in_a_derivation(self):
        """A clean end in the middle of a derivation does not wait for it, and the try counts"""
        daemon = self.with_store("RetryLimit=2\nThrottleAfter=0")
        self.assertEqual(daemon.authenticate("wrong").code, INVALID)
        daemon.hold()
        client = self.send_guess(daemon, "wrong again")
        wait_until(lambda: self.derived(daemon) == 2, "the derivation began")
        self.assertEqual(daemon.stop(), 0)
        client.close()
        daemon.release()
        daemon.start()
        self.assertEqual(daemon.authenticate().code, LIMIT_REACHED)
        self.assertEqual(daemon.status().lock, "retryLocked", "a try without an outcome erases nothing")

    def test_power_cut_never_takes_the_owners_store(self):
        """The owner's right passcode, cut off by kills, never leads to erasure, and a kill less than the limit opens"""
        daemon = self.with_store("RetryLimit=4\nThrottleAfter=0")
        for number in range(3):
            daemon.hold()
            client = self.send_guess(daemon, PASSCODE)
            wait_until(lambda: self.derived(daemon) == number + 1, "the derivation began")
            daemon.kill()
            client.close()
            daemon.release()
            daemon.start()
        self.assertLives(daemon)
        self.assertEqual(daemon.tally().counts(), (0, 0, 0))

    def test_throttle_over_a_restart(self):
        """A throttle continues over restarts"""
        daemon = self.with_store("RetryLimit=0\nThrottleAfter=1\nThrottleMax=60")
        daemon.policy("RetryLimit=0\nThrottleAfter=0", reload=True)
        for _ in range(6):
            daemon.authenticate("wrong")
        daemon.policy("RetryLimit=0\nThrottleAfter=1\nThrottleMax=60")
        for end in (daemon.stop, daemon.kill):
            end()
            daemon.start()
            self.assertEqual(daemon.authenticate().code, THROTTLED)
            seconds = daemon.status().throttledSeconds
            self.assertGreaterEqual(seconds, (daemon.tally().own.at + 32_000 - boot_clock()) // 1000)
        self.assertEqual(self.derived(daemon), 6)

    def send_guess(self, daemon, typed):
        client = daemon.client(frontEnd="pamAuth", service=OWN)
        client.send("authenticate", 2, [b""], subject=daemon.person)
        # A line before the question announces the last try.
        ask = next(message for message in iter(client.receive, None) if message.name == "ask")
        client.send("reply", 2, [typed.encode()], question=ask.question)
        return client


class Clocks(Case):
    POLICY = "RetryLimit=9\nThrottleAfter=1\nThrottleMax=1h"

    def throttled(self):
        """A store with six wrong own tries, so throttled for 32 s, and its daemon stopped."""
        daemon = self.with_store("RetryLimit=9\nThrottleAfter=0")
        for _ in range(6):
            daemon.authenticate("wrong")
        daemon.stop()
        daemon.policy(self.POLICY)
        return daemon

    def assertNothingGained(self, daemon, least):
        daemon.start()
        self.assertEqual(daemon.authenticate().code, THROTTLED)
        status = daemon.status()
        self.assertGreaterEqual(status.throttledSeconds, least)
        self.assertLessEqual(status.throttledSeconds, 32)
        self.assertEqual(status.ownTriesLeft, 3)
        self.assertEqual(self.derived(daemon), 6)
        self.assertEqual(daemon.tally().counts(), (6, 0, 0))
        daemon.stop()

    def test_wall_clock(self):
        """The wall clock, a century forward or back, moves no throttle"""
        daemon = self.throttled()
        shim = pamlab.compiled("wallclock.c", "wallclock.so", "-shared", "-fPIC")
        preload = daemon.environment()["LD_PRELOAD"] + " " + shim
        for shift in (100 * 365 * 86400, -50 * 365 * 86400):
            daemon.env = {"LD_PRELOAD": preload, "WALL_SHIFT": str(shift)}
            self.assertNothingGained(daemon, 20)
        # The preloaded clock really reaches the daemon: a store that is made now is of another
        # century.
        daemon.env = {"LD_PRELOAD": preload, "WALL_SHIFT": str(100 * 365 * 86400)}
        daemon.start()
        daemon.create(store="second")
        made = daemon.ask("status", store="second").passcodeSetAt
        self.assertGreater(made, time.time() + 99 * 365 * 86400)

    @unittest.skipUnless(IS_ROOT, "a time namespace needs root")
    def test_boot_clock(self):
        """Another boot, or a boot clock set back: the whole wait from that boot's beginning on, and no additional
        try"""
        daemon = self.throttled()
        uptime = boot_clock() // 1000
        for new_boot in (False, True):
            # This boot's clock, three seconds after its beginning.
            before = ["unshare", "-T", "--boottime", str(3 - uptime)]
            if new_boot:
                fake = os.path.join(daemon.folder, "boot_id")
                with open(fake, "w") as file:
                    file.write("01234567-89ab-4cde-8f01-23456789abcd\n")
                mount = f"mount --bind {fake} /proc/sys/kernel/random/boot_id"
                before = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh", *before]
            clock = subprocess.run(
                [*before, "cut", "-d.", "-f1", "/proc/uptime"], capture_output=True, text=True, check=False
            )
            if clock.returncode != 0 or int(clock.stdout) > 20:
                self.skipTest(f"no time namespace here: {clock.stderr.strip()}")
            daemon.before = before
            self.assertNothingGained(daemon, 15)

    @unittest.skipUnless(IS_ROOT, "a mount namespace needs root")
    def test_new_boot_keeps_the_count(self):
        """After a new boot the count is what it was: so many tries are left, and the limit holds"""
        daemon = self.throttled()
        daemon.policy("RetryLimit=9\nThrottleAfter=0")
        fake = os.path.join(daemon.folder, "boot_id")
        with open(fake, "w") as file:
            file.write("01234567-89ab-4cde-8f01-23456789abcd\n")
        mount = f"mount --bind {fake} /proc/sys/kernel/random/boot_id"
        daemon.before = ["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"]
        daemon.start()
        codes = at_once(16, guess(daemon, OWN))
        self.assertEqual(sorted(codes), [INVALID] * 2 + [DELETED] * 13 + [LIMIT_REACHED])
        self.assertEqual(self.derived(daemon), 9)
        self.assertErased(daemon)


class TwoDaemons(Case):
    def test_second_refuses_to_start(self):
        """Two daemons on one state folder: the second says so and ends, the first goes on, tries are those of one"""
        daemon = self.with_store("RetryLimit=3\nThrottleAfter=0")
        daemon.authenticate("wrong")
        second = Daemon(policy="RetryLimit=3\nThrottleAfter=0", start=False)
        self.addCleanup(second.close)
        own_state, second.state = second.state, daemon.state
        second.spawn()
        self.assertEqual(second.process.wait(10), 1)
        self.assertIn(f"another appvaultd works on {daemon.state}", second.log())
        self.assertIn("hint: ", second.log())
        self.assertFalse(os.path.exists(second.socket), "it never listened")
        self.assertEqual(daemon.authenticate("wrong").code, INVALID)
        self.assertEqual(daemon.tally().own.wrong, 2)

        # The lock is not a file whose mere existence counts.
        daemon.kill()
        second.start()
        self.assertEqual(second.authenticate("wrong").code, LIMIT_REACHED)
        second.stop()
        second.state = own_state

    def test_paused_daemon_keeps_its_lock(self):
        """A daemon that is only paused keeps its lock"""
        daemon = self.with_store()
        daemon.pause()
        second = Daemon(policy=LIMIT, start=False)
        self.addCleanup(second.close)
        second.state = daemon.state
        second.spawn()
        self.assertEqual(second.process.wait(10), 1)
        daemon.resume()
        self.assertLives(daemon)


class Uncountable(Case):
    @unittest.skipIf(IS_ROOT and not os.path.exists("/proc/self/ns/mnt"), "no mount namespaces")
    def test_no_count_no_derivation(self):
        """Where the count cannot be written nothing is derived: 31"""
        if not IS_ROOT:
            self.skipTest("a full disk of its own needs root")
        daemon = self.with_store("RetryLimit=3\nThrottleAfter=0")
        daemon.stop()
        # Writes to the slots file fail with EFBIG; reads work as before.
        daemon.before = ["env", "--ignore-signal=XFSZ", "prlimit", "--fsize=1024"]
        daemon.start()
        slots = daemon.blocks()
        verdict = daemon.authenticate()
        self.assertEqual((verdict.outcome, verdict.code), ("unavailable", 31))
        self.assertEqual(self.derived(daemon), 0)
        self.assertEqual(daemon.blocks(), slots)
        daemon.stop()
        daemon.before = []
        daemon.start()
        self.assertLives(daemon)


if __name__ == "__main__":
    unittest.main()
