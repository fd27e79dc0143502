"""SIGKILL of the daemon at every step of every flow that writes: before each write and each sync of the slots file, and
while each question stands. Afterwards the store opens with the old or the new, the flow is due again or done, no try is
lost or given, and the same login brings it to its end.

    Tools/run-tests all flows/kill                          all flows
    APPVAULT_FLOW=change Tools/run-tests all flows/kill     one of them
"""

import os
import shutil
import struct
import unittest

import pamlab
import slotfile
import wire
from daemonlab import IS_ROOT, answers, derivation_counter
from fingerlab import FakeWorker
from loginlab import Logind
from pamlab import PAM_SUCCESS, Talk
from slow import slow
from wayslab import LOGIN, WRONG, Machine, account

TIMEOUT = 900

OLDER = "older horse battery"
OLD = "correct horse battery"
NEW = "purple monkey dishwasher"
LOOSE = "ThrottleAfter=0\nHistoryCount=3\nMinLength=8\n"
STRICTER = LOOSE.replace("MinLength=8", "MinLength=12")
NO_PASSCODE_MODE = LOOSE + "Enabled=no\nUseDefaultPolicy=no\n"
MUST_HAVE = LOOSE + "AllowNoPasscode=no\n"
NO_FINGER = LOOSE + "AllowFingerprint=no\n"
OWN, APART, RECOVERY = 0, 1, 2


class Person(Talk):
    """Answers each question by its id; at question number `at` something happens first."""

    def __init__(self, passcode, at=None, happens=None):
        super().__init__()
        self.passcode, self.at, self.happens = passcode, at, happens
        self.asked = 0

    def answer(self, style, text):
        self.messages.append((style, text))
        if style in (pamlab.TEXT_INFO, pamlab.ERROR_MSG):
            return None
        self.question()
        if style == pamlab.ECHO_ON:
            return "y" if "[y/n]" in text else ""  # Continue
        if "New passcode" in text:
            return NEW
        return LOGIN if text.startswith("Password") else self.passcode

    def question(self):
        if self.asked == self.at:
            self.happens()
        self.asked += 1


class File:
    """A slots file, read and written only by what FORMAT.md says."""

    def __init__(self, state):
        (store,) = [name for name in os.listdir(os.path.join(state, "stores")) if not name.startswith(".")]
        self.path = os.path.join(state, "stores", store, "slots")
        with open(os.path.join(state, "machine.key"), "rb") as file:
            self.key = file.read()
        with open(self.path, "rb") as file:
            self.data = file.read()
        self.store, self.blocks = slotfile.read(self.data, slotfile.Machine(self.key))

    def opens(self, passcode):
        try:
            return slotfile.open_passcode(self.data, self.key, passcode.encode())
        except slotfile.Wrong:
            return None

    @property
    def device(self):
        try:
            return slotfile.open_device(self.data, self.key)
        except slotfile.Wrong:
            return None

    @property
    def passcodes(self):
        return {passcode for passcode in (OLDER, OLD, NEW) if self.opens(passcode)}

    @property
    def terms(self):
        return slotfile.terms(self.data, self.key)

    @property
    def counts(self):
        payload = self.blocks[2].payload
        return tuple(sum(struct.unpack_from("<II", payload, at)) for at in (0, 32, 64))

    def former(self, store_key):
        """The former passcodes, the latest first."""
        entries = slotfile.history(self.data, self.key, store_key)
        known = (OLDER, OLD, NEW, WRONG)
        return [next(one for one in known if slotfile.is_reused([entry], one.encode())) for entry in entries]

    def put(self, number, payload):
        """Writes a block as the daemon would have written it."""
        machine = slotfile.Machine(self.key)
        sequence = 1 + max(block.sequence for block in self.blocks.values())
        block = (
            struct.pack("<4sHHQ", b"AVSB", 1, number, sequence) + self.store + machine.id + payload.ljust(432, b"\0"))
        block += slotfile.h("AV block mac", block, 32, machine.block_key)
        with open(self.path, "r+b") as file:
            file.seek(number * slotfile.PAGE)
            file.write(block)
        self.__init__(os.path.dirname(os.path.dirname(os.path.dirname(self.path))))

    def put_terms(self, allowed=1, fingerprint=0):
        self.put(8, struct.pack("<QBBBBB16s", 0, allowed, fingerprint, 1, 0, 0, bytes(16)))

    def age(self, seconds):
        """Makes the passcode look as if it had been set so long ago."""
        for number in (3, 4):
            if number in self.blocks:
                payload = bytearray(self.blocks[number].payload)
                (set_at,) = struct.unpack_from("<Q", payload, 16)
                struct.pack_into("<Q", payload, 16, set_at - seconds)
                self.put(number, bytes(payload))


class Flow:
    """One flow: the store before it, what the person does, and the store after it."""

    before, after = LOOSE, LOOSE
    way = "ownPasscode"
    kind = OWN
    # What opens the store before and afterwards: a passcode, or None for the device slot.
    old, new = OLD, NEW
    former = (OLD, OLDER)
    # The state at the end of the login in which the flow ran.
    is_open = True
    is_choice = is_behind = False
    # Where both open the store, an unlock with the old one comes first.
    unlocks_first = False
    # A command line before the daemon's own.
    daemon_before = ()
    # Whether the fingerprint is on at the end: after a kill, and without one.
    on = (0, 0)

    def attend(self, case):
        """What runs beside the daemon: options and environment for it."""
        return (), {}

    def prepare(self, machine):
        machine.create(OLDER, "ownPasscode")
        machine.lab.stack("auth required {ours}", name="login")
        self.change(machine, OLDER, OLD)
        self.guess_wrong(machine)

    def edit(self, file):
        pass

    @staticmethod
    def change(machine, old, new):
        script = answers(old, newPasscode=new)
        done = machine.daemon.ask("passcode", script, hello={"frontEnd": "terminal"}, change="change")
        if done.name != "done":
            raise AssertionError(done)

    def guess_wrong(self, machine):
        code = machine.enter("login", [WRONG]).code
        if code == PAM_SUCCESS or machine.own != 1:
            raise AssertionError(f"a wrong try: {code}, {machine.own}")

    def run(self, machine, person):
        """Runs the flow. True if it came to its end."""
        with machine.login("login", person) as login:
            return login.authenticate() == PAM_SUCCESS and login.setcred() == PAM_SUCCESS


class Change(Flow):
    """3: current, new, confirm, because a rule changed"""

    after = STRICTER


class Expired(Flow):
    """3, because the passcode is too old"""

    after = LOOSE + "ExpireDays=30\n"

    def edit(self, file):
        file.age(40 * 86400)


class DropPasscode(Flow):
    """4: told, and the passcode is removed"""

    after = NO_PASSCODE_MODE
    new = None


class Announce(Flow):
    """5: one line, and nothing else"""

    new = OLD
    former = (OLDER,)

    def edit(self, file):
        file.put_terms(allowed=0)


class DropFingerprint(Flow):
    """6: told, and the fingerprint is removed"""

    after = NO_FINGER
    new = OLD
    former = (OLDER,)

    def edit(self, file):
        file.put_terms(fingerprint=1)


class DropFingerprintThenChange(Flow):
    """6, then 3"""

    after = NO_FINGER.replace("MinLength=8", "MinLength=12")

    def edit(self, file):
        file.put_terms(fingerprint=1)


class DropBoth(DropPasscode):
    """7: told, and both go"""

    def edit(self, file):
        file.put_terms(fingerprint=1)


class Behind(Flow):
    """A flow that runs after pam_unix, at a store that has no passcode to ask for."""

    kind = None
    old = None
    former = ()
    is_behind = True

    def prepare(self, machine):
        machine.create(OLD, "noPasscode")
        machine.way_a("login")


class Create(Behind):
    """1: the policy wants a passcode where there is none"""

    after = MUST_HAVE


class CreateOffering(Behind):
    """2: the same where there is a reader: the finger is kept in addition to the passcode, or
    not at all"""

    after = MUST_HAVE
    on = (None, 1)

    def attend(self, case):
        worker = FakeWorker()
        case.addCleanup(worker.close)
        worker.touch = lambda visit, request: "match"
        environment = {}
        if IS_ROOT:
            logind = Logind(account()[1])
            case.addCleanup(logind.close)
            environment.update(logind.env)
            self.daemon_before = logind.before
        return ("--fingerprint-socket", worker.path), environment


class Migrate(Behind):
    """1: an older release left the store openable by fingerprint alone"""

    def edit(self, file):
        file.put_terms(fingerprint=1)


class ByChoice(Flow):
    """What the person asks for at a terminal; the passcode is proven again each time."""

    kind = APART
    request, fields = "passcode", {}
    is_open = False
    is_choice = True
    given = {"acknowledge": "", "newPasscode": NEW, "confirmPasscode": NEW, "loginPassword": NEW}

    def guess_wrong(self, machine):
        if machine.daemon.unlock(WRONG).name == "done" or machine.apart != 1:
            raise AssertionError(f"a wrong try: {machine.apart}")

    def script(self, person):
        def answer(ask):
            person.question()
            return self.given.get(ask.purpose, person.passcode)

        return answer

    def run(self, machine, person):
        try:
            hello = {"frontEnd": "terminal"}
            done = machine.daemon.ask(self.request, self.script(person), hello=hello, **self.fields)
        except (OSError, wire.WireError):
            return False
        return done is not None and done.name == "done"


class ChangeByChoice(ByChoice):
    fields = {"change": "change"}


class TurnOff(ByChoice):
    fields = {"change": "turnOff"}
    new = None


class TurnOn(ByChoice):
    fields = {"change": "turnOn"}
    kind = None
    old = None
    former = ()

    def prepare(self, machine):
        machine.create(OLD, "noPasscode")


class Follow(ByChoice):
    """The login password in the passcode's place, in one step"""

    fields = {"change": "followLogin"}
    # Once the login password opens it the store follows it, and the change is refused as done.
    unlocks_first = True


class Unfollow(ByChoice):
    """A passcode of the store's own in the login password's place, in one step"""

    fields = {"change": "ownPasscode"}
    # Of login passwords no history is kept.
    former = ()

    def prepare(self, machine):
        machine.create(OLD, "followLogin")
        self.guess_wrong(machine)


class Recover(ByChoice):
    """The recovery key, and at once a new passcode; the one that went was not typed, and is remembered all the same."""

    request = "recover"
    kind = RECOVERY

    def prepare(self, machine):
        self.key = machine.create_with_recovery(OLDER, "ownPasscode")
        machine.lab.stack("auth required {ours}", name="login")
        self.change(machine, OLDER, OLD)
        done = machine.daemon.ask("recover", answers("", recoveryKey=WRONG_KEY), hello={"frontEnd": "terminal"})
        if done.name == "done" or machine.daemon.tally().recovery.count != 1:
            raise AssertionError(f"a wrong recovery key: {done}")

    def script(self, person):
        ordinary = super().script(person)

        def answer(ask):
            given = ordinary(ask)
            return self.key if ask.purpose == "recoveryKey" else given

        return answer


# The recovery key that FORMAT.md shows.
WRONG_KEY = "000G4-40R4F-0M30Y-E209X-185GE-R38EY-1Y7ZV"
FLOWS = [
    Change, Expired, DropPasscode, Announce, DropFingerprint, DropFingerprintThenChange, DropBoth, Create,
    CreateOffering, Migrate, ChangeByChoice, TurnOff, TurnOn, Follow, Unfollow, Recover,
]


class Kills:
    """One flow, killed at each of its steps."""

    def __init__(self, flow, case):
        self.flow, self.case = flow(), case
        options, environment = self.flow.attend(case)
        self.machine = Machine(self.flow.before, options=options, before=self.flow.daemon_before, start=False)
        self.daemon = self.machine.daemon
        self.steps = os.path.join(self.daemon.folder, "steps")
        self.template = os.path.join(self.daemon.folder, "template")
        preload = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl", "-lpthread")
        self.daemon.env = {**environment, "LD_PRELOAD": f"{derivation_counter()} {preload}", "KILL_STEPS": self.steps}
        self.progress = []

    def close(self):
        self.machine.close()

    def prepare(self):
        self.daemon.start()
        self.flow.prepare(self.machine)
        self.machine.lock()
        self.daemon.stop()
        self.flow.edit(File(self.daemon.state))
        shutil.copytree(self.daemon.state, self.template)
        self.daemon.policy(self.flow.after)

    def fresh(self):
        """The store as it was before the flow, with the daemon running."""
        if self.daemon.is_running:
            self.daemon.kill()
        shutil.rmtree(self.daemon.state)
        shutil.copytree(self.template, self.daemon.state)
        self.daemon.start()

    def arm(self, steps):
        with open(self.steps, "w") as file:
            file.write(f"{steps}\n")

    def disarm(self):
        with open(self.steps) as file:
            left = int(file.read())
        os.unlink(self.steps)
        return left

    def whole(self):
        """Runs the flow once without a kill: counts its steps and its questions."""
        self.fresh()
        self.arm(10000)
        person = Person(self.flow.old)
        done = self.flow.run(self.machine, person)
        self.daemon.stop()
        self.case.assertTrue(done, f"the flow: {person.messages} {self.daemon.log()[-2000:]}")
        steps = 10000 - self.disarm()
        self.at_end(File(self.daemon.state), self.flow.on[1])
        return steps, person.asked

    def run(self):
        self.prepare()
        steps, questions = self.whole()
        self.case.assertGreater(steps, 1)
        for step in range(steps):
            with self.case.subTest(step=step):
                self.fresh()
                self.arm(step)
                self.flow.run(self.machine, Person(self.flow.old))
                # What is written after the answer may be written after the test has stopped
                # waiting.
                if self.daemon.is_running:
                    self.daemon.stop()
                self.case.assertEqual(self.disarm(), 0, "it was killed at this very step")
                self.progress.append(self.check(step))
        self.in_order()
        for question in range(questions):
            with self.case.subTest(question=question):
                self.fresh()
                self.flow.run(self.machine, Person(self.flow.old, question, self.daemon.kill))
                self.case.assertFalse(self.daemon.is_running)
                self.check(question)
        return steps, questions

    # what must be true after a kill

    def check(self, number):
        flow, case = self.flow, self.case
        file = File(self.daemon.state)
        ways = file.passcodes | ({None} if file.device else set())
        case.assertTrue(ways, "a way in")
        case.assertLessEqual(ways, {flow.old, flow.new}, "the old or the new, and nothing else")
        keys = {file.opens(way) if way else file.device for way in ways}
        case.assertEqual(len(keys), 1, "one store key")
        former = file.former(keys.pop())
        case.assertNotIn(NEW, former, "a passcode that never went")
        if flow.old and flow.old != flow.new and flow.old not in ways:
            case.assertEqual(tuple(former), flow.former, "what was replaced is remembered")
        counts = file.counts
        for kind, count in enumerate(counts):
            case.assertIn(count, (0, 1, 2) if kind == flow.kind else (0,), "tries")
        self.go_on(ways, number)
        return counts[flow.kind] if flow.kind is not None else None

    def in_order(self):
        """The count is raised before the derivation, and cleared after it; nothing else happens
        to it, and nothing before."""
        if self.flow.kind is None:
            return
        stages = [count for at, count in enumerate(self.progress) if at == 0 or self.progress[at - 1] != count]
        self.case.assertIn(stages, ([1, 2, 0], [1, 2]), "the tries at each step")

    def go_on(self, ways, number):
        """The same person comes again, with what opens the store now, and the flow ends."""
        flow, case = self.flow, self.case
        self.daemon.start()
        state = self.daemon.status()
        case.assertIn(state.lock, ("locked", "unlocked"), state.trouble)
        # Beside a passcode the device slot opens the store for nobody.
        ways = ways - {None} or ways
        # Where two passcodes open the store, a person may come with either.
        with_old = flow.old in ways and (len(ways) == 1 or number % 2 == 0)
        way = flow.old if with_old else flow.new
        person = Person(way)
        if flow.unlocks_first and with_old and len(ways) == 2:
            case.assertEqual(self.daemon.unlock(flow.old).name, "done")
            self.daemon.lock()
        if not with_old and (flow.is_choice or flow.is_behind or way is None):
            # The flow is done, and what opened the store before it no longer does.
            case.assertEqual(self.daemon.unlock(way or "").name, "done")
        else:
            case.assertTrue(flow.run(self.machine, person), f"{person.messages} {self.daemon.log()[-1500:]}")
        if flow.is_open:
            case.assertEqual(self.daemon.status().lock, "unlocked")
        state = self.daemon.status()
        case.assertEqual(list(state.pending), [], "nothing is due any more")
        self.daemon.stop()
        self.at_end(File(self.daemon.state), self.flow.on[0])

    def at_end(self, file, on):
        flow, case = self.flow, self.case
        ways = file.passcodes | ({None} if file.device else set())
        case.assertEqual(ways, {flow.new})
        key = file.opens(flow.new) if flow.new else file.device
        case.assertEqual(tuple(file.former(key)), flow.former)
        case.assertIn(file.terms["on"], (0, 1) if on is None else (on,))
        folders = os.path.join(self.daemon.state, "fingers")
        fingers = sum(len(files) for _, _, files in os.walk(folders))
        case.assertEqual(
            fingers, file.terms["on"], "a file for each finger, and none without the word that they are on")
        case.assertIsNone(file.terms["pending"])
        case.assertEqual(file.counts, (0, 0, 0))


def method(flow):
    def test(self):
        kills = Kills(flow, self)
        self.addCleanup(kills.close)
        steps, questions = kills.run()
        print(f"        {flow.__name__}: killed at {steps} steps and {questions} questions", flush=True)

    what = (flow.__doc__ or flow.__name__).splitlines()[0]
    test.__doc__ = f"killed at every step: {flow.__name__}: {what}"
    return test


class EveryStep(unittest.TestCase):
    pass


# What a quick run has time for.
QUICK = (Create,)

for _flow in FLOWS:
    if os.environ.get("APPVAULT_FLOW", _flow.__name__).lower() == _flow.__name__.lower():
        _test = method(_flow)
        setattr(EveryStep, f"test_{_flow.__name__}", _test if _flow in QUICK else slow(_test))


if __name__ == "__main__":
    unittest.main()
