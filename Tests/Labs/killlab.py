"""A daemon that is killed at random instants, again and again, and a model of what it must still
know afterwards.

What was answered is certain. What was sent and not answered has happened completely or not at
all.
"""

import itertools
import os
import random
import threading
import time

import slotfile
import wire
from daemonlab import answers
from faultlab import ME, Lab, Slots, code, policy

LIMIT = 4
RULES = policy(RetryLimit=str(LIMIT), OnRetryLimit="erase", HistoryCount="3")
NO_PASSCODE = None


class Cut(Exception):
    """The daemon was killed; the request has no answer."""


class Broken(AssertionError):
    """The daemon broke a promise."""


def require(condition, text):
    if not condition:
        raise Broken(text)


class Tries:
    """How many tries of a kind are on the count, at least and at most."""

    def __init__(self):
        self.answered = self.begun = 0

    def begins(self):
        self.begun += 1

    def was_wrong(self):
        self.answered += 1

    def may_be_cleared(self):
        self.answered = 0

    def cleared(self):
        self.answered = self.begun = 0


class Store:
    """What is known of one store."""

    def __init__(self, name):
        self.name = name
        self.forget()

    def forget(self):
        self.can_be = {"absent"}
        self.passcodes = []
        self.recovery = None
        self.revoked = []
        self.values = {}
        self.tries = {"own": Tries(), "apart": Tries(), "recovery": Tries()}
        self.wrong_own = 0
        self.id = self.key = None

    @property
    def passcode(self):
        (only,) = self.passcodes
        return only

    def may_be_cleared(self):
        for tries in self.tries.values():
            tries.may_be_cleared()

    def cleared(self):
        for tries in self.tries.values():
            tries.cleared()
        self.wrong_own = 0


class Worker(threading.Thread):
    """Does what a person does, until the daemon is killed."""

    def __init__(self, lab, store, random_, prefix="", only_values=False):
        super().__init__(daemon=True)
        self.lab, self.store, self.random, self.prefix = lab, store, random_, prefix
        self.only_values = only_values
        self.failure = None
        self.done = 0
        self.log = []

    def run(self):
        try:
            while True:
                self.step()
                self.done += 1
        except (Cut, ConnectionError, TimeoutError):
            return
        except BaseException as error:
            error.add_note(" | ".join(self.log[-12:]))
            self.failure = error

    # talking

    def ask(self, request, script=(), payloads=(), hello=(), **fields):
        """Returns the last answer; raises Cut if there is none."""
        try:
            client = wire.Client(self.lab.socket, 60.0)
        except OSError as error:
            raise Cut from error
        try:
            with client:
                welcome = client.hello(**{"frontEnd": "program", **dict(hello)})
                if welcome is None:
                    raise Cut
                require(welcome.name == "welcome", f"no welcome: {welcome}")
                self.client = client
                answer = client.run(request, script, payloads, **fields)
        except (OSError, wire.WireError) as error:
            raise Cut from error
        if answer is None:
            raise Cut
        self.log.append(f"{self.store.name}: {request} -> {answer.name} {code(answer)}")
        return answer

    def new_passcode(self):
        return f"{self.store.name} passcode {self.random.getrandbits(48):x}"

    # what it does

    def step(self):
        store = self.store
        if self.only_values:
            return self.random.choices([self.set, self.delete, self.get], [8, 2, 3])[0]()
        if store.can_be == {"absent"}:
            return self.create()
        if store.can_be == {"erased"}:
            return self.reset()
        ordinary = [(self.set, 14), (self.delete, 3), (self.get, 3), (self.lock_and_open, 3)]
        if store.passcode is NO_PASSCODE:
            acts = [*ordinary, (self.turn_on, 8)]
        elif store.name == "default":
            acts = [*ordinary, (self.own_wrong, 12), (self.own_right, 6), (self.recover, 2), (self.change, 3)]
            acts += [(self.reset, 1)]
        else:
            acts = [*ordinary, (self.change, 5), (self.wrong, 5), (self.turn_off, 3), (self.recover, 3)]
            acts += [(self.new_recovery_key, 4), (self.wrong_recovery, 2)]
        if store.passcode is not NO_PASSCODE and store.recovery is None:
            acts.append((self.new_recovery_key, 4))
        self.random.choices([act for act, _ in acts], [weight for _, weight in acts])[0]()

    # values

    def set(self):
        name = f"{self.prefix}{self.random.randrange(12)}".encode()
        value = self.random.randbytes(self.random.choice([0, 1, 40, 300, 5000, 70000]))
        before = self.store.values.get(name, [None])
        self.store.values[name] = [*before, value]
        answer = self.ask("set", (), [value], store=self.store.name, name=name)
        if answer.name == "done":
            self.store.values[name] = [value]
        else:
            self.refused(answer, name, before)

    def delete(self):
        name = f"{self.prefix}{self.random.randrange(12)}".encode()
        before = self.store.values.get(name, [None])
        self.store.values[name] = [*before, None]
        answer = self.ask("delete", store=self.store.name, name=name)
        if answer.name == "done":
            self.store.values[name] = [None]
        elif code(answer) == wire.CODES["doesNotExist"]:
            require(None in before, f"{name} of {self.store.name} was stored and does not exist")
            self.store.values[name] = [None]
        else:
            self.refused(answer, name, before)

    def refused(self, answer, name, before):
        """A refusal is allowed only because the store is locked: another worker does that."""
        require(code(answer) == wire.CODES["locked"], f"{self.store.name}: {answer}")
        self.store.values[name] = before

    def get(self):
        name = f"{self.prefix}{self.random.randrange(12)}".encode()
        expected = self.store.values.get(name, [None])
        answer = self.ask("get", store=self.store.name, name=name)
        if code(answer) == wire.CODES["locked"]:
            return
        found = None if code(answer) == wire.CODES["doesNotExist"] else answer.payload
        require(any(found == one for one in expected), f"another value in {name} of {self.store.name}")

    # opening and shutting

    def lock_and_open(self):
        answer = self.ask("lock", store=self.store.name)
        require(answer.name == "done", f"lock: {answer}")
        self.right("apart", "openStore", answers(self.store.passcode or ""), store=self.store.name)

    def right(self, kind, request, script, **fields):
        """Types a passcode that opens; returns its answer, or None if the count refused it."""
        store = self.store
        if store.passcode is not NO_PASSCODE:
            store.tries[kind].begins()
            store.may_be_cleared()
        answer = self.ask(request, script, **fields)
        if code(answer) == wire.CODES["retryLimitReached"]:
            self.make_way()
            return None
        ended = answer.name == "done" or (answer.name == "verdict" and answer.outcome == "success")
        require(ended, f"{store.name}: the right passcode for {request}: {answer} {self.log[-8:]}")
        if store.passcode is not NO_PASSCODE:
            store.cleared()
        return answer

    def make_way(self):
        """The count is full: uses the recovery key, or root."""
        if self.store.recovery is not None and self.random.random() < 0.5:
            return self.recover()
        self.store.may_be_cleared()
        answer = self.ask("triesClear", store=self.store.name)
        require(answer.name == "done", f"tries clear: {answer}")
        self.store.cleared()

    def own_right(self):
        script = answers(self.store.passcode)
        self.right("own", "authenticate", script, hello=LOGIN, subject=ME)

    def own_wrong(self):
        store = self.store
        if store.wrong_own >= LIMIT - 1 and self.random.random() < 0.7:
            return self.own_right()
        store.tries["own"].begins()
        store.wrong_own += 1
        if store.wrong_own >= LIMIT:
            store.can_be.add("erased")
        answer = self.ask("authenticate", answers("no passcode of mine"), hello=LOGIN, subject=ME)
        if code(answer) == wire.CODES["retryLimitReached"]:
            # Erased, or refused because kills had filled the count: the next status tells which.
            self.limit_reached()
        elif code(answer) == wire.CODES["invalidPasscode"]:
            store.tries["own"].was_wrong()
            store.can_be.discard("erased")
        else:
            raise Broken(f"a wrong own try: {answer}")

    def limit_reached(self):
        lock = self.ask("status", store=self.store.name).lock
        if lock == "erased":
            require("erased" in self.store.can_be, f"erased after {self.store.wrong_own} wrong own tries")
            self.store.forget()
            self.store.can_be = {"erased"}
        else:
            require(lock in ("retryLocked", "unlocked"), f"at the retry limit the store is {lock}")
            self.store.can_be.discard("erased")
            self.make_way()

    def wrong(self):
        self.store.tries["apart"].begins()
        answer = self.ask("passcode", answers("no passcode of mine"), store=self.store.name, change="change")
        if code(answer) == wire.CODES["invalidPasscode"]:
            self.store.tries["apart"].was_wrong()
        elif code(answer) == wire.CODES["retryLimitReached"]:
            self.make_way()
        else:
            raise Broken(f"a wrong try: {answer}")

    # changes

    def change(self):
        self.pass_over("change", self.new_passcode())

    def turn_off(self):
        self.pass_over("turnOff", NO_PASSCODE)

    def turn_on(self):
        self.pass_over("turnOn", self.new_passcode())

    def pass_over(self, change, new):
        store = self.store
        old = store.passcode
        store.passcodes = [old, new]
        if old is not NO_PASSCODE:
            store.tries["apart"].begins()
            store.may_be_cleared()
        script = answers(old or "", newPasscode=new or "")
        answer = self.ask("passcode", script, store=store.name, change=change)
        if code(answer) == wire.CODES["retryLimitReached"]:
            store.passcodes = [old]
            return self.make_way()
        require(answer.name == "done", f"{change} of {store.name}: {answer} {self.log[-8:]}")
        store.passcodes = [new]
        if old is not NO_PASSCODE:
            store.cleared()

    def recover(self):
        store = self.store
        if store.recovery is None or store.passcode is NO_PASSCODE:
            return
        old, new = store.passcode, self.new_passcode()
        store.passcodes = [old, new]
        store.tries["recovery"].begins()
        store.may_be_cleared()
        script = answers("", recoveryKey=store.recovery, newPasscode=new)
        answer = self.ask("recover", script, store=store.name)
        require(answer.name == "done", f"recover: {answer}")
        store.passcodes = [new]
        store.cleared()

    def wrong_recovery(self):
        if not self.store.revoked:
            return
        self.store.tries["recovery"].begins()
        script = answers("", recoveryKey=self.random.choice(self.store.revoked), newPasscode="never asked")
        answer = self.ask("recover", script, store=self.store.name)
        require(code(answer) in (wire.CODES["recoveryKeyInvalid"], wire.CODES["retryLimitReached"]), f"{answer}")
        if code(answer) == wire.CODES["recoveryKeyInvalid"]:
            self.store.tries["recovery"].was_wrong()

    def new_recovery_key(self):
        store = self.store
        former = store.recovery
        if former is not None and self.has_two_recovery_slots():
            # A kill came between two keys: the next key overwrites the newer one, which may be the
            # one that was shown.
            store.recovery = None
        if store.passcode is not NO_PASSCODE:
            store.tries["apart"].begins()
            store.may_be_cleared()
        self.client = None
        try:
            answer = self.ask("recoveryNew", answers(store.passcode or ""), hello=TERMINAL, store=store.name)
        except Cut:
            if self.client is not None and self.client.revealed:
                store.recovery = self.client.revealed[0].decode()
            raise
        if code(answer) == wire.CODES["retryLimitReached"]:
            return self.make_way()
        require(answer.name == "done", f"recovery new of {store.name}: {answer} {self.log[-8:]}")
        if former is not None:
            store.revoked.append(former)
        store.recovery = self.client.revealed[0].decode()
        if store.passcode is not NO_PASSCODE:
            store.cleared()

    def has_two_recovery_slots(self):
        slots = Slots(self.lab.folder_of_id(self.store.id))
        return slots.has(6) and slots.has(7)

    # making and removing

    def create(self):
        store = self.store
        new = self.new_passcode()
        store.forget()
        store.can_be = {"absent", "live"}
        store.passcodes = [new]
        self.client = None
        try:
            answer = self.ask("create", answers(new), hello=TERMINAL, store=store.name, way="ownPasscode")
        except Cut:
            if self.client is not None and self.client.revealed:
                store.can_be = {"live"}
                store.recovery = self.client.revealed[0].decode()
            raise
        require(answer.name == "done", f"create: {answer}")
        store.can_be = {"live"}
        store.recovery = self.client.revealed[0].decode()
        store.id = self.ask("status", store=store.name).store

    def reset(self):
        store = self.store
        if store.can_be == {"live"}:
            store.tries["apart"].begins()
            store.may_be_cleared()
        was = set(store.can_be)
        store.can_be = was | {"erased", "absent"}
        answer = self.ask("reset", answers(store.passcodes[0] if store.passcodes else ""), store=store.name)
        if code(answer) == wire.CODES["retryLimitReached"]:
            store.can_be = was
            return self.make_way()
        require(answer.name == "done", f"reset: {answer}")
        store.forget()


LOGIN = {"frontEnd": "pamAuth", "service": "login", "tty": "tty1"}
TERMINAL = {"frontEnd": "terminal"}


class KilledLab(Lab):
    def folder_of_id(self, id_):
        from faultlab import uuid_text

        return os.path.join(self.state, "stores", uuid_text(id_))


class Kills:
    """One run: so many kills from one seed."""

    def __init__(self, kills, seed):
        self.kills, self.seed = kills, seed
        self.random = random.Random(seed)
        self.operations = self.counted = self.unanswered = self.doubted = 0
        self.fresh()

    def fresh(self):
        self.lab = KilledLab(RULES, start=False, env={"LD_PRELOAD": ""})
        self.stores = [Store("default"), Store("kept"), Store("shared")]
        self.recovered = 0

    def run(self):
        try:
            for kill in itertools.count():
                if self.is_enough(kill):
                    break
                self.kill = kill
                # Now and then it starts with an empty state folder, so that the making of the
                # machine key is tested, too.
                if kill and kill % 40 == 0:
                    self.lab.close()
                    self.fresh()
                self.once()
            self.at_rest()
            self.lab.start()
            for store in self.stores:
                self.verify(store)
        except BaseException as error:
            keep = os.environ.get("APPVAULT_KEEP")
            where = f", the state is in {self.lab.folder}" if keep else ""
            said = "\n".join(self.lab.log().splitlines()[-12:])
            if not keep:
                self.lab.close()
            raise Broken(
                f"kill {self.kill} of seed {self.seed} (APPVAULT_SEED={self.seed}){where}: {error}\n"
                f"{getattr(error, '__notes__', '')}\n{said}"
            ) from error
        self.lab.close()

    def is_enough(self, kill):
        """So many kills, and more until some of them came while a try was on the count: how many do depends on what
        else the machine does."""
        return kill >= self.kills and (not self.lacks_tries() or kill >= 10 * self.kills)

    def lacks_tries(self):
        """A run in which nothing could go wrong proves nothing."""
        return self.kills >= 60 and min(self.counted, self.unanswered) == 0

    def once(self):
        chance = self.random
        if chance.random() < 0.15:
            # Killed while it starts, also while it completes what an earlier kill interrupted.
            self.lab.spawn()
            time.sleep(chance.uniform(0, 0.02))
            self.lab.kill()
        self.at_rest()
        self.lab.start()
        for store in self.stores:
            self.verify(store)
        workers = []
        for store in self.stores:
            workers.append(Worker(self.lab, store, random.Random(chance.getrandbits(64)), "a"))
        for prefix in "bcd":
            workers.append(Worker(self.lab, self.stores[2], random.Random(chance.getrandbits(64)), prefix, True))
        if self.stores[2].can_be != {"live"}:
            workers = workers[:3]
        for worker in workers:
            worker.start()
        wanted, end = chance.choice([0, 3, 8, 15, 30]), time.monotonic() + 1
        while sum(worker.done for worker in workers) < wanted and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.06))
        self.lab.kill()
        for worker in workers:
            worker.join(60)
            require(not worker.is_alive(), "a client still waits for a daemon that is gone")
            self.operations += worker.done
            if worker.failure is not None:
                raise worker.failure

    # what must be true of the files

    def at_rest(self):
        for store in self.stores:
            if store.id is None or store.can_be != {"live"}:
                continue
            slots = Slots(self.lab.folder_of_id(store.id))
            require(slots.condition == "live", f"{store.name} is {slots.condition}")
            for kind, tries in store.tries.items():
                used = getattr(slots.tally, kind).count
                text = f"{store.name}: {kind} tries used {used}, answered {tries.answered}, begun {tries.begun}"
                require(tries.answered <= used <= tries.begun, text)
                self.counted += tries.answered > 0
                self.unanswered += used > tries.answered
            if store.recovery is not None:
                key = self.recovered_key(slots, store.recovery)
                require(key is not None, f"{store.name}: the recovery key does not open its slots file")
                require(store.key in (None, key), f"{store.name}: another store key")
                store.key = key
            for former in store.revoked:
                require(self.recovered_key(slots, former) is None, f"{store.name}: a revoked key opens")
            if store.key is not None:
                with open(os.path.join(self.lab.state, "machine.key"), "rb") as file:
                    machine = file.read()
                slotfile.terms(slots.data, machine)
                slotfile.history(slots.data, machine, store.key)

    @staticmethod
    def recovered_key(slots, text):
        try:
            return slotfile.open_recovery(slots.data, text)
        except slotfile.Wrong:
            return None

    # what must be true of the daemon

    def verify(self, store):
        state = self.lab.state_of(store.name)
        found = {"absent": "absent", "erased": "erased"}.get(state.lock, "live")
        require(state.lock != "damaged", f"{store.name} is reported damaged: {state.trouble}")
        require(
            found in store.can_be,
            f"{store.name} is {found}, not {store.can_be}, after {store.wrong_own} wrong own tries",
        )
        if found == "live":
            store.can_be = {"live"}
            store.id = state.store
            self.open(store, state)
            self.compare(store)
            return
        if found == "erased":
            folder = self.lab.folder_of_id(state.store)
            slots = Slots(folder)
            require(slots.condition == "erased", f"{store.name} is {slots.condition}")
            require(not any(slots.has(block) for block in range(2, 16)), f"{store.name}: keys after an erase")
            require(os.listdir(folder) == ["slots"], f"{store.name}: {os.listdir(folder)} after an erase")
        store.forget()
        store.can_be = {found}

    def open(self, store, state):
        if state.passcode == "none":
            require(NO_PASSCODE in store.passcodes, f"{store.name} has lost its passcode")
            store.passcodes = [NO_PASSCODE]
            answer = self.lab.open("", store.name)
            require(answer.name == "done", f"{store.name} without a passcode: {answer}")
            return
        if state.lock == "retryLocked" or state.apartTriesLeft in range(len(store.passcodes)):
            answer = self.lab.ask("triesClear", store=store.name)
            require(answer.name == "done", f"tries clear: {answer}")
            store.cleared()
        self.doubted += len(store.passcodes) > 1
        for passcode in [one for one in reversed(store.passcodes) if one is not NO_PASSCODE]:
            answer = self.lab.open(passcode, store.name)
            if code(answer) == wire.CODES["changeRequired"]:
                # Killed between the recovery key and the new passcode: the recovery that began is
                # due.
                require(dict(answer.parameters) == {"flow": "3", "reason": "recovery"}, f"{store.name}: {answer}")
                new = f"{passcode} anew"
                answer = self.lab.ask(
                    "openStore", answers(passcode, newPasscode=new, acknowledge=""), store=store.name)
                require(answer.name == "done", f"{store.name}: {answer}")
                passcode = new
            if answer.name == "done":
                store.passcodes = [passcode]
                store.cleared()
                slots = Slots(self.lab.folder_of_id(store.id))
                require(not slots.has(5), f"{store.name} has a passcode and opens without one")
                require(not (slots.has(3) and slots.has(4)), f"{store.name} keeps a passcode that is no more")
                return
            require(code(answer) == wire.CODES["invalidPasscode"], f"{store.name}: {answer}")
        raise Broken(f"{store.name} opens with none of {len(store.passcodes)} passcodes")

    def compare(self, store):
        names, cursor = set(), 0
        while True:
            with self.lab.client() as client:
                page = client.run("list", store=store.name, prefix=b"", cursor=cursor)
                require(not client.damaged, f"{store.name} has damaged records: {client.damaged}")
            require(page.name == "names", f"list: {page}")
            names |= set(page.names)
            cursor = page.cursor
            if cursor == 0:
                break
        require(names <= store.values.keys(), f"{store.name} lists what nobody stored")
        with self.lab.client() as client:
            for name, expected in store.values.items():
                answer = client.run("get", store=store.name, name=name)
                if answer.name == "value":
                    found = answer.payload
                else:
                    require(code(answer) == wire.CODES["doesNotExist"], f"{name} of {store.name}: {answer}")
                    found = None
                require((name in names) == (found is not None), f"{name} of {store.name} is listed wrongly")
                what = "nothing" if found is None else f"{len(found)} bytes"
                ways = ["nothing" if one is None else f"{len(one)} bytes" for one in expected]
                require(any(found == one for one in expected), f"{name} of {store.name} has {what}, not {ways}")
                store.values[name] = [found]


def run(kills):
    seed = int(os.environ.get("APPVAULT_SEED") or random.SystemRandom().getrandbits(32))
    began = time.monotonic()
    kills = Kills(kills, seed)
    kills.run()
    took = time.monotonic() - began
    print(
        f"        {kills.kill + 1} kills, {kills.operations} answered operations, seed {seed}, {took:.0f} s; at a kill"
        f" {kills.counted} counts stood, {kills.unanswered} tries were under way,"
        f" {kills.doubted} passcodes were changing",
        flush=True,
    )
    require(not kills.lacks_tries(), "no kill came while a try was on the count")
