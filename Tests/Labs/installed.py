"""A machine with our packages on it, installed by apt from the folder that `make deb` fills, and people to log in.

One boot serves a whole class; each test takes people of its own with `person()`.
"""

import json
import re
import time
import unittest

import machine
import packages

QUIET = "DEBIAN_FRONTEND=noninteractive"
# No try is left uncounted, none is refused for coming too soon, and none erases.
COUNTING = "[Passcode]\nRetryLimit=50\nOnRetryLimit=lock\nThrottleAfter=0\n"


class Person:
    def __init__(self, name, password):
        self.name, self.password = name, password


class Case(unittest.TestCase):
    """`self.machine` is booted; if INSTALLED, with the packages, and with POLICY as the
    administrator's file."""

    INSTALLED = True
    POLICY = COUNTING
    BIND = packages.BIND
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        reason = machine.why_not()
        if reason is not None:
            raise machine.Unavailable(reason)
        cls.machine = machine.Machine(bind=cls.BIND)
        cls.addClassCleanup(cls.machine.stop)
        cls.people = 0
        if cls.INSTALLED:
            cls.install()

    @classmethod
    def install(cls):
        cls.policy(cls.POLICY)
        packages.install(cls.machine)

    @classmethod
    def policy(cls, text):
        """Writes the administrator's file; without text there is none. It is in force when this
        returns."""
        read = "journalctl -b -q -u appvaultd -o cat | grep -cx 'the policy was read'"
        runs = cls.machine.run("systemctl is-active --quiet appvaultd.service")[0] == 0
        before = cls.machine.run(read)[1]
        if text:
            cls.machine.write("/etc/appvault/policy.conf", text)
        else:
            cls.machine.check("rm -f /etc/appvault/policy.conf")
        if runs:
            cls.machine.check("systemctl kill --kill-whom=main -s HUP appvaultd.service")
            cls().until(lambda: cls.machine.run(read)[1] != before)

    @classmethod
    def profile(cls, *names, on=True):
        words = " ".join(f"--{'enable' if on else 'disable'} {name}" for name in names)
        cls.machine.check(f"{QUIET} pam-auth-update {words}")

    @classmethod
    def goes_first(cls):
        """Everything in the machine goes before the rest of this computer, which is not to be
        measured."""
        cls.machine.check("for pid in $(ps -eo pid=); do chrt --all-tasks --rr --pid 5 $pid || true; done")

    @classmethod
    def crowd(cls, count, sudo=True):
        """Makes so many new accounts."""
        numbers = range(cls.people + 1, cls.people + count + 1)
        cls.people += count
        crowd = [Person(f"p{number:03}", f"otter-{number:03}-login") for number in numbers]
        groups = "--groups sudo" if sudo else ""
        lines = [f"useradd --create-home --shell /bin/bash {groups} {person.name}" for person in crowd]
        cls.machine.check(
            "set -e\n" + "\n".join(lines) + "\nchpasswd",
            stdin="".join(f"{person.name}:{person.password}\n" for person in crowd))
        return crowd

    @classmethod
    def person(cls, sudo=True):
        return cls.crowd(1, sudo)[0]

    # what became of a store

    def status(self, person):
        return json.loads(self.machine.check(f"appvault status --json --user {person.name}"))

    def state(self, person):
        return self.status(person)["state"]

    def tries(self, person):
        status = self.status(person)
        return status.get("ownTriesLeft"), status.get("apartTriesLeft")

    def until(self, what, timeout=120):
        """Waits until it holds: what follows a logout happens by itself."""
        deadline = time.monotonic() + timeout
        while not what():
            self.assertLess(time.monotonic(), deadline, "it does not come to hold")
            time.sleep(0.05)

    def until_state(self, person, state):
        try:
            self.until(lambda: self.state(person) == state)
        except AssertionError:
            journal = self.machine.run("journalctl -b -u appvaultd -n 100 --no-pager")[1]
            self.fail(f"{person.name} is not {state}: {self.status(person)}\n{journal}")

    # logging in

    def login(self, person, password=None, prompt="Password: "):
        """login(1) on a terminal of its own; a Shell."""
        terminal = self.machine.getty(f"exec login {person.name}")
        self.addCleanup(terminal.close)
        terminal.expect(re.escape(prompt))
        terminal.send(person.password if password is None else password)
        return Shell(terminal)

    def with_store(self, person):
        """A person whose first login made their store."""
        shell = self.login(person)
        shell.ready()
        # A login waits at most 5 s for the store.
        self.until_state(person, "unlocked")
        shell.leave()
        self.until_state(person, "locked")
        return person


class Seated(Case):
    """People with a screen, which logind knows and nothing draws."""

    def sits_down(self, person):
        """A graphical session on the seat, which shows it from now on; nothing is drawn."""
        self.machine.check(
            f"systemd-run --quiet --collect -p PAMName=login -p User={person.name} -p TTYPath=/dev/null"
            f" -p Environment='XDG_SEAT=seat0 XDG_SESSION_TYPE=x11 XDG_SESSION_CLASS=user' sleep 1000")
        self.until(lambda: self.shown() is not None and self.owner(self.shown()) == person.name)
        session = self.shown()
        self.addCleanup(self.machine.run, f"loginctl terminate-session {session}")
        return session

    def shown(self):
        found = self.machine.run("loginctl show-seat -P ActiveSession seat0")[1].strip()
        return found or None

    def owner(self, session):
        return self.machine.run(f"loginctl show-session -P Name {session}")[1].strip()

    def hint(self, session, locked):
        """The locker says so."""
        self.machine.check(f"{self.hints(session)} {str(locked).lower()}")

    def path(self, session):
        """The session's object at logind."""
        found = self.machine.check(
            "busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager"
            f" GetSession s {session}")
        return found.split('"')[1]

    def hints(self, session):
        """A command that wants one more word: whether the screen is locked."""
        return (f"busctl call org.freedesktop.login1 {self.path(session)} org.freedesktop.login1.Session"
                " SetLockedHint b")

    def in_session(self, session, person, command, stdin=""):
        """Runs a command of the person's as a part of that session, as a locker is."""
        scope = self.machine.check(f"systemctl show -P ControlGroup session-{session}.scope").strip()
        return self.machine.run(
            f"echo 0 > /sys/fs/cgroup{scope}/cgroup.procs && exec runuser -u {person.name} -- {command}", stdin=stdin,
            timeout=120)


class Shell:
    """A shell at a Terminal."""

    def __init__(self, terminal):
        self.terminal = terminal

    def ready(self):
        self.terminal.expect(r"[$#] $")
        return self

    def __call__(self, command, timeout=20):
        """Runs a command; returns its exit status and what it shows."""
        self.terminal.send(command + "; echo \"=$?\"=")
        # The terminal also shows what was typed.
        self.terminal.expect(r'\$\?"=\n')
        code = self.terminal.expect(r"=(\d+)=\n", timeout)
        shown = self.terminal.before
        self.ready()
        return int(code.group(1)), shown

    def leave(self):
        self.terminal.send("exit")
        self.terminal.wait()
