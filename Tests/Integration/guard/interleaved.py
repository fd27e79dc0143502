"""Two exchanges at one store: what one has proven, or did not have to prove, is worth nothing once the other changed
what opens it. The second exchange runs while the first one's person has not answered yet."""

import os
import pwd
import unittest

from daemonlab import PASSCODE, Daemon, answers

TIMEOUT = 180
POLICY = "ThrottleAfter=0\nRetryLimit=0\n"
NOBODY_MAY_GO_WITHOUT = POLICY + "AllowNoPasscode=no\n"
OWNERS, SLY, LATER = "the owner's own passcode", "a passcode of somebody sly", "a later passcode"
PASSCODE_REQUIRED, DOES_NOT_EXIST = 9, 3


class Case(unittest.TestCase):
    def daemon(self, policy=POLICY):
        daemon = Daemon(policy=policy)
        self.addCleanup(daemon.close)
        return daemon

    def own_daemon(self):
        """A private daemon, for what only the owner does."""
        daemon = self.daemon()
        daemon.person = (pwd.getpwuid(os.getuid()).pw_name, os.getuid())
        return daemon

    def without_passcode(self):
        daemon = self.daemon()
        daemon.create(way="noPasscode")
        return daemon

    def turn_on(self, daemon, passcode=OWNERS):
        """What the owner does in between: sets a passcode and locks the store."""
        done = daemon.ask("passcode", answers(passcode), change="turnOn")
        self.assertEqual(done.name, "done", done)
        self.assertEqual(daemon.lock().name, "done")

    def change(self, daemon, former, new):
        script = answers(former, newPasscode=new)
        self.assertEqual(daemon.ask("passcode", script, change="change").name, "done")

    def once(self, action, answer):
        """An answer that is given after `action` has happened."""
        def late():
            if not late.has_run:
                late.has_run = True
                action()
            return answer

        late.has_run = False
        return late

    def between(self, daemon, request, purpose, action, script, frontEnd="program", **fields):
        """Runs `request`. `action` happens before the question of that purpose is answered."""
        known = dict(script)
        for name in ("Passcode", "Passphrase"):
            if f"new{name}" in known:
                known.setdefault(f"confirm{name}", known[f"new{name}"])
        late = known[purpose] = self.once(action, known[purpose])
        with daemon.client(frontEnd=frontEnd) as client:
            ended = client.run(request, answers(**known), subject=daemon.person, **fields)
            self.revealed, self.shown = client.revealed, client.shown
        self.assertTrue(late.has_run, f"nobody asked for {purpose}")
        return ended

    def assertRefused(self, ended):
        self.assertEqual((ended.name, getattr(ended, "code", None)), ("refused", PASSCODE_REQUIRED), ended)

    def assertOwners(self, daemon, passcode=OWNERS, others=(SLY,)):
        """The passcode is the owner's, and the store stays locked until it is typed."""
        self.assertEqual(daemon.status().lock, "locked")
        for other in others:
            self.assertEqual(daemon.unlock(other).name, "refused")
        self.assertEqual(daemon.unlock(passcode).name, "done")


class Begun(Case):
    """An exchange that began without a question and ends when there is a passcode."""

    def test_turn_on(self):
        """a passcode that another exchange began to set does not replace the owner's"""
        for purpose in ("newPasscode", "confirmPasscode"):
            for request in ({"change": "turnOn"}, {"change": "change"}):
                with self.subTest(purpose=purpose, **request):
                    daemon = self.without_passcode()
                    script = {"newPasscode": SLY}
                    ended = self.between(
                        daemon, "passcode", purpose, lambda: self.turn_on(daemon), script, **request)
                    self.assertRefused(ended)
                    self.assertOwners(daemon)

    def test_opening(self):
        """a locked store does not open without its passcode for an exchange whose flow was due before there was one"""
        for purpose in ("acknowledge", "newPasscode", "confirmPasscode"):
            with self.subTest(purpose=purpose):
                daemon = self.without_passcode()
                daemon.lock()
                daemon.policy(NOBODY_MAY_GO_WITHOUT, reload=True)
                script = {"acknowledge": "", "newPasscode": SLY}
                ended = self.between(
                    daemon, "openStore", purpose, lambda: self.turn_on(daemon), script, frontEnd="terminal")
                self.assertRefused(ended)
                self.assertOwners(daemon)

    def test_recovery_key(self):
        """no recovery key of the owner's locked store is shown, and none is left"""
        daemon = self.without_passcode()
        daemon.lock()
        daemon.policy(NOBODY_MAY_GO_WITHOUT, reload=True)
        script = {"acknowledge": "", "newPasscode": SLY}
        ended = self.between(
            daemon, "recoveryNew", "confirmPasscode", lambda: self.turn_on(daemon), script, frontEnd="terminal")
        self.assertRefused(ended)
        self.assertEqual(self.revealed, [])
        self.assertFalse(daemon.status().hasRecoveryKey)
        self.assertOwners(daemon)

    def test_shown_key(self):
        """a recovery key that is on the screen when the owner turns the passcode on opens nothing"""
        daemon = self.without_passcode()
        with daemon.client(frontEnd="terminal") as client:
            client.tag += 1
            client.send("recoveryNew", client.tag, subject=daemon.person)
            while True:
                message = client.receive(30)
                if message.name == "reveal":
                    key = message.payload
                if message.name == "ask":
                    break
            self.assertEqual(message.purpose, "acknowledge")
            self.turn_on(daemon)
            client.send("reply", client.tag, [b""], question=message.question)
            self.assertEqual(client.follow().name, "refused")
        self.assertFalse(daemon.status().hasRecoveryKey)
        ended = daemon.ask("recover", answers(recoveryKey=key, newPasscode=SLY))
        self.assertEqual((ended.name, ended.code), ("refused", DOES_NOT_EXIST))
        self.assertOwners(daemon)

    def test_export(self):
        """an export that began at a store without a passcode fails once the store has one"""
        passphrase = "a passphrase for the file"

        def turn_on_and_open():
            self.turn_on(daemon)
            self.assertEqual(daemon.unlock(OWNERS).name, "done")

        for purpose in ("newPassphrase", "confirmPassphrase"):
            with self.subTest(purpose=purpose):
                daemon = self.own_daemon()
                daemon.create(way="noPasscode")
                script = {"newPassphrase": passphrase}
                ended = self.between(daemon, "exportBegin", purpose, turn_on_and_open, script)
                self.assertRefused(ended)


class Stale(Case):
    """An exchange that began with a passcode that is no longer the store's when it ends."""

    def test_change(self):
        """a person who proved the former passcode does not replace the one that the owner has set"""
        for purpose in ("newPasscode", "confirmPasscode"):
            with self.subTest(purpose=purpose):
                daemon = self.daemon()
                daemon.create(PASSCODE)
                daemon.lock()
                script = {"passcode": PASSCODE, "newPasscode": SLY}
                ended = self.between(
                    daemon, "passcode", purpose, lambda: self.change(daemon, PASSCODE, OWNERS), script,
                    change="change")
                self.assertRefused(ended)
                self.assertOwners(daemon, others=(SLY, PASSCODE))

    def test_turned_off_and_on(self):
        """neither if it was turned off and on again meanwhile"""
        daemon = self.daemon()
        daemon.create(PASSCODE)

        def off_and_on():
            self.assertEqual(daemon.ask("passcode", answers(PASSCODE), change="turnOff").name, "done")
            self.turn_on(daemon)

        script = {"passcode": PASSCODE, "newPasscode": SLY}
        ended = self.between(daemon, "passcode", "confirmPasscode", off_and_on, script, change="change")
        self.assertRefused(ended)
        self.assertOwners(daemon, others=(SLY, PASSCODE))

    def test_opening(self):
        """neither does the former passcode open the store at the end of a change that was due"""
        daemon = self.daemon()
        daemon.create(PASSCODE)
        daemon.lock()
        daemon.policy(POLICY + "MinLength=9", reload=True)

        def change():
            # The owner goes through the same change, elsewhere.
            script = answers(PASSCODE, acknowledge="", newPasscode=OWNERS)
            with daemon.client(frontEnd="terminal") as client:
                self.assertEqual(client.run("openStore", script, subject=daemon.person).name, "done")
            self.assertEqual(daemon.lock().name, "done")

        script = {"passcode": PASSCODE, "acknowledge": "", "newPasscode": SLY}
        ended = self.between(daemon, "openStore", "confirmPasscode", change, script, frontEnd="terminal")
        self.assertRefused(ended)
        self.assertOwners(daemon, others=(SLY, PASSCODE))

    def test_authenticate(self):
        """at a login neither, and it is no success"""
        daemon = self.daemon()
        daemon.create(PASSCODE)
        daemon.lock()
        daemon.policy(POLICY + "MinLength=9", reload=True)

        def change():
            script = answers(PASSCODE, acknowledge="", newPasscode=OWNERS)
            with daemon.client(frontEnd="terminal") as client:
                self.assertEqual(client.run("openStore", script, subject=daemon.person).name, "done")
            self.assertEqual(daemon.lock().name, "done")

        late = self.once(change, SLY)
        script = answers(PASSCODE, acknowledge="", newPasscode=SLY, confirmPasscode=late)
        verdict = daemon.ask(
            "authenticate", script, [b""], hello={"frontEnd": "pamAuth", "service": "login", "tty": "tty1"},
            subject=daemon.person)
        self.assertTrue(late.has_run)
        self.assertNotEqual(verdict.outcome, "success")
        self.assertEqual(verdict.code, PASSCODE_REQUIRED)
        self.assertOwners(daemon, others=(SLY, PASSCODE))

    def test_recover(self):
        """a recovery key that was revoked while a new passcode was typed sets none"""
        daemon = self.daemon()
        key = daemon.create_with_recovery(PASSCODE)

        def revoke():
            # A recovery that has begun demands a new passcode first.
            script = answers(PASSCODE, acknowledge="", newPasscode=OWNERS)
            with daemon.client(frontEnd="terminal") as client:
                done = client.run("recoveryNew", script, subject=daemon.person)
                self.assertEqual(done.name, "done", done)
            self.assertEqual(daemon.lock().name, "done")

        script = {"recoveryKey": key, "newPasscode": SLY}
        ended = self.between(daemon, "recover", "confirmPasscode", revoke, script)
        self.assertRefused(ended)
        self.assertOwners(daemon, others=(SLY, PASSCODE))

    def test_recover_after_a_change(self):
        """a recovery key that is still valid sets one, whatever the passcode became meanwhile"""
        daemon = self.daemon()
        key = daemon.create_with_recovery(PASSCODE)
        script = {"recoveryKey": key, "newPasscode": LATER}
        ended = self.between(
            daemon, "recover", "confirmPasscode", lambda: self.change(daemon, PASSCODE, OWNERS), script)
        self.assertEqual(ended.name, "done", ended)
        daemon.lock()
        self.assertOwners(daemon, passcode=LATER, others=(OWNERS, PASSCODE))


class Unproven(Case):
    """A recovery key that was made when there was nothing to prove."""

    def make_key(self, daemon, passcode=None):
        with daemon.client(frontEnd="terminal") as client:
            done = client.run("recoveryNew", answers(passcode), subject=daemon.person)
            self.assertEqual(done.name, "done", done)
            return client.revealed[0]

    def turn_on_reading(self, daemon, passcode=OWNERS):
        with daemon.client(frontEnd="terminal") as client:
            done = client.run("passcode", answers(passcode), subject=daemon.person, change="turnOn")
            self.assertEqual(done.name, "done", done)
            return "\n".join(str(line) for line in client.shown)

    def assertOpensNothing(self, daemon, key):
        ended = daemon.ask("recover", answers(recoveryKey=key, newPasscode=SLY))
        self.assertEqual(ended.name, "refused", ended)
        daemon.lock()
        self.assertOwners(daemon)

    def test_turned_on(self):
        """turning a passcode on removes it, the person is told, and a new one is offered"""
        daemon = self.without_passcode()
        key = self.make_key(daemon)
        self.assertTrue(daemon.status().hasRecoveryKey)
        self.assertIn("made when there was no passcode", self.turn_on_reading(daemon))
        state = daemon.status()
        self.assertEqual((state.hasRecoveryKey, state.recoveryOffer), (False, True))
        self.assertIn("revoked", daemon.log())
        self.assertOpensNothing(daemon, key)

    def test_offered_before(self):
        """also where one was offered and declined before the passcode was turned off"""
        daemon = self.own_daemon()
        daemon.create(PASSCODE)
        with daemon.client(frontEnd="terminal") as client:
            client.run("offerRecovery", answers(choice="n"), subject=daemon.person)
        self.assertFalse(daemon.status().recoveryOffer)
        daemon.ask("passcode", answers(PASSCODE), change="turnOff")
        key = self.make_key(daemon)
        self.turn_on(daemon)
        self.assertTrue(daemon.status().recoveryOffer)
        daemon.restart()
        self.assertTrue(daemon.status().recoveryOffer)
        self.assertOpensNothing(daemon, key)

    def test_proven(self):
        """a key for which the passcode was typed stays when the passcode is turned off and on, and nothing is said
        about it"""
        daemon = self.daemon()
        key = daemon.create_with_recovery(PASSCODE)
        daemon.ask("passcode", answers(PASSCODE), change="turnOff")
        self.assertNotIn("made when there was no passcode", self.turn_on_reading(daemon))
        self.assertTrue(daemon.status().hasRecoveryKey)
        self.assertEqual(daemon.ask("recover", answers(recoveryKey=key, newPasscode=LATER)).name, "done")

    def test_replaced(self):
        """a key that replaced a proven one while there was no passcode is removed, so no key is left"""
        daemon = self.daemon()
        good = daemon.create_with_recovery(PASSCODE)
        daemon.ask("passcode", answers(PASSCODE), change="turnOff")
        key = self.make_key(daemon)
        self.turn_on(daemon)
        for former in (good, key):
            self.assertOpensNothing(daemon, former)

    def test_used(self):
        """using it makes the new passcode, and then it is removed"""
        daemon = self.without_passcode()
        key = self.make_key(daemon)
        with daemon.client(frontEnd="terminal") as client:
            done = client.run("recover", answers(recoveryKey=key, newPasscode=OWNERS), subject=daemon.person)
            self.assertEqual(done.name, "done", done)
            self.assertIn("made when there was no passcode", "\n".join(str(line) for line in client.shown))
        self.assertFalse(daemon.status().hasRecoveryKey)
        self.assertOpensNothing(daemon, key)


if __name__ == "__main__":
    unittest.main()
