"""A disk that is full or read-only, no descriptors, no memory: nothing is lost, nobody is locked
out, and afterwards everything works again."""

import os
import resource
import sqlite3
import threading
import unittest

import pamlab
import wire
from daemonlab import answers, wait_until
from disklab import PASSCODE, Mounted, MountedExt4, ext4, mount
from faultlab import Lab, Slots, code, policy
from slow import slow

NEEDS_ROOT = True
STORAGE = wire.CODES["storageFailed"]
UNAVAILABLE = wire.CODES["serviceUnavailable"]


class Full(Mounted):
    def store_until_full(self, prefix="value"):
        """Stores until the disk is full. Returns what was answered as stored, the refusal, and
        the name that it was for."""
        stored, number = {}, 0
        while True:
            name, value = f"{prefix} {number}".encode(), os.urandom(20_000)
            answer = self.lab.set(name, value)
            if answer.name != "done":
                return stored, answer, name
            stored[name] = value
            number += 1

    def all_there(self, stored):
        with self.lab.client() as client:
            for name, value in stored.items():
                answer = client.run("get", name=name)
                self.assertEqual(answer.name, "value", f"{name}: {answer}")
                self.assertEqual(answer.payload, value)

    def test_sets(self):
        """a set that does not fit is answered with 43, and nothing that was stored is lost, now or after a restart"""
        self.ballast()
        stored, answer, _ = self.store_until_full()
        self.assertEqual(code(answer), STORAGE, answer)
        self.assertIn("reason", answer.parameters)
        self.assertGreater(len(stored), 20)
        self.all_there(stored)
        self.fill()
        # SQLite's log may still have room of its own, which it overwrites in place.
        more, answer, refused = self.store_until_full("one more")
        self.assertEqual(code(answer), STORAGE, answer)
        stored.update(more)
        self.all_there(stored)
        self.assertEqual(self.lab.state_of().lock, "unlocked")
        for how in (9, 15):
            self.lab.restart(how)
            self.assertEqual(self.lab.open(PASSCODE).name, "done")
            self.all_there(stored)
            self.assertEqual(code(self.lab.get(refused)), wire.CODES["doesNotExist"])
        self.make_room()
        self.assertEqual(self.lab.set(refused, b"fits").name, "done")
        self.all_there({**stored, refused: b"fits"})

    def test_many_sets(self):
        """many sets at once on a disk that fills up: those that were answered are on it"""
        stored, refused = {}, []

        def work(number):
            with self.lab.client() as client:
                for round_ in range(400):
                    name, value = f"{number} {round_}".encode(), os.urandom(9_000)
                    answer = client.run("set", payloads=[value], name=name)
                    if answer.name != "done":
                        refused.append(code(answer))
                        return
                    stored[name] = value

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(refused), {STORAGE})
        self.all_there(stored)
        self.lab.restart(9)
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        self.all_there(stored)

    def test_tries(self):
        """on a full disk tries are counted in their place, logins work, and a change of the passcode works or is
        answered with 43"""
        self.fill()
        for expected in (1, 2):
            self.assertEqual(self.lab.authenticate("wrong").code, 5)
            self.assertEqual(self.tries().own.count, expected)
        self.assertEqual(self.lab.authenticate(PASSCODE).outcome, "success")
        self.assertEqual(self.tries().counts(), (0, 0, 0))
        answer = self.lab.ask("passcode", answers(PASSCODE, newPasscode="another horse"), change="change")
        self.assertEqual(answer.name, "done", "a slot is written in place")
        self.lab.restart(9)
        self.assertEqual(self.lab.authenticate("another horse").outcome, "success")

    def test_create(self):
        """a store that does not fit is refused with 43 and leaves nothing behind, and fits when there is room"""
        self.fill()
        before = sorted(os.listdir(os.path.join(self.lab.state, "stores")))
        for _ in range(3):
            answer = self.lab.ask("create", answers("another passcode"), store="second", way="ownPasscode")
            self.assertEqual(code(answer), STORAGE, answer)
            self.assertEqual(sorted(os.listdir(os.path.join(self.lab.state, "stores"))), before)
        self.assertEqual(self.lab.state_of("second").lock, "absent")
        self.make_room()
        self.lab.make("another passcode", "second")
        self.lab.restart(9)
        self.assertEqual(self.lab.open("another passcode", "second").name, "done")

    def test_mend(self):
        """on a full disk damaged records can be mended, as they can be deleted"""
        with self.lab.client() as client:
            for number in range(40):
                client.run("set", payloads=[b"it" * 400], name=b"small %d" % number)
        self.lab.lock()
        database = sqlite3.connect(os.path.join(self.lab.store(), "records.db"), isolation_level=None)
        database.execute("UPDATE records SET tag=zeroblob(16), body=zeroblob(64) WHERE id % 4 = 0")
        (damaged,) = database.execute("SELECT count(*) FROM records WHERE length(body) = 64").fetchone()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        database.close()
        self.assertGreater(damaged, 2)
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        stored, _, _ = self.store_until_full()
        self.fill()
        answer = self.lab.ask("mend", answers(PASSCODE))
        self.assertEqual(answer.name, "done", answer)
        self.all_there(stored)
        for how in (9, 15):
            self.lab.restart(how)
            self.assertEqual(self.lab.open(PASSCODE).name, "done")
            self.assertEqual(self.lab.state_of().trouble, "")
            self.assertEqual(self.lab.state_of().records, 40 - damaged + len(stored))
            self.all_there(stored)

    def test_erase(self):
        """on a full disk a store is erased all the same"""
        self.lab.set(b"name", b"value" * 100)
        self.fill()
        for _ in range(9):
            verdict = self.lab.authenticate("wrong")
        self.assertEqual(verdict.code, wire.CODES["retryLimitReached"])
        self.assertEqual(self.lab.authenticate(PASSCODE).code, wire.CODES["deleted"])
        self.assertEqual(os.listdir(self.lab.store()), ["slots"])
        self.assertEqual(Slots(self.lab.store()).condition, "erased")


class FullExt4(MountedExt4, Full):
    """The same on a file system that allocates as a disk does."""


class ReadOnly(Mounted):
    def test_start(self):
        """on a read-only state folder the daemon derives nothing: 31 for the right passcode and for a wrong one"""
        self.lab.stop()
        done = mount("-o", "remount,ro", self.lab.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.lab.count_path, "w"):
            pass
        try:
            self.lab.start()
        except AssertionError as error:
            # A daemon that does not start leaves no socket that answers: the module goes on to the
            # next at once.
            self.assertIn("ended with 1", str(error))
            self.assertIn("lock", str(error))
        else:
            for typed in ("wrong", PASSCODE):
                self.assertEqual(self.lab.authenticate(typed).code, UNAVAILABLE)
                self.assertEqual(self.lab.authenticate(typed).outcome, "unavailable")
                self.assertEqual(code(self.lab.open(typed)), UNAVAILABLE)
        self.assertEqual(self.lab.derivations(), 0)
        mount("-o", "remount,rw", self.lab.state)
        self.lab.restart()
        self.assertEqual(self.lab.authenticate(PASSCODE).outcome, "success")


class Emergency(Mounted):
    """What the kernel does to a failed disk: it becomes read-only under the running daemon."""

    def mount(self):
        self.device = ext4(self, self.lab, 8 << 20, "errors=remount-ro")
        self.addCleanup(self.unmount)

    def fail(self):
        trigger = f"/sys/fs/ext4/{self.device}/trigger_fs_error"
        try:
            with open(trigger, "w") as file:
                file.write("a test")
        except OSError as error:
            self.skipTest(f"the kernel has no errors to trigger: {error}")

    def test_under_it(self):
        """a disk that becomes read-only under the daemon: 31, nothing derived, reading goes on, and a login goes on to
        the next module"""
        self.assertEqual(self.lab.set(b"name", b"value").name, "done")
        before = self.lab.derivations()
        self.fail()
        for typed in ("wrong", PASSCODE):
            verdict = self.lab.authenticate(typed)
            self.assertEqual((verdict.code, verdict.outcome), (UNAVAILABLE, "unavailable"))
        self.assertEqual(self.lab.derivations(), before)
        answer = self.lab.set(b"name", b"newer")
        self.assertEqual(code(answer), STORAGE, answer)
        self.assertEqual(self.lab.get(b"name").payload, b"value")
        self.assertEqual(falls_through(self.lab), pamlab.PAM_SUCCESS)


def falls_through(lab):
    """A login with our module before one that lets everybody in."""
    with pamlab.Lab() as pam:
        pam.service(
            "login",
            f"auth sufficient {pam.module} or_password socket={lab.socket}",
            "auth required pam_permit.so",
        )
        with pam.transaction("login", lab.person[0], pamlab.Talk([PASSCODE])) as transaction:
            return transaction.authenticate()


class Limits(unittest.TestCase):
    """A daemon that runs out of something."""

    def lab(self, policy_text=None, **settings):
        lab = Lab(policy_text or policy(), **settings)
        self.addCleanup(lab.close)
        lab.make(PASSCODE)
        lab.lock()
        return lab

    def test_descriptors(self):
        """without descriptors the daemon answers nobody for a while, and everybody again when there are some"""
        lab = self.lab()
        self.assertEqual(lab.open(PASSCODE).name, "done")
        resource.prlimit(lab.pid, resource.RLIMIT_NOFILE, (40, 1024))
        held = []
        for _ in range(60):
            client = wire.Client(lab.socket, 5)
            held.append(client)
            client.send("hello", 1)
        # Some peers are served, the others wait in the backlog: none gets a wrong answer.
        served = 0
        for client in held:
            try:
                message = client.receive(60 if served <= 5 else 0.3)
            except TimeoutError:
                break
            self.assertEqual(message.name, "welcome")
            served += 1
        self.assertGreater(served, 5)
        self.assertLess(served, 60)
        for client in held:
            client.close()
        wait_until(lambda: lab.set(b"name", b"value").name == "done", "it serves again")
        self.assertEqual(lab.authenticate(PASSCODE).outcome, "success")

    def spare(self, lab, count):
        """Leaves the daemon so many descriptors beside those that it has."""
        # The limit is on descriptor numbers: below the lowest free number none is left. The
        # descriptors of earlier connections are closed in a moment, and must not make room for the
        # next connection.
        seen = []

        def is_quiet():
            used = {int(name) for name in os.listdir(f"/proc/{lab.pid}/fd")}
            seen.append(next(number for number in range(1024) if number not in used))
            return len(seen) > 50 and len(set(seen[-50:])) == 1

        wait_until(is_quiet, "the daemon's descriptors are the same for a while")
        resource.prlimit(lab.pid, resource.RLIMIT_NOFILE, (seen[-1] + count, 1024))

    def test_descriptors_reasons(self):
        """what finds no descriptor says so, and what helps; it says nothing of the disk's room"""
        # With fewer it does not come as far as to what needs them.
        for count in (2, 3):
            # No derivation is counted: that takes a descriptor, too.
            lab = self.lab(env={"DERIVATIONS": ""})
            with lab.client() as client:
                # Who asks is known from here on.
                self.assertEqual(client.run("status").name, "state")
                self.spare(lab, count)
                for answer in (
                        client.run("openStore", answers(PASSCODE)),
                        client.run("create", answers(PASSCODE), way="ownPasscode", store="another")):
                    self.assertEqual(code(answer), wire.CODES["storageFailed"], answer)
                    self.assertEqual(answer.parameters["reason"], "no-descriptors", answer)
                    self.assertIn("LimitNOFILE", str(answer.hint))
                resource.prlimit(lab.pid, resource.RLIMIT_NOFILE, (1024, 1024))
                self.assertEqual(client.run("openStore", answers(PASSCODE)).name, "done")
                self.assertEqual(client.run("set", payloads=[b"value"], name=b"name").name, "done")

    def test_descriptors_login(self):
        """a login while the daemon is out of descriptors falls through to the next module, and counts no try"""
        lab = self.lab()
        self.spare(lab, 0)
        self.assertEqual(falls_through(lab), pamlab.PAM_SUCCESS)
        self.assertEqual(Slots(lab.store()).tally.counts(), (0, 0, 0))
        resource.prlimit(lab.pid, resource.RLIMIT_NOFILE, (1024, 1024))
        wait_until(lambda: lab.authenticate(PASSCODE).outcome == "success", "it serves again")

    @slow
    def test_memory(self):
        """without memory for Argon2id the answer is 7, no try is counted, and it works when there is memory again"""
        lab = self.lab(policy(DerivationMemory="512MiB"))
        with open(f"/proc/{lab.pid}/statm") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        resource.prlimit(lab.pid, resource.RLIMIT_AS, (size + (64 << 20), resource.RLIM_INFINITY))
        for typed in ("wrong", PASSCODE):
            self.assertEqual(lab.authenticate(typed).code, wire.CODES["outOfMemory"])
            self.assertEqual(code(lab.open(typed)), wire.CODES["outOfMemory"])
        self.assertEqual(Slots(lab.store()).tally.counts(), (0, 0, 0))
        answer = lab.ask("create", answers("another passcode"), store="second", way="ownPasscode")
        self.assertEqual(code(answer), wire.CODES["outOfMemory"])
        resource.prlimit(lab.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertEqual(lab.authenticate(PASSCODE).outcome, "success")


if __name__ == "__main__":
    unittest.main()
