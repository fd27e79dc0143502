"""An organisation's machine as installed: the timer's service has the worker fetch, under their units, with and without
an administrator's files; a login while a server lets it wait."""

import json
import os
import re
import shutil
import tempfile
import unittest

import fleetlab
import installed
from fetchlab import Authority, Publisher

TIMEOUT = 900
# A web server on the machine itself: nothing else of it matters here.
SERVER = """
import http.server, os, ssl, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        while os.path.exists("/srv/waits"):
            time.sleep(0.1)
        super().do_GET()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/srv/server.pem", "/srv/server.key")
context.load_verify_locations("/srv/ca.pem")
context.verify_mode = ssl.CERT_OPTIONAL
os.chdir("/srv/www")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 443), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


@unittest.skipUnless(shutil.which("minisign"), "minisign is not installed")
class Fleet(installed.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.mkdtemp(prefix="appvault-fleet-")
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.publisher = Publisher(folder)
        authority = Authority(folder, "ca")
        authority.issue("server")
        authority.issue("client", name="machine-1", hosts=())
        for name in ("ca.pem", "server.pem", "server.key", "client.pem", "client.key"):
            with open(os.path.join(folder, name)) as file:
                cls.machine.write("/srv/" + name, file.read())
        cls.machine.write("/srv/server.py", SERVER)
        cls.machine.check("mkdir -p /srv/www && systemd-run --quiet --unit=web python3 /srv/server.py")
        with open(cls.publisher.join({"URL": "https://localhost/fleet.bundle"})) as file:
            cls.machine.write("/srv/join", file.read())

    def publish(self, version):
        self.machine.write("/srv/www/fleet.bundle", self.publisher.bundle(version).decode())

    def fetch(self):
        """As the timer does it."""
        self.machine.check("systemctl start appvault-fleet.service", timeout=120)
        return json.loads(self.machine.check("appvault fleet status --json"))

    def test_a_machine(self):
        """the timer runs, and what it starts fetches as soon as there is an organisation and a CA, and fails never"""
        machine = self.machine
        self.assertEqual(machine.check("systemctl is-enabled appvault-fleet.timer appvault-fetch.socket").split(),
                         ["enabled"] * 2)
        self.assertEqual(machine.check("systemctl is-active appvault-fleet.timer appvault-fetch.socket").split(),
                         ["active"] * 2)
        # Whoever has joined nobody asks nobody.
        machine.check("systemctl start appvault-fleet.service")
        self.assertEqual(machine.check("systemctl show -P ConditionResult appvault-fleet.service").strip(), "no")
        machine.check("appvault fleet join /srv/join")
        self.publish(1)

        # No file of the administrator's: the worker starts, and trusts the system's CAs alone.
        status = self.fetch()
        self.assertIn("signed by nobody whom this machine trusts", status["fetchProblem"])
        self.assertEqual(machine.run("systemctl is-failed appvault-fleet.service")[0], 1)
        machine.check("mkdir -p /etc/appvault/fleet && cp /srv/ca.pem /srv/client.* /etc/appvault/fleet/"
                      " && chmod 600 /etc/appvault/fleet/client.key")
        status = self.fetch()
        self.assertEqual((status["policyVersion"], status["fetchProblem"]), (1, ""))
        status = self.fetch()
        self.assertEqual((status["policyVersion"], status["fetchProblem"]), (1, ""))
        self.assertEqual(machine.check("systemctl --failed --no-legend --plain | cut -d' ' -f1").split(), [])

    def test_confined_while_a_server_waits(self):
        """the worker has a user of its own, no file of ours and no privilege; people log in meanwhile"""
        machine = self.machine
        machine.run("appvault fleet join /srv/join")
        machine.check("mkdir -p /etc/appvault/fleet && cp /srv/ca.pem /etc/appvault/fleet/")
        self.publish(2)
        machine.check("touch /srv/waits && systemctl start --no-block appvault-fleet.service")
        workers = "systemctl list-units --plain --no-legend 'appvault-fetch@*' | cut -d' ' -f1"
        self.until(lambda: machine.run(workers)[1].strip())
        unit = machine.check(workers).split()[0]
        pid = machine.check(f"systemctl show -P MainPID '{unit}'").strip()
        status = dict(re.findall(r"^(\w+):\s+(.*)$", machine.read(f"/proc/{pid}/status"), re.M))
        self.assertEqual((status["CapBnd"], status["NoNewPrivs"], status["Seccomp"]), ("0" * 16, "1", "2"))
        self.assertGreater(int(status["Uid"].split()[0]), 60_000)
        root = f"/proc/{pid}/root"
        for path in ("/etc", "/var/lib", "/usr", "/run", "/dev/shm"):
            self.assertNotEqual(machine.run(f"touch {root}{path}/new")[0], 0, path)
        for path in ("/var/lib/appvault/fleet", "/run/appvault/socket", "/etc/appvault/fleet/ca.pem"):
            self.assertNotEqual(machine.run(f"ls {root}{path}")[0], 0, path)
        # A login, and its store, while the fetch waits.
        person = self.person()
        self.with_store(person)
        self.assertEqual(machine.run("systemctl is-active appvault-fleet.service")[1].strip(), "activating")
        machine.check("rm /srv/waits")
        self.until(lambda: machine.run("systemctl is-active appvault-fleet.service")[1].strip() == "inactive")
        self.assertEqual(json.loads(machine.check("appvault fleet status --json"))["policyVersion"], 2)
        self.until(lambda: not machine.run(workers)[1].strip())

    def test_who_is_locked_out_logs_in(self):
        """an order closes the store under its person; the next login works, and says why, and whom to ask"""
        machine, organisation = self.machine, fleetlab.Organisation()
        person = self.with_store(self.person())
        machine.run("appvault fleet leave --yes")
        machine.write("/srv/lock-join", organisation.join().decode())
        machine.check("appvault fleet join /srv/lock-join")
        shell = self.login(person)
        shell.ready()
        self.until_state(person, "unlocked")
        orders = [f"lock {organisation.person(person.name)}"]
        machine.write("/srv/lock", organisation.bundle(1, orders).decode())
        machine.check("appvault fleet import /srv/lock")
        self.assertEqual(self.state(person), "barred")
        shell.leave()
        terminal = machine.getty(f"exec login {person.name}")
        self.addCleanup(terminal.close)
        terminal.expect("Password: ")
        terminal.send(person.password)
        terminal.expect("AppVault: example.org has locked this store; ask help@example.org.")
        shell = installed.Shell(terminal)
        shell.ready()
        self.assertEqual(self.state(person), "barred")
        machine.write("/srv/unlock", organisation.bundle(2).decode())
        machine.check("appvault fleet import /srv/unlock")
        shell.leave()
        shell = self.login(person)
        shell.ready()
        self.until_state(person, "unlocked")
        machine.check("appvault fleet leave --yes")


if __name__ == "__main__":
    unittest.main()
