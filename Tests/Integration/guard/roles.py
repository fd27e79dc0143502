"""Who may what with a store of each kind: every request that names a store, made by everybody who may have something
to do with it, with real uids. The tables below say what becomes of it."""

import unittest

import wire
from daemonlab import (
    PASSCODE,
    Daemon,
    account_name,
    add_account,
    answers,
    as_uid_connection,
    change_accounts,
    remove_account,
)

NEEDS_ROOT = True
TIMEOUT = 240
POLICY = "RetryLimit=0\nThrottleAfter=0\nHoldMax=1h\n"
NO_ONE = ("", wire.UNKNOWN_UID)
ROLES = ("owner", "writer", "reader", "group", "pending", "removed", "nobody", "root")
ITEM = b"i" * 16
# Everything that names a store; what may end it comes last.
REQUESTS = [name for name, shape in wire.MESSAGES.items()
            if any(field == "store" and kind is wire.STORE for field, kind in shape.fields)
            and shape.number % 2 == 0 and name != "reset"] + ["reset"]
# "yes": it is done. "asks": the person is asked for what opens a store, or a file. A number: refused with that code.
# Whoever is none of its members hears of a store what is said of one that does not exist (3, "absent"). Root gets
# none of its records, but for a configuration's, which it may change as well. What opens it, and its name, are its
# owner's business alone. The collection that is to be deleted is the one that cannot be (4).
TABLES = {
    "drawer": """
                          owner     nobody    root
        status            yes       absent    yes
        create            1         4         1
        openStore         yes       3         yes
        lock              yes       3         yes
        passcode          asks      3         asks
        recoveryNew       asks      3         asks
        recover           asks      3         asks
        resync            26        3         26
        triesClear        30        30        yes
        offerRecovery     yes       yes       yes
        actions           yes       yes       yes
        mend              asks      3         30
        hold              asks      3         30
        rename            yes       3         yes
        recoveryDelete    asks      3         asks
        share             26        3         30
        unshare           26        3         30
        members           26        3         26
        get               yes       3         3
        set               yes       3         3
        delete            yes       3         3
        list              yes       3         3
        exportBegin       asks      3         30
        importBegin       asks      3         30
        policyShow        yes       yes       yes
        policyCheck       yes       yes       yes
        fingerprintList   yes       3         yes
        fingerprintEnroll 26        3         26
        fingerprintVerify 28        3         28
        fingerprintDelete 26        3         26
        fingerprintSwitch 26        3         26
        keyringForget     yes       3         yes
        appRules          yes       yes       30
        appOpen           yes       3         30
        itemPut           yes       3         3
        itemFind          yes       3         3
        itemSecrets       yes       3         3
        itemChange        yes       3         3
        itemDelete        yes       3         3
        itemChanges       yes       3         3
        collectionPut     yes       3         3
        collectionDelete  4         3         3
        aliasSet          yes       3         3
        switchStore       yes       3         3
        reset             asks      3         yes
""",
    "notes": """
                          owner     nobody    root
        status            yes       absent    yes
        create            1         4         1
        openStore         yes       3         yes
        lock              yes       3         yes
        passcode          26        3         26
        recoveryNew       asks      3         asks
        recover           asks      3         asks
        resync            26        3         26
        triesClear        30        30        yes
        offerRecovery     yes       yes       yes
        actions           yes       yes       yes
        mend              asks      3         30
        hold              asks      3         30
        rename            yes       3         yes
        recoveryDelete    asks      3         asks
        share             26        3         30
        unshare           26        3         30
        members           26        3         26
        get               yes       3         3
        set               yes       3         3
        delete            yes       3         3
        list              yes       3         3
        exportBegin       asks      3         30
        importBegin       asks      3         30
        policyShow        yes       yes       yes
        policyCheck       yes       yes       yes
        fingerprintList   yes       3         yes
        fingerprintEnroll 26        3         26
        fingerprintVerify 28        3         28
        fingerprintDelete 26        3         26
        fingerprintSwitch 26        3         26
        keyringForget     yes       3         yes
        appRules          yes       yes       30
        appOpen           yes       3         30
        itemPut           yes       3         3
        itemFind          yes       3         3
        itemSecrets       yes       3         3
        itemChange        yes       3         3
        itemDelete        yes       3         3
        itemChanges       yes       3         3
        collectionPut     yes       3         3
        collectionDelete  4         3         3
        aliasSet          yes       3         3
        switchStore       yes       3         3
        reset             asks      3         yes
""",
    "team": """
                          owner     writer    reader    group     pending   removed   nobody    root
        status            yes       yes       yes       yes       yes       absent    absent    yes
        create            1         4         4         4         4         4         4         1
        openStore         yes       yes       yes       yes       26        3         3         yes
        lock              yes       3         3         3         3         3         3         yes
        passcode          26        3         3         3         3         3         3         26
        recoveryNew       asks      3         3         3         3         3         3         asks
        recover           asks      3         3         3         3         3         3         asks
        resync            26        3         3         3         3         3         3         26
        triesClear        30        30        30        30        30        30        30        yes
        offerRecovery     yes       yes       yes       yes       yes       yes       yes       yes
        actions           yes       yes       yes       yes       yes       yes       yes       yes
        mend              asks      30        30        30        30        3         3         30
        hold              26        3         3         3         3         3         3         30
        rename            yes       3         3         3         3         3         3         yes
        recoveryDelete    asks      3         3         3         3         3         3         asks
        share             asks      30        30        30        30        3         3         30
        unshare           asks      30        asks      30        30        3         3         30
        members           yes       yes       yes       yes       yes       3         3         yes
        get               yes       yes       yes       yes       26        3         3         3
        set               yes       yes       30        yes       26        3         3         3
        delete            yes       yes       30        yes       26        3         3         3
        list              yes       yes       yes       yes       26        3         3         3
        exportBegin       asks      asks      asks      asks      26        3         3         30
        importBegin       asks      asks      30        asks      26        3         3         30
        policyShow        yes       yes       yes       yes       yes       yes       yes       yes
        policyCheck       yes       yes       yes       yes       yes       yes       yes       yes
        fingerprintList   yes       3         3         3         3         3         3         yes
        fingerprintEnroll 26        3         3         3         3         3         3         26
        fingerprintVerify 28        3         3         3         3         3         3         28
        fingerprintDelete 26        3         3         3         3         3         3         26
        fingerprintSwitch 26        3         3         3         3         3         3         26
        keyringForget     yes       3         3         3         3         3         3         yes
        appRules          yes       yes       yes       yes       yes       yes       yes       30
        appOpen           26        26        26        26        26        3         3         30
        itemPut           yes       yes       30        yes       26        3         3         3
        itemFind          yes       yes       yes       yes       26        3         3         3
        itemSecrets       yes       yes       yes       yes       26        3         3         3
        itemChange        yes       yes       30        yes       26        3         3         3
        itemDelete        yes       yes       30        yes       26        3         3         3
        itemChanges       yes       yes       yes       yes       26        3         3         3
        collectionPut     yes       yes       30        yes       26        3         3         3
        collectionDelete  4         4         30        4         26        3         3         3
        aliasSet          yes       yes       30        yes       26        3         3         3
        switchStore       4         3         3         3         3         3         3         3
        reset             asks      3         3         3         3         3         3         yes
""",
    "conf": """
                          owner     writer    reader    group     pending   removed   nobody    root
        status            yes       yes       yes       yes       yes       absent    absent    yes
        create            1         4         4         4         4         4         4         1
        openStore         yes       yes       yes       yes       yes       3         3         yes
        lock              yes       3         3         3         3         3         3         yes
        passcode          26        3         3         3         3         3         3         26
        recoveryNew       26        3         3         3         3         3         3         26
        recover           3         3         3         3         3         3         3         3
        resync            26        3         3         3         3         3         3         26
        triesClear        30        30        30        30        30        30        30        yes
        offerRecovery     yes       yes       yes       yes       yes       yes       yes       yes
        actions           yes       yes       yes       yes       yes       yes       yes       yes
        mend              yes       30        30        30        30        3         3         30
        hold              yes       3         3         3         3         3         3         30
        rename            yes       3         3         3         3         3         3         yes
        recoveryDelete    3         3         3         3         3         3         3         3
        share             asks      30        30        30        30        3         3         30
        unshare           asks      30        asks      30        30        3         3         30
        members           yes       yes       yes       yes       yes       3         3         yes
        get               yes       yes       yes       yes       yes       3         3         yes
        set               yes       yes       30        yes       yes       3         3         yes
        delete            yes       yes       30        yes       yes       3         3         yes
        list              yes       yes       yes       yes       yes       3         3         yes
        exportBegin       asks      asks      asks      asks      asks      3         3         30
        importBegin       asks      asks      30        asks      asks      3         3         30
        policyShow        yes       yes       yes       yes       yes       yes       yes       yes
        policyCheck       yes       yes       yes       yes       yes       yes       yes       yes
        fingerprintList   yes       3         3         3         3         3         3         yes
        fingerprintEnroll 26        3         3         3         3         3         3         26
        fingerprintVerify 28        3         3         3         3         3         3         28
        fingerprintDelete 26        3         3         3         3         3         3         26
        fingerprintSwitch 26        3         3         3         3         3         3         26
        keyringForget     yes       3         3         3         3         3         3         yes
        appRules          yes       yes       yes       yes       yes       yes       yes       30
        appOpen           26        26        26        26        26        3         3         30
        itemPut           yes       yes       30        yes       yes       3         3         yes
        itemFind          yes       yes       yes       yes       yes       3         3         yes
        itemSecrets       yes       yes       yes       yes       yes       3         3         yes
        itemChange        yes       yes       30        yes       yes       3         3         yes
        itemDelete        yes       yes       30        yes       yes       3         3         yes
        itemChanges       yes       yes       yes       yes       yes       3         3         yes
        collectionPut     yes       yes       30        yes       yes       3         3         yes
        collectionDelete  4         4         30        4         4         3         3         4
        aliasSet          yes       yes       30        yes       yes       3         3         yes
        switchStore       4         3         3         3         3         3         3         3
        reset             yes       3         3         3         3         3         3         yes
""",
    "open": """
                          owner     writer    reader    group     everybody root
        status            yes       yes       yes       yes       yes       yes
        create            1         4         4         4         4         1
        openStore         yes       yes       yes       yes       yes       yes
        lock              yes       3         3         3         3         yes
        passcode          26        3         3         3         3         26
        recoveryNew       26        3         3         3         3         26
        recover           3         3         3         3         3         3
        resync            26        3         3         3         3         26
        triesClear        30        30        30        30        30        yes
        offerRecovery     yes       yes       yes       yes       yes       yes
        actions           yes       yes       yes       yes       yes       yes
        mend              yes       30        30        30        30        30
        hold              yes       3         3         3         3         30
        rename            yes       3         3         3         3         yes
        recoveryDelete    3         3         3         3         3         3
        share             asks      30        30        30        30        30
        unshare           asks      30        asks      30        30        30
        members           yes       yes       yes       yes       yes       yes
        get               yes       yes       yes       yes       yes       yes
        set               yes       yes       30        yes       30        yes
        delete            yes       yes       30        yes       30        yes
        list              yes       yes       yes       yes       yes       yes
        exportBegin       asks      asks      asks      asks      asks      30
        importBegin       asks      asks      30        asks      30        30
        policyShow        yes       yes       yes       yes       yes       yes
        policyCheck       yes       yes       yes       yes       yes       yes
        fingerprintList   yes       3         3         3         3         yes
        fingerprintEnroll 26        3         3         3         3         26
        fingerprintVerify 28        3         3         3         3         28
        fingerprintDelete 26        3         3         3         3         26
        fingerprintSwitch 26        3         3         3         3         26
        keyringForget     yes       3         3         3         3         yes
        appRules          yes       yes       yes       yes       yes       30
        appOpen           26        26        26        26        26        30
        itemPut           yes       yes       30        yes       30        yes
        itemFind          yes       yes       yes       yes       yes       yes
        itemSecrets       yes       yes       yes       yes       yes       yes
        itemChange        yes       yes       30        yes       30        yes
        itemDelete        yes       yes       30        yes       30        yes
        itemChanges       yes       yes       yes       yes       yes       yes
        collectionPut     yes       yes       30        yes       30        yes
        collectionDelete  4         4         30        4         30        4
        aliasSet          yes       yes       30        yes       30        yes
        switchStore       4         3         3         3         3         3
        reset             yes       3         3         3         3         yes
""",
}


class Roles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.people = {}
        for role in ROLES[:-1]:
            cls.people[role] = add_account()
            cls.addClassCleanup(remove_account, cls.people[role][0])
        cls.people["root"] = ("root", 0)
        cls.group = account_name()
        change_accounts("groupadd", cls.group)
        cls.addClassCleanup(change_accounts, "groupdel", cls.group)
        change_accounts("usermod", "-a", "-G", cls.group, cls.people["group"][0])
        cls.addClassCleanup(change_accounts, "gpasswd", "-d", cls.people["group"][0], cls.group)
        cls.server = Daemon(policy=POLICY)
        cls.addClassCleanup(cls.server.close)
        cls.clients = {
            role: as_uid_connection(uid, cls.server, "terminal") for role, (_, uid) in cls.people.items()}
        for client in cls.clients.values():
            cls.addClassCleanup(client.close)
        for role in ROLES:
            # Who opens their store without a question waits for a slot.
            way = "noPasscode" if role == "pending" else "ownPasscode"
            cls.ask(role, "create", answers(PASSCODE), way=way)
        cls.header = cls.ask("owner", "exportBegin", answers(PASSCODE, newPassphrase="a phrase of its own")).payload
        while not cls.ask("owner", "exportNext").last:
            pass

    @classmethod
    def ask(cls, who, request, script=(), payloads=(), **fields):
        if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            fields.setdefault("subject", NO_ONE)
        client = cls.clients[who]
        client.asked = []
        return client.run(request, script, payloads, **fields)

    def done(self, who, request, script=(), payloads=(), **fields):
        answer = self.ask(who, request, script, payloads, **fields)
        self.assertNotEqual(answer.name, "refused", answer)
        return answer

    def make(self, role, request, store):
        """The request, each question of which is left unanswered: what comes before one is the answer to who may
        what."""
        owner = self.people["owner"]
        called = store if role == "owner" else f"{owner[0]}/{store}"
        fields, payloads = {"store": called}, []
        if role == "root" and ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
            # As its administrator does it.
            fields.update(store=store, subject=owner)
        if request in ("share", "unshare"):
            fields.update(kind="person", name=self.people["reader"][0])
        more = {
            "create": {"way": "ownPasscode"}, "share": {"role": "reader"}, "passcode": {"change": "change"},
            "rename": {"name": "renamed"}, "hold": {"seconds": 60}, "appRules": {"id": "mail", "demand": "open"},
            "appOpen": {"id": "mail", "demand": "open"}, "fingerprintEnroll": {"finger": "leftThumb"},
            "fingerprintDelete": {"finger": "leftThumb"}, "get": {"name": "a"}, "set": {"name": "a"},
            "delete": {"name": "a"}, "itemPut": {"item": {"id": ITEM}}, "itemSecrets": {"ids": [ITEM]},
            "itemChange": {"item": {"id": ITEM}}, "itemDelete": {"id": ITEM}, "collectionPut": {"isNew": True},
            "aliasSet": {"name": "default"},
        }
        fields.update(more.get(request, {}))
        if request == "importBegin":
            payloads = [self.header]
        elif request == "policyCheck":
            payloads = [PASSCODE]
        answer = self.ask(role, request, (), payloads, **fields)
        if self.clients[role].asked:
            self.assertEqual((answer.name, answer.code), ("refused", wire.CODES["cancelled"]), answer)
            return "asks"
        if answer.name == "refused":
            return str(answer.code)
        self.undo(request, store)
        return "absent" if request == "status" and answer.lock == "absent" else "yes"

    def undo(self, request, store):
        """So that the next one finds the store as this one did."""
        if request == "rename":
            self.done("owner", "rename", store="renamed", name=store)
        elif request in ("delete", "set"):
            self.done("owner", "set", payloads=[b"value"], store=store, name="a")
        elif request == "itemDelete":
            self.done("owner", "itemPut", store=store, item={"id": ITEM})
        elif request == "lock":
            self.done("owner", "openStore", answers(PASSCODE), store=store)
        elif request == "reset":
            self.begin()

    def members(self, store):
        """Somebody of each role."""
        change = lambda request, kind, name, **fields: self.done(
            "owner", request, answers(PASSCODE), store=store, kind=kind, name=name, **fields)
        for role in ("writer", "reader", "pending", "removed"):
            change("share", "person", self.people[role][0], role="reader" if role == "reader" else "writer")
        change("share", "group", self.group, role="writer")
        change("unshare", "person", self.people["removed"][0])

    def begin(self):
        """The store that the table is about, with somebody of each role."""
        store, way = self.store, self.way
        # A switch to another one has locked it.
        self.done("owner", "openStore", answers(PASSCODE))
        self.done("owner", "create", answers(PASSCODE), store=store, way=way)
        self.done("owner", "set", payloads=[b"value"], store=store, name="a")
        self.done("owner", "itemPut", store=store, item={"id": ITEM})
        if way in ("shared", "configuration"):
            self.members(store)
        if "everybody" in self.roles:
            self.done("owner", "share", answers(PASSCODE), store=store, kind="everybody", role="reader")
        if way != "configuration":
            self.done("owner", "recoveryNew", answers(PASSCODE), store=store)

    def run_table(self, store, roles, way):
        self.store, self.roles, self.way = store, roles, way
        self.begin()
        head, *rows = [line.split() for line in TABLES[store].strip().splitlines()]
        self.assertEqual((head, [row[0] for row in rows]), (list(roles), REQUESTS))
        for request, *expected in rows:
            for role, answer in zip(roles, expected):
                with self.subTest(request=request, role=role):
                    self.assertEqual(self.make("nobody" if role == "everybody" else role, request, store), answer)

    def test_own(self):
        self.run_table("drawer", ("owner", "nobody", "root"), "ownPasscode")

    def test_follows(self):
        self.run_table("notes", ("owner", "nobody", "root"), "followStore")

    def test_shared(self):
        self.run_table("team", ROLES, "shared")

    def test_configuration(self):
        self.run_table("conf", ROLES, "configuration")

    def test_everybody(self):
        self.run_table("open", ("owner", "writer", "reader", "group", "everybody", "root"), "configuration")


if __name__ == "__main__":
    unittest.main()
