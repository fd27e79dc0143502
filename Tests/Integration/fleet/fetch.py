"""What is fetched from an organisation's server: the real daemon, the real worker, a real nginx with TLS."""

import base64
import hashlib
import http.client
import json
import os
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from daemonlab import wait_until
from fetchlab import NGINX, REMOTE, Authority, Journal, Odd, Proxy, Publisher, Web, Worker, free_port
from realcli import POLICY, Real
from ruleslab import FakeWorker, frame, receive
from slow import slow

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

    def restart(self):
        self.lab.process.kill()
        self.lab.process.wait()
        os.unlink(self.lab.path)
        self.lab.start()

    def fetch(self):
        return json.loads(self.ok("fleet", "fetch", "--json"))["message"]

    def fails(self, reason, name="FetchFailed"):
        result = self.lab.run("--json", "fleet", "fetch")
        told = json.loads(result.out)
        self.assertEqual((told["name"], told["parameters"].get("reason")), (name, reason and f"{name}.{reason}"), told)
        self.assertNotEqual(result.status, 0)
        return told

    def status(self):
        return json.loads(self.ok("fleet", "status", "--json"))

    def publish(self, web, version, **more):
        web.publish(self.publisher.bundle(version, **more))


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


    def test_orders_apart(self):
        """both files are asked for over one connection, and what is wrong with one keeps back nothing of the other"""
        web = self.web()
        self.machine(web.url(), orders=web.url("orders.bundle"))
        self.publish(web, 1)
        web.publish(self.publisher.bundle(7, kind="orders"), "orders.bundle")
        self.assertEqual(
            self.fetch(), "Version 1 of example.org and version 7 of its orders are in force.")
        self.assertEqual((self.status()["policyVersion"], self.status()["ordersVersion"]), (1, 7))
        self.publish(web, 2)
        web.publish(b"<html>", "orders.bundle")
        self.fails("no-bundle")
        self.assertEqual((self.status()["policyVersion"], self.status()["ordersVersion"]), (2, 7))
        web.publish(self.publisher.bundle(8, kind="orders"), "orders.bundle")
        web.publish(b"<html>")
        self.fails("no-bundle")
        self.assertEqual((self.status()["policyVersion"], self.status()["ordersVersion"]), (2, 8))

    def test_tags(self):
        """the server is told only of what was taken and is still here"""
        web = self.web()
        self.machine(web.url())
        self.publish(web, 2)
        self.fetch()
        self.publish(web, 1)
        self.fails("older", "BundleOlder")
        self.fails("older", "BundleOlder")
        self.assertEqual(web.statuses(), [200, 200, 200])
        self.publish(web, 3)
        self.fetch()
        self.fetch()
        self.assertEqual(web.statuses()[3:], [200, 304])
        os.unlink(os.path.join(self.lab.state, "fleet", "policy.bundle"))
        self.assertEqual(self.fetch(), "Version 3 of example.org is in force.")
        self.assertEqual(self.fetch(), "example.org has nothing new.")
        self.assertEqual(web.statuses()[5:], [200, 304])
        self.ok("fleet", "leave", "--yes")
        self.assertEqual(os.listdir(os.path.join(self.lab.state, "fleet")), [])
        self.assertEqual(self.fails(None, "DoesNotExist")["message"], "this machine has joined no organisation")
        self.ok("fleet", "join", self.publisher.path("join"))
        self.assertEqual(self.fetch(), "Version 3 of example.org is in force.")
        self.assertEqual(web.statuses()[7:], [200])

    def test_what_is_told(self):
        """`fleet status` says why nothing came, also after a restart, in the asker's language, until it comes"""
        web = self.web()
        self.machine(web.url())
        self.fails("status")
        said = f"localhost:{web.port} answers with the status 404"
        self.assertEqual(self.status()["fetchProblem"], said)
        self.assertIn(f"in vain: {said}", self.ok("fleet", "status").decode())
        self.restart()
        self.assertEqual(self.status()["fetchProblem"], said)
        self.fails("status")
        with open(self.lab.log.name) as file:
            # Of the same trouble the journal hears once.
            self.assertEqual(file.read().count(said), 1)
        self.publish(web, 1)
        self.fetch()
        self.assertEqual(self.status()["fetchProblem"], "")
        self.assertIn("all is well", self.ok("fleet", "status").decode())

    def test_nowhere(self):
        """bundles that come by other ways alone are not fetched"""
        self.machine(None)
        self.fails("nowhere")


class Trust(Lab):
    def test_certificates(self):
        """a server whose certificate is another CA's, over, not yet valid, or another name's is none"""
        other = Authority(self.folder, "other")
        other.issue("strange")
        self.authority.issue("old", days=(-9, -2))
        self.authority.issue("young", days=(2, 9))
        self.authority.issue("elsewhere", name="elsewhere", hosts=["elsewhere.example.org"])
        for certificate, reason in [
                ("strange", "untrusted"), ("old", "not-valid-now"), ("young", "not-valid-now"),
                ("elsewhere", "other-name")]:
            with self.subTest(certificate):
                web = self.web(certificate=certificate)
                self.machine(web.url())
                self.publish(web, 1)
                self.fails(reason)
                self.assertEqual((self.status()["policyVersion"], web.statuses()), (0, []))

    def test_system(self):
        """without a CA of the organisation's own those of the system count, and ours is none of them"""
        web = self.web()
        self.machine(web.url(), self.entered(Worker()))
        self.fails("untrusted")

    def test_system_with_ours(self):
        """who stands in the system's folder of CAs vouches for a server"""
        before = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        system = os.path.join(self.folder, "system")
        os.mkdir(system)
        mounts = ["sh", "-c", f"mount --bind {system} /etc/ssl/certs && exec \"$@\"", "sh"]
        if subprocess.run([*before, *mounts, "true"], capture_output=True).returncode != 0:
            self.skipTest("no other folder can be shown here")
        web = self.web()
        self.publish(web, 1)
        self.machine(web.url(), self.entered(Worker(before=[*before, *mounts])))
        self.fails("untrusted")
        certificate = self.authority.path + ".pem"
        name = subprocess.run(
            ["openssl", "x509", "-hash", "-noout", "-in", certificate], capture_output=True, check=True, text=True)
        shutil.copy(certificate, os.path.join(system, name.stdout.strip() + ".0"))
        self.assertEqual(self.fetch(), "Version 1 of example.org is in force.")

    def test_own_files(self):
        """files of the machine's own that are none are named, and blank ones are as if missing"""
        web = self.web()
        bad, empty = self.publisher.path("bad", b"nothing"), self.publisher.path("empty", b"\n")
        self.machine(web.url(), self.entered(Worker({"ca.pem": bad})))
        self.fails("own-files")
        self.machine(web.url(), self.entered(Worker({**self.ca, "client.pem": bad, "client.key": bad})))
        self.fails("own-files")
        self.machine(web.url(), self.entered(Worker({**self.ca, "client.pem": empty, "client.key": empty})))
        self.fails("status")

    def test_client_certificate(self):
        """a server that wants to know the machine hears it from its certificate"""
        web = self.web(server=f"ssl_verify_client on; ssl_client_certificate {self.authority.path}.pem;")
        self.machine(web.url())
        self.publish(web, 1)
        self.assertIn("status 400", self.fails("status")["message"])
        client = self.authority.issue("client", name="machine-1", hosts=())
        own = {"client.pem": client + ".pem", "client.key": client + ".key"}
        self.machine(web.url(), self.entered(Worker({**self.ca, **own})))
        self.fetch()
        self.assertEqual(web.statuses(), [400, 200])

    def test_no_encryption(self):
        """a server without TLS is none"""
        def serve(connection):
            connection.recv(5)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with Odd(self.authority.path, serve, tls=False, listens=False) as odd:
            self.machine(odd.url())
            self.fails("no-tls")


class Servers(Lab):
    def test_statuses(self):
        """whatever a server refuses with is said, and no page of it is looked at"""
        web = self.web(server="location /s { rewrite ^/s(.*)$ /$1; } " + " ".join(
            f"location /{status} {{ return {status} 'appvault bundle 1'; }}" for status in (204, 403, 500, 503)))
        for status in (204, 403, 404, 500, 503):
            self.machine(web.url(str(status)))
            self.assertIn(f"status {status}", self.fails("status")["message"])

    def test_captive_portal(self):
        """a page that somebody is to agree to is no bundle, and a way to one is not gone"""
        web = self.web(server="""
            location /page { return 200 '<html>Please log in</html>'; }
            location /empty { return 200 ''; }
            location /plain { return 302 http://127.0.0.1:$server_port/fleet.bundle; }
            location /file { return 302 file:///etc/passwd; }
            location /round { return 302 /round; }
            location /once { return 302 /fleet.bundle; }""")
        for name, reason in [
                ("page", "no-bundle"), ("empty", "no-bundle"), ("plain", "redirected"), ("file", "redirected"),
                ("round", "redirected")]:
            with self.subTest(name):
                self.machine(web.url(name))
                self.fails(reason)
                self.assertEqual(self.status()["policyVersion"], 0)
        self.assertEqual(sum("/round" in line for line in web.lines()), 4)
        self.machine(web.url("once"))
        self.publish(web, 1)
        self.fetch()
        self.fetch()
        self.assertEqual(web.statuses()[-4:], [302, 200, 302, 304])

    def answering(self, *pieces, deadline=60):
        """A machine that has joined one whose server says this, and then nothing more."""
        def serve(connection):
            for piece in pieces:
                connection.sendall(piece)
        odd = self.entered(Odd(self.authority.folder + "/server", serve))
        self.machine(odd.url(), deadline=deadline)
        return odd

    def test_huge(self):
        """more than 1 MiB is not taken, whether the server says so before or not"""
        web = self.web()
        self.machine(web.url())
        web.publish(b"a" * (1 << 20) + b"a")
        self.fails("too-large")
        web.publish(b"")
        os.truncate(os.path.join(web.folder, "www", "fleet.bundle"), 1 << 28)
        self.fails("too-large")
        self.assertLess(int(web.lines()[-1].split('" ')[1].split()[1]), 1 << 28)
        self.answering(b"HTTP/1.1 200 OK\r\n\r\n", *[b"a" * 65536] * 17)
        self.fails("too-large")
        self.answering(b"HTTP/1.1 200 OK\r\n\r\n", b"a" * (1 << 20))
        self.fails("no-bundle")

    def test_cut(self):
        """a connection that ends early is said so, and a file that was cut before is not whole"""
        self.answering(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nappvault bundle 1\n")
        self.fails("cut")
        self.answering()
        self.fails("cut")
        web = self.web()
        self.machine(web.url())
        whole = self.publisher.bundle(1)
        web.publish(whole[:-9])
        self.fails("not-whole", "BundleBroken")
        web.publish(whole)
        self.fetch()
        self.assertEqual(web.statuses(), [200, 200])

    def test_nonsense(self):
        """what is no HTTP, headers without an end, and what was not asked for, are no bundle"""
        self.answering(b"\0\1\2\3 nonsense\r\n\r\n")
        self.fails("failed")
        self.answering(b"HTTP/1.1 200 OK\r\n", *[b"A: " + b"a" * 60000 + b"\r\n"] * 20)
        told = json.loads(self.lab.run("--json", "fleet", "fetch").out)
        # libcurl's number differs between releases.
        self.assertIn(told["reason"], ("FetchFailed.cut", "FetchFailed.failed", "FetchFailed.too-large"))
        self.answering(b"HTTP/1.1 304 Not Modified\r\n\r\n")
        self.assertIn("status 304", self.fails("status")["message"])

    @slow
    def test_slow(self):
        """a server that takes its time has no more of it than there is, and nobody waits for it"""
        going = threading.Event()
        self.addCleanup(going.set)

        def drip(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not going.wait(0.05):
                connection.sendall(b"a")
        for serve in (lambda connection: going.wait(60), drip):
            with Odd(self.authority.folder + "/server", serve) as odd:
                self.machine(odd.url(), deadline=1)
                self.fails("too-slow")


class Ways(Lab):
    def test_no_network(self):
        """without a network there is no way, and no name"""
        before = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]
        if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
            self.skipTest("no network can be taken away here")
        for host, reason in [("127.0.0.1", "no-way"), ("[::1]", "no-way"), ("fleet.example.org", "no-name")]:
            with self.subTest(host):
                self.machine(f"https://{host}/fleet.bundle", self.entered(Worker(self.ca, before=before)))
                self.fails(reason)

    def test_refused(self):
        """a server that is down refuses"""
        self.machine(f"https://localhost:{free_port()}/fleet.bundle")
        self.fails("refused")

    def test_proxy(self):
        """a proxy of the unit's environment is used, its refusal said, and what it need not be used for goes past it"""
        web = self.web()
        with Proxy(self.authority.folder + "/server") as proxy:
            environment = {"https_proxy": proxy.url()}
            self.machine(web.url(), self.entered(Worker(self.ca, environment)))
            self.publish(web, 1)
            self.fetch()
            self.assertEqual((proxy.connections, web.statuses()), (1, [200]))
            environment["no_proxy"] = "localhost"
            self.machine(web.url(), self.entered(Worker(self.ca, environment)))
            self.fetch()
            self.assertEqual((proxy.connections, web.statuses()), (1, [200, 200]))
        for status in (403, 407, 502):
            with Proxy(self.authority.folder + "/server", status) as proxy:
                self.machine(web.url(), self.entered(Worker(self.ca, {"https_proxy": proxy.url()})))
                self.fails("proxy")


class Workers(Lab):
    """What a worker does that somebody has taken over, and what becomes of one that is alone."""

    def lying(self, say):
        """A machine whose worker answers each question by what `say(nonce)` returns."""
        def serve(connection):
            while True:
                header = receive(connection, 10)
                if len(header) < 10:
                    return
                body = receive(connection, struct.unpack("<IHI", header)[0])
                connection.sendall(say(body[:16]))
        fake = self.entered(FakeWorker(serve))
        self.machine("https://localhost/fleet.bundle", fake)
        return fake

    @staticmethod
    def answer(nonce, outcome=0, status=200, tag=b'"a"', content=b"", kind=0x81, number=0):
        body = nonce + struct.pack("<BHH", outcome, status, len(tag)) + tag
        return frame(kind, body + struct.pack("<I", len(content)) + content, number)

    def test_lies(self):
        """what answers no question counts for nothing, and neither does a bundle that nobody has signed"""
        answer = self.answer
        for name, say, reason in [
                ("another nonce", lambda nonce: answer(b"x" * 16), "worker-lied"),
                ("another type", lambda nonce: answer(nonce, kind=0x83), "worker-lied"),
                ("a tag", lambda nonce: answer(nonce, number=1), "worker-lied"),
                ("no status", lambda nonce: answer(nonce, status=0), "worker-lied"),
                ("no outcome", lambda nonce: answer(nonce, outcome=99), "worker-lied"),
                ("failed, with a status", lambda nonce: answer(nonce, outcome=13), "worker-lied"),
                ("a page of an error", lambda nonce: answer(nonce, status=404, content=b"x"), "worker-lied"),
                ("more behind it", lambda nonce: answer(nonce) + b"x", "worker-lied"),
                ("too long", lambda nonce: struct.pack("<IHI", 0xFFFFFFFF, 0x81, 0), "worker-lied"),
                ("nothing new", lambda nonce: answer(nonce, status=304), "status"),
                ("no bundle", lambda nonce: answer(nonce, content=b"x" * (1 << 20)), "no-bundle"),
        ]:
            with self.subTest(name):
                self.lying(say)
                self.fails(reason)
                self.assertEqual(self.status()["policyVersion"], 0)
        unsigned = []
        self.lying(lambda nonce: answer(nonce, content=unsigned[0]))
        unsigned.append(self.publisher.bundle(1).replace(b"Version=1", b"Version=9"))
        self.fails("signatures", "BundleUntrusted")
        self.assertEqual(self.status()["policyVersion"], 0)

    def test_ends(self):
        """a worker that ends, or is not there, is named"""
        self.machine("https://localhost/", self.entered(FakeWorker(lambda connection: connection.recv(9))))
        self.fails("worker-ended")
        os.unlink(self.worker.socket)
        self.fails("no-worker")

    def hanging(self):
        """A server that lets one wait, and the event that ends the wait."""
        going = threading.Event()
        self.addCleanup(going.set)
        return self.entered(Odd(self.authority.folder + "/server", lambda connection: going.wait(60))), going

    def under_way(self, odd):
        fetch = subprocess.Popen(
            self.lab.command("fleet", "fetch"), env=self.lab.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(fetch.communicate)
        wait_until(lambda: odd.heard, "the server is asked")
        return fetch

    def test_meanwhile(self):
        """while a server lets us wait stores are made and opened, a file is taken, and a second fetch is busy"""
        odd, going = self.hanging()
        self.machine(odd.url())
        fetch = self.under_way(odd)
        secret = [b"correct horse battery"]
        self.ok("create", "--own-passcode", passcodes=secret * 2)
        self.ok("lock")
        self.ok("unlock", passcodes=secret)
        told = json.loads(self.lab.run("--json", "fleet", "fetch").out)
        self.assertEqual(told["name"], "Busy")
        self.ok("fleet", "import", "-", input=self.publisher.bundle(3))
        self.assertEqual(self.status()["policyVersion"], 3)
        self.ok("fleet", "leave", "--yes")
        self.assertIsNone(fetch.poll(), "the fetch waits still")
        going.set()
        self.assertEqual(fetch.wait(30), 5)

    def test_left_meanwhile(self):
        """what comes for an organisation that the machine has left is not taken"""
        answers = []
        odd, going = self.hanging()
        odd.serve = lambda connection: going.wait(60) and connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answers[0]) + answers[0])
        self.machine(odd.url())
        answers.append(self.publisher.bundle(1))
        fetch = self.under_way(odd)
        self.ok("fleet", "leave", "--yes")
        going.set()
        self.assertEqual(fetch.wait(30), 3)
        self.assertEqual(self.status(), {"problem": ""})
        self.assertEqual(os.listdir(os.path.join(self.lab.state, "fleet")), [])

    def test_killed(self):
        """with the daemon its worker ends, nothing is half taken, and the next daemon fetches"""
        odd, going = self.hanging()
        self.machine(odd.url())
        fetch = self.under_way(odd)
        self.assertEqual(len(self.worker.children()), 1)
        self.lab.process.kill()
        self.lab.process.wait()
        wait_until(lambda: not self.worker.children(), "the worker is alone, and ends", 20)
        self.assertNotEqual(fetch.wait(30), 0)
        os.unlink(self.lab.path)
        self.lab.start()
        whole = self.publisher.bundle(1)
        odd.serve = lambda connection: connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(whole) + whole)
        self.assertEqual(self.fetch(), "Version 1 of example.org is in force.")


@unittest.skipUnless(os.path.exists(REMOTE), "systemd-journal-remote is not installed")
class Reports(Lab):
    """docs/fleet/nginx.conf in front of systemd-journal-remote."""

    def setUp(self):
        self.journal = self.entered(Journal())
        self.site = self.web(journal=self.journal.port)

    def certificates(self, name, authority=None):
        path = (authority or self.authority).issue("of-" + name.split(",")[0], name=name, hosts=())
        return {**self.ca, "client.pem": path + ".pem", "client.key": path + ".key"}

    def reporting(self, name="machine-1", url="fleet.bundle"):
        return self.machine(
            url and self.site.url(url), self.entered(Worker(self.certificates(name))), report=self.site.url("upload"))

    def ours(self, entry):
        return {key.removeprefix("APPVAULT_"): value for key, value in entry.items() if key.startswith("APPVAULT_")}

    def test_a_report(self):
        """what is in force, and how the stores stand, with the name that the server knows the machine by"""
        self.reporting()
        with open(os.path.join(self.folder, "id"), "w") as file:
            file.write("0123456789abcdef0123456789abcdef\n")
        self.lab.options += ["--machine-id", os.path.join(self.folder, "id")]
        self.restart()
        self.site.publish(self.publisher.bundle(4, policy="[Passcode]\nMinLength=8\n"))
        self.ok("create", "--own-passcode", passcodes=[b"correct horse"] * 2)
        before = int(time.time() * 1e6)
        self.fetch()
        key = base64.b64decode("A" * 43 + "=")
        machine = hashlib.blake2b(
            b"machine\0" + b"0123456789abcdef" * 2, digest_size=16, key=key, person=b"AV fleet target\0").hexdigest()
        first, = self.journal.entries(1)
        wanted = {
            "ORGANISATION": "example.org", "MACHINE": machine, "RELEASE": "0.1.0", "POLICY_VERSION": "4",
            "ORDERS_VERSION": "0", "STORES": "1", "DUE": "0", "RETRY_LOCKED": "0", "LOCKED": "0", "WIPED": "0",
            "OFFLINE_DAYS": "0", "CONSENTS_DUE": "0", "AGREED": "", "PROBLEM": ""}
        told = self.ours(first)
        self.assertGreater(int(told.pop("SIGNED")), 0)
        self.assertEqual(told, wanted)
        self.assertEqual(
            (first["_HOSTNAME"], first["MESSAGE_ID"]), ("machine-1", "6b1fae4e0c7c4f6f9d1f0d6c55b1a7f3"))
        self.assertGreater(int(first["__REALTIME_TIMESTAMP"]), before - 1_000_000)
        # Passcodes of 13 are too short from now on, which shows when one is typed.
        self.site.publish(self.publisher.bundle(5, policy="[Passcode]\nMinLength=14\n"))
        self.fetch()
        self.ok("lock")
        self.assertNotEqual(self.lab.run("unlock", passcodes=[b"correct horse"]).status, 0)
        # A policy that is no whole one here, and what that is reported as.
        self.site.publish(self.publisher.bundle(6, policy="[Passcode]\nColour=red\n"))
        self.assertEqual(json.loads(self.lab.run("--json", "fleet", "fetch").out)["name"], "PolicyBroken")
        third = self.ours(self.journal.entries(3)[2])
        self.assertEqual((third["DUE"], third["POLICY_VERSION"]), ("1", "5"))
        self.assertIn("Colour", third["PROBLEM"])

    def test_no_news(self):
        """a report that says what the last one said is not sent; one that nobody has taken is"""
        self.reporting()
        self.publish(self.site, 1)
        for _ in range(3):
            self.fetch()
        self.assertEqual(len(self.journal.entries(1)), 1)
        self.ok("create", "--own-passcode", passcodes=[b"correct horse"] * 2)
        self.journal.process.terminate()
        self.journal.process.wait(10)
        self.assertEqual(self.lab.run("fleet", "fetch").status, 5)
        self.journal.start()
        for _ in range(2):
            self.fetch()
        self.assertEqual([self.ours(entry)["STORES"] for entry in self.journal.entries(2)], ["0", "1"])

    def test_report_alone(self):
        """where bundles come by other ways, the report still goes"""
        self.reporting(url=None)
        self.assertEqual(self.fetch(), "example.org has this machine's report.")
        self.assertEqual(self.ours(self.journal.entries(1)[0])["POLICY_VERSION"], "0")
        self.assertEqual(self.status()["reportURL"], self.site.url("upload"))

    def test_without_the_server(self):
        """a report that nobody takes is told of, and keeps no bundle back"""
        self.machine(self.site.url(), report=self.site.url("upload"))
        self.publish(self.site, 1)
        self.assertIn("status 403", self.fails("status")["message"])
        self.assertEqual(self.status()["policyVersion"], 1)
        self.assertIn("status 403", self.status()["fetchProblem"])

    def post(self, body, name="machine-1", authority=None):
        """A machine that says what it likes."""
        certificates = self.certificates(name, authority)
        context = ssl.create_default_context(cafile=self.authority.path + ".pem")
        context.load_cert_chain(certificates["client.pem"], certificates["client.key"])
        connection = http.client.HTTPSConnection("localhost", self.site.port, context=context, timeout=30)
        try:
            connection.request("POST", "/upload", body)
            return connection.getresponse().status
        finally:
            connection.close()

    def test_a_machine_lies(self):
        """a machine reports as itself, one entry, and nothing that is for the journal to say"""
        good = b"MESSAGE=a\nAPPVAULT_STORES=1\n"
        self.assertEqual(self.post(good + b"\n", "machine-2"), 202)
        no_report = [
            b"_HOSTNAME=machine-1\n" + good, good + b"_HOSTNAME=machine-1\n", good + b"\n" + good,
            b"__REALTIME_TIMESTAMP=1\n" + good, good + b"\n_HOSTNAME=machine-1\n" + good, b"", b"\n", b"nonsense",
            b"MESSAGE\n\x01\0\0\0\0\0\0\0a\n", b"A=\n_HOSTNAME\n\x01\0\0\0\0\0\0\0a\n", b"message=a\n", good + b"\n\n",
            b"A=a\r\n\r\n_HOSTNAME=b\n", b"A=" + b"a\n" * 70, good[:-1],
        ]
        for body in no_report:
            self.assertEqual(self.post(body, "machine-2"), 202, body)
        found = self.journal.entries(1 + len(no_report))
        self.assertEqual(len(found), 1 + len(no_report))
        self.assertEqual({entry["_HOSTNAME"] for entry in found}, {"machine-2"})
        self.assertEqual(
            {entry["MESSAGE"] for entry in found[1:]}, {"what this machine sent is no report"})
        self.assertEqual(self.post(b"A=" + b"a" * 16384, "machine-2"), 413)
        # Names that are none, and those that another CA has signed.
        for name in ("a b", "a\nb", "", "-a", "x" * 64, "a_HOSTNAME=b"):
            self.assertEqual(self.post(good, name or " "), 403, name)
        self.assertEqual(self.post(good, authority=Authority(self.folder, "others")), 400)
        self.assertEqual(len(self.journal.entries(1)), 1 + len(no_report))


class Alone(Lab):
    """The worker by itself."""

    @staticmethod
    def question(url, method=1, report=b"", tag=b"", number=0, kind=0x80):
        body = b"n" * 16 + struct.pack("<BHH", method, 5, len(url)) + url + struct.pack("<H", len(tag)) + tag
        return frame(kind, body + struct.pack("<I", len(report)) + report, number)

    def ask(self, connection, *more, **named):
        """Outcome, status, tag and content; None where it hangs up."""
        connection.sendall(self.question(*more, **named))
        header = receive(connection, 10)
        if len(header) < 10:
            return None
        length, kind, number = struct.unpack("<IHI", header)
        body = receive(connection, length)
        self.assertEqual((kind, number, body[:16]), (0x81, 0, b"n" * 16))
        outcome, status, size = struct.unpack_from("<BHH", body, 16)
        return outcome, status, body[21:21 + size], body[25 + size:]

    def connect(self, worker):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.settimeout(30)
        connection.connect(worker.socket)
        return connection

    def test_questions(self):
        """each question has its answer, over one connection; whatever is no question ends it"""
        web, worker = self.web(), self.entered(Worker(self.ca))
        web.publish(b"a file")
        connection = self.connect(worker)
        url = web.url().encode()
        outcome, status, tag, content = self.ask(connection, url)
        self.assertEqual((outcome, status, content), (0, 200, b"a file"))
        self.assertEqual(self.ask(connection, url, tag=tag), (0, 304, tag, b""))
        self.assertEqual(self.ask(connection, web.url("missing").encode())[:2], (0, 404))
        self.assertEqual(self.ask(connection, url)[3], b"a file")
        self.assertEqual(self.ask(connection, url, method=3)[3], b"a file")
        web.publish(b"#" * (32 << 10), "found")
        web.publish(b"#" * (32 << 10 | 1), "more")
        self.assertEqual(len(self.ask(connection, web.url("found").encode(), method=3)[3]), 32 << 10)
        self.assertEqual(self.ask(connection, web.url("more").encode(), method=3)[::3], (11, b""))
        self.assertEqual(len(self.ask(connection, web.url("more").encode())[3]), 32 << 10 | 1)
        # nginx takes no post, and says so in a page, which is no line of text.
        self.assertEqual(self.ask(connection, url, method=4, report=b"{}")[::3], (0, b""))
        self.assertIsNone(self.ask(connection, url, number=1))
        for wrong in [{"kind": 0x82}, {"method": 5}, {"tag": b"a" * 257}, {"report": b"a" * 16385}]:
            self.assertIsNone(self.ask(self.connect(worker), url, **wrong), wrong)
        self.assertIsNone(self.ask(self.connect(worker), b"https://" + b"a" * 2041))

    def test_https_alone(self):
        """nothing but https is spoken"""
        web, worker = self.web(), self.entered(Worker(self.ca))
        web.publish(b"a file")
        connection = self.connect(worker)
        for url in [f"http://localhost:{web.port}/fleet.bundle", "file:///etc/passwd", "ftp://localhost/a", "", "a b",
                    "gopher://localhost/", "localhost", "https://", "https://a b/"]:
            with self.subTest(url):
                outcome, status, _, content = self.ask(connection, url.encode())
                self.assertEqual((outcome in (1, 14), status, content), (True, 0, b""))

    def test_confined(self):
        """it has given up what it does not need before it reads a question, and serves one user"""
        worker = self.entered(Worker(self.ca))
        self.connect(worker)

        def given_up():
            for child in worker.children():
                with open(f"/proc/{child}/status") as file:
                    found = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
                if (found["NoNewPrivs"], found["Seccomp"]) == ("1", "2"):
                    return True
            return False
        wait_until(given_up, "its filter is in force")
        stranger = self.entered(Worker(self.ca, options=["--for", str(os.getuid() + 1)]))
        self.assertIsNone(self.ask(self.connect(stranger), b"https://localhost/"))


if __name__ == "__main__":
    unittest.main()
