"""The real module under the real libpam, without touching the system's services.

    with Lab() as lab:
        lab.service(
            "login", f"auth sufficient {lab.module} or_password socket={lab.socket}", "auth required pam_deny.so")
        daemon = lab.daemon(handler)                     # a process of its own, see FakeDaemon
        with lab.transaction("login", "alice", Talk(["secret"])) as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)

APPVAULT_MODULE names the module; otherwise it is the one in APPVAULT_BUILD or in .build/release.
"""

import ctypes
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import traceback

import wire
from places import LABS, ROOT

PAM_SUCCESS = 0
PAM_SYSTEM_ERR = 4
PAM_PERM_DENIED = 6
PAM_AUTH_ERR = 7
PAM_AUTHINFO_UNAVAIL = 9
PAM_USER_UNKNOWN = 10
PAM_MAXTRIES = 11
PAM_CONV_ERR = 19
PAM_IGNORE = 25
PAM_ABORT = 26

PAM_SILENT = 0x8000
PAM_ESTABLISH_CRED = 0x2
PAM_DELETE_CRED = 0x4
PAM_REINITIALIZE_CRED = 0x8
PAM_REFRESH_CRED = 0x10

PAM_TTY = 3
PAM_RHOST = 4
PAM_RUSER = 8

ECHO_OFF = 1
ECHO_ON = 2
ERROR_MSG = 3
TEXT_INFO = 4


# When a process starts its first thread, glibc installs a signal handler of its own: do that before
# any footprint is taken.
_first = threading.Thread(target=int)
_first.start()
_first.join()
# The kernel counts a thread that was joined for a moment longer.
while os.path.exists(f"/proc/self/task/{_first.native_id}"):
    time.sleep(0.001)


class _Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class _Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


_CONVERSE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(_Message)),
    ctypes.POINTER(ctypes.POINTER(_Response)),
    ctypes.c_void_p,
)


class _Conversation(ctypes.Structure):
    _fields_ = [("converse", _CONVERSE), ("data", ctypes.c_void_p)]


libpam = ctypes.CDLL("libpam.so.0")
libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.setlocale.restype = ctypes.c_char_p
libc.setlocale.argtypes = [ctypes.c_int, ctypes.c_char_p]
libpam.pam_start_confdir.argtypes = [
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.POINTER(_Conversation),
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_void_p),
]
libpam.pam_end.argtypes = [ctypes.c_void_p, ctypes.c_int]
libpam.pam_getenv.restype = ctypes.c_char_p
libpam.pam_getenv.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
libpam.pam_putenv.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
libpam.pam_set_item.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
libpam.pam_get_item.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
for _name in ("authenticate", "setcred", "acct_mgmt", "open_session", "close_session", "chauthtok"):
    getattr(libpam, "pam_" + _name).argtypes = [ctypes.c_void_p, ctypes.c_int]


def module_path():
    """The module under test."""
    named = os.environ.get("APPVAULT_MODULE")
    builds = [os.environ.get("APPVAULT_BUILD"), os.path.join(ROOT, ".build", "release")]
    places = [named] if named else []
    for build in filter(None, builds):
        places += [os.path.join(build, "libpam_appvault.so"), os.path.join(build, "pam_appvault.so")]
    for place in places:
        if os.path.exists(place):
            return os.path.abspath(place)
    raise FileNotFoundError("no pam_appvault.so: run make, or name it in APPVAULT_MODULE")


def me():
    return pwd.getpwuid(os.getuid()).pw_name


class Talk:
    """An application's conversation that answers from a list and remembers what it was shown.

    An answer is text or bytes, None (success without an answer), an int (that PAM code is returned), or a
    function without arguments that gives one of these. When the list is used up the conversation fails.
    """

    def __init__(self, answers=()):
        self.answers = list(answers)
        self.messages = []
        self.error = None

    @property
    def prompts(self):
        return [text for style, text in self.messages if style in (ECHO_OFF, ECHO_ON)]

    @property
    def lines(self):
        return [text for style, text in self.messages if style in (TEXT_INFO, ERROR_MSG)]

    def answer(self, style, text):
        self.messages.append((style, text))
        if style in (TEXT_INFO, ERROR_MSG):
            return None
        if not self.answers:
            return PAM_CONV_ERR
        answer = self.answers.pop(0)
        return answer() if callable(answer) else answer

    def converse(self, count, messages, responses, _data):
        try:
            given = []
            for index in range(count):
                message = messages[index].contents
                answer = self.answer(message.style, (message.text or b"").decode(errors="replace"))
                if isinstance(answer, int):
                    return answer
                given.append(answer.encode() if isinstance(answer, str) else answer)
            # Memory from malloc: the module frees it.
            memory = libc.calloc(count, ctypes.sizeof(_Response))
            array = ctypes.cast(memory, ctypes.POINTER(_Response))
            for index, answer in enumerate(given):
                if answer is not None:
                    text = libc.calloc(1, len(answer) + 1)
                    ctypes.memmove(text, answer, len(answer))
                    array[index].text = text
            responses[0] = array
            return PAM_SUCCESS
        except BaseException as error:
            self.error = error
            return PAM_CONV_ERR


class Transaction:
    """pam_start to pam_end."""

    def __init__(self, folder, service, user=None, talk=None, items=(), null_conversation=False):
        self.talk = Talk() if talk is None else talk
        callback = _CONVERSE() if null_conversation else _CONVERSE(self.talk.converse)
        self.conversation = _Conversation(callback, None)
        self.handle = ctypes.c_void_p()
        self.result = PAM_SUCCESS
        name = user.encode() if isinstance(user, str) else user
        code = libpam.pam_start_confdir(
            service.encode(), name, ctypes.byref(self.conversation), folder.encode(), ctypes.byref(self.handle)
        )
        if code != PAM_SUCCESS:
            raise OSError(f"pam_start: {code}")
        for item, value in dict(items).items():
            libpam.pam_set_item(self.handle, item, value.encode() if isinstance(value, str) else value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def call(self, name, flags=0):
        self.result = getattr(libpam, "pam_" + name)(self.handle, flags)
        if self.talk.error is not None:
            raise self.talk.error
        return self.result

    def authenticate(self, flags=0):
        return self.call("authenticate", flags)

    def setcred(self, flags=PAM_ESTABLISH_CRED):
        return self.call("setcred", flags)

    def account(self, flags=0):
        return self.call("acct_mgmt", flags)

    def open_session(self, flags=0):
        return self.call("open_session", flags)

    def close_session(self, flags=0):
        return self.call("close_session", flags)

    def chauthtok(self, flags=0):
        return self.call("chauthtok", flags)

    def putenv(self, text):
        libpam.pam_putenv(self.handle, text.encode())

    def getenv(self, name):
        value = libpam.pam_getenv(self.handle, name.encode())
        return None if value is None else value.decode(errors="replace")

    def end(self):
        if self.handle:
            libpam.pam_end(self.handle, self.result)
            self.handle = ctypes.c_void_p()


class Footprint:
    """What a module may not leave behind in the process."""

    FIELDS = ("SigBlk", "SigIgn", "SigCgt", "Umask", "Threads")

    def __init__(self):
        self.fds = {}
        for name in os.listdir("/proc/self/fd"):
            try:
                self.fds[name] = os.readlink(f"/proc/self/fd/{name}")
            except OSError:
                pass  # the descriptor that was used to list them
        self.status = {}
        with open("/proc/self/status") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key in self.FIELDS:
                    self.status[key] = value.strip()
        self.locale = libc.setlocale(6, None)
        self.folder = os.getcwd()
        self.environment = dict(os.environ)
        self.timer = signal.getitimer(signal.ITIMER_REAL)

    def __eq__(self, other):
        return self.__dict__ == other.__dict__

    def __repr__(self):
        return repr({key: value for key, value in self.__dict__.items() if key != "environment"})


class Peer(wire.Channel):
    """The daemon's end of one connection."""

    def __init__(self, connected, daemon):
        super().__init__(connected)
        self.daemon, self.hello, self.request = daemon, None, None

    def receive(self, timeout=10.0):
        message = super().receive(timeout)
        if message is not None:
            self.daemon.note(message)
        return message

    def greet(self):
        """Reads the greeting and the request, welcomes, and gives the request."""
        self.hello = self.receive()
        self.request = self.receive()
        self.send("welcome", self.hello.tag, software="fake")
        return self.request

    def ask(self, question=1, purpose="passcode", line="AppVault passcode", echo=False, tag=2):
        """Asks one question; returns its reply or abort."""
        self.send("ask", tag, question=question, purpose=purpose, echo=echo, line=line)
        return self.receive(130)

    def show(self, text, style="info"):
        self.send("show", 2, style=style, line=text)

    def verdict(self, outcome, handle=wire.NO_HANDLE, code=0):
        self.send("verdict", 2, outcome=outcome, code=code, handle=handle)

    def hang(self):
        """Sends nothing more until the other side hangs up."""
        self.socket.settimeout(60)
        while self.socket.recv(65536):
            pass


class FakeDaemon:
    """A process that listens and runs `handler(peer)` for each connection, each in a thread of its own.

    What it received is in `messages()`, whatever happened to the process since.
    """

    def __init__(self, path, handler, log, uid=None, backlog=64, accepts=True):
        self.path, self.log, self.handler = path, log, handler
        ready_read, ready_write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(ready_read)
                self._serve(uid, backlog, accepts, ready_write)
                status = 0
            except BaseException:
                self._fault()
            finally:
                os._exit(status)
        os.close(ready_write)
        try:
            if os.read(ready_read, 1) != b"+":
                raise OSError("the daemon of this test did not start: " + self.faults())
        finally:
            os.close(ready_read)

    def _serve(self, uid, backlog, accepts, ready):
        libc.prctl(1, signal.SIGKILL, 0, 0, 0)
        self.lock = threading.Lock()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(self.path):
            os.unlink(self.path)
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        listener.bind(self.path)
        os.chmod(self.path, 0o666)
        listener.listen(backlog)
        os.write(ready, b"+")
        os.close(ready)
        while True:
            if not accepts:
                time.sleep(60)
                continue
            connected, _ = listener.accept()
            threading.Thread(target=self._run, args=(connected,), daemon=True).start()

    def _run(self, connected):
        peer = Peer(connected, self)
        try:
            self.handler(peer)
        except (ConnectionError, TimeoutError):
            pass
        except BaseException:
            self._fault()
        finally:
            peer.close()

    def _append(self, line):
        fd = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(fd, (json.dumps(line) + "\n").encode())
        os.close(fd)

    def _fault(self):
        self._append({"fault": traceback.format_exc()})

    def note(self, message):
        self._append(
            {
                "name": message.name,
                "tag": message.tag,
                "fields": {key: _plain(value) for key, value in message.fields.items()},
                "payloads": [payload.hex() for payload in message.payloads],
            }
        )

    def note_raw(self, data):
        self._append({"raw": data.hex()})

    def _lines(self):
        try:
            with open(self.log) as file:
                return [json.loads(line) for line in file]
        except FileNotFoundError:
            return []

    def messages(self, name=None):
        found = []
        for line in self._lines():
            if "name" in line and (name is None or line["name"] == name):
                fields = {key: _rich(value) for key, value in line["fields"].items()}
                payloads = [bytes.fromhex(payload) for payload in line["payloads"]]
                found.append(wire.Message(line["name"], line["tag"], fields, payloads))
        return found

    def raw(self):
        """What handlers noted with note_raw, joined."""
        return b"".join(bytes.fromhex(line["raw"]) for line in self._lines() if "raw" in line)

    def faults(self):
        return "\n".join(line["fault"] for line in self._lines() if "fault" in line)

    def kill(self, number=signal.SIGKILL):
        """Kills it by pid, and only this child."""
        os.kill(self.pid, number)

    def stop(self):
        if self.pid:
            try:
                os.kill(self.pid, signal.SIGCONT)
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(self.pid, 0)
            self.pid = 0


class Appvaultd:
    """The real daemon, private to a lab. The words of `wrapper` come before its own (unshare,
    valgrind ...)."""

    def __init__(self, lab, policy="", wrapper=(), program=None, options=()):
        self.options = list(options)
        self.socket = lab.socket
        self.state = os.path.join(lab.folder, "state")
        self.config = os.path.join(lab.folder, "config")
        self.log = os.path.join(lab.folder, "appvaultd.log")
        self.program = program or program_path("appvaultd")
        self.wrapper, self.process = list(wrapper), None
        os.makedirs(self.state, 0o700, exist_ok=True)
        os.makedirs(self.config, exist_ok=True)
        with open(os.path.join(self.config, "policy.conf"), "w") as file:
            file.write("[Passcode]\n" + policy)

    def start(self):
        words = [self.program, "--socket", self.socket, "--state-dir", self.state, "--config-dir", self.config,
                 *self.options]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.wrapper, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 10
        while True:
            try:
                with wire.Client(self.socket) as client:
                    if client.hello().name == "welcome":
                        return self
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise OSError("appvaultd did not start: " + self.said())
            time.sleep(0.02)

    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def client(self, **hello):
        """A greeted client of the person who runs the test."""
        client = wire.Client(self.socket)
        client.hello(**{"frontEnd": "terminal", **hello})
        return client

    def create(self, passcode, way="ownPasscode", **fields):
        with self.client() as client:
            done = client.run("create", lambda ask: passcode, way=way, **fields)
            if done.name != "done":
                raise AssertionError(done)
            return client.revealed

    def status(self):
        with self.client() as client:
            return client.run("status")


def program_path(name):
    for build in filter(None, [os.environ.get("APPVAULT_BUILD"), os.path.join(ROOT, ".build", "release")]):
        if os.path.exists(os.path.join(build, name)):
            return os.path.join(build, name)
    raise FileNotFoundError(f"no {name}: run make")


def _plain(value):
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, tuple):
        return {"tuple": [_plain(part) for part in value]}
    return value


def _rich(value):
    if isinstance(value, dict) and "hex" in value:
        return bytes.fromhex(value["hex"])
    if isinstance(value, dict) and "tuple" in value:
        return tuple(_rich(part) for part in value["tuple"])
    return value


class Lab:
    """A private folder of service files, and a socket."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-lab-")
        os.chmod(self.folder, 0o777)
        self.services = os.path.join(self.folder, "pam.d")
        os.mkdir(self.services)
        self.socket = os.path.join(self.folder, "socket")
        # A copy that other users can read, and that no build replaces during the test.
        self.module = os.path.join(self.folder, "pam_appvault.so")
        shutil.copyfile(module_path(), self.module)
        os.chmod(self.module, 0o644)
        self.daemons = []
        self.service("other", *(f"{kind} required pam_deny.so" for kind in KINDS))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for daemon in self.daemons:
            daemon.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def service(self, name, *lines):
        """Writes a service file. `{ours}` in a line is the module with its socket, `{lab}` the module for tests."""
        text = ""
        for line in lines:
            line = line.replace("{ours}", f"{self.module} socket={self.socket}")
            if "{lab}" in line:
                line = line.replace("{lab}", lab_module())
            text += line + "\n"
        with open(os.path.join(self.services, name), "w") as file:
            file.write(text)
        return name

    def stack(self, *lines, name="lab"):
        """A service whose other kinds let everybody pass."""
        kinds = {line.split()[0] for line in lines}
        rest = [f"{kind} required pam_permit.so" for kind in KINDS if kind not in kinds]
        return self.service(name, *lines, *rest)

    def daemon(self, handler, path=None, **options):
        log = os.path.join(self.folder, f"log-{len(self.daemons)}")
        # The user that the daemon becomes writes this.
        os.close(os.open(log, os.O_WRONLY | os.O_CREAT, 0o666))
        os.chmod(log, 0o666)
        daemon = FakeDaemon(path or self.socket, handler, log, **options)
        self.daemons.append(daemon)
        return daemon

    def appvaultd(self, policy="", **options):
        """The real daemon, started; it ends with the lab."""
        daemon = Appvaultd(self, policy, **options)
        self.daemons.append(daemon)
        return daemon.start()

    def transaction(self, service="lab", user=None, talk=None, **options):
        return Transaction(self.services, service, me() if user is None else user, talk, **options)


KINDS = ("auth", "account", "password", "session")
_lab_module = None


def lab_module():
    """labmodule.c, built once per process."""
    global _lab_module
    if _lab_module is None or not os.path.exists(_lab_module):
        _lab_module = compiled("labmodule.c", "labmodule.so", "-shared", "-fPIC", "-lpam")
    return _lab_module


_compiled = None


def as_user(uid, work):
    """Runs `work()` in a child with that uid and no other group; returns its result, which must
    fit into JSON."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            answer = {"value": work()}
        except BaseException:
            answer = {"fault": traceback.format_exc()}
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    answer = json.loads(data)
    if "fault" in answer:
        raise AssertionError(answer["fault"])
    return answer["value"]


def compiled(source, name, *flags):
    """A C file of the folder C, built into a folder that is removed with the process, or with all
    suites of a run: whoever needs it first compiles it."""
    global _compiled
    folder = os.environ.get("APPVAULT_COMPILED")
    if folder is None:
        if _compiled is None:
            _compiled = tempfile.TemporaryDirectory(prefix="appvault-lab-c-")
            os.chmod(_compiled.name, 0o755)
        folder = _compiled.name
    # One that is about to be compiled has another name: two suites may need it at once.
    target = os.path.join(folder, name)
    if not os.path.exists(target):
        begun = f"{target}.{os.getpid()}"
        subprocess.run(
            ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-g", os.path.join(LABS, "C", source), "-o", begun, *flags],
            check=True,
        )
        os.rename(begun, target)
    return target
