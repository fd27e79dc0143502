"""What is fetched from an organisation's server: the real daemon, the real worker, a real nginx with TLS."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from fetchlab import NGINX, Authority, Odd, Proxy, Web, Worker
from realcli import POLICY, Real

DRAFT = """[Manifest]
Organisation=example.org
Bundle={kind}
Version={version}
Expires={expires}
{rest}"""
CHARTER = """Threshold=1
{more}[Keys]
anna={key}
"""


class Publisher:
    """One who signs."""

    def __init__(self, folder):
        self.folder = folder
        self.run("minisign", "-G", "-W", "-p", "key.pub", "-s", "key")
        with open(self.path("key.pub")) as file:
            self.key = file.read().split("\n")[1]

    def path(self, name, data=None):
        path = os.path.join(self.folder, name)
        if data is not None:
            with open(path, "wb") as file:
                file.write(data)
        return path

    def run(self, *words):
        subprocess.run(words, check=True, capture_output=True, cwd=self.folder)

    def join(self, urls):
        lines = "".join(f"{key}={url}\n" for key, url in urls.items())
        return self.path("join", (
            f"[Join]\nOrganisation=example.org\n{lines}TargetKey={'A' * 43}=\n"
            + CHARTER.format(more="", key=self.key)).encode())

    def bundle(self, lab, version, policy="[Passcode]\nMinLength=11\n", expires="2099-01-01T00:00:00Z"):
        draft = DRAFT.format(
            kind="policy", version=version, expires=expires, rest=CHARTER.format(more="", key=self.key))
        part = "policy=" + self.path("policy.conf", policy.encode())
        manifest = lab.run("fleet", "manifest", self.path("draft", draft.encode()), part)
        assert manifest.status == 0, manifest
        self.path("manifest", manifest.out)
        self.run("minisign", "-S", "-s", "key", "-m", "manifest", "-x", "signature")
        packed = lab.run("fleet", "pack", self.path("manifest"), part, self.path("signature"))
        assert packed.status == 0, packed
        return packed.out


@unittest.skipUnless(shutil.which("minisign") and NGINX, "minisign or nginx is not installed")
class Lab(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-fetched-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.publisher = Publisher(cls.folder)
        cls.authority = Authority(cls.folder, "ca")
        cls.authority.issue("server")
        cls.ca = {"ca.pem": cls.authority.path + ".pem"}

    def entered(self, manager):
        manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return manager

    def web(self, **more):
        return self.entered(Web(self.authority, **more))

    def machine(self, url, worker=None, orders=None, report=None, deadline=60):
        """One that has joined."""
        self.worker = worker or self.entered(Worker(self.ca))
        self.lab = Real(POLICY, ["--fetch-socket", self.worker.socket, "--deadline", f"fetch={deadline}"])
        self.addCleanup(self.lab.__exit__)
        urls = {"URL": url, "OrdersURL": orders, "ReportURL": report}
        self.ok("fleet", "join", self.publisher.join({key: url for key, url in urls.items() if url}))
        return self.lab

    def ok(self, *arguments, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, 0, result)
        return result.out

    def fetch(self):
        return json.loads(self.ok("fleet", "fetch", "--json"))["message"]

    def fails(self, reason, name="FetchFailed"):
        result = self.lab.run("--json", "fleet", "fetch")
        told = json.loads(result.out)
        self.assertEqual((told["name"], told["parameters"].get("reason")), (name, reason), told)
        self.assertNotEqual(result.status, 0)
        return told

    def status(self):
        return json.loads(self.ok("fleet", "status", "--json"))

    def publish(self, web, version, **more):
        web.publish(self.publisher.bundle(self.lab, version, **more))


class Fetching(Lab):
    def test_a_life(self):
        """what is published is taken, what has not changed is not sent again, and `fleet status` tells of it"""
        web = self.web()
        self.machine(web.url())
        self.assertEqual((self.status()["fetchedAt"], self.status()["fetchProblem"]), (0, ""))
        self.publish(web, 1)
        self.assertEqual(self.fetch(), "Version 1 of example.org is in force.")
        self.assertEqual(self.fetch(), "example.org has nothing new.")
        self.publish(web, 2)
        self.assertEqual(self.fetch(), "Version 2 of example.org is in force.")
        self.assertEqual(web.statuses(), [200, 304, 200])
        status = self.status()
        self.assertEqual((status["policyVersion"], status["fetchProblem"]), (2, ""))
        self.assertGreater(status["fetchedAt"], 0)


if __name__ == "__main__":
    unittest.main()
