"""The log of a daemon that was killed: whole, cut, gone, destroyed in its middle, or with one wrong bit. What is whole
opens, what is missing is told, and a power cut is told from a loss."""

import os
import random
import subprocess
import time
import unittest

import pamlab
import slotfile
import wire
from daemonlab import answers, derivation_counter
from faultlab import Lab, code, policy
from slow import slow

TIMEOUT = 900
PASSCODE = "correct horse"
COUNT = 60
FRAME = 4120
LOST = "changes to its records are missing"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class Logs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(policy(RetryLimit="5", ThrottleMax="1s"))
        cls.addClassCleanup(cls.lab.close)
        cls.lab.make(PASSCODE)
        cls.folder = cls.lab.folder_of()
        for number in range(COUNT):
            assert code(cls.lab.set(f"name {number}".encode(), b"value")) == 0
        machine = read(os.path.join(cls.lab.state, "machine.key"))
        # One commit made the store. Nobody waits for the note of the last one.
        end = time.monotonic() + 60
        while slotfile.noted_commit(read(cls.path("slots")), machine) < COUNT + 1:
            if time.monotonic() > end:
                raise AssertionError("the last commit is not noted")
            time.sleep(0.005)
        cls.lab.kill()
        cls.good = {name: read(cls.path(name)) for name in sorted(os.listdir(cls.folder))}
        cls.log = cls.good["records.db-wal"]

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def starts_with(self, log, slots=None):
        """The daemon, with the files of the one that was killed but for these; None: the file is gone."""
        self.lab.kill() if self.lab.process else None
        for name in os.listdir(self.folder):
            os.unlink(self.path(name))
        for name, data in {**self.good, "records.db-wal": log, "slots": slots or self.good["slots"]}.items():
            if data is not None:
                write(self.path(name), data)
        self.lab.start()

    def noted(self):
        machine = read(os.path.join(self.lab.state, "machine.key"))
        return slotfile.noted_commit(read(self.path("slots")), machine)

    def opened(self):
        """How many records are there, from the first on. None is there without those before it."""
        with self.lab.client() as client:
            self.assertEqual(client.run("openStore", answers(PASSCODE)).name, "done")
            found = [code(client.run("get", name=f"name {number}".encode())) == 0 for number in range(COUNT)]
        depth = found.index(False) if False in found else COUNT
        self.assertFalse(any(found[depth:]))
        return depth

    def kept(self):
        return [name for name in sorted(os.listdir(self.folder)) if "lost" in name]

    def tells(self, what):
        """The owner is told at every place, and the store goes on."""
        state = self.lab.state_of()
        self.assertEqual(state.lock, "unlocked", what)
        self.assertIn(LOST, state.trouble, what)
        self.assertIn("appvault unlock", state.advice, what)
        self.assertEqual(len(self.kept()), 1, what)
        self.assertIn("changes that were stored last are missing", self.lab.log())
        self.assertEqual(code(self.lab.set(b"new", b"value")), 0)

    def says_nothing(self, what):
        self.assertEqual(self.lab.state_of().trouble, "", what)
        self.assertEqual(self.kept(), [], what)

    def test_killed(self):
        """a killed daemon's log opens whole, and nothing is said"""
        self.starts_with(self.log)
        self.assertEqual(self.opened(), COUNT)
        self.says_nothing("whole")

    def test_cut(self):
        """a log that is cut anywhere opens with what is left, and says so until the owner ends it"""
        random_ = random.Random(5)
        frames = (len(self.log) - 32) // FRAME
        cuts = [0, 31, 32, 32 + FRAME, *(32 + random_.randrange(frames) * FRAME for _ in range(4)), len(self.log) - 1]
        for size in [*cuts, *(random_.randrange(len(self.log)) for _ in range(4)), None]:
            self.starts_with(None if size is None else self.log[:size])
            self.assertLess(self.opened(), COUNT, size)
            self.tells(size)
            # It is told once more after a kill, and not found once more.
            self.lab.kill()
            self.lab.start()
            self.assertIn(LOST, self.lab.state_of().trouble)
            self.assertEqual(len(self.kept()), 1)
        with self.lab.client(frontEnd="terminal") as client:
            done = client.run("openStore", answers(PASSCODE, choice="y"))
            self.assertEqual(done.name, "done")
        self.says_nothing("ended")
        self.assertEqual(code(self.lab.get(b"new")), 0)

    def test_power_cut(self):
        """a commit that nobody noted may be missing: a power cut says nothing"""
        machine = read(os.path.join(self.lab.state, "machine.key"))
        slots = bytearray(self.good["slots"])
        slots[14 * 4096 : 14 * 4096 + 512] = bytes(512)
        self.assertEqual(slotfile.noted_commit(bytes(slots), machine), 0)
        for size in (32 + 5 * FRAME, len(self.log) - 1):
            self.starts_with(self.log[:size], bytes(slots))
            self.assertLess(self.opened(), COUNT)
            self.says_nothing(size)
            # From here on it is noted again.
            self.assertEqual(code(self.lab.set(b"new", b"value")), 0)
            self.lab.stop()
            self.assertGreater(slotfile.noted_commit(read(self.path("slots")), machine), 0)

    def test_destroyed(self):
        """a log that is destroyed in its middle opens with what lies before, though nothing was noted"""
        slots = bytearray(self.good["slots"])
        slots[14 * 4096 : 14 * 4096 + 512] = bytes(512)
        frame = (len(self.log) - 32) // FRAME // 2
        log = bytearray(self.log)
        log[32 + frame * FRAME + 24 : 32 + frame * FRAME + 2000] = b"\xa5" * 1976
        for file in (None, bytes(slots)):
            self.starts_with(bytes(log), file)
            self.assertIn(self.opened(), range(1, COUNT))
            self.tells("destroyed")
            self.assertEqual(read(self.path("records.db-lost-1")), bytes(log))

    @slow
    def test_killed_while_it_opens(self):
        """SIGKILL before each step of the opening that keeps the log: nothing more is missing, and it is told"""
        frame = (len(self.log) - 32) // FRAME // 2
        log = bytearray(self.log)
        log[32 + frame * FRAME : 32 + (frame + 1) * FRAME] = b"\xa5" * FRAME
        self.starts_with(bytes(log))
        depth = self.opened()
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        steps = os.path.join(self.lab.folder, "steps")
        before, self.lab.env = self.lab.env, {
            **(self.lab.env or {}), "LD_PRELOAD": f"{derivation_counter()} {preload}", "KILL_STEPS": steps,
            "STEPS_FOLDER": self.folder}
        try:
            step = 0
            while True:
                self.starts_with(bytes(log))
                with open(steps, "w") as file:
                    file.write(f"{step}\n")
                try:
                    answer = self.lab.open(PASSCODE)
                except (OSError, wire.WireError):
                    answer = None
                os.unlink(steps)
                if answer is not None:
                    self.assertEqual(answer.name, "done")
                    break
                self.lab.kill()
                self.lab.start()
                self.assertEqual(self.opened(), depth, f"killed before step {step}")
                self.assertIn(LOST, self.lab.state_of().trouble)
                kept = [read(self.path(name)) for name in self.kept()]
                self.assertIn(bytes(log), kept)
                # Killed before the loss was noted, it is found once more.
                self.assertLessEqual(len(kept), 2)
                step += 1
        finally:
            self.lab.env = before
        self.assertGreater(step, 5)

    def test_one_bit(self):
        """one wrong bit costs nothing, or is told; both are in the journal"""
        random_ = random.Random(6)
        repaired = 0
        for _ in range(12):
            log = bytearray(self.log)
            log[random_.randrange(len(log))] ^= 1 << random_.randrange(8)
            self.starts_with(bytes(log))
            depth = self.opened()
            if depth == COUNT:
                repaired += 1
                self.says_nothing("repaired")
                self.assertIn("damaged records were repaired", self.lab.log())
            else:
                self.tells("one bit")
        self.assertGreater(repaired, 3)

    def test_older(self):
        """records that are older than what was answered are told as well"""
        self.starts_with(self.log)
        self.opened()
        self.assertEqual(code(self.lab.set(b"newer", b"value")), 0)
        self.lab.stop()
        # The slots file knows of it; the records are put back.
        slots = read(self.path("slots"))
        self.starts_with(self.log, slots)
        self.assertEqual(self.opened(), COUNT)
        self.tells("older")

    def test_no_further_sync(self):
        """what is noted costs no sync, and the answer does not wait for it"""
        if subprocess.run(["which", "strace"], capture_output=True).returncode:
            self.skipTest("no strace")
        self.starts_with(self.log)
        self.opened()
        trace = os.path.join(self.lab.state, "..", "trace")
        with self.lab.client() as client:
            client.run("set", name=b"warm", payloads=[b"value"])
            tracer = subprocess.Popen(
                ["strace", "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync,pwrite64,sendmsg,write", "-o", trace, "-p",
                 str(self.lab.process.pid)], stderr=subprocess.DEVNULL)
            try:
                end = time.monotonic() + 60
                while not os.path.exists(trace) or not os.path.getsize(trace):
                    # What is traced shows once the tracer is there.
                    client.run("set", name=b"traced", payloads=[b"value"])
                    if time.monotonic() > end:
                        self.skipTest("strace does not trace")
                noted = self.noted()
                while self.noted() < noted + 20:
                    self.assertEqual(code(client.run("set", name=b"traced", payloads=[b"value"])), 0)
            finally:
                tracer.terminate()
                tracer.wait()
        with open(trace) as file:
            calls = [line for line in file if "slots" in line]
        self.assertTrue(any("pwrite64" in line for line in calls))
        self.assertFalse([line for line in calls if "sync" in line])


if __name__ == "__main__":
    unittest.main()
