"""A machine of an organisation: the real daemon, and people with stores, who obey its orders.

    lab = Lab()
    lab.join()
    lab.order(f"lock {lab.target()}")       # the next version, with these orders
    lab.ask("openStore")                    # as the first person, from a terminal
"""

import os
import shutil
import tempfile

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid_connection, remove_account
from fleetlab import Organisation

POLICY = "RetryLimit=5\nThrottleAfter=0\nHoldMax=1h\n"
MACHINE = "0123456789abcdef0123456789abcdef"
NO_ONE = ("", wire.UNKNOWN_UID)


class Lab:
    """A machine that has joined an organisation, and people with stores."""

    def __init__(self, people=1, organisation=None, options=(), **more):
        self.organisation = organisation or Organisation()
        self.folder = tempfile.mkdtemp(prefix="appvault-orders-")
        self.machine_file = os.path.join(self.folder, "machine-id")
        with open(self.machine_file, "w") as file:
            file.write(MACHINE + "\n")
        self.people = [add_account() for _ in range(people)]
        self.server = Daemon(policy=POLICY, options=["--machine-id", self.machine_file, *options], **more)
        self.version = 0

    def close(self):
        self.server.close()
        shutil.rmtree(self.folder)
        for name, _ in self.people:
            remove_account(name)

    def root(self, request, payloads=(), **fields):
        return self.server.ask(request, payloads=payloads, **fields)

    def join(self):
        answer = self.root("fleetJoin", [self.organisation.join()])
        assert answer.name == "done", answer

    def order(self, *lines, version=None, **more):
        """The next version, with these orders and no others."""
        self.version = version or self.version + 1
        answer = self.root("fleetImport", [self.organisation.bundle(self.version, lines, **more)])
        assert answer.name == "done", answer
        return answer

    def target(self, person=0):
        return self.organisation.person(self.people[person][0])

    def client(self, person=0):
        return as_uid_connection(self.people[person][1], self.server, "terminal")

    def ask(self, request, script=(), payloads=(), person=0, **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        with self.client(person) as client:
            answer = client.run(request, script, payloads, **fields)
            answer.asked = list(client.asked)
            answer.revealed = list(client.revealed)
            return answer

    def done(self, *arguments, **fields):
        answer = self.ask(*arguments, **fields)
        assert answer.name != "refused", answer
        return answer

    def state(self, person=0, store=""):
        return self.done("status", person=person, store=store)

    def create(self, person=0, store="", way="ownPasscode"):
        return self.done("create", answers(PASSCODE), person=person, store=store, way=way)

    def slots(self):
        """What the disk has of each store: its slots file."""
        found = {}
        for store in self.server.stores():
            with open(os.path.join(store, "slots"), "rb") as file:
                found[os.path.basename(store)] = file.read()
        return found
