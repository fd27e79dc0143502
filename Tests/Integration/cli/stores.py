"""Several stores of one person: the real tool and the real daemon."""

import json
import os
import pwd
import re
import unittest

from realcli import POLICY, SECRET, Real

OTHER = b"another long passcode"


class Stores(unittest.TestCase):
    def setUp(self):
        self.lab = Real(POLICY + "[Passcode store:private]\nMinLength=12\n")
        self.addCleanup(self.lab.__exit__)
        self.ok("create", "--own-passcode", passcodes=[SECRET])

    def ok(self, *arguments, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, 0, result)
        return result.out

    def fails(self, status, *arguments, **more):
        result = self.lab.run("--json", *arguments, **more)
        self.assertEqual(result.status, status, result)
        return json.loads(result.out)

    def stores(self):
        return {store["name"]: store for store in json.loads(self.ok("stores", "--json"))["stores"]}

    def test_a_further_store_opens_and_locks_with_the_first(self):
        self.ok("create", "mail")
        self.ok("--store", "mail", "set", "imap", input=b"secret")
        found = self.stores()["mail"]
        self.assertEqual((found["kind"], found["parent"], found["state"]), ("follows", "default", "unlocked"))
        self.ok("lock")
        self.assertEqual({store["state"] for store in self.stores().values()}, {"locked"})
        self.assertEqual(self.fails(4, "--store", "mail", "get", "imap")["name"], "Locked")
        self.ok("unlock", passcodes=[SECRET])
        self.assertEqual(self.ok("get", "imap", env={"APPVAULT_STORE": "mail"}), b"secret")
        self.assertEqual(self.fails(3, "get", "imap")["name"], "DoesNotExist")

    def test_its_own_name_asks_for_the_first_ones_passcode(self):
        self.ok("create", "mail")
        self.ok("lock")
        self.assertEqual(self.fails(1, "--store", "mail", "unlock", passcodes=[OTHER])["name"], "InvalidPasscode")
        self.ok("--store", "mail", "unlock", passcodes=[SECRET])
        self.assertEqual({store["state"] for store in self.stores().values()}, {"unlocked"})

    def test_one_with_a_passcode_of_its_own_stays_shut(self):
        self.ok("create", "taxes", "--own-passcode", "--policy", "private", passcodes=[OTHER])
        self.assertEqual(self.stores()["taxes"]["policyKey"], "private")
        # Its section demands more than the others.
        short = self.fails(1, "create", "more", "--own-passcode", "--policy", "private", passcodes=[b"too short"])
        self.assertEqual(short["name"], "UnderMinLength")
        self.ok("lock")
        self.ok("--store", "taxes", "lock")
        self.ok("unlock", passcodes=[SECRET])
        self.assertEqual(self.stores()["taxes"]["state"], "locked")
        self.ok("--store", "taxes", "unlock", passcodes=[OTHER])

    def test_values_are_copied_and_moved_all_or_none(self):
        self.ok("create", "mail")
        for name in (b"a", b"b", b"\xff"):
            self.ok("set", name, input=b"value of " + name)
        self.ok("copy", b"a", b"\xff", "--to", "mail")
        self.assertEqual(self.ok("--store", "mail", "get", b"\xff"), b"value of \xff")
        self.assertEqual(self.fails(1, "move", "b", "a", "--to", "mail")["name"], "AlreadyExists")
        self.assertEqual(self.fails(3, "move", "b", "c", "--to", "mail")["name"], "DoesNotExist")
        self.assertEqual(self.fails(3, "move", "b", "--to", "nothing")["name"], "DoesNotExist")
        self.assertEqual(self.fails(2, "copy", "b", "--to", "default")["name"], "InvalidArgument")
        self.assertEqual(self.ok("list").split(), [b"a", b"b", b"\xff"])
        self.assertEqual(self.ok("--store", "mail", "list").split(), [b"a", b"\xff"])
        self.ok("move", "--all", "--to", "mail", "--replace", "--yes")
        self.assertEqual(self.ok("list"), b"")
        self.assertEqual(self.ok("--store", "mail", "list").split(), [b"a", b"b", b"\xff"])

    def test_nothing_is_moved_onto_itself(self):
        """a store that is shared has several names"""
        self.ok("create", "team", "--shared")
        for name in ("a", "b"):
            self.ok("--store", "team", "set", name, input=b"value")
        ident = self.stores()["team"]["store"]
        names = ["team", f"{pwd.getpwuid(os.getuid()).pw_name}/team", ident]
        for here in names:
            for there in names:
                with self.subTest(here=here, there=there):
                    refused = self.fails(2, "move", "--all", "--store", here, "--to", there, "--replace", "--yes")
                    self.assertEqual(refused["name"], "InvalidArgument")
                    refused = self.fails(2, "copy", "a", "--store", here, "--to", there)
                    self.assertEqual(refused["name"], "InvalidArgument")
                    self.assertEqual(self.ok("--store", "team", "list").split(), [b"a", b"b"])
        self.assertEqual(self.fails(2, "move", "--all", "--to", "default", "--yes")["name"], "InvalidArgument")

    def test_a_name_that_is_given_twice_is_moved_once(self):
        self.ok("create", "mail")
        self.ok("set", "a", input=b"value")
        self.ok("move", "a", "a", "--to", "mail")
        self.assertEqual(self.ok("list"), b"")
        self.assertEqual(self.ok("--store", "mail", "get", "a"), b"value")

    def test_names_and_ids(self):
        ident = "00010203-0405-4607-8809-0a0b0c0d0e0f"
        self.ok("create", "mail", "--follow=default", "--id", ident.upper())
        self.assertEqual(self.stores()["mail"]["store"], ident)
        self.assertEqual(self.fails(1, "create", "other", "--id", ident)["name"], "AlreadyExists")
        self.assertEqual(self.fails(2, "create", "a/b", "--no-passcode")["name"], "InvalidArgument")
        self.ok("rename", "mail", "post")
        self.assertEqual(set(self.stores()), {"default", "post"})
        self.assertEqual(self.fails(1, "rename", "default", "first")["parameters"]["reason"], "is-default")
        self.assertEqual(self.fails(1, "rename", "post", "default")["name"], "AlreadyExists")
        longest = "n" * 255
        self.ok("rename", "post", longest)
        self.assertIn(longest, self.stores())
        self.assertEqual(self.lab.run("rename", longest, "n" * 256).status, 2)

    def test_it_is_all_there_after_a_restart(self):
        self.ok("create", "mail")
        self.ok("--store", "mail", "set", "imap", input=b"secret")
        self.lab.process.kill()
        self.lab.process.wait()
        os.unlink(self.lab.path)
        self.lab.start()
        self.assertEqual({store["state"] for store in self.stores().values()}, {"locked"})
        self.ok("--store", "mail", "unlock", passcodes=[SECRET])
        self.assertEqual(self.ok("--store", "mail", "get", "imap"), b"secret")

    def test_a_person_sees_a_table(self):
        self.ok("create", "mail")
        self.ok("create", "taxes", "--own-passcode", "--policy", "private", passcodes=[OTHER])
        self.ok("create", "team", "--shared")
        with self.lab.terminal("stores", env={"NO_COLOR": "1"}) as screen:
            self.assertEqual(screen.end(), 0)
            rows = screen.seen.decode().splitlines()
        self.assertEqual(
            [re.sub(" +", " ", re.sub(r"\d+ KiB", "N KiB", row)) for row in rows],
            ["store state opens with records space", "default open passcode 0 N KiB", "mail open default 0 N KiB",
             "taxes open passcode 0 N KiB", " policy: private", "team open a member's store 0 N KiB",
             " members: 1, role: owner"])
        self.assertLessEqual(max(map(len, rows)), 80)
        rows = [line.split(b"\t") for line in self.ok("stores").splitlines()]
        self.assertEqual(
            [row[:3] + row[5:] for row in rows],
            [[b"default", b"unlocked", b"own", b"owner", b"0", b"default"],
             [b"mail", b"unlocked", b"follows", b"owner", b"0", b"default"],
             [b"taxes", b"unlocked", b"own", b"owner", b"0", b"private"],
             [b"team", b"unlocked", b"shared", b"owner", b"1", b"default"]])

    def test_a_reset_names_what_is_lost_with_it(self):
        self.ok("create", "mail")
        self.ok("create", "work")
        with self.lab.terminal("reset") as screen:
            screen.expect("mail, work")
            screen.type("no\n")
            self.assertNotEqual(screen.end(), 0)
        self.ok("reset", "--yes", passcodes=[SECRET])
        self.assertEqual(self.fails(3, "--store", "mail", "unlock")["name"], "DoesNotExist")
        self.assertIsNone(self.stores()["mail"]["parent"])
        self.ok("--store", "mail", "reset", "--yes")

    def test_a_recovery_key_ends(self):
        with self.lab.terminal("recovery", "new") as screen:
            screen.expect("passcode: ")
            screen.type(SECRET.decode() + "\n")
            screen.expect("recovery key was made")
            screen.end()
        self.assertTrue(json.loads(self.ok("--json", "status"))["recoveryKey"])
        self.ok("recovery", "delete", passcodes=[SECRET])
        self.assertFalse(json.loads(self.ok("--json", "status"))["recoveryKey"])
        self.assertEqual(self.fails(3, "recovery", "delete", passcodes=[SECRET])["name"], "DoesNotExist")


if __name__ == "__main__":
    unittest.main()
