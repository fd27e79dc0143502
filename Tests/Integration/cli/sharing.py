"""Stores that people share, as they use them: the real tool, run as real users, and one real daemon."""

import json
import os
import re
import unittest

import clilab
from daemonlab import PASSCODE, Daemon, account_name, add_account, change_accounts, remove_account

NEEDS_ROOT = True
TIMEOUT = 240
SECRET = PASSCODE.encode()


class Person(clilab.Lab):
    """Runs the tool as one account of this machine."""

    def __init__(self, server, uid):
        self.path, self.uid = server.socket, uid

    def command(self, *arguments):
        become = ["setpriv", "--reuid", str(self.uid), "--regid", "100", "--clear-groups"] if self.uid else []
        return [*become, clilab.APPVAULT, "--socket", self.path, *arguments]


class Sharing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.accounts = {}
        for name in ("alice", "bob", "carol"):
            cls.accounts[name] = add_account()
            cls.addClassCleanup(remove_account, cls.accounts[name][0])
        cls.group = account_name()
        change_accounts("groupadd", cls.group)
        cls.addClassCleanup(change_accounts, "groupdel", cls.group)

    def setUp(self):
        self.server = Daemon(policy="RetryLimit=0\nThrottleAfter=0\n")
        self.addCleanup(self.server.close)
        self.people = {"root": Person(self.server, 0)}
        for name, (_, uid) in self.accounts.items():
            self.people[name] = Person(self.server, uid)
        self.team = f"{self.name('alice')}/team"
        for who in ("alice", "bob"):
            self.ok(who, "create", "--own-passcode", typed=1)

    def name(self, who):
        return self.accounts[who][0]

    def run_as(self, who, *arguments, typed=0, **more):
        """`typed`: how often it is to be asked for the passcode."""
        passcodes = [SECRET] * typed if typed else None
        return self.people[who].run(*arguments, passcodes=passcodes, **more)

    def ok(self, who, *arguments, **more):
        result = self.run_as(who, *arguments, **more)
        self.assertEqual(result.status, 0, result)
        return result.out

    def fails(self, who, status, *arguments, **more):
        result = self.run_as(who, *arguments, "--json", **more)
        self.assertEqual(result.status, status, result)
        return json.loads(result.out)

    def json(self, who, *arguments):
        return json.loads(self.ok(who, *arguments, "--json"))

    def members(self, who="alice", store="team"):
        return {each["name"]: (each["role"], each["waiting"])
                for each in self.json(who, "members", store)["members"]}

    def begin(self, *members):
        self.ok("alice", "create", "team", "--shared")
        self.ok("alice", "--store", "team", "set", "wifi", input=b"guest1234")
        for who in members:
            self.ok("alice", "share", "team", self.name(who), typed=1)

    def test_a_member_uses_it_by_its_owners_name(self):
        self.begin("bob")
        self.assertEqual(self.ok("bob", "--store", self.team, "get", "wifi"), b"guest1234")
        self.ok("bob", "--store", self.team, "set", "door", input=b"4711")
        self.assertEqual(self.ok("alice", "--store", "team", "list"), b"door\nwifi\n")
        self.assertEqual(self.members(), {
            self.name("alice"): ("owner", False), self.name("bob"): ("writer", False)})
        self.ok("alice", "share", "team", self.name("bob"), "--read-only", typed=1)
        refused = self.fails("bob", 1, "--store", self.team, "set", "door", input=b"1")
        self.assertEqual(refused["name"], "NotPermitted")
        self.assertEqual(self.fails("carol", 3, "--store", self.team, "get", "wifi")["name"], "DoesNotExist")
        self.assertEqual(self.fails("root", 3, "--store", self.team, "get", "wifi")["name"], "DoesNotExist")

    def test_who_has_no_store_yet_waits(self):
        self.begin()
        said = self.ok("alice", "share", "team", self.name("carol"), typed=1)
        self.assertIn(b"once they have a store", said)
        self.assertEqual(self.members()[self.name("carol")], ("writer", True))
        self.assertIn(b"\twriter\twaiting\n", self.ok("alice", "members", "team"))
        told = self.fails("carol", 3, "create", self.team, "--shared", "--open-existing")
        self.assertIn("a store of your own", told["message"])
        self.assertIn("`appvault create`", told["hint"])
        self.ok("carol", "create", "--own-passcode", typed=1)
        self.assertEqual(self.ok("carol", "--store", self.team, "get", "wifi"), b"guest1234")
        self.assertEqual(self.members()[self.name("carol")], ("writer", False))

    def test_who_is_removed_reads_nothing_more(self):
        self.begin("bob")
        self.ok("alice", "unshare", "team", self.name("bob"), typed=1)
        self.assertEqual(self.fails("bob", 3, "--store", self.team, "get", "wifi")["name"], "DoesNotExist")
        self.assertEqual(list(self.members()), [self.name("alice")])
        self.assertEqual(self.fails("alice", 3, "unshare", "team", self.name("bob"), typed=1)["name"], "DoesNotExist")
        self.assertEqual(self.ok("alice", "--store", "team", "get", "wifi"), b"guest1234")

    def test_a_member_leaves(self):
        self.begin("bob")
        self.ok("bob", "unshare", self.team, self.name("bob"), typed=1)
        self.assertNotIn(self.name("bob"), self.members())

    def test_it_is_handed_on(self):
        self.begin("bob")
        refused = self.run_as("alice", "share", "team", self.name("bob"), "--owner")
        self.assertEqual(refused.status, 2)
        self.assertIn(b"--yes", refused.err)
        said = self.ok("alice", "share", "team", self.name("bob"), "--owner", "--yes", typed=1)
        accept = f"appvault share {self.team} {self.name('bob')} --owner"
        self.assertIn(f"`{accept}`".encode(), said)
        self.ok("bob", *accept.split()[1:], typed=1)
        self.assertEqual(self.ok("bob", "--store", "team", "get", "wifi"), b"guest1234")
        self.assertEqual(self.ok("alice", "--store", f"{self.name('bob')}/team", "get", "wifi"), b"guest1234")

    def test_a_group_and_everybody(self):
        self.begin()
        self.ok("alice", "share", "team", f"@{self.group}", "--read-only", typed=1)
        self.assertIn(f"@{self.group}\treader\t".encode(), self.ok("alice", "members", "team"))
        self.ok("alice", "unshare", "team", f"@{self.group}", typed=1)
        self.assertEqual(self.fails("alice", 2, "share", "team", "--everybody", typed=1)["name"], "InvalidArgument")
        self.ok("alice", "create", "proxies", "--shared", "--no-passcode")
        self.ok("alice", "--store", "proxies", "set", "http", input=b"proxy:3128")
        self.ok("alice", "share", "proxies", "--everybody", typed=1)
        self.assertEqual(self.ok("carol", "--store", f"{self.name('alice')}/proxies", "get", "http"), b"proxy:3128")

    def test_status_and_the_list_say_what_it_is_to_whom(self):
        self.begin("bob")
        self.ok("bob", "set", "large", input=os.urandom(300_000))
        owners, bobs = self.json("alice", "--store", "team", "status"), self.json("bob", "--store", self.team, "status")
        self.assertEqual((owners["kind"], owners["role"], owners["members"]), ("shared", "owner", 2))
        self.assertEqual((bobs["kind"], bobs["role"], bobs["members"]), ("shared", "writer", 2))
        self.assertEqual((bobs["owner"], bobs["store"]), (self.name("alice"), owners["store"]))
        entry = next(each for each in self.json("bob", "stores")["stores"] if each["name"] == "team")
        # The owner's quota is not a member's to know.
        self.assertEqual((bobs["used"], bobs["quota"]), (entry["bytes"], 0))
        self.assertGreater(owners["used"], bobs["used"])
        self.assertGreater(owners["quota"], 0)
        with self.people["bob"].terminal("--store", self.team, "status", env={"NO_COLOR": "1"}) as screen:
            self.assertEqual(screen.end(), 0)
            for line in (f"store +team of {self.name('alice')}", "opens with the stores of its members",
                         "role +reads and writes", "members +2", "recovery +no recovery key", r"space +\d+ KiB\r",
                         "locks +with the last of its members' stores"):
                self.assertRegex(screen.seen.decode(), line)
        with self.people["bob"].terminal("stores", env={"NO_COLOR": "1"}) as screen:
            self.assertEqual(screen.end(), 0)
            shown = f"{self.team} +open +a member's store .*\r\n  members: 2, role: reads"
            self.assertRegex(screen.seen.decode(), shown)
        listed = {each["name"]: each["role"] for each in self.json("root", "stores", "--all")["stores"]}
        self.assertEqual(listed, {"team": "none", "default": "none"})

    def test_a_recovery_key_is_for_an_owner_whose_store_was_lost(self):
        self.begin()
        with self.people["alice"].terminal("--store", "team", "recovery", "new") as screen:
            screen.expect("passcode: ")
            screen.type(PASSCODE + "\n")
            key = re.search(rb"[0-9A-Z]{5}(-[0-9A-Z]{5})+", screen.expect("key was made")).group()
            self.assertEqual(screen.end(), 0)
        self.assertTrue(self.json("alice", "--store", "team", "status")["recoveryKey"])
        lost = self.run_as("alice", "reset", "--yes", typed=1)
        self.assertEqual(lost.status, 0)
        self.assertRegex(lost.err, b"these will not open for you any more, unless [^:]*: team\n")
        self.ok("alice", "create", "--own-passcode", typed=1)
        self.assertIn("none of its members has access", self.doctor("alice"))
        recovered = self.people["alice"].run("--store", "team", "recover", passcodes=[key, SECRET, SECRET])
        self.assertEqual(recovered.status, 0, recovered)
        self.assertEqual(self.ok("alice", "--store", "team", "get", "wifi"), b"guest1234")

    def doctor(self, who):
        checks = json.loads(self.run_as(who, "doctor", "--json").out)["checks"]
        return "; ".join(each["text"] for each in checks if each["link"] == "stores")

    def test_a_reset_names_what_is_lost_before(self):
        self.begin("bob")
        self.ok("alice", "create", "mail")
        self.ok("alice", "create", "alone", "--shared")
        told = self.run_as("alice", "reset")
        self.assertEqual(told.status, 2)
        self.assertRegex(told.err, b"these will not open for you any more, unless [^:]*: mail, alone\n")
        self.assertRegex(told.err, b"until another member shares them with you again: team\n")
        # A script is told as well.
        told = self.run_as("bob", "reset", "--yes", "--json", typed=1)
        self.assertEqual(told.status, 0, told)
        self.assertRegex(told.err, f"until another member shares them with you again: {self.team}\n".encode())
        with self.people["alice"].terminal("--store", "team", "reset") as screen:
            screen.expect(f"everybody it is shared with loses it, too: {self.name('bob')}")
            screen.expect("type the store's name, team, to go on: ")
            screen.type("no\n")
            self.assertEqual(screen.end(), 130)
        told = self.run_as("root", "reset", "--user", self.name("alice"), "--yes")
        self.assertEqual(told.status, 0, told)
        self.assertIn(b"mail, alone, team\n", told.err)
        self.assertIn("mail: the store that it followed is gone", self.doctor("alice"))
        self.assertIn(f"{self.name('alice')}/mail: the store that it followed is gone", self.doctor("root"))
        self.assertNotIn("mail", self.doctor("carol"))

    def test_nothing_is_moved_onto_itself(self):
        self.begin("bob")
        ident = self.json("bob", "--store", self.team, "status")["store"]
        for who, here, there in (("alice", "team", self.team), ("alice", ident, "team"), ("bob", self.team, ident)):
            refused = self.fails(who, 2, "move", "--all", "--store", here, "--to", there, "--replace", "--yes")
            self.assertEqual(refused["message"], "both are the same store")
        self.ok("bob", "copy", "wifi", "--store", self.team, "--to", "default")
        self.ok("bob", "move", "wifi", "--to", self.team, "--replace", "--yes")
        self.assertEqual(self.ok("bob", "list"), b"")
        self.assertEqual(self.ok("alice", "--store", "team", "get", "wifi"), b"guest1234")

    def test_it_is_opened_where_it_exists(self):
        self.begin()
        told = self.fails("bob", 3, "create", self.team, "--shared", "--open-existing")
        self.assertEqual(told["hint"], f"{self.name('alice')} shares it by `appvault share team {self.name('bob')}`")
        self.ok("alice", "share", "team", self.name("bob"), typed=1)
        self.ok("bob", "lock")
        self.ok("bob", "create", self.team, "--shared", "--open-existing", typed=1)
        self.assertEqual(self.ok("bob", "--store", self.team, "get", "wifi"), b"guest1234")
        # The same line for its owner, whether it is there or not.
        self.ok("alice", "create", self.team, "--shared", "--open-existing")
        self.ok("alice", "create", f"{self.name('alice')}/crew", "--shared", "--open-existing")
        self.assertEqual(self.json("alice", "--store", "crew", "status")["kind"], "shared")
        kind = self.fails("bob", 1, "create", self.team, "--shared", "--no-passcode", "--open-existing")
        self.assertEqual(kind["name"], "AlreadyExists")
        for words in (["--shared"], ["--open-existing"], ["--shared", "--open-existing", "--policy", "secrets"]):
            self.assertEqual(self.fails("bob", 2, "create", self.team, *words)["name"], "InvalidArgument")

    def test_a_member_hears_of_it(self):
        self.begin()
        with self.people["bob"].terminal("watch", env={"NO_COLOR": "1"}) as screen:
            screen.expect("Ctrl-C ends this")
            self.ok("alice", "share", "team", self.name("bob"), typed=1)
            screen.expect(f"{self.team} is open")
            self.ok("alice", "unshare", "team", self.name("bob"), typed=1)
            screen.expect(f"{self.team} is locked")
            screen.type(clilab.INTERRUPT)
            screen.end()


if __name__ == "__main__":
    unittest.main()
