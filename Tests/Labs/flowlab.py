"""What the policy demands of a store, with the real module under the real libpam: a machine
whose policy changes while a person uses it, a conversation that can be interrupted at any
question, and the slots file as FORMAT.md describes it.

    with Flows("MinLength=8") as machine:
        machine.create(PASSCODE)
        machine.policy("MinLength=12")
        entered = machine.enter(typed=[PASSCODE, ENTER, NEW, NEW])
"""

import os
import struct

import clilab
import daemonlab
import pamlab
import slotfile
from daemonlab import BLOCK, IS_ROOT, PAGE
from pamlab import Talk
from wayslab import LOGIN, Machine

NEW = "battery staple 99"
ENTER = ""
NO_PASSCODE = "Enabled=no\nUseDefaultPolicy=no"
TERMS = struct.Struct("<QBBBBB16s")
NO_TERMS = (0, 1, 0, 0, 0, 0, bytes(16))


class Slots:
    """A slots file that the test reads and writes with the machine's key, as FORMAT.md describes it."""

    def __init__(self, daemon):
        self.path = os.path.join(daemon.store(), "slots")
        with open(os.path.join(daemon.state, "machine.key"), "rb") as file:
            self.machine = slotfile.Machine(file.read())
        with open(self.path, "rb") as file:
            self.data = bytearray(file.read())
        self.store, self.blocks = slotfile.read(bytes(self.data), self.machine)

    def terms(self):
        """(seenAt, fingerprintWasAllowed, fingerprintIsOn, recoveryWasOffered, flow, reason, salt)"""
        block = self.blocks.get(8)
        return TERMS.unpack_from(block.payload) if block else NO_TERMS

    @property
    def pending(self):
        return self.terms()[4:6]

    @property
    def fingerprint(self):
        return self.terms()[2] == 1

    @property
    def history(self):
        return [number for number in range(9, 13) if number in self.blocks]

    @property
    def kinds(self):
        """Which kinds of slots there are."""
        names = {3: "passcode", 4: "passcode", 5: "device", 6: "recovery", 7: "recovery"}
        return sorted({names[number] for number in self.blocks if number in names})

    def put(self, number, payload):
        sequence = max(block.sequence for block in self.blocks.values()) + 1
        head = struct.pack("<4sHHQ16s16s", b"AVSB", 1, number, sequence, self.store, self.machine.id)
        data = head + payload.ljust(432, b"\0")
        data += slotfile.h("AV block mac", data, 32, self.machine.block_key)
        self.data[number * PAGE : number * PAGE + BLOCK] = data
        with open(self.path, "r+b") as file:
            file.write(self.data)


class Flows(Machine):
    """`policy` changes while the store exists."""

    def policy(self, text):
        self.daemon.policy(text, reload=True)

    def slots(self):
        return Slots(self.daemon)

    def set_fingerprint(self, allowed=1, on=1):
        """Writes into the slots file what a store with a fingerprint has there."""
        self.daemon.stop()
        slots = self.slots()
        seen, _, _, offered, flow, reason, salt = slots.terms()
        slots.put(8, TERMS.pack(seen, allowed, on, offered, flow, reason, salt))
        self.daemon.start()
        return self

    def unmark(self):
        """Removes the marker, as if no flow had begun."""
        self.daemon.stop()
        slots = self.slots()
        if slots.pending != (0, 0):
            slots.put(8, TERMS.pack(*slots.terms()[:4], 0, 0, bytes(16)))
        self.daemon.start()

    def kill(self):
        """SIGKILL, and a new daemon."""
        self.daemon.kill()
        self.daemon.start()

    def opens(self, passcode):
        """Whether this passcode opens the store, tried at the slots file itself, whatever flow
        is due."""
        slots = self.slots()
        with open(os.path.join(self.daemon.state, "machine.key"), "rb") as file:
            key = file.read()
        try:
            return slotfile.open_passcode(bytes(slots.data), key, passcode.encode()) is not None
        except slotfile.Wrong:
            return False

    def terminal(self, *words):
        """The CLI on a terminal, run by the person."""
        who = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"] if IS_ROOT else []
        command = [*who, daemonlab.build("appvault"), "--socket", self.daemon.socket, *words]
        return clilab.Screen(command, {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm"})

    # stacks: our module in front of pam_unix, and behind it

    def front(self, service="login", option=""):
        """The authenticator before pam_unix; what is not the passcode goes on to pam_unix."""
        self.stack(
            service,
            f"auth [success=2 default=ignore] {{ours}} or_password {option}",
            self.unix("[success=1 default=ignore]"),
            "auth requisite pam_deny.so",
            "auth required pam_permit.so",
            "auth optional {ours} unlock",
            "session required pam_permit.so",
            "session optional {ours}",
        )
        return []

    def behind(self, service="login", option=""):
        """A step of its own after pam_unix."""
        self.stack(service, self.unix("required"), f"auth required {{ours}} {option}", "session optional {ours}")
        return [LOGIN]


def without_passcode(case):
    """A store without a passcode by the person's choice, and a policy that no longer allows
    that."""
    machine = Flows("MinLength=8")
    case.addCleanup(machine.close)
    done = machine.daemon.ask("create", way="noPasscode", subject=machine.daemon.person)
    case.assertEqual(done.name, "done")
    machine.lock()
    machine.policy("AllowNoPasscode=no")
    return machine


class Cut(Talk):
    """Stops at its nth question, counted from one: then the application gives `how`."""

    def __init__(self, answers, at, how):
        super().__init__(answers[: at - 1] + [how])


def age(machine, days):
    """Makes the passcode so old: the daemon's wall clock goes forward."""
    shim = pamlab.compiled("wallclock.c", "wallclock.so", "-shared", "-fPIC")
    daemon = machine.daemon
    daemon.stop()
    preload = daemon.environment()["LD_PRELOAD"].split(":")
    daemon.env["LD_PRELOAD"] = ":".join([shim, *[path for path in preload if path != shim]])
    daemon.env["WALL_SHIFT"] = str(int(days * 86400))
    daemon.start()
