"""Who may do what: the table of PROTOCOL.md, run with real uids; and what a connection may do at
all."""

import contextlib
import os
import re
import socket
import statistics
import subprocess
import time
import unittest

import wire
from daemonlab import (
    PASSCODE,
    ROOT,
    Daemon,
    account_name,
    add_account,
    answers,
    as_uid,
    change_accounts,
    remove_account,
    wait_until,
)
from patience import Stopwatch
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 180
NO_USER, OVERFLOW = 47998, 65534
MOVED = ("somebody else", 47997)
POLICY = "RetryLimit=0\nThrottleAfter=0\n"
NEW, PHRASE = "another horse", "a phrase of its own"
DOES_NOT_EXIST, INVALID_ARGUMENT, INVALID, UNAVAILABLE, DENIED, PROTOCOL_ERROR, BUSY = 3, 4, 26, 28, 30, 34, 35
BUNDLE_BROKEN = 49
# What answers a screen.
SCREENS = ("answer", "draft")
PAM = ("authenticate", "unlock", "confirm", "sessionOpen", "sessionClose", "password", "passwordRules")


def document(section):
    """The tables below one heading of PROTOCOL.md, each a list of rows of cells without their
    head."""
    with open(os.path.join(ROOT, "PROTOCOL.md"), encoding="utf-8") as file:
        text = file.read()
    part = re.search(rf"^## {re.escape(section)}$(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)
    tables = []
    for block in re.findall(r"(?:^\|.*\n)+", part, re.M):
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        tables.append([rows[0], *rows[2:]])
    return tables


def server_names(server, person):
    """What the person's stores are called."""
    return [bytes_or_text(entry["name"]) for entry in server.ask("stores", subject=person).stores]


def bytes_or_text(name):
    return name.decode() if isinstance(name, bytes) else name


ITEM = b"i" * 16
ITEMS = {
    "itemPut": {"item": {"id": ITEM}}, "itemFind": {}, "itemSecrets": {"ids": [ITEM]},
    "itemChange": {"item": {"id": ITEM}, "secret": True},
    "itemDelete": {"id": ITEM}, "itemChanges": {}, "collectionPut": {"isNew": True, "collection": {"label": "new"}},
    "collectionDelete": {}, "aliasSet": {"name": "default"},
}


class Case(unittest.TestCase):
    def daemon(self, **options):
        options.setdefault("policy", POLICY)
        daemon = Daemon(**options)
        self.addCleanup(daemon.close)
        return daemon


class Who(Case):
    """Each request of the table is really made, by a peer of each column, with a store that fits
    it."""

    @classmethod
    def setUpClass(cls):
        cls.person, cls.another = add_account(), add_account()
        cls.uid, cls.other = cls.person[1], cls.another[1]
        for name, _ in (cls.person, cls.another):
            cls.addClassCleanup(remove_account, name)
        cls.server = Daemon(policy=POLICY)
        cls.addClassCleanup(cls.server.close)
        cls.server.person = cls.person

    # stores

    untouched = None

    def fresh(self, request):
        """The person's store as the request needs it; what a refused one before it left untouched may stay."""
        server = self.server
        needed = (request in ("unlock", "password", "passwordRules", "resync"), request == "create")
        if self.untouched != needed:
            if server.status().lock != "absent":
                self.assertEqual(server.ask("reset").name, "done")
            if request != "create":
                way = "followLogin" if needed[0] else "ownPasscode"
                self.person_key = server.create_with_recovery(way=way)
                self.store_id = server.status().store
                as_uid(self.uid, lambda: self.put("a", b"the person's"))
                as_uid(self.uid, lambda: self.put_item(self.person[0]))
        self.untouched = needed
        if request in ("openStore", "unlock", "authenticate"):
            server.lock()
        if request in ("share", "unshare", "members"):
            # An earlier one does not open with the person's present store.
            if "shared" in server_names(server, server.person):
                server.ask("reset", subject=server.person, store="shared")
            made = server.ask("create", subject=server.person, store="shared", way="shared")
            self.assertEqual(made.name, "done")
            if request == "unshare":
                as_uid(self.uid, lambda: server.ask(
                    "share", answers(PASSCODE), subject=("", wire.UNKNOWN_UID), store="shared", kind="person",
                    name=self.another[0], role="reader"))
        if request == "rename" and "further" not in server_names(server, server.person):
            made = server.ask("create", subject=server.person, store="further", way="noPasscode")
            self.assertEqual(made.name, "done")

    def others(self):
        """A store for each other peer, open, with a value of its own."""
        for owner, value in ((self.another, b"another's"), (("root", 0), b"root's")):
            status = self.server.status(owner).lock
            if status == "absent":
                self.server.create(subject=owner)
            elif status == "locked":
                self.server.unlock(subject=owner)
            as_uid(owner[1], lambda value=value: self.put("a", value))
            as_uid(owner[1], lambda owner=owner: self.put_item(owner[0]))

    def put(self, name, value):
        self.assertEqual(self.server.ask("set", (), [value], name=name).name, "done")

    def put_item(self, name):
        item = {"id": ITEM, "label": f"of {name}"}
        self.assertEqual(self.server.ask("itemPut", (), [f"of {name}".encode()], item=item).name, "item")

    def picture(self):
        """Everything in the state folder that a refused request must leave unchanged."""
        found = {}
        for store in self.server.stores():
            with open(os.path.join(store, "slots"), "rb") as file:
                slots = file.read()
            # The last commit is noted after its answer, and says nothing of a request that came later.
            found[store] = slots[:14 * 4096] + slots[15 * 4096:]
        return found, self.server.status().lock

    # requests

    def make(self, request, subject, peer):
        """Makes the request about `subject`. Returns its last message, and the client with the
        questions it got."""
        server, fields, payloads, script = self.server, {}, [], answers(PASSCODE, newPasscode=NEW)
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields["subject"] = subject
        kind = {"authenticate": "pamAuth", "unlock": "pamAuth", "confirm": "pamAuth",
                "password": "pamPassword", "passwordRules": "pamPassword"}
        hello = {"frontEnd": kind.get(request, "terminal"), "version": 2 if request in SCREENS else 1}
        if request.startswith("session"):
            hello["frontEnd"] = "pamSession"
        if request in PAM:
            hello["service"] = "login"
        if request == "unlock":
            payloads = [PASSCODE]
        elif request == "password":
            payloads = [PASSCODE, NEW]
        elif request == "passwordRules":
            payloads, script = [b"", b""], answers(newPasscode=[NEW, NEW])
        elif request == "confirm":
            fields["handle"] = os.urandom(16)
        elif request in ("sessionOpen", "sessionClose"):
            fields.update(id="c1", sessionClass="user")
        elif request == "create":
            fields["way"] = "ownPasscode"
            script = answers(PASSCODE)
        elif request == "passcode":
            fields["change"] = "change"
        elif request == "joinAsk":
            fields.update(invitation="nobody")
        elif request in ("appRules", "appOpen"):
            fields.update(id="mail", demand="passcode")
        elif request == "recover":
            script = answers(NEW, recoveryKey=self.person_key)
        elif request == "resync":
            script = answers(PASSCODE, loginPassword=NEW, former=PASSCODE)
        elif request == "chown":
            fields.update(store=self.store_id, owner=MOVED)
        elif request == "policyCheck":
            payloads = [PASSCODE]
        elif request == "policyPreview":
            payloads = [b"[Passcode]\nMinLength=9\n"]
        elif request in ("share", "unshare"):
            fields.update(store="shared", kind="person", name=self.another[0])
            if request == "share":
                fields["role"] = "reader"
            script = answers(PASSCODE)
        elif request == "members":
            fields["store"] = "shared"
        elif request == "rename":
            fields.update(store="further", name="renamed")
        elif request in ("get", "set", "delete"):
            fields["name"] = "a"
            payloads = [b"new"] if request == "set" else []
        elif request in ITEMS:
            fields.update(ITEMS[request])
            payloads = [b"new"] if request in ("itemPut", "itemChange") else []
        with server.client(**hello) as client:
            if request == "hello":
                return "welcome", client
            if request == "reply":
                return client.run("openStore", script, subject=subject), client
            if request == "abort":
                return client.run("openStore", (), subject=subject), client
            if request in SCREENS:
                client.draws = lambda screen: self.draw(client, request, screen)
                answer = client.run("passcode", script, subject=subject, change="change")
                # A function cannot be carried out of another process.
                client.draws = None
                return answer, client
            if request == "sessionClose" and peer == "root":
                opened = server.ask("sessionOpen", subject=subject, hello=hello, id="c1", sessionClass="user")
                self.assertEqual(opened.code, 0)
            if request in ("exportBegin", "exportNext"):
                return self.export(client, request, subject), client
            if request in ("importBegin", "importChunk"):
                return self.bring_in(client, request, subject), client
            return client.run(request, script, payloads, **fields), client

    def export(self, client, request, subject):
        script = answers(PASSCODE, newPassphrase=PHRASE)
        chunk = client.run("exportBegin", script, subject=subject)
        if request == "exportBegin" or chunk.name != "chunk":
            return chunk
        self.exported = [chunk.payload]
        while True:
            chunk = client.run("exportNext")
            if chunk.name != "chunk":
                return chunk
            self.exported.append(chunk.payload)
            if chunk.last:
                return chunk

    def draw(self, client, request, screen):
        if screen.id == "match.current":
            return 0, [PASSCODE]
        if request == "answer":
            return 0, [NEW, NEW]
        client.drafted = client.draft(screen, 0, "a")
        return None

    def change_back(self, peer):
        with self.server.client(frontEnd="terminal") as client:
            script = answers(NEW, newPasscode=PASSCODE)
            return client.run("passcode", script, subject=("", wire.UNKNOWN_UID), change="change"), client

    def bring_in(self, client, request, subject):
        header, *pieces = self.file
        begun = client.run(
            "importBegin", answers(passphrase=PHRASE), [header], subject=subject, replace=True
        )
        if request == "importBegin" or begun.name != "done":
            return begun
        answer = None
        for _ in range(2):
            for index, piece in enumerate(pieces):
                last = index == len(pieces) - 1
                answer = client.run("importChunk", (), [piece], last=last)
                if answer.name == "refused":
                    return answer
        return answer

    # cells

    def expect_denied(self, request, answer):
        if request in PAM:
            self.assertEqual((answer.name, answer.outcome, answer.code), ("verdict", "permissionDenied", DENIED))
        else:
            self.assertEqual((answer.name, answer.code), ("refused", DENIED))

    def expect_done(self, request, answer, client, subject):
        """What the request is for has happened."""
        status = None
        if request != "hello":
            status = self.server.status()
        if request == "authenticate":
            self.assertEqual(answer.outcome, "success")
        elif request == "unlock":
            self.assertEqual((answer.outcome, status.lock), ("ignore", "unlocked"))
        elif request == "confirm":
            self.assertEqual((answer.outcome, answer.code), ("ignore", 0))
        elif request == "sessionOpen":
            self.assertEqual((answer.code, status.sessions), (0, 1))
            self.server.ask("sessionClose", subject=subject, id="c1", sessionClass="user")
        elif request == "sessionClose":
            self.assertEqual((answer.code, status.sessions, status.lock), (0, 0, "locked"))
        elif request == "password":
            self.assertEqual((answer.outcome, answer.code), ("ignore", 0))
            self.assertEqual(self.proves(NEW), "success")
        elif request == "passwordRules":
            self.assertEqual((answer.outcome, answer.code), ("success", 0))
            self.assertEqual([ask.purpose for ask in client.asked], ["newPasscode", "confirmPasscode"])
            self.assertEqual(self.proves(PASSCODE), "success")
        elif request == "status":
            self.assertEqual((answer.name, answer.owner), ("state", self.person))
        elif request == "draft":
            self.assertEqual((answer.name, answer.code), ("refused", 27))
            self.assertEqual(client.drafted, {"minLength": "unmet"})
        elif request in ("passcode", "recover", "resync", "answer"):
            self.assertEqual(answer.name, "done")
            self.assertEqual(self.proves(NEW), "success")
        elif request == "create":
            self.assertEqual((answer.name, self.proves(PASSCODE)), ("done", "success"))
        elif request in ("openStore", "reply"):
            self.assertEqual((answer.name, status.lock), ("done", "unlocked"))
        elif request == "abort":
            self.assertEqual((answer.name, answer.code), ("refused", 27))
        elif request == "lock":
            self.assertEqual((answer.name, status.lock), ("done", "locked"))
        elif request == "recoveryNew":
            self.assertEqual((answer.name, len(client.revealed)), ("done", 1))
        elif request == "reset":
            self.assertEqual((answer.name, status.lock, client.asked), ("done", "absent", []))
        elif request == "rename":
            self.assertEqual(answer.name, "done")
            self.assertEqual(server_names(self.server, self.person), ["default", "renamed"])
            self.server.ask("reset", store="renamed", subject=self.person)
        elif request in ("share", "unshare"):
            self.assertEqual(answer.name, "done", answer)
            found = self.server.ask("members", subject=self.person, store="shared").members
            self.assertEqual(self.another[0] in [bytes_or_text(each["name"]) for each in found], request == "share")
        elif request == "members":
            self.assertEqual(bytes_or_text(answer.members[0]["name"]), self.person[0])
        elif request == "stores":
            self.assertIn("default", [bytes_or_text(entry["name"]) for entry in answer.stores])
        elif request == "recoveryDelete":
            self.assertEqual((answer.name, status.hasRecoveryKey), ("done", False))
        elif request == "chown":
            self.assertEqual((answer.name, status.lock), ("done", "absent"))
            self.assertEqual(self.server.status(MOVED).lock, "locked")
            self.server.ask("chown", store=self.server.status(MOVED).store, owner=self.person)
        elif request in ("exportBegin", "exportNext"):
            self.assertEqual(answer.name, "chunk")
        elif request == "collectionDelete":
            # The one that is always there.
            self.assertEqual((answer.name, answer.code), ("refused", INVALID_ARGUMENT))
        elif request == "fingerprintList":
            self.assertEqual((answer.name, answer.on), ("fingerprintState", False))
        elif request in ("fingerprintVerify", "fingerprintClear"):
            self.assertEqual((answer.name, answer.code), ("refused", UNAVAILABLE))
        elif request.startswith("fingerprint"):
            # There is no reader, and no finger.
            self.assertEqual((answer.name, answer.code), ("refused", INVALID))
        elif request == "fleetJoin":
            # What it hands over is empty.
            self.assertEqual((answer.name, answer.code), ("refused", BUNDLE_BROKEN))
        elif request == "joinAsk":
            # What is typed is no invitation, and nothing was asked of anybody.
            self.assertEqual((answer.name, answer.code, client.asked), ("refused", INVALID_ARGUMENT, []))
        elif request in ("fleetImport", "fleetLeave", "fleetFetch"):
            # This machine has joined nobody.
            self.assertEqual((answer.name, answer.code), ("refused", DOES_NOT_EXIST))
        else:
            self.assertNotIn(answer if isinstance(answer, str) else answer.name, ("refused", "verdict"))

    def proves(self, passcode):
        return self.server.authenticate(passcode).outcome

    def run_as(self, peer, function):
        uid = {"root": 0, "the person": self.uid, "another user": self.other, "no user": NO_USER}[peer]
        if uid == 0:
            return function()
        return as_uid(uid, lambda: self.carried(function()))

    @staticmethod
    def carried(result):
        """Passed through the pipe from the child: without the socket."""
        answer, client = result
        client.socket = None
        return answer, client

    def cell(self, request, peer, allowed):
        if allowed == "closed":
            return self.closed(request)
        self.fresh(request)
        if request in ("reply", "abort") and allowed != "own":
            self.server.lock()
        subject = self.person if peer in ("root", "another user", "no user") else ("", wire.UNKNOWN_UID)
        make = lambda about=subject: self.run_as(peer, lambda: self.make(request, about, peer))
        if allowed != "30":
            self.untouched = None
        if allowed == "30":
            before = self.picture()
            answer, client = make()
            self.expect_denied(request, answer)
            self.assertEqual(client.asked, [])
            self.assertEqual(self.picture(), before)
            # The same words about everybody: a person with a store, one without, or no person at
            # all.
            if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
                for about in (self.another if peer == "no user" else ("daemon", 1), ("no such person", 4), ("root", 0)):
                    if peer == "the person" or (peer == "root" and about[0] == "root"):
                        continue
                    self.assertEqual(repr(make(about)[0]), repr(answer))
        elif allowed == "own":
            self.own(request, peer)
        elif allowed in ("yes", "polkit"):
            # polkit would be asked after the person, who is asked after what makes this request none.
            answer, client = make()
            self.expect_done(request, answer, client, subject)
        elif allowed == "apart":
            self.apart(request, peer, subject)
        elif allowed == "proof":
            self.proof(request, peer, subject)
        else:
            self.fail(f"no such cell: {allowed}")

    def own(self, request, peer):
        """It concerns the peer's own store, and the person's stays as it was."""
        name, value = {"root": (("root", 0), b"root's"), "another user": (self.another, b"another's")}[peer]
        self.others()
        if request in ("reply", "abort"):
            self.server.lock(name)
        before = self.picture()
        answer, client = self.run_as(peer, lambda: self.make(request, ("", wire.UNKNOWN_UID), peer))
        read = lambda: self.run_as(peer, lambda: self.make("get", None, peer))[0]
        if request == "get":
            self.assertEqual(answer.payload, value)
        elif request == "set":
            self.assertEqual((answer.name, read().payload), ("done", b"new"))
        elif request == "delete":
            self.assertEqual((answer.name, read().code), ("done", 3))
        elif request == "list":
            self.assertEqual(answer.names, [b"a"])
        elif request == "exportNext":
            self.assertEqual((answer.name, answer.last), ("chunk", True))
        elif request == "importChunk":
            self.assertEqual((answer.name, read().payload), ("done", b"the person's"))
        elif request in ITEMS:
            self.own_items(request, answer, peer, name)
        elif request == "watch":
            store = self.server.status(name).store
            self.assertEqual((answer.name, answer.what, answer.store), ("event", "opened", store))
        elif request == "reply":
            self.assertEqual((answer.name, self.server.status(name).lock), ("done", "unlocked"))
        elif request == "abort":
            self.assertEqual((answer.name, answer.code), ("refused", 27))
        elif request == "answer":
            self.assertEqual(answer.name, "done")
            back = self.run_as(peer, lambda: self.change_back(peer))[0]
            self.assertEqual(back.name, "done")
        elif request == "consentAsk":
            # This machine has joined nobody, and nobody asks.
            self.assertEqual((answer.name, client.screens), ("done", []))
        elif request == "switchStore":
            self.assertEqual((answer.name, self.server.status(name).lock), ("done", "unlocked"))
        elif request == "consents":
            self.assertEqual((answer.name, answer["items"]), ("consentList", []))
        elif request == "draft":
            self.assertEqual((answer.name, client.drafted), ("refused", {"minLength": "unmet"}))
        else:
            self.fail(f"{request} concerns nobody's own store")
        after = as_uid(self.uid, lambda: self.make("get", None, "the person")[0])
        self.assertEqual(after.payload, b"the person's")
        self.assertEqual(self.picture()[0][self.store_of(self.person)], before[0][self.store_of(self.person)])

    def own_items(self, request, answer, peer, name):
        """Every store has an item of this id, which tells whose it is."""
        find = lambda: self.run_as(peer, lambda: self.make("itemFind", None, peer))[0]
        secret = lambda: self.run_as(peer, lambda: self.make("itemSecrets", None, peer))[0].payload
        mine = f"of {name[0]}"
        if request in ("itemPut", "itemChange"):
            self.assertEqual((answer.name, secret()), ("item", b"new"))
        elif request in ("itemFind", "itemChanges"):
            self.assertEqual([item["label"] for item in answer["items"]], [mine])
        elif request == "itemSecrets":
            self.assertEqual(answer.payload, mine.encode())
        elif request == "itemDelete":
            self.assertEqual((answer.name, find()["items"]), ("done", []))
        elif request == "collectionPut":
            self.assertEqual(answer["label"], "new")
        elif request == "collectionDelete":
            self.assertEqual((answer.name, answer.code), ("refused", INVALID_ARGUMENT))
        else:
            self.assertEqual(answer.name, "done")
        theirs = as_uid(self.uid, lambda: self.make("itemFind", None, "the person")[0])
        self.assertEqual([item["label"] for item in theirs["items"]], [f"of {self.person[0]}"])

    def store_of(self, owner):
        """The folder of an owner's store."""
        text = self.server.status(owner).store.hex()
        return next(store for store in self.server.stores() if os.path.basename(store).replace("-", "") == text)

    def apart(self, request, peer, subject):
        """A wrong passcode counts as apart; the right one does what it does for root."""
        tally = lambda: self.server.tally(self.store_of(self.person))

        def wrong():
            hello = dict(frontEnd="pamAuth", service="login", realUID=0)
            if request == "authenticate":
                return self.server.ask(request, answers("wrong"), [b""], hello=hello, subject=subject)
            payloads = [b"wrong"] if request == "unlock" else [b"wrong", b"new one"]
            return self.server.ask(request, (), payloads, hello=hello, subject=subject)

        before = tally()
        answer = as_uid(self.uid, wrong)
        self.assertEqual(answer.name, "verdict")
        self.assertNotEqual(answer.outcome, "success")
        self.assertEqual((tally().own.count, tally().apart.count), (before.own.count, before.apart.count + 1))
        answer, client = self.run_as(peer, lambda: self.make(request, subject, peer))
        self.expect_done(request, answer, client, subject)

    def proof(self, request, peer, subject):
        """Only with the passcode of this exchange."""
        for script, code in (((), 27), (answers("wrong"), 5)):
            answer = as_uid(self.uid, lambda script=script: self.server.ask(request, script, subject=subject))
            self.assertEqual((answer.name, answer.code), ("refused", code))
            self.assertEqual(self.server.status().lock, "unlocked")
        answer, client = self.run_as(peer, lambda: self.make(request, subject, peer))
        self.assertEqual([ask.purpose for ask in client.asked], ["passcode"])
        self.assertEqual((answer.name, self.server.status().lock), ("done", "absent"))

    def closed(self, request):
        """The end of the connection before a byte is read."""

        def attempt():
            client = wire.Client(self.server.socket)
            try:
                if request != "hello":
                    client.send("hello", 1, frontEnd="program")
                client.send(request, 2)
                return client.socket.recv(100)
            except (BrokenPipeError, ConnectionResetError):
                return b""
            finally:
                client.close()

        before = self.picture()
        self.assertEqual(as_uid(OVERFLOW, attempt), b"")
        self.assertEqual(self.picture(), before)

    def test_table(self):
        """Every request by root, the person, another user, no user and the overflow uid, as PROTOCOL.md has it"""
        ((head, *rows),) = document("Who may what")
        self.assertEqual(head, ["request", "root", "the person", "another user", "no user", "overflow uid"])
        requests = [name for name, shape in wire.MESSAGES.items() if shape.number % 2 == 0]
        self.assertEqual([row[0] for row in rows], requests)
        # A file for the imports: the person's own.
        self.fresh("exportNext")
        self.file = as_uid(self.uid, self.exported_file)
        for request, *cells in rows:
            for peer, allowed in zip(head[1:], cells):
                with self.subTest(request=request, peer=peer, allowed=allowed):
                    self.cell(request, peer, allowed)

    def test_health(self):
        """Only root is told how many stores there are, and whether there is a key for them"""
        self.fresh("status")
        told = self.server.ask("health")
        self.assertEqual((told.machineKey, told.stores > 0, told.damaged), ("good", True, 0))
        self.assertEqual((told.pid, told.uid), (self.server.process.pid, 0))
        self.assertEqual(told.stateFolder, self.server.state)
        for uid in (self.uid, self.other, NO_USER):
            health = as_uid(uid, lambda: self.server.ask("health"))
            self.assertEqual((health.machineKey, health.stores, health.damaged), ("untold", 0, 0))
            self.assertEqual((health.pid, health.rules, health.fingerprints), (told.pid, "missing", "missing"))

    def exported_file(self):
        answer, _ = self.make("exportNext", ("", wire.UNKNOWN_UID), "the person")
        if answer.name != "chunk":
            raise AssertionError(answer)
        return self.exported

    def test_time_tells_nothing(self):
        """How long a refusal takes does not tell whether the person or the store exists"""
        self.fresh("status")

        def measure():
            subjects = {"store": self.person, "no store": ("daemon", 1), "nobody": ("no such person", 4)}
            times = {name: [] for name in subjects}
            with self.server.client() as client:
                for _ in range(300):
                    for name, subject in subjects.items():
                        began = time.perf_counter()
                        answer = client.run("status", subject=subject)
                        times[name].append(time.perf_counter() - began)
                        if answer.code != DENIED:
                            raise AssertionError(answer)
            return {name: statistics.median(found) for name, found in times.items()}

        medians = as_uid(self.other, measure)
        self.assertLess(max(medians.values()) / min(medians.values()), 1.5, medians)

    def test_claims_of_other_uids(self):
        """A peer that names another uid as subject, real uid or remote user does not become that user"""
        self.fresh("get")
        self.others()
        for subject in (
            self.person, (self.person[0], self.other), ("", self.uid), (self.another[0], self.uid)
        ):
            ask = lambda subject=subject: self.server.ask(
                "status", subject=subject, hello=dict(realUID=self.uid, remoteUser=self.person[0])
            )
            answer = as_uid(self.other, ask)
            if subject[0] == self.person[0]:
                self.assertEqual((answer.name, answer.code), ("refused", DENIED))
            else:
                self.assertEqual(answer.owner, self.another)


class NamesThatChanged(Case):
    def test_renamed_account(self):
        """A uid whose name changed: locked with 30, status says why, nothing of it opens, chown by root repairs it"""
        name, uid = add_account()
        renamed = account_name()
        self.addCleanup(remove_account, renamed)
        self.addCleanup(remove_account, name)
        daemon = self.daemon()
        daemon.person = (name, uid)
        daemon.create()
        as_uid(uid, lambda: daemon.ask("set", (), [b"mine"], name="a"))
        change_accounts("usermod", "-l", renamed, name)
        slots, derived = daemon.blocks(), daemon.derivations()
        own = ("", wire.UNKNOWN_UID)
        # The uid with another name, the name with another uid, each also by root.
        for peer, subject in ((uid, own), (uid, (renamed, uid)), (0, (renamed, uid)), (0, (name, 47996))):
            with self.subTest(peer=peer, subject=subject):
                ask = lambda request, script=(), payloads=(), **fields: as_uid(
                    peer,
                    lambda: daemon.ask(
                        request, script, payloads, hello=dict(service="login"), subject=subject, **fields
                    ),
                )
                state = ask("status")
                self.assertEqual(state.lock, "ownerChanged")
                self.assertIn(name, state.trouble)
                self.assertIn("appvault chown", state.advice)
                for request in ("openStore", "lock", "passcode", "recover", "resync", "recoveryNew"):
                    answer = ask(request, answers())
                    self.assertEqual((request, answer.name, answer.code), (request, "refused", DENIED))
                answer = ask("create", answers(), way="ownPasscode")
                self.assertEqual((answer.name, answer.code), ("refused", DENIED))
                verdict = ask("authenticate", answers(), [b""])
                self.assertEqual((verdict.outcome, verdict.code), ("permissionDenied", DENIED))
                verdict = ask("unlock", (), [PASSCODE])
                self.assertNotEqual(verdict.outcome, "success")
        for request in ("get", "list", "delete"):
            fields = {} if request == "list" else {"name": "a"}
            answer = as_uid(uid, lambda: daemon.ask(request, **fields))
            self.assertEqual((answer.name, answer.code), ("refused", DENIED))
        answer = as_uid(uid, lambda: daemon.ask("reset", answers(), subject=own))
        self.assertEqual((answer.name, answer.code), ("refused", DENIED))
        self.assertEqual((daemon.blocks(), daemon.derivations()), (slots, derived))

        store = daemon.status((renamed, uid)).store
        answer = as_uid(uid, lambda: daemon.ask("chown", store=store, owner=(renamed, uid)))
        self.assertEqual(answer.code, DENIED)
        self.assertEqual(daemon.ask("chown", store=store, owner=(renamed, uid)).name, "done")
        daemon.person = (renamed, uid)
        daemon.restart()
        self.assertEqual(daemon.status().lock, "locked", "it was shut with its former owner")
        self.assertEqual(as_uid(uid, lambda: daemon.ask("openStore", answers(), subject=own)).name, "done")
        self.assertEqual(as_uid(uid, lambda: daemon.ask("get", name="a")).payload, b"mine")

    def test_uid_given_away(self):
        """An account removed and its uid given to another person: locked; root resets it, and that person begins
        anew"""
        name, uid = add_account()
        self.addCleanup(remove_account, name)
        daemon = self.daemon()
        daemon.person = (name, uid)
        daemon.create()
        remove_account(name)
        self.assertEqual(as_uid(uid, lambda: daemon.ask("status", subject=("", wire.UNKNOWN_UID))).code, DENIED)
        daemon.person = add_account(None, "-u", str(uid))
        self.addCleanup(remove_account, daemon.person[0])
        own = ("", wire.UNKNOWN_UID)
        self.assertEqual(as_uid(uid, lambda: daemon.ask("status", subject=own)).lock, "ownerChanged")
        self.assertEqual(as_uid(uid, lambda: daemon.ask("openStore", answers(), subject=own)).code, DENIED)
        self.assertEqual(daemon.ask("reset").name, "done")
        self.assertEqual(daemon.stores(), [])
        create = lambda: daemon.ask("create", answers(NEW), subject=own, way="ownPasscode")
        self.assertEqual(as_uid(uid, create).name, "done")


class Connections(Case):
    @classmethod
    def setUpClass(cls):
        (name, cls.uid), (other, cls.other) = add_account(), add_account()
        cls.addClassCleanup(remove_account, name)
        cls.addClassCleanup(remove_account, other)
        cls.server = Daemon(policy=POLICY)
        cls.addClassCleanup(cls.server.close)

    def ended(self, client):
        """The daemon refused and hung up, or hung up."""
        try:
            answer = client.receive(5)
            if answer is None:
                return "closed"
            self.assertIsNone(client.receive(5))
            return (answer.code, answer.tag)
        except (ConnectionResetError, BrokenPipeError):
            return "closed"

    def turned_away(self):
        """The code that its greeting gets, and the end."""
        client = self.server.client(greet=False)
        code = client.hello().fields["code"]
        self.assertEqual(self.ended(client), "closed")
        return code

    def test_sixteen_of_a_uid(self):
        """Sixteen connections of a uid, greeted or not, are served; one more gets 35 for its greeting, and after four
        that say nothing the next gets it at once; others do not notice"""
        for greet in (True, False):

            def attempt(greet=greet):
                began = time.monotonic()
                held = [self.server.client(greet=greet) for _ in range(16)]
                refused = [self.turned_away() for _ in range(3)]
                silent = [self.server.client(greet=False) for _ in range(4)]
                refused.append(self.ended(self.server.client(greet=False)))
                for client in silent:
                    client.close()
                if not greet and time.monotonic() - began >= 2:
                    # The first have been turned away because they did not greet: once more.
                    return None
                others = held[0].run("status").name if greet else "state"
                held.pop().close()
                # Its place is free again as soon as the daemon has noticed that it left.
                def again():
                    client = self.server.client(greet=False)
                    try:
                        answer = client.hello()
                        return answer is not None and answer.name == "welcome"
                    except OSError:
                        return False
                    finally:
                        client.close()

                wait_until(again, "a place is free again", 1.5)
                return refused, others

            found = None
            while found is None:
                found = as_uid(self.uid, attempt)
            refused, others = found
            self.assertEqual(refused, [BUSY] * 3 + [(BUSY, 0)])
            self.assertEqual(others, "state")

    def test_another_uid_is_not_kept_out(self):
        """A uid that uses all its connections keeps nobody else out"""
        held = []
        self.addCleanup(lambda: [client.close() for client in held])
        parent, child = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, self.uid)
                kept = [self.server.client() for _ in range(16)]
                child.send(b"+")
                child.recv(1)
                del kept
            finally:
                os._exit(0)
        self.assertEqual(parent.recv(1), b"+")
        status = lambda: self.server.client().run("status").name
        self.assertEqual(as_uid(self.other, status), "state")
        self.assertEqual(status(), "state")
        parent.send(b"+")
        os.waitpid(pid, 0)
        parent.close()
        child.close()

    def test_512_of_root(self):
        """512 connections of root are served, one more gets 35, and a person is accepted all the same"""
        import resource

        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2048, limits[1]), limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        # A daemon without earlier connections, so that there is no disconnection that it must still
        # notice.
        daemon = self.daemon()
        held = [daemon.client()]
        self.addCleanup(lambda: [client.close() for client in held])
        held += [daemon.client(greet=False) for _ in range(511)]
        self.assertEqual(held[-1].hello().name, "welcome")
        extra = daemon.client(greet=False)
        self.addCleanup(extra.close)
        self.assertEqual(self.ended(extra), (BUSY, 0))
        self.assertEqual(as_uid(self.uid, lambda: daemon.client().run("status").name), "state")

    def test_sixteen_for_a_person(self):
        """Programs that act for a person with root's rights have sixteen of root's places, whoever the person is"""
        daemon = self.daemon()
        held = [daemon.client(realUID=self.uid) for _ in range(16)]
        self.addCleanup(lambda: [client.close() for client in held])
        refused = daemon.client(greet=False)
        self.addCleanup(refused.close)
        answer = refused.hello(realUID=self.uid)
        self.assertEqual((answer.name, answer.code), ("refused", BUSY))
        self.assertIsNone(refused.receive(5))
        for real in (0, self.other):
            held.append(daemon.client(realUID=real))
        self.assertEqual(as_uid(self.uid, lambda: daemon.client().run("status").name), "state")

    @slow
    def test_greeting_deadline(self):
        """Two seconds for the greeting: silence, half of one, and one byte at a time end then"""
        greeting = wire.encode("hello", 1, frontEnd="program")
        for kind in ("silent", "half", "dripping"):
            with self.subTest(kind):
                client = self.server.client(greet=False)
                self.addCleanup(client.close)
                stopwatch = Stopwatch()
                if kind == "half":
                    client.send_raw(greeting[:7])
                client.socket.settimeout(0.25)
                sent, answer = 0, None
                while answer is None and stopwatch.seconds < 6:
                    try:
                        answer = client.socket.recv(100)
                    except TimeoutError:
                        if kind == "dripping":
                            client.send_raw(greeting[sent : sent + 1])
                            sent += 1
                    except ConnectionResetError:
                        answer = b""
                self.assertEqual(answer, b"")
                self.assertGreater(stopwatch.seconds, 1.9)
                stopwatch.assert_within(3.5)
        with self.server.client() as client:
            time.sleep(2.5)
            self.assertEqual(client.run("status").name, "state", "once greeted there is no hurry")

    @slow
    def test_frames_of_other_states(self):
        """A frame that its state does not permit is answered with 34 and ends the connection"""
        states, *_ = document("A connection and its states")
        permitted = {row[0]: {name.strip() for name in row[1].split(",")} for row in states[1:]}
        requests = [name for name, shape in wire.MESSAGES.items() if shape.number % 2 == 0]
        self.assertEqual(set(permitted), {"greeting", "ready", "conversing", "exporting", "importing", "watching"})
        self.server.person = ("root", 0)
        self.server.create()
        self.server.ask("set", (), [b"value"], name="a")
        header = self.in_state("exporting").header
        for state, allowed in permitted.items():
            for request in requests + ["type 0x0C", "type 0x21", "type 0x1000", "cut", "longer", "too long"]:
                if request in allowed:
                    continue
                with self.subTest(state=state, request=request):
                    client = self.in_state(state, header)
                    if request.startswith("type"):
                        client.send_raw(wire.raw_frame(int(request.split()[1], 16), 9, b""))
                    elif request == "cut":
                        client.send_raw(wire.raw_frame(wire.MESSAGES["status"].number, 9, b"\x05"))
                    elif request == "longer":
                        whole = wire.encode("lock", 9)[10:] + b"\0"
                        client.send_raw(wire.raw_frame(wire.MESSAGES["lock"].number, 9, whole))
                    elif request == "too long":
                        client.send_raw((0x7FFFFFFF).to_bytes(4, "little") + b"\x20\0\x09\0\0\0")
                    else:
                        client.send(request, 9)
                    self.assertEqual(self.ended(client), (PROTOCOL_ERROR, 0))
                    client.close()

    def in_state(self, state, header=b""):
        client = self.server.client(greet=state != "greeting", frontEnd="program")
        self.addCleanup(client.close)
        if state == "conversing":
            client.send("recover", 9)
            answer = client.receive()
            if answer.name == "refused":
                # No recovery key here: the passcode is asked for.
                client.send("passcode", 9, change="change")
                answer = client.receive()
            self.assertEqual(answer.name, "ask")
        elif state == "exporting":
            chunk = client.run("exportBegin", answers(newPassphrase=PHRASE))
            self.assertEqual(chunk.name, "chunk")
            client.header = chunk.payload
        elif state == "importing":
            begun = client.run("importBegin", answers(passphrase=PHRASE), [header])
            self.assertEqual(begun.name, "done")
        elif state == "watching":
            client.run("watch")
            while client.follow().what != "told":
                pass
        return client

    def test_other_version(self):
        """A peer with another version of the protocol is told so, and nothing else"""
        for version in (0, 3, 65535):
            client = self.server.client(greet=False)
            client.send("hello", 5, frontEnd="program", version=version)
            self.assertEqual(self.ended(client), (31, 5))
            client.close()


class IdleExit(Case):
    def activated(self, *deadlines):
        options = [word for deadline in ("idle=1", *deadlines) for word in ("--deadline", deadline)]
        return self.daemon(socket_activated=True, options=options, start=False)

    def assertLeaves(self, daemon):
        self.assertEqual(daemon.process.wait(60), 0)

    def assertStays(self, daemon, until=None):
        """Until that moment, or for as long as it takes to see it. Nobody can say it of a moment that is over when this
        process gets its turn."""
        until = until or time.monotonic() + 2.2
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.process.wait(max(0, until - time.monotonic()))
            self.assertGreater(time.monotonic(), until)

    @slow
    def test_leaves_when_nothing_is_unlocked(self):
        """Socket-activated it ends when idle with no store open, and stays while a store is open"""
        daemon = self.activated()
        began = time.monotonic()
        daemon.start()
        self.assertLeaves(daemon)
        self.assertGreater(time.monotonic() - began, 0.7)
        with daemon.awake():
            daemon.create()
        self.assertStays(daemon)
        daemon.lock()
        self.assertLeaves(daemon)
        # Nobody is turned away: a peer that comes meanwhile waits in the socket for the next
        # daemon.
        early = wire.Client(daemon.socket)
        self.addCleanup(early.close)
        daemon.start()
        self.assertEqual(early.hello().name, "welcome")
        self.assertEqual(early.run("status", subject=daemon.person).lock, "locked")
        self.assertStays(daemon)
        early.close()
        self.assertLeaves(daemon)

    def test_stays_with_a_session(self):
        """It stays while a session is known, and ends after the last one"""
        daemon = self.activated()
        session = dict(hello=dict(frontEnd="pamSession", service="login"), id="c1", sessionClass="user")
        with daemon.awake():
            self.assertEqual(daemon.ask("sessionOpen", **session).code, 0)
        self.assertStays(daemon)
        self.assertEqual(daemon.ask("sessionClose", **session).code, 0)
        self.assertLeaves(daemon)

    def test_leaves_after_a_transaction(self):
        """It stays as long as a transaction may be confirmed, and ends when that is over"""
        daemon = self.activated("transaction=3", "session=1")
        with daemon.awake():
            daemon.create()
            daemon.lock()
            began = time.monotonic()
            verdict = daemon.authenticate("wrong", orPassword=True)
            self.assertNotEqual(verdict.handle, bytes(16))
        self.assertStays(daemon, began + 3)
        self.assertLeaves(daemon)
        self.assertGreater(time.monotonic() - began, 2.9)

    def test_leaves_after_a_login_that_no_session_followed(self):
        """A store that a login opened without a session is locked, and then the daemon ends"""
        daemon = self.activated("transaction=1", "session=2")
        with daemon.awake():
            daemon.create()
            daemon.lock()
            began = time.monotonic()
            self.assertEqual(daemon.authenticate().outcome, "success")
        self.assertStays(daemon, began + 2)
        self.assertLeaves(daemon)
        with daemon.awake():
            self.assertEqual(daemon.status().lock, "locked")

    def test_own_socket_stays(self):
        """With a socket of its own it does not end when idle"""
        daemon = self.daemon(options=["--deadline", "idle=1"])
        self.assertStays(daemon)


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("peers of other uids need root")


if __name__ == "__main__":
    unittest.main()
