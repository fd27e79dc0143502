"""An organisation's bundles: the real tool and the real daemon, signed by the real tools."""

import json
import os
import shutil
import tempfile
import unittest

from daemonlab import wait_until
from realcli import POLICY, Real
from signerslab import MISSING, Signers

DRAFT = """[Manifest]
Organisation=example.org
Bundle=policy
Version={version}
Expires={expires}
Contact=help@example.org
Threshold={threshold}
{more}[Keys]
"""
SOME = "[Passcode]\nMinLength=11\n"


@unittest.skipIf(MISSING, MISSING)
class Bundles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-fleet-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.signers = Signers(cls.folder)

    def setUp(self):
        self.lab = Real(POLICY)
        self.addCleanup(self.lab.__exit__)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def ok(self, *arguments, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, 0, result)
        return result.out

    def fails(self, name, *arguments, **more):
        result = self.lab.run("--json", *arguments, **more)
        told = json.loads(result.out)
        self.assertEqual((told["name"], result.status != 0), (name, True), told)
        return told

    def keys(self, names):
        return "".join(f"{name}={self.signers.keys[name]}\n" for name in names)

    def join(self, names=("anna",), threshold=1):
        text = (f"[Join]\nOrganisation=example.org\nTargetKey={'A' * 43}=\nThreshold={threshold}\n[Keys]\n"
                + self.keys(names))
        self.ok("fleet", "join", self.path("join", text))

    def bundle(self, version, by=("anna",), policy=SOME, keys=("anna",), threshold=1, expires="2099-01-01T00:00:00Z",
               more="", orders=None, orders_keys=()):
        """The path of one, as an organisation makes it."""
        draft = DRAFT.format(version=version, expires=expires, threshold=threshold, more=more) + self.keys(keys)
        if orders_keys:
            draft += "[OrdersKeys]\n" + self.keys(orders_keys)
        parts = ["policy=" + self.path("policy.conf", policy)]
        if orders is not None:
            parts.append("orders=" + self.path("orders", orders))
        return self.packed(version, draft, parts, by)

    def orders(self, version, orders, by):
        """The path of one with orders alone."""
        draft = ("[Manifest]\nOrganisation=example.org\nBundle=orders\nExpires=2099-01-01T00:00:00Z\n"
                 f"Version={version}\n")
        return self.packed(version, draft, ["orders=" + self.path("orders", orders)], by)

    def packed(self, version, draft, parts, by):
        manifest = self.ok("fleet", "manifest", self.path("draft", draft), *parts).decode()
        signatures = [self.signers.sign(name, os.path.basename(self.path("manifest", manifest))) for name in by]
        packed = self.ok("fleet", "pack", self.path("manifest"), *parts, *signatures)
        path = self.path(f"{version}.bundle")
        with open(path, "wb") as file:
            file.write(packed)
        return path

    def status(self):
        return json.loads(self.ok("fleet", "status", "--json"))

    def value(self, key="MinLength"):
        values = json.loads(self.ok("policy", "show", "--json"))["values"]
        (found,) = [value for value in values if value["key"] == key]
        return found["value"], found["file"]

    def test_a_life(self):
        """join, take, see, replace, leave; each holds at once, and after a restart"""
        self.assertEqual(self.status(), {"problem": ""})
        first = self.bundle(1)
        self.fails("DoesNotExist", "fleet", "import", first)
        self.join()
        self.assertEqual((self.status()["organisation"], self.status()["policyVersion"]), ("example.org", 0))
        self.fails("AlreadyExists", "fleet", "join", self.path("join"))
        self.ok("fleet", "import", first)
        self.assertEqual(self.value(), ("11", "example.org, version 1"))
        self.assertEqual(self.status()["contact"], "help@example.org")
        self.ok("fleet", "import", self.bundle(2, policy="[Passcode]\nMinLength=13\n"))
        self.assertEqual(self.value()[0], "13")
        self.restart()
        self.assertEqual((self.value()[0], self.status()["policyVersion"]), ("13", 2))
        self.ok("fleet", "leave", "--yes")
        self.assertEqual(self.value()[0], "8")
        self.assertEqual(self.status(), {"problem": ""})

    def test_refused(self):
        """what is not whole, not theirs, older or over is refused with its own code, and nothing changes"""
        self.join()
        self.ok("fleet", "import", self.bundle(5))
        with open(self.bundle(6), "rb") as file:
            whole = file.read()
        self.fails("BundleBroken", "fleet", "import", "-", input=b"<html>Please log in</html>")
        self.fails("BundleBroken", "fleet", "import", "-", input=whole[:-1])
        self.fails("BundleBroken", "fleet", "import", "-", input=whole.replace(b"MinLength=11", b"MinLength=10"))
        self.fails("BundleUntrusted", "fleet", "import", "-", input=whole.replace(b"Version=6", b"Version=7"))
        self.fails("BundleUntrusted", "fleet", "import", self.bundle(7, by=("bert",)))
        self.fails("BundleOlder", "fleet", "import", self.bundle(4))
        self.fails("BundleOlder", "fleet", "import", self.bundle(5, policy="[Passcode]\nMinLength=4\n"))
        self.fails("BundleOlder", "fleet", "import", self.bundle(6 + 2**20))
        self.fails("PolicyBroken", "fleet", "import", self.bundle(8, policy="[Passcode]\nColour=red\n"))
        self.assertEqual((self.value()[0], self.status()["policyVersion"]), ("11", 5))
        self.ok("fleet", "import", "-", input=whole)

    def test_a_key_is_replaced(self):
        """those who signed so far name the next ones, who sign it, too; the former key is worth nothing then"""
        self.join()
        self.ok("fleet", "import", self.bundle(1))
        both = {"keys": ("bert", "cora"), "threshold": 2}
        told = self.fails("BundleUntrusted", "fleet", "import", self.bundle(2, by=("anna", "bert"), **both))
        self.assertIn("1 of 2", told["message"])
        self.fails("BundleUntrusted", "fleet", "import", self.bundle(2, by=("bert", "cora"), **both))
        self.ok("fleet", "import", self.bundle(2, by=("anna", "bert", "cora"), **both))
        self.fails("BundleUntrusted", "fleet", "import", self.bundle(3))
        self.ok("fleet", "import", self.bundle(3, by=("cora", "bert"), **both))

    def test_final(self):
        """the machine's own file says something else, unless the organisation's is final"""
        with open(self.lab.policy, "a") as file:
            file.write("MinLength=9\n")
        wait_until(lambda: self.value()[0] == "9", "the policy is read")
        self.join()
        self.ok("fleet", "import", self.bundle(1))
        self.assertEqual(self.value()[0], "9")
        self.ok("fleet", "import", self.bundle(2, more="Final=yes\n"))
        self.assertEqual(self.value()[0], "11")

    def restart(self):
        self.lab.process.kill()
        self.lab.process.wait()
        os.unlink(self.lab.path)
        self.lab.start()

    def test_orders_of_both_kinds(self):
        """orders that came with the policy and come apart from then on never go back, over restarts, and back again"""
        def orders_version():
            return self.status()["ordersVersion"]

        apart = {"orders_keys": ("bert", "cora"), "more": "OrdersThreshold=1\nWipeThreshold=2\n"}
        self.join()
        self.ok("fleet", "import", self.bundle(50, orders=f"lock {'0' * 32}\n"))
        self.assertEqual(orders_version(), 0)
        self.ok("fleet", "import", self.bundle(51, **apart))
        # The last ones hold until there are others.
        self.assertEqual(orders_version(), 50)
        self.restart()
        self.fails("BundleOlder", "fleet", "import", self.orders(49, "", ("bert",)))
        wipe = f"wipe {'0' * 32} 60\n"
        told = self.fails("BundleUntrusted", "fleet", "import", self.orders(60, wipe, ("bert",)))
        self.assertIn("1 of 2", told["message"])
        self.ok("fleet", "import", self.orders(60, wipe, ("bert", "cora")))
        self.assertEqual(orders_version(), 60)
        told = self.fails("BundleOlder", "fleet", "import", self.bundle(59))
        self.assertEqual(told["parameters"]["reason"], "BundleOlder.orders-older")
        self.ok("fleet", "import", self.bundle(61))
        self.assertEqual(orders_version(), 0)
        self.restart()
        self.assertEqual(orders_version(), 0)
        # From 62 on they are apart once more; those of 60 are not these.
        self.ok("fleet", "import", self.bundle(62, **apart))
        self.assertEqual(orders_version(), 61)
        self.fails("BundleOlder", "fleet", "import", self.orders(60, wipe, ("bert", "cora")))

    def test_damaged(self):
        """who is believed never comes from a damaged file: nothing is taken until the machine joins anew, or leaves"""
        def cut(text):
            return text[:-2] + b"!!"

        def reworded(text):
            return text.replace(b"help@", b"held@")

        for name, damage in [("policy.bundle", cut), ("policy.bundle", reworded), ("join", cut)]:
            with self.subTest(name, damage=damage.__name__):
                self.join()
                self.ok("fleet", "import", self.bundle(3))
                path = os.path.join(self.lab.state, "fleet", name)
                with open(path, "rb") as file:
                    damaged = damage(file.read())
                self.path(path, damaged.decode())
                newer = self.bundle(4, policy="[Passcode]\nMinLength=13\n")
                told = self.fails("BundleBroken", "fleet", "import", newer)
                self.assertIn(name, told["message"])
                self.assertIn("appvault fleet join", told["hint"])
                self.assertEqual(self.value()[0], "11")
                status = self.lab.run("fleet", "status", "--json")
                self.assertEqual(status.status, 1)
                self.assertIn("appvault fleet join", json.loads(status.out)["problem"])
                # What the sentence says works.
                self.join()
                self.ok("fleet", "import", newer)
                self.assertEqual((self.value()[0], self.status()["problem"]), ("13", ""))
                self.path(path, damaged.decode())
                self.ok("fleet", "leave", "--yes")
                self.assertEqual((self.value()[0], self.status()), ("8", {"problem": ""}))

    def test_check(self):
        """`fleet check` says who has signed, without a daemon that has joined"""
        bundle = self.bundle(1, by=("anna", "bert"), keys=("anna", "bert", "cora"))
        told = json.loads(self.ok("fleet", "check", bundle, "--json"))
        self.assertEqual(([each["name"] for each in told["signed"]], told["needed"]), (["anna", "bert"], 1))


if __name__ == "__main__":
    unittest.main()
