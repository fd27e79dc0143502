"""A restart of the daemon: what is open stays open, and everything that does not fit is locked. The test plays
systemd."""

import ctypes
import mmap
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
import unittest

import pamlab
from crowdlab import PEOPLE, Crowd, Traffic
from daemonlab import answers, wait_until
from faultlab import ME, code
from memorylab import Needles, gone, guarded, maps, open_files, scan
from policylab import policy
from restartlab import NAME, Bytes, Restarting, content, has_secret_memory, secret_file
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 600
PASSCODE = "correct horse"
LOCKED = 6
LOGIN = {"frontEnd": "pamAuth", "service": "login", "tty": "tty1"}
SESSION = {"frontEnd": "pamSession", "service": "login", "tty": "tty1"}
# As many moments as two daemons have steps; more by hand.
ROUNDS = int(os.environ.get("ROUNDS") or 30)
LEFT = "left to the next daemon"
USELESS = "all is locked: what was left for this daemon is of no use: "


@unittest.skipUnless(has_secret_memory(), "this kernel has no secret memory")
class Case(unittest.TestCase):
    def lab(self, text=None, **settings):
        lab = Restarting(text or policy(), **settings)
        self.addCleanup(lab.close)
        return lab

    def with_store(self, text=None, **settings):
        lab = self.lab(text, **settings)
        lab.make(PASSCODE)
        self.assertEqual(lab.set("a", b"one").name, "done")
        return lab

    def assertOpen(self, lab, store=""):
        answer = lab.get("a", store)
        self.assertEqual(answer.name, "value", (answer, lab.lines()))

    def assertLocked(self, lab, store=""):
        answer = lab.get("a", store)
        self.assertEqual(code(answer), LOCKED, (answer, lab.lines()))

    def says(self, lab, line):
        wait_until(lambda: any(line in each for each in lab.lines()), f"{line}: {lab.lines()}", 120)


class Stores(Case):
    def test_open(self):
        """an open store is open after a restart, without a question and without a derivation; a locked one is not"""
        lab = self.with_store()
        lab.make(PASSCODE, "second")
        lab.set("a", b"two", "second")
        lab.make(PASSCODE, "third")
        self.assertEqual(lab.ask("lock", store="third").name, "done")
        derivations = lab.derivations()
        for _ in range(3):
            lab.restart()
            self.assertEqual(lab.systemd.kept, {})
            self.assertOpen(lab)
            self.assertEqual(lab.get("a", "second").payload, b"two")
            self.assertEqual(lab.state_of("third").lock, "locked")
            # It is open for everything.
            self.assertEqual(lab.set("a", b"one").name, "done")
        self.assertEqual(lab.derivations(), derivations)
        self.says(lab, "open stores that were taken over: 2 of 2")
        self.assertEqual(lab.says, "Open stores survive a restart (layout 2).")
        self.assertEqual(lab.ask("lock").name, "done")
        lab.restart()
        self.assertLocked(lab)

    def test_nothing_open(self):
        """where nothing is open, nothing is left"""
        lab = self.with_store()
        lab.ask("lock")
        lab.stop()
        self.assertEqual(lab.systemd.kept, {})
        self.assertFalse([note for note in lab.systemd.notes if "FDSTORE" in note])

    def test_stop(self):
        """after a stop, at which systemd drops what it was given, all is locked"""
        lab = self.with_store()
        lab.stop()
        self.assertEqual(list(lab.systemd.kept), [NAME])
        lab.systemd.drop()
        lab.start()
        self.assertLocked(lab)

    def test_refused(self):
        """systemd that keeps nothing is no fault: all is locked"""
        lab = self.with_store()
        lab.systemd.takes = False
        self.assertEqual(lab.stop(), 0)
        lab.start()
        self.assertLocked(lab)

    def test_killed(self):
        """a daemon that is killed leaves nothing"""
        lab = self.with_store()
        lab.kill()
        self.assertEqual(lab.systemd.kept, {})
        lab.start()
        self.assertLocked(lab)

    def test_killed_later(self):
        """what was left is used once: if the next daemon is killed, all is locked"""
        lab = self.with_store()
        lab.restart()
        self.assertOpen(lab)
        lab.kill()
        self.assertEqual(lab.systemd.kept, {})
        lab.start()
        self.assertLocked(lab)

    @slow
    def test_killed_on_the_way(self):
        """SIGKILL at any moment of the end and of the start: never open what was locked, nothing lost, nothing kept"""
        lab = self.with_store()
        dice = random.Random(time.time_ns())
        for number in range(ROUNDS):
            value = b"value %d" % number
            self.assertEqual(lab.set("a", value).name, "done")
            is_locked = number % 3 == 2
            if is_locked:
                self.assertEqual(lab.ask("lock").name, "done")
            # Of the end of the first daemon.
            lab.process.terminate()
            time.sleep(dice.random() * 0.03)
            lab.kill()
            was_left = bool(lab.systemd.kept)
            # Of the start of the next one.
            if dice.random() < 0.7:
                lab.spawn()
                time.sleep(dice.random() * 0.06)
                lab.kill()
            lab.start()
            answer = lab.get("a")
            is_open = answer.name == "value"
            if is_open:
                self.assertFalse(is_locked, lab.lines()[-20:])
                self.assertTrue(was_left, lab.lines()[-20:])
                self.assertEqual(answer.payload, value)
            else:
                self.assertEqual(code(answer), LOCKED, answer)
                self.assertEqual(lab.open(PASSCODE).name, "done")
                self.assertEqual(lab.get("a").payload, value)
            self.assertEqual(lab.systemd.kept, {})

    def test_in_order(self):
        """systemd hears that the daemon stops, is given the area, and the daemon waits until it has it"""
        lab = self.with_store()
        before = len(lab.systemd.notes)
        lab.stop()
        notes = lab.systemd.notes[before:]
        self.assertEqual([sorted(note) for note in notes], [["STOPPING"], ["FDNAME", "FDSTORE"], ["BARRIER"]])
        self.says(lab, LEFT + ": 1 open stores")

    def test_no_secret_memory(self):
        """on a kernel without secret memory a restart locks, and one line says so"""
        shim = pamlab.compiled("nosecret.c", "nosecret.so", "-shared", "-fPIC", "-ldl")
        lab = self.lab(start=False)
        plain = lab.environment
        lab.environment = lambda: {**plain(), "LD_PRELOAD": f"{plain()['LD_PRELOAD']}:{shim}"}
        lab.start()
        lab.make(PASSCODE)
        lab.set("a", b"one")
        self.assertEqual(lab.says, "A restart locks open stores: the kernel has no secret memory.")
        lab.stop()
        self.assertEqual(lab.systemd.kept, {})
        self.says(lab, "all is locked: the kernel has no memory to leave keys in")
        self.assertEqual(sum("no memory to leave" in line for line in lab.lines()), 1)
        lab.start()
        self.assertLocked(lab)


class Areas(Case):
    def changed(self, change):
        """A daemon that starts with what `change` makes of what the last one left."""
        lab = self.with_store()
        lab.stop()
        data = content(lab.systemd.kept[NAME])
        lab.systemd.drop()
        made = change(data)
        lab.systemd.kept = made if isinstance(made, dict) else {NAME: secret_file(made)}
        lab.start()
        return lab

    def test_same_bytes(self):
        """the same bytes in another area of the same user open the store: what follows fails for its own reason"""
        self.assertOpen(self.changed(lambda data: data))

    @slow
    def test_faults(self):
        """of another version, another start of the machine, another program, or cut: all is locked, with one line"""
        for name, why, change in (
            ("older", "another version of AppVault has left it", lambda data: Bytes.version(data, 0)),
            ("newer", "another version of AppVault has left it", lambda data: Bytes.version(data, 3)),
            ("kind", "another version of AppVault has left it",
             lambda data: Bytes.changed(data, Bytes.RECORDS, 99)),
            ("boot", "it is from another start of the machine",
             lambda data: Bytes.changed(data, Bytes.BOOT, bytes(16))),
            ("program", "it is not an AppVault's", lambda data: bytes(len(data))),
            ("cut", "it is cut short", lambda data: data[:100]),
            ("record", "it is cut short", lambda data: Bytes.changed(data, slice(67, 69), b"\xff\xff")),
        ):
            with self.subTest(name):
                lab = self.changed(change)
                self.assertLocked(lab)
                self.says(lab, USELESS + why)
                self.assertEqual(sum(USELESS in line for line in lab.lines()), 1)
                # It is out of systemd's store, and the next restart works.
                self.assertEqual(lab.systemd.kept, {})
                lab.open(PASSCODE)
                lab.restart()
                self.assertOpen(lab)
                lab.close()

    @slow
    def test_foreign(self):
        """bytes in another kind of memory, of another user, or under another name are refused"""
        def in_a_file(data):
            number = os.memfd_create(NAME)
            os.write(number, data)
            return {NAME: number}

        def on_disk(data):
            with tempfile.TemporaryFile() as file:
                file.write(data)
                file.flush()
                return {NAME: os.dup(file.fileno())}

        foreign = "it is not in memory that this user has made for it"
        for name, why, change in (
            ("memfd", foreign, in_a_file),
            ("file", foreign, on_disk),
            ("user", foreign, lambda data: {NAME: secret_file(data, 65534)}),
            ("empty", foreign, lambda data: {NAME: secret_file(b"")}),
            ("pipe", foreign, lambda data: {NAME: os.pipe()[0]}),
            ("name", "it is called stored", lambda data: {"stored": secret_file(data)}),
        ):
            with self.subTest(name):
                lab = self.changed(change)
                self.assertLocked(lab)
                self.says(lab, USELESS + why)
                self.assertEqual(lab.systemd.kept, {})
                lab.close()

    def test_several(self):
        """of two areas none is believed, as nobody can say which is the right one: both are wiped"""
        kept = []

        def twice(data):
            kept.extend(secret_file(data) for _ in range(2))
            return {NAME: os.dup(kept[0])}

        lab = self.with_store()
        lab.stop()
        data = content(lab.systemd.kept[NAME])
        lab.systemd.drop()
        lab.systemd.kept = twice(data)
        lab.more = [(NAME, kept[1])]
        lab.start()
        self.assertLocked(lab)
        self.says(lab, USELESS + "there is more than one")
        self.assertEqual(sum(USELESS in line for line in lab.lines()), 1)
        self.assertEqual(lab.systemd.kept, {})
        for number in kept:
            self.assertEqual(set(content(number)), {0})
            os.close(number)

    def test_wiped(self):
        """the next daemon wipes what it was left, whatever it makes of it"""
        for change in (lambda data: data, lambda data: Bytes.version(data, 7)):
            kept = []

            def keep(data, change=change, kept=kept):
                kept.append(secret_file(change(data)))
                return {NAME: os.dup(kept[0])}

            lab = self.changed(keep)
            self.assertEqual(set(content(kept[0])), {0})
            os.close(kept[0])
            lab.close()

    def test_replayed(self):
        """what was left before the passcode was changed opens nothing when it is handed over once more"""
        lab = self.with_store()
        lab.stop()
        data = content(lab.systemd.kept[NAME])
        lab.systemd.drop()
        lab.start()
        lab.open(PASSCODE)
        # Another passcode is another slot.
        changed = lab.ask("passcode", answers(PASSCODE, newPasscode="another horse"), change="change")
        self.assertEqual(changed.name, "done", changed)
        lab.ask("lock")
        lab.stop()
        lab.systemd.drop()
        lab.systemd.kept = {NAME: secret_file(data)}
        lab.start()
        self.assertLocked(lab)
        self.says(lab, "a store stays locked after the restart")

    def test_unreadable(self):
        """neither the area nor the keys in it are to be found in the memory of the daemon that ends or begins"""
        lab = self.with_store()
        lab.stop()
        data = content(lab.systemd.kept[NAME])
        # The keys alone: what stands around them is in every memory.
        keys = Needles(**Bytes.keys(data))
        # The kernel gives nobody the area by /proc.
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            area = mmap.mmap(lab.systemd.kept[NAME], len(data))
            view = ctypes.c_char.from_buffer(area)
            memory.seek(ctypes.addressof(view))
            with self.assertRaises(OSError):
                memory.read(16)
            del view
            area.close()
        lab.start()
        self.assertOpen(lab)
        self.assertFalse([name for *_, name in maps(lab.pid) if "secretmem" in name])
        self.assertFalse([name for name in open_files(lab.pid) if "secretmem" in name])
        found = scan(lab.pid, keys)
        # The keys of an open store are in guarded memory, which is locked and in no core.
        for places in found.values():
            for place in places:
                self.assertIn("anonymous", place)
        lab.ask("lock")
        self.assertEqual(gone(lab.pid, keys), {})


# Maps the area without a copy of it, and then dies. A secret of its own shows that what is searched is the whole of it.
DIES = """
import mmap, os, resource, sys
area = mmap.mmap(int(sys.argv[1]), int(sys.argv[2]))
area[0]
own = bytes(each ^ 0x55 for each in bytes.fromhex(sys.argv[3]))
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("mapped", flush=True)
sys.stdin.readline()
os.abort()
"""


class Left(Case):
    """An area that waits for the next daemon, where a process has it in its map."""

    def setUp(self):
        lab = self.with_store()
        lab.stop()
        number = lab.systemd.kept[NAME]
        size = os.fstat(number).st_size
        self.own = secrets.token_bytes(40)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.process = subprocess.Popen(
            [sys.executable, "-c", DIES, str(number), str(size), bytes(each ^ 0x55 for each in self.own).hex()],
            pass_fds=[number], cwd=self.folder.name, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.process.stdin.close)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.assertEqual(self.process.stdout.readline(), b"mapped\n")
        self.keys = Bytes.keys(content(number))
        self.assertEqual(sorted(self.keys), ["records"])

    def test_swap(self):
        """the kernel never writes it to a swap device, and leaves it out of cores"""
        areas = [start for start, *_, name in maps(self.process.pid) if "secretmem" in name]
        self.assertEqual(len(areas), 1)
        self.assertLessEqual({f"{start:x}" for start in areas}, guarded(self.process.pid))

    def test_memory(self):
        """whoever reads the process's memory as a debugger does, root too, does not get it"""
        found = scan(self.process.pid, Needles(own=self.own, **self.keys))
        self.assertEqual(list(found), ["own"])

    def test_core(self):
        """it is in no core of a process that has it in its map"""
        self.process.stdin.close()
        self.process.wait(120)
        cores = [os.path.join(self.folder.name, name) for name in os.listdir(self.folder.name)]
        if not cores:
            with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
                self.skipTest("cores are not written to a process's own folder here: " + file.read().strip())
        with open(cores[0], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as core:
            self.assertEqual(set(Needles(own=self.own, **self.keys).names_in(core)), {"own"})


class Deadlines(Case):
    def session(self, lab, request, id_="c1"):
        verdict = lab.ask(request, hello=SESSION, subject=ME, id=id_, sessionClass="user")
        self.assertEqual((verdict.name, verdict.outcome), ("verdict", "ignore"))

    def test_idle(self):
        """idle time goes on over a restart"""
        # To the daemon the machine has slept, but never between two daemons.
        lab = self.with_store(policy(IdleTimeout="10min"))
        lab.sleep(479)
        lab.restart()
        self.assertOpen(lab)
        lab.sleep(479 + 500)
        self.assertOpen(lab)
        lab.sleep(479 + 500 + 400)
        lab.restart()
        # It was used 400 s ago, and neither the restart nor this question is a use.
        self.assertEqual(lab.state_of().lock, "unlocked")
        lab.sleep(479 + 500 + 400 + 201)
        self.assertLocked(lab)

    def test_shut(self):
        """a login that no session follows is shut at its moment, over a restart"""
        lab = self.with_store(options=["--deadline", "session=3"])
        lab.ask("lock")
        self.assertEqual(lab.authenticate(PASSCODE).outcome, "success")
        lab.restart()
        wait_until(lambda: lab.state_of().lock == "locked", "the store is shut", 120)
        self.says(lab, "no session followed the login")

    def test_sessions(self):
        """known sessions are known after a restart, and the end of the last one locks the store"""
        lab = self.with_store()
        for id_ in ("c1", "c1", "c2"):
            self.session(lab, "sessionOpen", id_)
        lab.restart()
        self.assertEqual(lab.state_of().sessions, 2)
        self.assertOpen(lab)
        for id_ in ("c1", "c1"):
            self.session(lab, "sessionClose", id_)
        self.assertEqual(lab.state_of().sessions, 1)
        self.assertOpen(lab)
        self.session(lab, "sessionClose", "c2")
        self.assertLocked(lab)

    def test_session_ends(self):
        """a session that ends between the two daemons locks the store; another one keeps it open"""
        for left in (0, 1):
            with self.subTest(left=left), tempfile.TemporaryDirectory() as listed:
                os.chmod(listed, 0o755)
                for name in ("c1", "c2"):
                    with open(os.path.join(listed, name), "w"):
                        pass
                lab = self.with_store(options=["--session-dir", listed])
                for name in ("c1", "c2"):
                    self.session(lab, "sessionOpen", name)
                lab.stop()
                os.remove(os.path.join(listed, "c1"))
                if not left:
                    os.remove(os.path.join(listed, "c2"))
                lab.start()
                if left:
                    self.assertOpen(lab)
                    os.remove(os.path.join(listed, "c2"))
                    wait_until(lambda: lab.state_of().lock == "locked", "the last session ends", 120)
                else:
                    self.assertLocked(lab)
                    self.says(lab, "a store stays locked after the restart: the last session ended")
                lab.close()

    def test_policy(self):
        """the policy that holds after the restart says for how long a store stays open"""
        lab = self.with_store()
        lab.stop()
        lab.write(policy(IdleTimeout="1s"))
        time.sleep(1.1)
        lab.start()
        self.assertLocked(lab)

    def test_slept(self):
        """a machine that has slept between the two daemons finds its stores locked"""
        lab = self.with_store()
        lab.stop()
        lab.sleep(60)
        lab.start()
        self.assertLocked(lab)
        self.says(lab, "a store stays locked after the restart: the machine went to sleep")

    def test_gone(self):
        """a store whose files are damaged or gone while no daemon runs stays locked, and the others open"""
        lab = self.with_store()
        lab.make(PASSCODE, "second")
        lab.set("a", b"two", "second")
        folder = lab.folder_of("second")
        lab.stop()
        os.rename(os.path.join(folder, "records.db"), os.path.join(folder, "gone"))
        lab.start()
        self.assertOpen(lab)
        self.assertEqual(lab.get("a", "second").name, "refused")
        self.says(lab, "a store stays locked after the restart: ")


@unittest.skipUnless(has_secret_memory(), "this kernel has no secret memory")
class InTraffic(unittest.TestCase):
    @slow
    def test_traffic(self):
        """during a restart under fifty open stores whose owners set and get, each request succeeds if it is made twice
        at most, no store is locked and nothing is asked"""
        with Crowd() as crowd:
            derivations, spans = crowd.daemon.derivations(), []
            with Traffic(crowd) as traffic:
                for _ in range(3):
                    traffic.goes_on()
                    began = time.monotonic()
                    crowd.daemon.restart()
                    traffic.goes_on()
                    spans.append((began, time.monotonic()))
            self.assertEqual(traffic.failures, [])
            self.assertEqual(crowd.daemon.derivations(), derivations)
            for person in crowd.people:
                self.assertEqual(crowd.daemon.status(subject=person).lock, "unlocked")
            lines = [line for line in crowd.daemon.lines() if "open stores that were taken over" in line]
            self.assertEqual(lines, [f"open stores that were taken over: {PEOPLE} of {PEOPLE}"] * 3)
            gaps = [traffic.longest_gap(began, until) for began, until in spans]
        print("longest without an answer, in each restart: " + ", ".join(f"{gap * 1000:.0f} ms" for gap in gaps))


if __name__ == "__main__":
    unittest.main()
