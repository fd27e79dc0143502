"""An organisation's machines, all of them real: each has a daemon, a state folder, an id and an ETag of its own. They
fetch from one nginx, obey what changes, and report to one journal. 100 here; 10,000 in `make fleet`, which tells what
they cost."""

import concurrent.futures
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import wire
from daemonlab import CHEAP, build, wait_until
from fetchlab import NGINX, REMOTE, Authority, Journal, Web, Worker
from fleetlab import Organisation
from slow import slow

TIMEOUT = 600
COUNT = int(os.environ.get("APPVAULT_MACHINES") or 100)
# So many daemons run at once.
BATCH = 200
HANDS = 8
LOCKED, WIPED = max(1, COUNT // 100), max(1, COUNT // 1000)
# A machine that asks every 15 minutes, with a minute of these in each second.
SECOND_OF = 60
_libc = ctypes.CDLL(None, use_errno=True)


class Machine:
    def __init__(self, number, folder, worker):
        self.number, self.folder, self.worker = number, os.path.join(folder, str(number)), worker
        self.id = f"{number:032x}"
        self.process = None
        for name in ("", "state", "config"):
            os.mkdir(self.path(name), 0o700)
        with open(self.path("id"), "w") as file:
            file.write(self.id + "\n")
        with open(self.path("config/policy.conf"), "w") as file:
            file.write("[Passcode]\n" + CHEAP)

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        with open(self.path("log"), "ab") as log:
            self.process = subprocess.Popen(
                [build("appvaultd"), "--socket", self.path("socket"), "--state-dir", self.path("state"),
                 "--config-dir", self.path("config"), "--machine-id", self.path("id"),
                 "--fetch-socket", self.worker.socket],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"},
                preexec_fn=lambda: _libc.prctl(1, signal.SIGKILL, 0, 0, 0))
        wait_until(self.answers, "a daemon answers")

    def answers(self):
        assert self.process.poll() is None, self.log()
        try:
            with wire.Client(self.path("socket"), 60.0) as client:
                return client.hello(frontEnd="program") is not None
        except OSError:
            return False

    def memory(self):
        """Of its own, in bytes: what daemons share is there once."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as file:
            return 1024 * sum(int(line.split()[1]) for line in file if line.startswith("Private_"))

    def disk(self):
        """In bytes, without the room that it keeps for bad times."""
        return 512 * sum(
            os.lstat(os.path.join(folder, name)).st_blocks
            for folder, folders, names in os.walk(self.path("state"))
            for name in (*folders, *names) if name != "reserve")

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, self.log()
        os.unlink(self.path("socket"))
        # The room that it keeps for bad times; 10,000 of them have none of their own here.
        os.unlink(self.path("state/reserve"))

    def log(self):
        with open(self.path("log")) as file:
            return file.read()

    def ask(self, request, payloads=(), **fields):
        with wire.Client(self.path("socket"), 60.0) as client:
            client.hello(frontEnd="program")
            if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
                fields["subject"] = ("", wire.UNKNOWN_UID)
            return client.run(request, (), payloads, **fields)

    def done(self, *arguments, **fields):
        answer = self.ask(*arguments, **fields)
        assert answer.name != "refused", (self.number, answer, self.log())
        return answer

    def version(self):
        return self.done("fleetStatus")["policy"]["version"]


@unittest.skipUnless(NGINX and os.path.exists(REMOTE), "nginx or systemd-journal-remote is not installed")
class Machines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-machines-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.organisation = Organisation()
        authority = Authority(self.folder, "ca")
        authority.issue("server")
        authority.issue("client", name="machine", hosts=())
        self.journal = self.entered(Journal())
        self.web = self.entered(Web(authority, journal=self.journal.port))
        path = authority.path.removesuffix("ca")
        self.worker = self.entered(Worker({
            "ca.pem": path + "ca.pem", "client.pem": path + "client.pem", "client.key": path + "client.key"}))
        # A daemon ends with the thread that has started it.
        self.hands = self.entered(concurrent.futures.ThreadPoolExecutor(HANDS))
        self.machines = [Machine(number, self.folder, self.worker) for number in range(COUNT)]
        self.addCleanup(self.end)
        self.join = self.organisation.join(URL=self.web.url(), ReportURL=self.web.url("upload"))
        self.costs = []
        self.locked, self.wiped = self.machines[:LOCKED], self.machines[LOCKED:LOCKED + WIPED]

    def entered(self, manager):
        manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return manager

    def end(self):
        for machine in self.machines:
            if machine.process is not None and machine.process.poll() is None:
                machine.process.kill()
                machine.process.wait()

    def each(self, machines, act):
        """By some hands at once; whatever one of them finds wrong is wrong."""
        for done in [self.hands.submit(act, machine) for machine in machines]:
            done.result()

    def in_batches(self, act):
        for at in range(0, COUNT, BATCH):
            batch = self.machines[at:at + BATCH]
            self.each(batch, Machine.start)
            self.each(batch, act)
            self.each(batch, Machine.stop)

    def joins(self, machine):
        machine.done("fleetJoin", [self.join])
        machine.done("create", way="noPasscode")
        machine.done("set", [b"value"], name="a")
        machine.done("fleetFetch")
        self.assertEqual(machine.version(), 1)

    def obeys(self, machine):
        machine.done("fleetFetch")
        self.assertEqual(machine.version(), 2)
        shown = machine.done("policyShow")
        value, = [entry["value"] for entry in shown["values"] if entry["key"] == "MinLength"]
        self.assertEqual(value, "13")
        answer = machine.ask("openStore")
        expected = 46 if machine in self.locked else 47 if machine in self.wiped else None
        self.assertEqual(answer.code if answer.name == "refused" else None, expected, answer)
        if expected is None:
            self.assertEqual(machine.done("get", name="a").payload, b"value")
        # Nothing has changed since.
        machine.done("fleetFetch")
        self.costs.append((machine.memory(), machine.disk()))

    def report(self):
        """What an administrator sees."""
        join, bundle = os.path.join(self.folder, "join"), os.path.join(self.folder, "bundle")
        for path, text in [(join, self.join), (bundle, self.bundle)]:
            with open(path, "wb") as file:
                file.write(text)
        out = subprocess.run(
            [build("appvault"), "fleet", "report", "--json", "--join", join, "--bundle", bundle, self.journal.folder],
            capture_output=True, check=True).stdout
        return json.loads(out)["machines"]

    @slow
    def test_all_of_them(self):
        """every machine fetches, obeys, and reports; who is locked and wiped is, and nobody else"""
        self.web.publish(self.organisation.bundle(1, policy="[Passcode]\nMinLength=11\n"))
        begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        self.in_batches(self.joins)
        orders = [f"lock {self.organisation.machine(each.id)}" for each in self.locked]
        orders += [f"wipe {self.organisation.machine(each.id)} 2" for each in self.wiped]
        self.bundle = self.organisation.bundle(2, orders, policy="[Passcode]\nMinLength=13\n")
        self.web.publish(self.bundle)
        self.in_batches(self.obeys)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        bundles = [line for line in self.web.lines() if "GET /fleet.bundle" in line]
        statuses = [int(line.split('" ')[1].split()[0]) for line in bundles]
        self.assertEqual((statuses.count(200), statuses.count(304), len(statuses)), (2 * COUNT, COUNT, 3 * COUNT))
        found = {each["machine"]: each for each in self.report()}
        self.assertEqual(set(found), {self.organisation.machine(each.id) for each in self.machines})
        self.assertEqual({each["policyVersion"] for each in found.values()}, {2})
        for name, some in [("locked", self.locked), ("wiped", self.wiped)]:
            self.assertEqual(
                {key for key, each in found.items() if each[name]},
                {self.organisation.machine(each.id) for each in some}, name)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        memory, disk = (sum(each) / COUNT / 1024 for each in zip(*self.costs))
        print(f"machines: {COUNT}, {time.monotonic() - begun:.1f} s, reports of {len(found)}; a machine: "
              f"{processor / COUNT * 1000:.1f} ms of processor of its daemon (two starts, a store, three fetches, "
              f"reports), {memory:.0f} KiB of memory of its own, {disk:.0f} KiB of disk")

    def test_how_fast(self):
        """from publishing to 99 of 100 obeying: as computed, one minute of the timer in each second"""
        if not os.environ.get("APPVAULT_MACHINES"):
            self.skipTest("make fleet runs it")
        machines = self.machines[:100]
        self.web.publish(self.organisation.bundle(1, policy="[Passcode]\nMinLength=11\n"))
        self.each(machines, Machine.start)
        self.each(machines, self.joins)
        period, obeyed = 15 * 60 / SECOND_OF, []
        start = time.monotonic()
        published = start + period

        def asks(machine):
            # Its own place in the period, always the same, as RandomizedDelaySec with FixedRandomDelay has it.
            at = start + period * machine.number / len(machines)
            while machine.version() == 1:
                at += period
                time.sleep(max(0, at - time.monotonic()))
                machine.done("fleetFetch")
            obeyed.append(time.monotonic() - published)

        with concurrent.futures.ThreadPoolExecutor(len(machines)) as hands:
            waiting = [hands.submit(asks, machine) for machine in machines]
            time.sleep(max(0, published - time.monotonic()))
            self.web.publish(self.organisation.bundle(2, policy="[Passcode]\nMinLength=13\n"))
            for each in waiting:
                each.result()
        seen, computed = sorted(obeyed)[98], 0.99 * period
        print(f"99 of 100 obey after {seen:.2f} s, computed {computed:.2f} s, for a period of {period:.0f} s")
        self.assertLess(abs(seen - computed), 0.2 * computed)
        self.each(machines, Machine.stop)


if __name__ == "__main__":
    unittest.main()
