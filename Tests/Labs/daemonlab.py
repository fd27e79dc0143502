"""The real appvaultd in a temporary folder of its own, and clients that talk to it.

    with Daemon(policy="RetryLimit=10\\nThrottleAfter=0") as daemon:
        daemon.create("correct horse")                         # a store for `daemon.person`
        with daemon.client(service="login") as client:         # greeted already
            message = client.run("openStore", answers("correct horse"), subject=daemon.person)
        daemon.authenticate("wrong").code                      # what the module would hear: a verdict
        daemon.derivations()                                   # counted in the daemon itself, not guessed from answers
        daemon.tally().own.wrong                               # read from the slots file
        daemon.kill(); daemon.start()

As root the daemon runs as root, its peers may be any uid (`as_uid(1234, lambda: ...)`), and `person` is a name that
needs no account. As an ordinary user the daemon is a private one, and `person` is that user.

APPVAULT_BUILD names the folder with appvaultd; otherwise it is .build/release.
"""

import contextlib
import ctypes
import itertools
import os
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import loginlab
import pamlab
import wire
from patience import Stopwatch

ROOT = pamlab.ROOT
IS_ROOT = os.getuid() == 0
PASSCODE = "correct horse"
# Cheap derivations: the tests count how many there are.
CHEAP = "DerivationMemory=19MiB\nDerivationPasses=2\n"
# Of a slots file: each block begins a page of its own.
BLOCK, PAGE = 512, 4096

_libc = ctypes.CDLL(None, use_errno=True)

# Root's tries count as a person's own only if the daemon itself sees that they are made at a
# console.
loginlab.at_console()


def build(name):
    """A program under test."""
    for folder in filter(None, [os.environ.get("APPVAULT_BUILD"), os.path.join(ROOT, ".build", "release")]):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return os.path.abspath(path)
    raise FileNotFoundError(f"no {name}: run make, or name its folder in APPVAULT_BUILD")


def wait_until(condition, what, seconds=10.0):
    """Polls a condition until it holds; returns its value. Fails with a message if the time is
    over, without that in which others were served."""
    stopwatch = Stopwatch()
    while True:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        if stopwatch.is_over(seconds):
            raise AssertionError(f"not within {seconds} s, in {stopwatch.seconds:.1f} s: {what}")
        # A dear question is asked less often: other suites need the processor, too.
        time.sleep(max(0.005, 2 * (time.monotonic() - asked)))


def wakeups(pid):
    """How often the threads of a process have slept and were woken."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        # A thread may end before its turn.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))
    return total


def comes_to_rest(pid):
    """Waits until nothing has woken the process for three seconds. What earlier questions left to
    do is done some seconds after them, or later on a busy machine."""

    def rests():
        before = wakeups(pid)
        time.sleep(3)
        return wakeups(pid) == before

    wait_until(rests, "three seconds without a wakeup", 60)


def as_uid(uid, function, gid=None):
    """Runs the function in a child with that uid and returns its result. An exception in the
    child is raised here, too."""
    def become():
        group = uid if gid is None else gid
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(uid, uid, uid)

    return loginlab.in_child(f"as uid {uid}", become, function)


def as_uid_connection(uid, daemon, frontEnd="program", **hello):
    """A greeted connection that the kernel says is that uid's, for this process to use."""
    ours, theirs = socket.socketpair()

    def connect():
        with daemon.client(frontEnd=frontEnd, realUID=uid, **hello) as client:
            socket.send_fds(theirs, [b"c"], [client.socket.fileno()])

    as_uid(uid, connect)
    _, (number,), _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    theirs.close()
    client = wire.Client.__new__(wire.Client)
    wire.Channel.__init__(client, socket.socket(fileno=number))
    client.timeout, client.tag = 20.0, 1
    client.shown, client.asked, client.revealed, client.tokens, client.damaged = [], [], [], [], []
    client.screens, client.draws = [], None
    return client


_accounts = itertools.count(1)


def account_name():
    """A name that no other test run on this machine has."""
    return f"avt{os.getpid()}n{next(_accounts)}"


def change_accounts(*command, typed=None):
    """Runs useradd, usermod, userdel or chpasswd. Waits while another program changes accounts,
    and until the account's processes have ended."""
    end = time.monotonic() + 20
    while True:
        done = subprocess.run(command, capture_output=True, text=True, check=False, input=typed)
        if done.returncode == 0:
            return
        if not re.search("lock|currently used by process", done.stderr) or time.monotonic() > end:
            raise AssertionError(f"{' '.join(command)}: {done.stderr.strip()}")
        time.sleep(0.05)


def set_password(name, password):
    """Sets it with chpasswd, as an administrator does: AppVault is not told."""
    # -c: without PAM, because PAM's chpasswd service belongs to the host.
    change_accounts("chpasswd", "-c", "SHA256", "-s", "1000", typed=f"{name}:{password}")


def own_uids():
    """For useradd: uids that no other suite uses, if the runner names them."""
    words = os.environ.get("APPVAULT_UIDS", "").split()
    # System uids end below the first of these, unless the option says where.
    keys = ("UID_MIN", "UID_MAX", "SYS_UID_MAX") if words else ()
    return [word for key, value in zip(keys, (*words, "999")) for word in ("-K", f"{key}={value}")]


def add_account(name=None, *options):
    """Makes a throw-away account; returns its name and uid. Removes what a killed run left
    behind."""
    for entry in pwd.getpwall():
        stale = re.fullmatch(r"avt(\d+)n\d+", entry.pw_name)
        if stale and not os.path.exists(f"/proc/{stale.group(1)}"):
            # A process of that run may still be running: the next attempt comes later.
            with contextlib.suppress(AssertionError):
                remove_account(entry.pw_name)
    name = name or account_name()
    change_accounts("useradd", "-M", "-N", "-s", "/usr/sbin/nologin", *own_uids(), *options, name)
    return name, pwd.getpwnam(name).pw_uid


def remove_account(name):
    """Removes the account, whether it exists or not."""
    try:
        pwd.getpwnam(name)
    except KeyError:
        return
    change_accounts("userdel", name)


def answers(passcode=PASSCODE, **by_purpose):
    """A conversation that answers by the purpose of the question; a question without an answer
    is aborted.

    A list gives its answers one after the other. `passcode` answers the passcode and, unless
    given otherwise, the new one twice.
    """
    script = {"passcode": passcode, "newPasscode": passcode, "loginPassword": passcode, "former": passcode}
    script.update(by_purpose)
    script.setdefault("confirmPasscode", script["newPasscode"])
    script = {key: list(value) if isinstance(value, (list, tuple)) else value for key, value in script.items()}
    if "newPassphrase" in script:
        script.setdefault("confirmPassphrase", script["newPassphrase"])

    def answer(ask):
        value = script.get(ask.purpose)
        if isinstance(value, list):
            return value.pop(0) if value else None
        return value() if callable(value) else value

    return answer


def slot_block(data, number):
    """The content of a block of a slots file."""
    return data[number * PAGE :][:BLOCK]


class Tries:
    def __init__(self, data):
        self.wrong, self.unresolved, self.boot, self.at = struct.unpack("<II16sQ", data)

    @property
    def count(self):
        return self.wrong + self.unresolved

    def __repr__(self):
        return f"wrong={self.wrong} unresolved={self.unresolved}"


class Tally:
    """Block 2 of a slots file, as FORMAT.md describes it."""

    def __init__(self, block):
        payload = block[48:480]
        self.own, self.apart, self.recovery = (Tries(payload[at : at + 32]) for at in (0, 32, 64))
        self.locked = payload[96] == 1
        self.stranger = Tries(payload[97:129])

    def counts(self):
        return (self.own.count, self.apart.count, self.recovery.count)

    def __repr__(self):
        return (
            f"<own {self.own}, apart {self.apart}, stranger {self.stranger}, recovery {self.recovery},"
            f" locked={self.locked}>")


class Daemon:
    """`options` and `env` go to the daemon; `before` is a command line before its own (unshare,
    for example); with `runtime` it remembers failed tokens over its restarts, as it does under
    its unit."""

    def __init__(
        self, policy="", options=(), env=(), uid=None, start=True, before=(), socket_activated=False, runtime=False
    ):
        self.uid = os.getuid() if uid is None else uid
        self.folder = tempfile.mkdtemp(prefix="appvault-daemon-")
        os.chmod(self.folder, 0o755)
        self.socket = os.path.join(self.folder, "socket")
        self.state = os.path.join(self.folder, "state")
        self.config = os.path.join(self.folder, "config")
        self.runtime = os.path.join(self.folder, "runtime")
        self.log_path = os.path.join(self.folder, "log")
        self.count_path = os.path.join(self.folder, "derivations")
        self.options, self.env, self.before = list(options), dict(env), list(before)
        self.socket_activated, self.listener = socket_activated, None
        # What systemd hands over besides the socket: names and descriptors.
        self.handed = []
        os.mkdir(self.state, 0o700)
        os.mkdir(self.runtime, 0o700)
        os.mkdir(self.config, 0o755)
        # Without --socket it would use the system's own.
        if runtime or socket_activated:
            self.options += ["--runtime-dir", self.runtime]
        for path in (self.log_path, self.count_path):
            with open(path, "w"):
                pass
        self.policy(policy)
        self.process = None
        if IS_ROOT:
            self.person = ("alice", 47011)
            for path in (self.folder, self.state, self.runtime, self.log_path, self.count_path):
                os.chown(path, self.uid, self.uid)
        else:
            self.person = (pwd.getpwuid(os.getuid()).pw_name, os.getuid())
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # its life

    def policy(self, text, reload=False):
        """Writes the policy: lines of [Passcode], or a whole file with sections of its own."""
        if "[" not in text:
            text = "[Passcode]\n" + (CHEAP if "DerivationMemory" not in text else "") + text + "\n"
        with open(os.path.join(self.config, "policy.conf"), "w") as file:
            file.write(text)
        if reload:
            before = self.log().count("policy")
            self.process.send_signal(signal.SIGHUP)
            wait_until(lambda: self.log().count("policy") > before, "the policy was read again")

    def command(self):
        where = [] if self.socket_activated else ["--socket", self.socket]
        return [
            *self.before, build("appvaultd"), *where, "--state-dir", self.state, "--config-dir", self.config,
            *self.options,
        ]

    def environment(self):
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            # No logind except the one that a test starts.
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/no-bus",
            "LD_PRELOAD": derivation_counter(),
            "DERIVATIONS": self.count_path,
            **self.env,
        }

    def spawn(self):
        """Starts the process and does not wait."""
        uid, activated = self.uid, self.socket_activated
        environment = self.environment()
        if activated:
            self._listen()
            handed = [("appvaultd.socket", self.listener.fileno()), *self.handed]
            environment["LISTEN_FDS"] = str(len(handed))
            environment["LISTEN_FDNAMES"] = ":".join(name for name, _ in handed)

        def prepare():
            if uid != os.getuid():
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
            # The daemon ends with the test in any case; a change of user would undo this.
            _libc.prctl(1, signal.SIGKILL, 0, 0, 0)

        command = self.command()
        kept = ()
        if activated:
            # LISTEN_PID must be the daemon's pid: the shell that becomes the daemon knows it.
            kept = tuple(number for _, number in handed)
            # By way of numbers that none of them has.
            moves = [(f"{50 + at}<&{number}", f"{3 + at}<&{50 + at}") for at, number in enumerate(kept)]
            ends = " ".join(
                f"{number}<&-" for number in (*range(50, 50 + len(kept)), *kept) if number >= 3 + len(kept))
            script = "export LISTEN_PID=$$\n" + "".join(
                f"exec {' '.join(words)}\n" for words in zip(*moves)) + f'exec "$@" {ends}'
            command = ["/bin/bash", "-c", script, "bash", *command]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=prepare,
                pass_fds=kept, start_new_session=True,
            )
        return self.process

    def _listen(self):
        if self.listener is None:
            self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.listener.bind(self.socket)
            os.chmod(self.socket, 0o666)
            self.listener.listen(128)
            self.listener.set_inheritable(True)

    def start(self):
        self.spawn()
        self.wait_ready()
        return self

    def wait_ready(self, seconds=60.0):
        """Waits until it answers a greeting."""
        end = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"appvaultd ended with {self.process.returncode}: {self.log()}")
            try:
                with wire.Client(self.socket, seconds) as client:
                    answer = client.hello()
                    # One that ends has hung up; the next one takes its socket over.
                    if answer is not None and answer.name == "welcome":
                        return
            except OSError:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"appvaultd does not answer: {self.log()}")
            time.sleep(0.005)

    @contextlib.contextmanager
    def awake(self):
        """Starts one that systemd would start on demand, for a peer who is at its socket already: while that is there
        it does not end by itself, however late others come."""
        self._listen()
        with wire.Client(self.socket, 60.0) as peer:
            peer.send("hello", 1, frontEnd="program", realUID=os.getuid())
            self.start()
            if peer.receive(60.0).name != "welcome":
                raise AssertionError("the peer that came first is turned away")
            yield

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def end(self, number=signal.SIGTERM, seconds=60.0):
        """Sends the signal and waits for the end; returns the exit status."""
        if self.is_running:
            self.process.send_signal(number)
            if number != signal.SIGKILL:
                self.process.send_signal(signal.SIGCONT)
        return self.process.wait(seconds)

    def stop(self):
        """A clean end."""
        return self.end()

    def kill(self):
        return self.end(signal.SIGKILL)

    def restart(self, number=signal.SIGTERM):
        self.end(number)
        return self.start()

    def pause(self):
        """Returns when nothing of it runs any more: a thread ends its system call first."""
        self.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: set(self._states()) <= set("tT"), "every thread has stopped", 60)

    def _states(self):
        """What each thread does, by the letters of proc(5)."""
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            # A thread may end before its turn.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{self.pid}/task/{thread}/stat", encoding="ascii") as file:
                    yield file.read().rpartition(")")[2].split()[0]

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.listener is not None:
            self.listener.close()
            self.listener = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    # what it does, seen from outside

    def _notes(self):
        with open(self.count_path) as file:
            return file.read()

    def derivations(self):
        """Derivations that began since the daemon's folder was made; counted without asking the
        daemon."""
        return self._notes().count("(")

    def derivations_ended(self):
        return self._notes().count(")")

    def hold(self):
        """Derivations begin and do not end until `release`."""
        with open(self.count_path + ".hold", "w"):
            pass

    def release(self):
        os.unlink(self.count_path + ".hold")

    def stores(self):
        """The folders of the existing stores."""
        folder = os.path.join(self.state, "stores")
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if not name.startswith("."))

    def store(self):
        (only,) = self.stores()
        return only

    def blocks(self, store=None):
        """The slots file's blocks, without the note of the last commit, which comes after that commit's answer."""
        with open(os.path.join(store or self.store(), "slots"), "rb") as file:
            data = file.read()
        return [bytes(512) if number == 14 else slot_block(data, number) for number in range(len(data) // PAGE)]

    def tally(self, store=None):
        return Tally(self.blocks(store)[2])

    # talking to it

    def client(self, frontEnd="program", timeout=30.0, greet=True, **fields):
        """A connection, greeted. Fields of the greeting: service, remoteHost, remoteUser, realUID, ..."""
        client = wire.Client(self.socket, timeout)
        if greet:
            answer = client.hello(frontEnd=frontEnd, **fields)
            if answer is None or answer.name != "welcome":
                client.close()
                raise AssertionError(f"no welcome: {answer}")
        return client

    def ask(self, request, script=(), payloads=(), hello=(), **fields):
        """One request on a connection of its own; returns the last answer."""
        with self.client(**dict(hello)) as client:
            if "subject" not in fields and ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
                fields["subject"] = self.person
            return client.run(request, script, payloads, **fields)

    def create(self, passcode=PASSCODE, way="ownPasscode", subject=None, store=""):
        """Makes a store, which is open afterwards; as `program`, so that no recovery key is
        made."""
        done = self.ask("create", answers(passcode), way=way, subject=subject or self.person, store=store)
        if done is None or done.name != "done":
            raise AssertionError(f"no store: {done}")
        return done

    def create_with_recovery(self, passcode=PASSCODE, way="ownPasscode", subject=None):
        """The same on a terminal; returns the recovery key that was shown."""
        with self.client(frontEnd="terminal") as client:
            done = client.run("create", answers(passcode), way=way, subject=subject or self.person)
            if done is None or done.name != "done":
                raise AssertionError(f"no store: {done}")
            return client.revealed[0]

    def authenticate(self, typed=PASSCODE, token=b"", service="login", subject=None, hello=(), **fields):
        """Sends what pam_appvault sends; returns the verdict."""
        greeting = {"frontEnd": "pamAuth", "service": service, **dict(hello)}
        script = answers(typed) if typed is not None else ()
        return self.ask(
            "authenticate", script, [token], hello=greeting, subject=subject or self.person, **fields
        )

    def unlock(self, typed=PASSCODE, subject=None, hello=()):
        """Sends what `appvault unlock` sends: always an apart try."""
        return self.ask("openStore", answers(typed), subject=subject or self.person, hello=hello)

    def lock(self, subject=None):
        return self.ask("lock", subject=subject or self.person)

    def status(self, subject=None):
        return self.ask("status", subject=subject or self.person)


_counter = None


def derivation_counter():
    """derivations.c, built once per process, in a folder that everybody may read."""
    global _counter
    if _counter is None or not os.path.exists(_counter):
        _counter = pamlab.compiled("derivations.c", "derivations.so", "-shared", "-fPIC", "-ldl")
    return _counter
