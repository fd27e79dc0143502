"""`set_authtok`: the login password that a store keeps for logins by finger. Who teaches it, who
is given it, and what makes the store forget it. With the real module, the real daemon and
libfprint's virtual reader."""

import os
import unittest

from daemonlab import as_uid
from fingerlab import Finger
from keyringlab import NONE, SEALED, Case
from memorylab import gone, needles, scan, word
from pamlab import PAM_SUCCESS
from touchlab import Touching
from wayslab import LOGIN, NEW_LOGIN, PASSCODE

NEEDS_ROOT = True
TIMEOUT = 300


class Given(Case):
    def test_given(self):
        """a login with the password teaches it, once, and the next finger gives it to the stack; also after a
        restart"""
        self.assertEqual(self.by_finger(), NONE)
        self.assertKept(False)
        self.teach()
        self.assertKept(True)
        block = self.machine.daemon.blocks()[SEALED]
        self.assertEqual(self.by_finger(), LOGIN)
        self.teach()
        self.assertEqual(self.machine.daemon.blocks()[SEALED], block, "written once")
        self.machine.daemon.restart()
        self.passcode()
        self.assertEqual(self.by_finger(), LOGIN)

    def test_first(self):
        """the finger first, as login and LightDM ask for it; each with a service of its own"""
        self.teach()
        for service in ("login", "lightdm"):
            with self.subTest(service):
                self.profile(service, "or_password set_authtok")
                self.assertEqual(self.enter([], "alice", service=service), LOGIN)

    def test_no_match(self):
        """without a match the passcode gives the token as well, and the login password does not"""
        self.teach()
        self.assertIsNone(self.enter(["", ""], "bob", "bob", "bob"))
        self.assertEqual(self.enter(["", PASSCODE], "bob", "bob"), LOGIN)

    def test_option(self):
        """without the option nothing is learned and nothing is given"""
        self.profile(options="or_password fingerprint=on-empty")
        self.teach()
        self.assertKept(False)
        self.profile()
        self.teach()
        self.profile(options="or_password fingerprint=on-empty")
        self.assertEqual(self.by_finger(), NONE)

    def test_service(self):
        """only services that log people in: neither sudo nor a root locker teaches it or is given it"""
        self.profile("swaylock")
        self.teach(service="swaylock")
        self.assertKept(False)
        self.teach()
        self.at_seat()
        self.assertEqual(self.by_finger(service="swaylock"), NONE)
        self.profile("sudo")
        self.assertEqual(self.by_finger(service="sudo"), NONE)

    def test_remote(self):
        """nobody can teach it from a remote host"""
        self.teach(RHOST="192.0.2.7")
        self.assertKept(False)

    def test_confirmed(self):
        """a login that is not confirmed teaches nothing; one with a wrong password before the right one teaches the
        right one"""
        self.assertEqual(self.enter([LOGIN], confirm=False), LOGIN)
        self.assertKept(False)
        self.machine.lock()
        talk = Touching(self.worker, ["wrong horse", LOGIN])
        with self.machine.login("login", talk, tty=":0") as login:
            self.assertNotEqual(login.authenticate(), PAM_SUCCESS)
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            login.setcred()
        self.assertEqual(self.by_finger(), LOGIN)

    def test_no_finger(self):
        """where no finger opens the store nothing is learned: finger off, or the passcode not yet typed since the
        start"""
        self.machine.daemon.restart()
        self.teach()
        self.assertKept(False)
        self.passcode()
        self.assertEqual(self.root("fingerprintSwitch", PASSCODE, on=False).name, "done")
        self.teach()
        self.assertKept(False)

    def test_long(self):
        """a password that does not fit is not kept, and does not harm the login"""
        self.profile(password="x" * 400)
        self.teach("x" * 400)
        self.assertKept(False)

    def test_stale(self):
        """a password that was changed elsewhere: the next login with it teaches the new one"""
        self.teach()
        self.profile(password=NEW_LOGIN)
        self.assertEqual(self.by_finger(), LOGIN)
        self.teach(NEW_LOGIN)
        self.assertEqual(self.by_finger(), NEW_LOGIN)


    def test_no_record(self):
        """it is not a record: it is not counted or listed, and it is nowhere readable on the disk"""
        self.teach()
        self.passcode()
        self.assertEqual(self.machine.daemon.unlock(PASSCODE).name, "done")
        self.assertEqual(self.machine.daemon.status().records, 0)
        listed = self.machine.appvault("list")
        self.assertEqual((listed.returncode, listed.stdout), (0, ""), listed.stderr)
        for folder, _, names in os.walk(self.machine.daemon.state):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(LOGIN.encode(), file.read(), name)


    def test_memory(self):
        """the daemon has the password in memory from the login to its confirmation, and not after it was given"""
        password = word()
        told = needles(password=password)
        pid = self.machine.daemon.pid
        self.profile(password=password)
        self.teach(password, confirm=False)
        self.assertIn("password", scan(pid, told), "the scan sees what must be there")
        self.machine.lock()
        self.assertEqual(gone(pid, told), {}, "after a lock")
        self.teach(password)
        self.assertEqual(gone(pid, told), {}, "after it was learned")
        self.assertEqual(self.by_finger(), password)
        self.assertEqual(gone(pid, told), {}, "after it was given")


class Peers(Case):
    """What the daemon sends to which peer, frame by frame."""

    def authenticate(self, uid=0, finger="alice", service="login", **fields):
        """Authenticates by finger alone. Returns the verdict and the tokens that came before it."""
        self.machine.lock()

        def touch(scan):
            if scan.event == "place":
                os.seteuid(0)
                self.worker.play("device", f"SCAN {finger}")

        os.seteuid(uid)
        try:
            client = self.machine.daemon.client(frontEnd="pamAuth", service=service, realUID=uid)
        finally:
            os.seteuid(0)
        with client:
            fields = {"setsToken": True, "finger": "first", **fields}
            verdict = Finger(client, enter=touch).run(
                "authenticate", [b""], subject=self.person, **fields)
            return verdict, client.tokens

    def test_peers(self):
        """root is given it after a match; no other peer is, and not even root without the option"""
        self.teach()
        verdict, tokens = self.authenticate()
        self.assertEqual((verdict.outcome, tokens), ("success", [LOGIN.encode()]))
        self.assertEqual(self.authenticate(setsToken=False)[1], [])
        self.at_seat()
        verdict, tokens = self.authenticate(uid=self.person[1])
        self.assertEqual((verdict.outcome, tokens), ("success", []))

    def test_person_teaches_nothing(self):
        """a peer that is not root can neither teach, nor confirm, nor change what is kept"""
        self.teach()
        handle = self.authenticate(finger="bob")[0].handle

        def forged():
            told = []
            for request, fields, payloads in (
                    ("unlock", {"handle": handle}, [b"forged"]), ("password", {}, [LOGIN.encode(), b"forged"])):
                with self.machine.daemon.client(frontEnd="pamAuth", service="login") as client:
                    told.append(client.run(request, (), payloads, subject=self.person, **fields).name)
            with self.machine.daemon.client(frontEnd="pamAuth", service="login") as client:
                told.append(client.run("confirm", handle=handle).outcome)
            return told

        self.assertEqual(as_uid(self.person[1], forged), ["verdict", "verdict", "ignore"])
        self.machine.daemon.ask("confirm", hello={"frontEnd": "pamAuth", "service": "login"}, handle=handle)
        self.assertEqual(self.authenticate()[1], [LOGIN.encode()])

    def taught(self, *between):
        """A login with the password, frame by frame, with these requests before it is confirmed."""
        hello = {"frontEnd": "pamAuth", "service": "login"}
        daemon = self.machine.daemon
        verdict = daemon.authenticate(LOGIN, orPassword=True, setsToken=True, finger="off")
        self.assertEqual(verdict.outcome, "authError")
        daemon.ask("unlock", (), [LOGIN.encode()], hello=hello, handle=verdict.handle)
        for request in between:
            request(verdict.handle)
        daemon.ask("confirm", hello=hello, handle=verdict.handle)
        return verdict.handle

    def test_replay(self):
        """a handle teaches only once: it does not bring back what was forgotten"""
        handle = self.taught()
        self.assertKept(True)
        self.assertEqual(self.root("keyringForget").name, "done")
        hello = {"frontEnd": "pamAuth", "service": "login"}
        self.machine.daemon.ask("confirm", hello=hello, handle=handle)
        self.machine.daemon.ask("unlock", (), [LOGIN.encode()], hello=hello, handle=handle)
        self.machine.daemon.ask("confirm", hello=hello, handle=handle)
        self.assertKept(False)

    def test_between(self):
        """if it is forgotten, or the finger turned off, or the store locked before the confirmation, nothing is
        learned"""
        for name, between in (
                ("forget", lambda _: self.root("keyringForget")),
                ("lock", lambda _: self.machine.daemon.lock()),
                ("off", lambda _: self.root("fingerprintSwitch", PASSCODE, on=False))):
            with self.subTest(name):
                self.taught(between)
                self.assertKept(False)


class Forgotten(Case):
    def test_forget(self):
        """`appvault keyring forget`, by the person and without a passcode; it says if there is nothing to forget"""
        self.teach()
        for said in (
            "The login password that was kept for logins by finger is forgotten.", "No login password is kept."):
            done = self.machine.appvault("keyring", "forget")
            self.assertEqual((done.returncode, done.stdout), (0, said + "\n"), done.stderr)
            self.assertKept(False)
        self.assertEqual(self.by_finger(), NONE)
        self.teach()
        self.assertEqual(self.by_finger(), LOGIN)

    def test_ends(self):
        """it is removed with the finger, with the passcode and with the store"""
        self.teach()
        for end in (
                lambda: self.root("fingerprintSwitch", PASSCODE, on=False),
                lambda: self.root("passcode", PASSCODE, change="turnOff")):
            self.assertKept(True)
            self.assertEqual(end().name, "done")
            self.assertKept(False)
            if self.root("status").passcode == "passcode":
                self.at_seat()
                self.enroll("alice")
                self.before_session()
                self.teach()
        store = self.machine.daemon.store()
        with open(f"{store}/slots", "rb") as file:
            self.assertFalse(any(file.read()[SEALED * 4096:(SEALED + 1) * 4096]))

    def test_chown(self):
        """it is removed when the store is given to another account"""
        self.teach()
        store = bytes.fromhex(os.path.basename(self.machine.daemon.store()).replace("-", ""))
        done = self.machine.daemon.ask("chown", store=store, owner=("somebody else", 47997))
        self.assertEqual(done.name, "done", done)
        self.assertFalse(any(self.machine.daemon.blocks()[SEALED]))

    def test_passwd(self):
        """passwd renews it; if it was a different password it stays, and if that cannot be told it is removed"""
        self.teach()
        self.passwd("another-otter", NEW_LOGIN)
        self.assertEqual(self.by_finger(), LOGIN)
        self.passwd(LOGIN, NEW_LOGIN)
        self.assertEqual(self.by_finger(), NEW_LOGIN)
        self.machine.daemon.restart()
        self.passwd(NEW_LOGIN, LOGIN)
        self.assertKept(False)


class Following(Case):
    """Way (a): the store follows the login password, and the keyring after us wants what opens
    the store."""

    CREATE = LOGIN, "followLogin"

    def passcode(self):
        self.assertEqual(self.machine.daemon.unlock(LOGIN).name, "done")
        self.machine.lock()

    def test_following(self):
        """the login password at our prompt is the stack's token; the store learns it, and passwd renews it"""
        self.assertEqual(self.by_finger(), NONE)
        self.teach()
        self.assertKept(True)
        self.assertEqual(self.by_finger(), LOGIN)
        self.passwd(LOGIN, NEW_LOGIN)
        self.assertEqual(self.by_finger(), NEW_LOGIN)
        self.machine.daemon.restart()
        self.profile(password=NEW_LOGIN)
        self.teach(NEW_LOGIN)
        self.passwd(NEW_LOGIN, LOGIN)
        self.assertEqual(self.by_finger(), LOGIN)

    def test_without_option(self):
        """without `set_authtok` it is handed on as well, and not learned; without `or_password` it is not handed on"""
        self.profile(options="or_password fingerprint=on-empty")
        self.teach()
        self.assertKept(False)
        self.profile(options="fingerprint=on-empty")
        self.assertEqual(self.enter([LOGIN]), NONE)

    def test_wrong(self):
        """an answer that opens nothing and is not the login password teaches nothing"""
        self.assertIsNone(self.enter(["wrong horse"]))
        self.assertKept(False)


if __name__ == "__main__":
    unittest.main()
