"""`appvault doctor` at a real daemon with its real workers, and without any: what it sees of each link, as root and
as others."""

import hashlib
import json
import os
import subprocess
import tempfile
import unittest

import clilab
from daemonlab import IS_ROOT, Daemon, add_account, as_uid, remove_account
from fingerlab import FakeWorker, Reader
from ruleslab import Worker

UNLOCK = """auth [success=1 default=ignore] pam_unix.so nullok
auth requisite pam_deny.so
auth required pam_permit.so
auth optional {module} unlock
session optional pam_systemd.so
session optional {module}
"""


class Doctor(clilab.Lab):
    """The tool at a socket, and at a folder of PAM files."""

    def __init__(self, path, pam=None):
        self.path, self.pam = path, pam

    def arguments(self):
        return ["--pam-dir", self.pam] if self.pam else []

    def look(self, uid=None, env=()):
        """The output of --json, and the exit status."""
        ask = lambda: self.run("doctor", "--json", *self.arguments(), env=dict(env))
        done = ask() if uid is None else as_uid(uid, ask)
        return json.loads(done.out), done.status

    def states(self, link, **more):
        return [check["state"] for check in self.look(**more)[0]["checks"] if check["link"] == link]


class Case(unittest.TestCase):
    def daemon(self, **options):
        daemon = Daemon(**options)
        self.addCleanup(daemon.close)
        return daemon

    def folder(self, **files):
        folder = tempfile.TemporaryDirectory(prefix="appvault-pam-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.module = os.path.join(folder.name, "pam_appvault.so")
        with open(self.module, "wb"):
            pass
        for name, text in files.items():
            with open(os.path.join(folder.name, name), "w", encoding="utf-8") as file:
                file.write(text.format(module=self.module))
        return folder.name


class Chain(Case):
    def test_with_daemon_and_workers_every_link_holds(self):
        rules, fingers = Worker(), FakeWorker(Reader(name="Test reader"))
        self.addCleanup(rules.close)
        self.addCleanup(fingers.close)
        daemon = self.daemon(options=["--rules-socket", rules.socket, "--fingerprint-socket", fingers.path])
        doctor = Doctor(daemon.socket, self.folder(login=UNLOCK))
        told, status = doctor.look()
        states = {check["link"]: check["state"] for check in told["checks"]}
        self.assertEqual((told["broken"], status), (0, 0), told)
        for link in ("socket", "daemon", "state", "policy", "pam", "reader", "rules", "clock"):
            self.assertEqual(states[link], "ok", told)
        texts = {check["link"]: check["text"] for check in told["checks"]}
        self.assertIn("Test reader", texts["reader"])
        self.assertIn(str(daemon.process.pid), texts["daemon"])
        self.assertIn(daemon.state, texts["state"])
        self.assertTrue(texts["pam"].startswith("(a)"))
        self.assertEqual(texts["store"], "there is none yet")
        rules.close()
        self.assertEqual(doctor.states("rules"), ["unseen"])
        # It was not the passcode of any store.
        self.assertNotIn("passcode is refused", daemon.log())

    def test_what_breaks_is_seen(self):
        daemon = self.daemon(policy="MinLength=9\nFingerprintFirstUnlock=yes")
        doctor = Doctor(daemon.socket, self.folder(login=UNLOCK))
        self.assertEqual(set(doctor.states("policy")), {"warning"})
        daemon.policy("[Passcode]\nMinLength=0\n", reload=True)
        told, status = doctor.look()
        (broken,) = [check for check in told["checks"] if check["state"] == "broken"]
        self.assertEqual((broken["link"], status), ("policy", 1))
        self.assertIn(os.path.join(daemon.config, "policy.conf") + ":2: MinLength", broken["text"])
        os.chmod(daemon.state, 0o755)
        self.assertEqual(doctor.states("state"), ["warning"])
        os.unlink(self.module)
        self.assertIn("warning", doctor.states("pam"))
        with open(os.path.join(doctor.pam, "login"), "w", encoding="utf-8") as file:
            file.write(f"auth required {self.module}\n")
        self.assertIn("broken", doctor.states("pam"))
        daemon.kill()
        told, status = doctor.look()
        self.assertEqual(status, 1)
        self.assertIn("broken", [check["state"] for check in told["checks"] if check["link"] == "daemon"])

    def test_a_damaged_machine_key_is_seen(self):
        daemon = self.daemon()
        daemon.create()
        self.assertEqual(Doctor(daemon.socket).states("key"), ["ok"])
        daemon.stop()
        key = os.path.join(daemon.state, "machine.key")
        os.rename(key, key + ".away")
        daemon.start()
        self.assertEqual(Doctor(daemon.socket).states("key"), ["broken", "broken"])

    def test_it_changes_nothing(self):
        daemon = self.daemon()
        daemon.create()
        pam = self.folder(login=UNLOCK)

        def picture():
            found = {}
            for top in (daemon.state, daemon.config, pam):
                for folder, _, files in os.walk(top):
                    for name in files:
                        path = os.path.join(folder, name)
                        with open(path, "rb") as file:
                            found[path] = (hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mtime_ns)
            return found

        before = picture()
        Doctor(daemon.socket, pam).look()
        self.assertEqual(picture(), before)

    def test_a_daemon_that_knows_no_health_is_an_older_one(self):
        with clilab.Lab() as lab:
            lab.answer("policyShow", lambda daemon, request: daemon.reply("policyValues", mode="standard"))
            lab.answer("status", lambda daemon, request: daemon.reply("state", lock="absent"))
            told = json.loads(lab.run("doctor", "--json").out)
            (daemon,) = [check for check in told["checks"] if check["link"] == "daemon"]
            self.assertEqual(daemon["state"], "warning")

    @unittest.skipUnless(IS_ROOT, "acts as another user")
    def test_others_see_less_and_are_told_so(self):
        daemon = self.daemon()
        daemon.create()
        name, uid = add_account()
        self.addCleanup(remove_account, name)
        pam = self.folder(login=UNLOCK, secret="auth required pam_unix.so\n")
        os.chmod(os.path.join(pam, "secret"), 0o600)
        doctor = Doctor(daemon.socket, pam)
        self.assertEqual(doctor.states("key"), ["ok"])
        told, status = doctor.look(uid=uid)
        key, = [check for check in told["checks"] if check["link"] == "key"]
        self.assertEqual(key["state"], "unseen")
        unseen = [check["service"] for check in told["checks"] if check["link"] == "pam" and check["state"] == "unseen"]
        self.assertEqual((unseen, status), (["secret"], 0))
        # Nothing is said about another person's store, in no field.
        self.assertNotIn(daemon.person[0], json.dumps(told))


class Shown(Case):
    def test_lines_for_a_person_and_fields_for_a_pipe(self):
        daemon = self.daemon()
        doctor = Doctor(daemon.socket, self.folder(login=UNLOCK, sshd=UNLOCK))
        plain = doctor.run("doctor", *doctor.arguments())
        rows = [line.split("\t") for line in plain.out.decode().splitlines() if not line.startswith("#")]
        self.assertTrue(all(len(row) == 5 for row in rows), plain)
        self.assertEqual([row[2] for row in rows if row[1] == "pam"], ["login", "sshd"])
        with doctor.terminal("doctor", *doctor.arguments(), env={"NO_COLOR": "1"}) as screen:
            self.assertEqual(screen.end(), 0)
            seen = screen.seen.decode()
        self.assertIn("✓ socket", seen)
        self.assertIn("login, sshd: (a) the login password opens the", seen)
        for line in seen.splitlines():
            self.assertLessEqual(len(line.rstrip()), 80, line)

    def test_its_own_words_are_in_the_persons_language(self):
        daemon = self.daemon(start=False)
        folder = os.path.join(daemon.folder, "locale", "de", "LC_MESSAGES")
        os.makedirs(folder)
        subprocess.run(
            ["msgfmt", "-o", os.path.join(folder, "appvault.mo"), os.path.join(clilab.ROOT, "po", "de.po")], check=True)
        daemon.options += ["--locale-dir", os.path.join(daemon.folder, "locale")]
        daemon.start()
        doctor = Doctor(daemon.socket, self.folder(login=UNLOCK))
        with doctor.terminal("doctor", *doctor.arguments(), env={"LC_ALL": "de_DE.UTF-8"}) as screen:
            screen.end()
            self.assertIn("Maschinenschlüssel", screen.seen.decode())

    def test_without_anything_it_still_speaks(self):
        doctor = Doctor("/nonexistent/socket", "/nonexistent")
        told, status = doctor.look()
        self.assertEqual(status, 1)
        self.assertIn("broken", [check["state"] for check in told["checks"] if check["link"] == "socket"])


if __name__ == "__main__":
    unittest.main()
