"""A volume that is full, by one person's records or by something else: tries, changes of the passcode, locks and
deleting go on for everybody. What is needed for it was set aside: the file `reserve`."""

import os
import shutil
import unittest

import pamlab
import wire
from daemonlab import add_account, answers, as_uid, derivation_counter, remove_account, wait_until
from disklab import Mounted, MountedExt4
from faultlab import Lab, Slots, code, policy
from slow import slow

NEEDS_ROOT = True
PASSCODE = "correct horse"
STORAGE = wire.CODES["storageFailed"]
DOES_NOT_EXIST = wire.CODES["doesNotExist"]
MIB = 1 << 20


class Volume(Mounted):
    """A small volume; the test looks at its files from outside."""

    SIZE = "48m"
    RULES = {"StoreQuota": "0", "RetryLimit": "9"}

    def setUp(self):
        super().setUp()
        self.lab.policy(policy(**self.RULES), reload=True)
        wait_until(self.has_reserve, "the reserve is made")

    @property
    def reserve(self):
        return os.path.join(self.lab.state, "reserve")

    def has_reserve(self):
        try:
            status = os.stat(self.reserve)
        except FileNotFoundError:
            return False
        return status.st_size > 0 and status.st_blocks * 512 >= status.st_size

    def free(self):
        status = os.statvfs(self.lab.state)
        return status.f_bavail * status.f_frsize

    def wrong_try(self, lab=None, subject=None, folder=None):
        """Makes a wrong try, which is answered and is on the disk."""
        lab = lab or self.lab
        folder = folder or lab.store()
        before = sum(Slots(folder).tally.counts())
        self.assertEqual(lab.authenticate("wrong", subject=subject).code, 5)
        self.assertEqual(sum(Slots(folder).tally.counts()), before + 1)

    def no_space(self, answer):
        self.assertEqual(code(answer), STORAGE, answer)
        self.assertEqual(answer.parameters["reason"], "no-space", answer)


class Filled(Volume):
    """Another program takes all the room."""

    def test_what_goes_on(self):
        """where something else fills the volume, tries count, and unlock, change, recover, get, delete and lock work"""
        lab = self.lab
        values = {f"{number}".encode(): os.urandom(MIB if number < 2 else 30_000) for number in range(12)}
        for name, value in values.items():
            self.assertEqual(lab.set(name, value).name, "done")
        with lab.client(frontEnd="terminal") as client:
            self.assertEqual(client.run("recoveryNew", answers(PASSCODE)).name, "done")
            recovery = client.revealed[0].decode()
        self.fill()
        self.no_space(lab.set(b"more", b"value"))
        self.no_space(lab.ask("create", answers("second horse"), store="second", way="ownPasscode"))
        self.assertTrue(self.has_reserve(), "neither of these may have it")
        self.wrong_try()
        self.assertEqual(lab.authenticate(PASSCODE).outcome, "success")
        self.assertEqual(sum(Slots(lab.store()).tally.counts()), 0)
        self.assertEqual(lab.ask("lock").name, "done")
        self.assertEqual(lab.open(PASSCODE).name, "done")
        for name in (b"0", b"5"):
            self.assertEqual(lab.ask("delete", name=name).name, "done")
            del values[name]
        changed = lab.ask("passcode", answers(PASSCODE, newPasscode="another horse"), change="change")
        self.assertEqual(changed.name, "done")
        script = answers("another horse", recoveryKey=recovery, newPasscode="third horse")
        self.assertEqual(lab.ask("recover", script, hello={"frontEnd": "terminal"}).name, "done")
        for how in (9, 15):
            lab.restart(how)
            self.wrong_try()
            self.assertEqual(lab.open("third horse").name, "done")
            for name, value in values.items():
                self.assertEqual(lab.get(name).payload, value, name)
            (name, *_) = values
            self.assertEqual(lab.ask("delete", name=name).name, "done")
            del values[name]
            self.assertEqual(code(lab.get(name)), DOES_NOT_EXIST)
        self.make_room()
        lab.restart()
        wait_until(self.has_reserve, "the reserve is made again")
        self.assertEqual(lab.open("third horse").name, "done")
        self.assertEqual(lab.set(b"more", b"value").name, "done")

    def test_without_a_reserve(self):
        """a daemon that starts on a full volume makes no reserve, says so, counts tries, and makes it when there is
        room"""
        self.lab.stop()
        os.unlink(self.reserve)
        self.fill()
        self.lab.start()
        wait_until(lambda: "the disk is nearly full" in self.lab.log(), "the journal says so")
        self.assertFalse(os.path.exists(self.reserve))
        self.wrong_try()
        self.assertEqual(self.lab.open(PASSCODE).name, "done")
        self.no_space(self.lab.set(b"more", b"value"))
        self.make_room()
        self.lab.restart()
        wait_until(self.has_reserve, "the reserve is made")

    def test_holes(self):
        """a reserve that came out of a backup without its blocks gets them again"""
        self.lab.stop()
        size = os.stat(self.reserve).st_size
        os.unlink(self.reserve)
        with open(self.reserve, "wb") as file:
            file.truncate(size)
        self.assertFalse(self.has_reserve())
        self.lab.start()
        wait_until(self.has_reserve, "it has its blocks")


class FilledExt4(MountedExt4, Filled):
    SIZE = 48 << 20


class Persons(Volume):
    """One person takes all the room; another one goes on."""

    def setUp(self):
        super().setUp()
        self.greedy = add_account()
        self.addCleanup(remove_account, self.greedy[0])
        self.assertEqual(self.ask_create(self.greedy).name, "done")
        self.store_id = self.lab.state_of().store

    def ask_create(self, subject, store="", passcode=PASSCODE):
        return self.lab.ask("create", answers(passcode), way="ownPasscode", subject=subject, store=store)

    def take(self):
        """The greedy person's sets until they are refused, from the largest to the smallest.
        Returns the last refusal."""
        lab = self.lab

        def work():
            with lab.client() as client:
                number = 0
                for size in (MIB, 100_000, 5_000, 100):
                    while True:
                        number += 1
                        answer = client.run("set", payloads=[os.urandom(size)], name=f"{number}".encode())
                        if answer.name != "done":
                            break
                return code(answer), dict(answer.parameters), number

        return as_uid(self.greedy[1], work)

    def others(self):
        """Everything that the other person does, except growing."""
        lab = self.lab
        folder = lab.folder_of()
        self.wrong_try(folder=folder)
        self.assertEqual(lab.authenticate(PASSCODE).outcome, "success")
        self.assertEqual(lab.get(b"mine").payload, b"value")
        self.assertEqual(lab.ask("delete", name=b"mine").name, "done")
        changed = lab.ask("passcode", answers(PASSCODE, newPasscode="another horse"), change="change")
        self.assertEqual(changed.name, "done")
        self.assertEqual(lab.ask("lock").name, "done")
        self.assertEqual(lab.open("another horse").name, "done")
        script = answers("another horse", recoveryKey=self.recovery, newPasscode=PASSCODE)
        self.assertEqual(lab.ask("recover", script, hello={"frontEnd": "terminal"}).name, "done")

    def recovery_key(self):
        with self.lab.client(frontEnd="terminal") as client:
            self.assertEqual(client.run("recoveryNew", answers(PASSCODE)).name, "done")
            self.recovery = client.revealed[0].decode()

    @slow
    def test_floor(self):
        """without a quota one person's records stop before the volume is full, and other people's tries and deletes
        work"""
        self.assertEqual(self.lab.set(b"mine", b"value").name, "done")
        self.recovery_key()
        refusal, parameters, number = self.take()
        self.assertEqual((refusal, parameters["reason"]), (STORAGE, "no-space"))
        self.assertGreater(number, 15)
        # Nobody's records get what is left.
        self.assertTrue(self.has_reserve())
        self.assertGreater(self.free(), os.stat(self.reserve).st_size // 2)
        self.no_space(self.lab.set(b"more", os.urandom(5_000)))
        self.no_space(self.ask_create(self.lab.person, "second"))
        self.others()
        # A person who deletes makes room for everybody.
        lab = self.lab

        def delete():
            with lab.client() as client:
                return [client.run("delete", name=f"{number}".encode()).name for number in range(1, 11)]

        self.assertEqual(set(as_uid(self.greedy[1], delete)), {"done"})
        wait_until(lambda: self.lab.set(b"more", os.urandom(5_000)).name == "done", "there is room", 20)

    def test_quota(self):
        """at the quota one person gets 33, and another makes a first store, sets values and does everything else"""
        self.lab.policy(policy(**{**self.RULES, "StoreQuota": "20MiB"}), reload=True)
        refusal, parameters, _ = self.take()
        self.assertEqual((refusal, parameters), (wire.CODES["tooLarge"], {"limit": str(20 * MIB)}))
        self.assertEqual(self.lab.set(b"mine", b"value").name, "done")
        self.assertEqual(self.lab.set(b"large", os.urandom(MIB)).name, "done")
        third = add_account()
        self.addCleanup(remove_account, third[0])
        self.assertEqual(self.ask_create(third).name, "done")
        self.recovery_key()
        self.others()
        self.assertGreater(self.lab.ask("status", subject=self.greedy).used, 18 * MIB)
        self.assertLess(self.lab.state_of().used, 3 * MIB)


class PersonsExt4(MountedExt4, Persons):
    SIZE = 48 << 20


class Preloaded(unittest.TestCase):
    """A daemon whose system calls are watched."""

    def make(self, volume=None):
        self.lab = lab = Lab(policy(StoreQuota="0", RetryLimit="0"), start=False)
        self.addCleanup(lab.close)
        if volume is not None:
            volume.lab = lab
            volume.mount()
            # Before the folder is removed.
            self.addCleanup(volume.doCleanups)
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        self.steps = os.path.join(lab.folder, "steps")
        lab.env = {
            "LD_PRELOAD": f"{derivation_counter()} {preload}", "KILL_STEPS": self.steps,
            "STEPS_FOLDER": lab.state, "COPIES_ON_WRITE": os.path.join(lab.folder, "copies")}
        self.reserve = os.path.join(lab.state, "reserve")
        lab.start()
        lab.make(PASSCODE)

    def test_a_try_that_finds_no_room(self):
        """if even a write in place needs new blocks, a try gets those of the reserve, and is counted"""
        self.make()
        wait_until(lambda: os.path.exists(self.reserve), "the reserve is made")
        with open(os.path.join(self.lab.folder, "copies"), "w"):
            pass
        self.assertEqual(self.lab.authenticate("wrong").code, 5)
        self.assertEqual(sum(Slots(self.lab.store()).tally.counts()), 1)
        self.assertFalse(os.path.exists(self.reserve))
        wait_until(lambda: "the disk is full" in self.lab.log(), "the journal says so")
        self.lab.kill()
        self.lab.start()
        self.assertEqual(sum(Slots(self.lab.store()).tally.counts()), 1)
        wait_until(lambda: os.path.exists(self.reserve), "the reserve is made again")
        changed = self.lab.ask("passcode", answers(PASSCODE, newPasscode="another horse"), change="change")
        self.assertEqual(changed.name, "done")
        self.assertEqual(self.lab.authenticate("another horse").outcome, "success")

    @slow
    def test_killed_while_it_is_given_up(self):
        """SIGKILL before each call of a delete that takes the reserve: the record is there or gone, all else stays"""
        volume = Filled("test_what_goes_on")
        self.make(volume)
        lab = self.lab
        wait_until(lambda: os.path.exists(self.reserve), "the reserve is made")
        large = os.urandom(MIB)
        self.assertEqual(lab.set(b"gone", large).name, "done")
        self.assertEqual(lab.set(b"kept", b"value").name, "done")
        lab.stop()
        template = os.path.join(lab.folder, "template")
        shutil.copytree(lab.state, template)
        given_up, step, stride = 0, 0, 1
        while True:
            for name in os.listdir(lab.state):
                path = os.path.join(lab.state, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            shutil.copytree(template, lab.state, dirs_exist_ok=True)
            os.unlink(self.reserve)
            lab.start()
            wait_until(lambda: os.path.exists(self.reserve), "the reserve is made")
            self.assertEqual(lab.open(PASSCODE).name, "done")
            volume.fill()
            with open(self.steps, "w") as file:
                file.write(f"{step}\n")
            try:
                answer = lab.ask("delete", name=b"gone")
            except (OSError, wire.WireError):
                answer = None
            os.unlink(self.steps)
            given_up += not os.path.exists(self.reserve)
            if answer is None:
                lab.process.wait(10)
            else:
                self.assertEqual(answer.name, "done")
                lab.kill()
            lab.start()
            self.assertEqual(lab.authenticate("wrong").code, 5)
            self.assertEqual(sum(Slots(lab.store()).tally.counts()), 1)
            self.assertEqual(lab.open(PASSCODE).name, "done")
            self.assertEqual(lab.get(b"kept").payload, b"value")
            left = lab.get(b"gone")
            if answer is not None and answer.name == "done":
                self.assertEqual(code(left), DOES_NOT_EXIST)
                break
            if left.name == "value":
                self.assertEqual(left.payload, large)
                self.assertEqual(lab.ask("delete", name=b"gone").name, "done", step)
            else:
                self.assertEqual(code(left), DOES_NOT_EXIST)
            lab.stop()
            # Each of the few calls around the reserve, and a sample of the hundreds of page writes
            # after it.
            if step > 40:
                stride = 97
            step += stride
        self.assertGreater(given_up, 3)


if __name__ == "__main__":
    unittest.main()
