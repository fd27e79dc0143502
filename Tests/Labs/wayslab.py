"""A machine that is set up for AppVault: the real daemon, the real module under the real libpam,
a person with a login password, and the stacks of the ways to live with it.

    with Machine() as machine:
        machine.create(LOGIN, way="followLogin")
        machine.way_a("login")
        with machine.login("login", [LOGIN]) as login:
            self.assertEqual(login.authenticate(), PAM_SUCCESS)

As root the person is an account made for this process and removed with it, and pam_unix checks its password. As an
ordinary user the person is that user, and labmodule.c stands in for pam_unix, so that nobody's own password is needed.
"""

import atexit
import ctypes
import os
import pickle
import pwd
import subprocess
import traceback

import daemonlab
import pamlab
from daemonlab import IS_ROOT
from pamlab import PAM_TTY, Talk

LOGIN = "login-otter-7"
NEW_LOGIN = "login-badger-8"
PASSCODE = "correct horse battery"
WRONG = "wrong horse battery"

_account = None
_libc = ctypes.CDLL(None)


def account():
    """An account of this process's own: (name, uid). Only as root."""
    global _account
    if _account is None:
        name = daemonlab.account_name()
        daemonlab.change_accounts(
            "useradd", "--no-create-home", "--shell", "/bin/sh", *daemonlab.own_uids(), name)
        owner = os.getpid()

        def remove():
            # Children of fork run this, too.
            if os.getpid() == owner:
                subprocess.run(["userdel", "--force", name], capture_output=True, check=False)

        atexit.register(remove)
        _account = (name, pwd.getpwnam(name).pw_uid)
    return _account


def in_child(function, uids=None, watch=None):
    """Runs it in a child, with these real, effective and saved uids; returns its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            try:
                _libc.prctl(1, 9, 0, 0, 0)
                if uids is not None:
                    os.setgroups([])
                    os.setresuid(*uids)
                answer = (True, function())
            except BaseException as error:
                answer = (False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
            with os.fdopen(write, "wb") as file:
                pickle.dump(answer, file)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        if watch is not None:
            watch(child)
        data = file.read()
    os.waitpid(child, 0)
    if not data:
        raise AssertionError("the child died")
    good, value = pickle.loads(data)
    if not good:
        raise AssertionError(value)
    return value


class Machine:
    """One daemon, one person, a private folder of services. `policy` is lines of [Passcode]."""

    def __init__(self, policy="", **options):
        self.daemon = daemonlab.Daemon(policy, **options)
        if IS_ROOT:
            self.daemon.person = account()
        self.name, self.uid = self.daemon.person
        self.lab = pamlab.Lab()
        self.lab.socket = self.daemon.socket
        self.stacks = {}
        self.change_password(LOGIN)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.lab.close()
        self.daemon.close()

    # the system's own password

    def change_password(self, password):
        """Changes it with chpasswd, as an administrator does: AppVault is not told."""
        self.password = password
        if IS_ROOT:
            daemonlab.set_password(self.name, password)
        for service, lines in self.stacks.items():
            self.stack(service, *lines)

    def unix(self, control, *options):
        """pam_unix, or what stands for it: takes the stack's token, and asks if there is none."""
        if IS_ROOT:
            return f"auth {control} pam_unix.so nodelay try_first_pass " + " ".join(options)
        return f"auth {control} {{lab}} want={{password}}"

    # stacks

    def stack(self, service, *lines):
        self.stacks[service] = lines
        return self.lab.stack(*(line.replace("{password}", self.password) for line in lines), name=service)

    def way_a(self, service="login"):
        """Debian's common-auth with our unlocking profile."""
        return self.stack(
            service,
            self.unix("[success=1 default=ignore]"),
            "auth requisite pam_deny.so",
            "auth required pam_permit.so",
            "auth optional {ours} unlock",
            "session required pam_permit.so",
            "session optional {ours}",
        )

    def way_b(self, service="login", between=(), unlock=True):
        """The same with our asking profile before it."""
        between = [f"auth optional {line}" for line in between]
        return self.stack(
            service,
            f"auth [success={2 + len(between)} default=ignore] {{ours}} or_password",
            *between,
            self.unix("[success=1 default=ignore]"),
            "auth requisite pam_deny.so",
            "auth required pam_permit.so",
            *(["auth optional {ours} unlock"] if unlock else []),
            "session required pam_permit.so",
            "session optional {ours}",
        )

    def beside(self, service="login"):
        """Our line as a required step after pam_unix, with a prompt of its own."""
        return self.stack(
            service,
            self.unix("required"),
            "auth required {ours}",
            "auth optional {lab} look=TOKEN",
        )

    def login(self, service="login", typed=(), tty="/dev/tty1", **items):
        """A transaction of an application at this machine; `typed` are the answers to its
        questions."""
        given = {PAM_TTY: tty} if tty else {}
        given.update({getattr(pamlab, "PAM_" + key): value for key, value in items.items()})
        talk = typed if isinstance(typed, Talk) else Talk(typed)
        return self.lab.transaction(service, self.name, talk, items=given)

    def enter(self, service="login", typed=(), confirm=True, **items):
        """A whole login that ends at once: PAM's code, with the questions and lines."""
        with self.login(service, typed, **items) as login:
            code = login.authenticate()
            if confirm and code == pamlab.PAM_SUCCESS:
                login.setcred()
            return Entered(code, login.talk)

    # the store

    def create(self, passcode=PASSCODE, way="ownPasscode", is_open=False):
        self.daemon.create(passcode, way)
        if not is_open:
            self.lock()
        return self

    def create_with_recovery(self, passcode, way):
        key = self.daemon.create_with_recovery(passcode, way)
        self.lock()
        return key if isinstance(key, str) else bytes(key).decode()

    def lock(self):
        self.daemon.lock()

    @property
    def is_open(self):
        return self.daemon.status().fields["lock"] == "unlocked"

    def opens_with(self, passcode):
        """Whether this opens the store, tried directly at the daemon; locked again afterwards."""
        self.lock()
        message = self.daemon.unlock(passcode)
        self.lock()
        return message.name == "done"

    @property
    def own(self):
        return self.daemon.tally().own.count

    @property
    def apart(self):
        return self.daemon.tally().apart.count

    @property
    def stranger(self):
        return self.daemon.tally().stranger.count

    @property
    def others(self):
        """The count of those who are not known to be the person at this machine. A private
        daemon knows no strangers."""
        return self.apart + self.stranger

    def derivations(self, work):
        """How many derivations the call took, and its result."""
        before = self.daemon.derivations()
        value = work()
        return self.daemon.derivations() - before, value

    def appvault(self, *words, passcodes=(), **options):
        """The CLI, run by the person; each passcode is a line of --passcode-fd."""
        read, write = os.pipe()
        os.write(write, "".join(line + "\n" for line in passcodes).encode())
        os.close(write)
        command = [daemonlab.build("appvault"), "--socket", self.daemon.socket, "--passcode-fd", str(read), *words]
        who = {"user": self.uid, "group": self.uid, "extra_groups": []} if IS_ROOT else {}
        try:
            return subprocess.run(
                command, pass_fds=[read], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin"}, cwd="/", **who, **options)
        finally:
            os.close(read)


class Entered:
    def __init__(self, code, talk):
        self.code, self.prompts, self.lines = code, talk.prompts, talk.lines

    def __repr__(self):
        return f"<code {self.code}, asked {self.prompts}, told {self.lines}>"
