"""The ways to live with it, with the real sudo, su, passwd and login. They read a private
/etc/pam.d and /etc/sudoers in a mount namespace of their own; the host's are not touched."""

import os
import re
import shutil
import signal
import time
import unittest

from daemonlab import answers, wait_until
from loginlab import Logind
from patience import Stopwatch
from programlab import Case, Terminal
from slow import slow
from wayslab import LOGIN, NEW_LOGIN, PASSCODE, WRONG, account

NEEDS_ROOT = True

class Sudo(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("sudo") is None:
            raise unittest.SkipTest("no sudo here: apt-get install sudo")

    def sudo(self, machine, typed, *more):
        """echo pw | sudo -S id -u"""
        return machine.derivations(
            lambda: self.run_it(machine, "sudo", "-S", "-p", "", *more, "id", "-u", typed=typed))

    def test_pipe(self):
        """echo pw | sudo -S: the passcode, the login password, and neither"""
        machine = self.machine()
        machine.way_b("sudo")
        count, done = self.sudo(machine, PASSCODE + "\n")
        self.assertEqual((done.returncode, done.stdout, count), (0, "0\n", 1), done.stderr)
        self.assertEqual((machine.own, machine.apart, machine.is_open), (0, 0, True))
        count, done = self.sudo(machine, LOGIN + "\n")
        self.assertEqual((done.returncode, done.stdout, count), (0, "0\n", 1), done.stderr)
        # sudo's setcred gave the try back, whichever count it was on, and the token is remembered.
        self.assertEqual(machine.own, 0)
        apart = machine.apart
        count, done = self.sudo(machine, LOGIN + "\n")
        self.assertEqual((done.returncode, done.stdout, count), (0, "0\n", 0), done.stderr)
        self.assertEqual((machine.own, machine.apart), (0, apart))
        count, done = self.sudo(machine, WRONG + "\n")
        self.assertEqual((done.returncode, done.stdout, count), (1, "", 1), done.stderr)
        self.assertEqual(machine.own + machine.apart, apart + 1)

    def seated(self, session, **options):
        """A machine whose logind says where sudo runs."""
        logind = Logind(account()[1])
        self.addCleanup(logind.close)
        logind.set(session=session)
        return self.machine(before=logind.before, env=logind.env, **options)

    def test_own(self):
        """sudo's tries are the person's own at the seat, and apart in a remote session"""
        for session, counts in (("here", (1, 0)), ("remote", (0, 1))):
            with self.subTest(session=session):
                machine = self.seated(session)
                machine.way_b("sudo")
                self.sudo(machine, WRONG + "\n")
                self.assertEqual((machine.own, machine.apart), counts)

    def test_three_lines(self):
        """three lines on sudo -S are three tries"""
        machine = self.machine()
        machine.way_b("sudo")
        count, done = self.sudo(machine, f"{WRONG}\n{WRONG}2\n{PASSCODE}\n")
        self.assertEqual((done.returncode, done.stdout, count), (0, "0\n", 3), done.stderr)
        self.assertEqual(machine.own, 0)

    def test_terminal(self):
        """on a terminal: wrong, then the login password; the first stays counted, the second is given back"""
        machine = self.seated("here")
        machine.way_b("sudo")
        sudo = Terminal(self.command(machine, "sudo", "id", "-u"))
        sudo.expect("Passcode or login password: ")
        sudo.type(WRONG)
        sudo.expect("sorry")
        sudo.expect("Passcode or login password: ")
        sudo.type(LOGIN)
        self.assertEqual(sudo.end(), 0)
        self.assertTrue(sudo.shown.endswith("0\n"), sudo.shown)
        self.assertNotIn(LOGIN, sudo.shown)
        self.assertEqual(machine.own, 1)

    def test_last(self):
        """sudo shows no lines, so its question says that the next wrong passcode erases"""
        machine = self.seated("here", policy="RetryLimit=2\nThrottleAfter=0")
        machine.way_b("sudo")
        sudo = Terminal(self.command(machine, "sudo", "id", "-u"))
        sudo.expect("Passcode or login password: ")
        sudo.type(WRONG)
        sudo.expect("One try left, then the store is erased. Passcode or login password: ")
        sudo.type(PASSCODE)
        self.assertEqual(sudo.end(), 0)

    def test_throttled(self):
        """sudo shows no lines, and says how long the passcode has to wait; the login password need not"""
        machine = self.seated(
            "here", policy="[Passcode]\nDerivationMemory=19MiB\nDerivationPasses=2\nRetryLimit=2\nThrottleAfter=1\n"
            "ThrottleMax=1h\n[Texts]\nmatch.throttled=WAIT {1}\n")
        machine.way_b("sudo")
        sudo = Terminal(self.command(machine, "sudo", "id", "-u"))
        sudo.expect("Passcode or login password: ")
        sudo.type(WRONG)
        # The last try has to wait for an hour: the next prompt is pam_unix's.
        sudo.expect("WAIT ")
        sudo.expect("password for")
        sudo.type(LOGIN)
        self.assertEqual(sudo.end(), 0, sudo.shown)
        self.assertEqual(sudo.shown.count("WAIT"), 1)

    def test_interrupted(self):
        """Ctrl-C at our prompt ends sudo and costs nothing"""
        machine = self.machine()
        machine.way_b("sudo")
        sudo = Terminal(self.command(machine, "sudo", "id", "-u"))
        sudo.expect("Passcode or login password: ")
        os.write(sudo.fd, b"\x03")
        self.assertNotEqual(sudo.end(), 0)
        self.assertEqual((machine.daemon.derivations(), machine.own), (1, 0))

    def test_not_asked(self):
        """sudo -n asks nothing and tries nothing"""
        machine = self.machine()
        machine.way_b("sudo")
        count, done = machine.derivations(lambda: self.run_it(machine, "sudo", "-n", "id", "-u"))
        self.assertEqual((done.returncode, count), (1, 0))

    def test_daemon_stopped(self):
        """with the daemon stopped the login password works, within the deadlines"""
        machine = self.machine()
        machine.way_b("sudo")
        machine.daemon.pause()
        stopwatch = Stopwatch()
        done = self.run_it(machine, "sudo", "-S", "-p", "", "id", "-u", typed=LOGIN + "\n")
        stopwatch.stop()
        machine.daemon.resume()
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
        # Two seconds, once for all lines.
        stopwatch.assert_within(9)

    def test_login_password_way(self):
        """way (a): sudo opens no store, and asks as before"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        machine.way_a("sudo")
        count, done = self.sudo(machine, LOGIN + "\n")
        self.assertEqual((done.returncode, done.stdout, count), (0, "0\n", 0), done.stderr)
        self.assertFalse(machine.is_open)


class Su(Case):
    def wired(self, machine):
        for service in ("su", "su-l"):
            machine.way_b(service)
            machine.stack(service, "auth sufficient pam_rootok.so", *machine.stacks[service])

    def test_from_root(self):
        """root's su opens a session but no store"""
        for way, passcode in (("ownPasscode", PASSCODE), ("followLogin", LOGIN)):
            machine = self.machine(way=way, passcode=passcode)
            self.wired(machine)
            for option in ((), ("-",)):
                with self.subTest(way=way, option=option):
                    count, done = machine.derivations(lambda: self.run_it(
                        machine, "su", *option, machine.name, "-c", "id -u", as_person=False))
                    self.assertEqual((done.returncode, done.stdout), (0, f"{machine.uid}\n"), done.stderr)
                    self.assertEqual((count, machine.is_open), (0, False))

    def test_person(self):
        """a person's su to themselves: the passcode, the login password, and neither"""
        machine = self.machine()
        self.wired(machine)
        for typed, code in ((PASSCODE, 0), (LOGIN, 0), (WRONG, 1)):
            with self.subTest(typed=typed):
                su = Terminal(self.command(machine, "su", machine.name, "-c", "id -u"))
                su.expect("Passcode or login password: ")
                su.type(typed)
                self.assertEqual(su.end(), code, su.shown)
                self.assertEqual(su.shown.endswith(f"{machine.uid}\n"), code == 0)

    @slow
    def test_stranger(self):
        """another account's su tries no passcode, and shows not a byte that reveals whether there is a store"""
        machine = self.machine("RetryLimit=2\nThrottleAfter=0")
        self.wired(machine)

        def seen(guess):
            su = Terminal(self.command(
                machine, "setpriv", "--reuid", "daemon", "--regid", "daemon", "--clear-groups",
                "su", machine.name, "-c", "id -u", as_person=False))
            su.expect("Password: ")
            su.type(guess)
            return su.end(), su.shown

        guesses = [WRONG, PASSCODE, LOGIN, WRONG, WRONG]
        with_store = [seen(guess) for guess in guesses]
        self.assertEqual((machine.own, machine.others), (0, 0))
        self.assertEqual(machine.daemon.ask("reset", answers(PASSCODE)).name, "done")
        self.assertEqual(with_store, [seen(guess) for guess in guesses])
        self.assertEqual([code == 0 for code, _ in with_store], [False, False, True, False, False])


class Left(Case):
    def test_end_of_input(self):
        """Ctrl-D at our prompt ends su, sudo and login as it does at pam_unix's own"""
        machine = self.machine()
        for service, words, last in (
            ("su", ("su", machine.name, "-c", "id -u"), None),
            ("sudo", ("sudo", "id", "-u"), None),
            ("login", ("login", machine.name), "ogin incorrect"),
        ):
            heard = []
            for wire in (machine.way_a, machine.way_b):
                wire(service)
                program = Terminal(self.command(machine, *words, as_person=service != "login"))
                program.expect(": ")
                prompt = program.shown
                os.write(program.fd, b"\x04")
                if last:
                    program.expect(last)
                    os.kill(program.pid, signal.SIGKILL)
                    heard.append(program.shown[len(prompt) : program.read_to])
                    program.end()
                else:
                    heard.append((program.end(), program.shown[len(prompt) :]))
            with self.subTest(service):
                self.assertEqual(heard[0], heard[1])


class Passwd(Case):
    def wired(self, machine):
        machine.stack(
            "passwd", "password [success=1 default=ignore] pam_unix.so sha256 rounds=1000 minlen=4",
            "password requisite pam_deny.so", "password required pam_permit.so",
            "password optional {ours} use_authtok")

    def test_person(self):
        """passwd changes the store's passcode too, and our module asks nothing"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        self.wired(machine)
        machine.way_a()
        passwd = Terminal(self.command(machine, "passwd"))
        for prompt, typed in (("Current password: ", LOGIN), ("New password: ", NEW_LOGIN),
                              ("Retype new password: ", NEW_LOGIN)):
            passwd.expect(prompt)
            passwd.type(typed)
        self.assertEqual(passwd.end(), 0, passwd.shown)
        self.assertEqual(len(re.findall(r"(?m)^.*: $", passwd.shown)), 3, passwd.shown)
        self.assertEqual(machine.enter(typed=[NEW_LOGIN]).code, 0)
        self.assertTrue(machine.is_open)
        self.assertFalse(machine.opens_with(LOGIN))

    def test_root(self):
        """after root's passwd alice the two have drifted apart: the store keeps the former password"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        self.wired(machine)
        machine.way_a()
        passwd = Terminal(self.command(machine, "passwd", machine.name, as_person=False))
        for prompt in ("New password: ", "Retype new password: "):
            passwd.expect(prompt)
            passwd.type(NEW_LOGIN)
        self.assertEqual(passwd.end(), 0, passwd.shown)
        self.assertEqual(machine.apart, 0)
        entered = machine.enter(typed=[NEW_LOGIN, LOGIN])
        self.assertEqual((entered.code, len(entered.prompts)), (0, 2))
        self.assertTrue(machine.opens_with(NEW_LOGIN))

    def test_daemon_dead(self):
        """passwd works without the daemon; then the two have drifted apart"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        self.wired(machine)
        machine.daemon.kill()
        passwd = Terminal(self.command(machine, "passwd"))
        for prompt, typed in (("Current password: ", LOGIN), ("New password: ", NEW_LOGIN),
                              ("Retype new password: ", NEW_LOGIN)):
            passwd.expect(prompt)
            passwd.type(typed)
        self.assertEqual(passwd.end(), 0, passwd.shown)
        machine.daemon.start()
        self.assertTrue(machine.opens_with(LOGIN))


class Login(Case):
    def test_login(self):
        """login opens the store, it is open in its shell, and exit locks it; with either way"""
        for way, passcode, prompt in (
            ("ownPasscode", PASSCODE, "Passcode or login password: "), ("followLogin", LOGIN, "Password: "),
        ):
            with self.subTest(way=way):
                is_late = True
                while is_late:
                    machine = self.machine(way=way, passcode=passcode, options=["--deadline", "session=1"])
                    (machine.way_b if way == "ownPasscode" else machine.way_a)("login")
                    login = Terminal(self.command(machine, "login", machine.name, as_person=False))
                    login.expect(prompt)
                    began = time.monotonic()
                    login.type(passcode)
                    login.expect("$ ")
                    # The session may have come later than a login waits for it: then once more.
                    if is_late := time.monotonic() - began >= 1:
                        login.type("exit")
                        login.end()
                        machine.close()
                self.assertTrue(machine.is_open)
                self.assertEqual(machine.daemon.status().fields["sessions"], 1)
                time.sleep(1.3)
                self.assertTrue(machine.is_open, "its session keeps it open")
                login.type("exit")
                login.end()
                wait_until(lambda: not machine.is_open, "the logout shuts it", 5)
                machine.close()

    def test_drift(self):
        """at login a drifted password is corrected with one question"""
        machine = self.machine(way="followLogin", passcode=LOGIN)
        machine.way_a("login")
        machine.change_password(NEW_LOGIN)
        login = Terminal(self.command(machine, "login", machine.name, as_person=False))
        login.expect("Password: ")
        login.type(NEW_LOGIN)
        login.expect("Your login password has changed")
        login.expect("Old login password or recovery key (Enter to skip): ")
        login.type(LOGIN)
        login.expect("$ ")
        login.type("exit")
        login.end()
        self.assertTrue(machine.opens_with(NEW_LOGIN))
        self.assertFalse(machine.opens_with(LOGIN))


if __name__ == "__main__":
    unittest.main()
