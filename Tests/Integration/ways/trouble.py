"""Faults of AppVault itself, with the real daemon in each of the ways: a person whom the next
module knows is let in, within the deadlines, and nobody else is."""

import os
import signal
import socket
import threading
import time
import unittest

from daemonlab import IS_ROOT
from pamlab import PAM_AUTH_ERR, PAM_AUTHINFO_UNAVAIL, PAM_SUCCESS, Footprint
from patience import Stopwatch
from slow import slow
from wayslab import LOGIN, NEW_LOGIN, PASSCODE, WRONG, Machine, in_child

# Two seconds for a call to a daemon that sends nothing, five for one to a daemon that fell silent;
# and some margin, because the machine of the tests is busy.
SILENT, FELL_SILENT, ROOM = 2, 5, 1.5


class Case(unittest.TestCase):
    def machine(self, policy="ThrottleAfter=0", way="ownPasscode", **options):
        machine = Machine(policy, **options)
        self.addCleanup(machine.close)
        machine.create(LOGIN if way == "followLogin" else PASSCODE, way)
        machine.way_a("login")
        machine.way_b("sudo")
        machine.stack("alone", "auth required {ours} or_password")
        machine.lab.service("su", *(open(os.path.join(machine.lab.services, "alone")).read().splitlines()))
        return machine

    def timed(self, most, work):
        before = Footprint()
        stopwatch = Stopwatch()
        value = work()
        stopwatch.assert_within(most + ROOM)
        self.assertEqual(before, Footprint())
        return value

    def assertFallsThrough(self, machine, most):
        """Tests each way: auth, setcred and the session; and our module alone never succeeds."""
        for service in ("login", "sudo"):
            with machine.login(service, [LOGIN, LOGIN]) as login:
                code = self.timed(most * (2 if service == "sudo" else 1), login.authenticate)
                self.assertEqual(code, PAM_SUCCESS, service)
                for call in (login.setcred, login.open_session, login.close_session):
                    self.assertEqual(self.timed(most, call), PAM_SUCCESS, (service, call))
        for typed in (PASSCODE, LOGIN, WRONG):
            with machine.login("su", [typed]) as login:
                self.assertEqual(self.timed(most, login.authenticate), PAM_AUTHINFO_UNAVAIL, typed)


class Daemon(Case):
    def test_dead(self):
        """dead"""
        machine = self.machine()
        machine.daemon.kill()
        self.assertFallsThrough(machine, 0)

    @slow
    def test_stopped(self):
        """stopped"""
        machine = self.machine()
        machine.daemon.pause()
        self.assertFallsThrough(machine, SILENT)
        machine.daemon.resume()
        machine.lock()
        self.assertEqual(machine.enter("su", [PASSCODE]).code, PAM_SUCCESS)

    def test_stopped_at_passwd(self):
        """stopped while a login password is changed"""
        machine = self.machine(way="followLogin")
        machine.stack("passwd", f"password required {{lab}} setold={LOGIN} set={NEW_LOGIN}",
                      "password optional {ours} use_authtok")
        machine.daemon.pause()
        with machine.login("passwd") as passwd:
            self.assertEqual(self.timed(SILENT, passwd.chauthtok), PAM_SUCCESS)
        machine.daemon.resume()
        self.assertTrue(machine.opens_with(LOGIN))

    def typing(self, machine, typed, during):
        """A person who types while something happens to the daemon."""

        def answer():
            during()
            return typed

        with machine.login("sudo", [answer]) as login:
            return self.timed(FELL_SILENT + SILENT, login.authenticate), login.talk.prompts

    @slow
    def test_while_typing(self):
        """killed or stopped while the person types: the next module gets what they typed, which proves nothing here"""
        for what in ("kill", "pause"):
            for typed, code in ((LOGIN, PAM_SUCCESS), (PASSCODE, PAM_AUTH_ERR)):
                with self.subTest(what=what, typed=typed):
                    machine = self.machine()
                    result, prompts = self.typing(machine, typed, getattr(machine.daemon, what))
                    self.assertEqual((result, prompts), (code, ["Passcode or login password: "]))
                    machine.close()

    def test_during_derivation(self):
        """killed during a derivation: the login goes on, the try is counted, and no right passcode leads to an erase"""
        machine = self.machine("RetryLimit=2\nThrottleAfter=0")
        for _ in range(3):
            machine.daemon.hold()
            before = machine.daemon.derivations()

            def kill():
                while machine.daemon.derivations() == before:
                    time.sleep(0.002)
                machine.daemon.process.kill()

            thread = threading.Thread(target=kill)
            thread.start()
            entered = machine.enter("sudo", [LOGIN])
            thread.join()
            self.assertIn(entered.code, (PAM_SUCCESS, PAM_AUTH_ERR))
            machine.daemon.process.wait()
            machine.daemon.release()
            machine.daemon.start()
            if machine.own >= 2:
                break
        self.assertEqual(machine.own, 2)
        self.assertEqual(machine.enter("su", [PASSCODE]).code != PAM_SUCCESS, True)
        self.assertEqual(machine.enter("login", [LOGIN]).code, PAM_SUCCESS)
        self.assertNotEqual(machine.daemon.status().fields["lock"], "erased")

    def test_restarted(self):
        """restarted between auth and setcred: the login goes on, and the try stays counted"""
        machine = self.machine()
        with machine.login("sudo", [LOGIN]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)
            machine.daemon.restart(signal.SIGKILL)
            for call in (login.setcred, login.open_session, login.close_session):
                self.assertEqual(call(), PAM_SUCCESS)
        self.assertEqual((machine.own, machine.apart), (1, 0))

    def test_stranger(self):
        """a socket of another user: nothing is sent to it"""
        if not IS_ROOT:
            self.skipTest("needs root: another user")
        machine = self.machine()
        machine.daemon.kill()
        os.unlink(machine.daemon.socket)
        heard = socket.socketpair()
        ready = os.pipe()

        def listen():
            os.setresuid(12345, 12345, 12345)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(machine.daemon.socket)
            os.chmod(machine.daemon.socket, 0o666)
            listener.listen(64)
            os.write(ready[1], b"+")
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=lambda: heard[1].send(connection.recv(64) or b"."), daemon=True).start()

        os.chmod(machine.daemon.folder, 0o777)
        child = os.fork()
        if child == 0:
            try:
                listen()
            finally:
                os._exit(0)
        try:
            os.read(ready[0], 1)
            self.assertFallsThrough(machine, 0)
            heard[0].settimeout(60)
            self.assertEqual(set(heard[0].recv(65536)), {ord(".")})
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


class Crowds(Case):
    def test_two_at_once(self):
        """two transactions in one process, one step each in turn: each confirms its own"""
        machine = self.machine("RetryLimit=9\nThrottleAfter=0")
        with machine.login("sudo", [LOGIN]) as one, machine.login("sudo", [WRONG]) as two:
            self.assertEqual((one.authenticate(), two.authenticate()), (PAM_SUCCESS, PAM_AUTH_ERR))
            self.assertEqual(machine.own, 2)
            one.setcred()
        self.assertEqual(machine.own, 1)

    def crowd(self, machine, each, threads):
        """50 logins at once. Returns their codes."""
        results, start = [], threading.Barrier(50)

        def one(index):
            def enter():
                # A peer that waits for its turn gets *working*, so that no deadline passes.
                return machine.enter(*each(index)).code

            start.wait()
            results.append(enter() if threads else in_child(enter))

        crowd = [threading.Thread(target=one, args=(index,)) for index in range(50)]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        return results

    @slow
    def test_fifty_passcodes(self):
        """50 logins with the passcode at once, in one process and in many: each is let in"""
        machine = self.machine()
        for threads in (True, False):
            with self.subTest(threads=threads):
                self.assertEqual(
                    self.crowd(machine, lambda _: ("sudo", [PASSCODE]), threads), [PAM_SUCCESS] * 50)
        self.assertEqual((machine.own, machine.apart), (0, 0))

    @slow
    def test_fifty_login_passwords(self):
        """50 logins with the login password at once, way (a) and way (b): each is let in, and no try stays counted"""
        machine = self.machine(way="followLogin")
        self.assertEqual(self.crowd(machine, lambda _: ("login", [LOGIN]), False), [PAM_SUCCESS] * 50)
        self.assertTrue(machine.is_open)
        machine = self.machine()
        self.assertEqual(self.crowd(machine, lambda _: ("sudo", [LOGIN]), False), [PAM_SUCCESS] * 50)
        self.assertEqual((machine.own, machine.apart), (0, 0))

    def test_fifty_with_a_limit(self):
        """with a retry limit and the default throttle, too, the store exists afterwards"""
        machine = self.machine("RetryLimit=5")
        self.assertEqual(self.crowd(machine, lambda _: ("sudo", [LOGIN, LOGIN]), False), [PAM_SUCCESS] * 50)
        self.assertEqual(machine.daemon.status().fields["lock"], "locked")
        self.assertEqual(machine.own, 0)

    def test_mixed(self):
        """passcodes, login passwords and wrong ones at once: each is handled as if it were alone"""
        machine = self.machine()
        kinds = ((PASSCODE, PAM_SUCCESS), (LOGIN, PAM_SUCCESS), (WRONG, PAM_AUTH_ERR))
        found = self.crowd(machine, lambda index: ("sudo", [kinds[index % 3][0]]), False)
        expected = [kinds[index % 3][1] for index in range(50)]
        self.assertEqual(sorted(found), sorted(expected))


if __name__ == "__main__":
    unittest.main()
