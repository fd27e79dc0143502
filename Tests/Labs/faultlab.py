"""What the suites about faults add to daemonlab: stores of the user who runs the tests, several
of them, and their files."""

import os
import pwd
import struct
import time

import wire
from daemonlab import Daemon, Tally, answers, slot_block

ME = (pwd.getpwuid(os.getuid()).pw_name, os.getuid())
CHEAP = {"DerivationMemory": "19MiB", "DerivationPasses": "2", "ThrottleAfter": "0"}


def policy(**keys):
    return "[Passcode]\n" + "".join(f"{key} = {value}\n" for key, value in {**CHEAP, **keys}.items())


class Lab(Daemon):
    """A daemon whose person is the user who runs the tests: only the owner can read and write
    records."""

    def __init__(self, policy_text=None, **settings):
        start = settings.pop("start", True)
        super().__init__(policy_text or policy(), start=False, **settings)
        self.person = ME
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def wait_ready(self, seconds=60.0):
        """Waits until it serves, as briefly as possible."""
        end = time.monotonic() + seconds
        while True:
            try:
                with wire.Client(self.socket, seconds):
                    return
            except OSError:
                if self.process.poll() is not None:
                    raise AssertionError(f"appvaultd ended with {self.process.returncode}: {self.log()}") from None
                if time.monotonic() > end:
                    raise AssertionError(f"appvaultd does not answer: {self.log()}") from None
                time.sleep(0.001)

    def make(self, passcode, store="", way="ownPasscode"):
        """Makes a store, which is open afterwards; returns the text of its recovery key."""
        with self.client(frontEnd="terminal") as client:
            done = client.run("create", answers(passcode), way=way, store=store)
            if done is None or done.name != "done":
                raise AssertionError(f"no store: {done}")
            return client.revealed[0].decode() if client.revealed else None

    def open(self, passcode, store=""):
        return self.ask("openStore", answers(passcode), store=store)

    def state_of(self, store=""):
        state = self.ask("status", store=store)
        if state is None or state.name != "state":
            raise AssertionError(f"status: {state}")
        return state

    def set(self, name, value, store=""):
        return self.ask("set", payloads=[value], store=store, name=name)

    def get(self, name, store=""):
        return self.ask("get", store=store, name=name)

    def folder_of(self, store=""):
        return os.path.join(self.state, "stores", uuid_text(self.state_of(store).store))


class Slots:
    """A slots file as bytes, and what each block contains, by FORMAT.md."""

    def __init__(self, folder):
        with open(os.path.join(folder, "slots"), "rb") as file:
            self.data = file.read()

    def block(self, number):
        return slot_block(self.data, number)

    def has(self, number):
        return any(self.block(number))

    @property
    def condition(self):
        return {1: "live", 2: "erasing", 3: "erased"}[self.block(0)[48 + 13]]

    @property
    def uid(self):
        return struct.unpack_from("<I", self.block(0), 48 + 8)[0]

    @property
    def tally(self):
        return Tally(self.block(2))


def uuid_text(raw):
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def code(answer):
    """The code of a refusal or a verdict; 0 for everything else."""
    if answer is None:
        raise ConnectionError("the daemon hung up")
    return answer.fields.get("code", 0)
