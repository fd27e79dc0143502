"""What Tools/demo uses: the page that it writes, a terminal, libpam, a daemon and a logind of its own."""

import ctypes
import fcntl
import getpass
import importlib.util
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# If this were wider than a terminal, each line of a step would be broken in two.
WIDTH = min(88, max(60, shutil.get_terminal_size((88, 24)).columns)) if sys.stdout.isatty() else 88


class Page:
    """A transcript: headings, reasons, what was shown and typed, and the result of each step."""

    COLOURS = {"bold": "1", "faint": "2", "red": "31", "green": "32", "typed": "33", "blue": "34", "command": "36"}

    def __init__(self):
        out = sys.stdout
        self.coloured = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.number, self.good, self.bad = 0, 0, 0

    def paint(self, text, colour):
        return f"\033[{self.COLOURS[colour]}m{text}\033[0m" if self.coloured and text else text

    def typed(self, text):
        """What a person typed at a prompt that does not show it."""
        return self.paint(text, "typed") if self.coloured else f">{text}<"

    def write(self, line=""):
        print(line, flush=True)

    def title(self, name, *text):
        self.write()
        self.write(self.paint(name, "bold"))
        for line in textwrap.wrap(" ".join(text), WIDTH):
            self.write(line)

    def section(self, heading, *why):
        self.number += 1
        self.write()
        self.write(self.paint(f"{self.number:2}  {heading}", "bold"))
        for line in textwrap.wrap(" ".join(why), WIDTH - 4):
            self.write("    " + self.paint(line, "faint"))
        self.write()

    def command(self, *words):
        shown = " ".join(word if re.fullmatch(r"[\w@%+=:,./-]+", word) else f"'{word}'" for word in words)
        self.write("    " + self.paint("$ ", "faint") + self.paint(shown, "command"))

    def note(self, text):
        for line in textwrap.wrap(text, WIDTH - 4):
            self.write("    " + self.paint(line, "faint"))

    def line(self, text, typed=None):
        self.write("    " + text + ("" if typed is None else self.typed(typed)))

    @staticmethod
    def time(seconds):
        if seconds >= 1:
            return f"{seconds:.1f} s"
        return f"{seconds * 1000:.{0 if seconds >= 0.01 else 1}f} ms"

    def step(self, good, text, seconds, wanted=""):
        """The result of a step and how long it took; if it is not as it should be, also what was
        wanted."""
        took = "" if seconds is None else self.time(seconds)
        mark = "ok" if good else "NO"
        room = " " * max(2, WIDTH - 8 - len(text) - len(took))
        self.write(
            "    " + self.paint(mark, "green" if good else "red") + f"  {text}{room}" + self.paint(took, "faint"))
        if good:
            self.good += 1
        else:
            self.bad += 1
            if wanted:
                self.write("    " + self.paint(f"    should have been: {wanted}", "red"))


class Stopwatch:
    """Measures time, without the time that a person took."""

    def __init__(self):
        self.began, self.waited = time.monotonic(), 0.0

    def pause(self, work):
        start = time.monotonic()
        try:
            return work()
        finally:
            self.waited += time.monotonic() - start

    @property
    def seconds(self):
        return time.monotonic() - self.began - self.waited


# A terminal for programs that ask only a person.


class Ended(Exception):
    """The program ended, or showed nothing more, when a question was due."""


class Screen:
    """A program on a terminal of its own. What it shows is printed line by line; its questions
    are answered."""

    def __init__(self, command, environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))

    def run(self, answers, page, patience=30):
        """Runs it to its end with `answers`, (start of the question, answer) in their order.
        Returns status and text."""
        answers, text, rest, deadline = list(answers), "", "", time.monotonic() + patience
        while True:
            *lines, rest = rest.split("\n")
            for line in lines:
                text += line + "\n"
                page.line(line)
            if answers and rest.startswith(answers[0][0]) and rest.endswith(": "):
                question, answer = rest, answers.pop(0)[1]
                answer = answer(text) if callable(answer) else answer
                page.line(question, answer)
                text += question + "\n"
                os.write(self.fd, answer.encode() + b"\n")
                # The newline that ends the question. What was typed must not be shown with it.
                rest = self._skip_newline(deadline)
                continue
            data = self._read(deadline)
            if data is None:
                os.kill(self.pid, signal.SIGKILL)
                break
            if not data:
                break
            rest += data
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        if rest.strip():
            page.line(rest)
        return os.waitstatus_to_exitcode(status), text + rest

    def _read(self, deadline):
        """What it shows next; nothing at its end, None if it shows nothing for too long."""
        if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
            return None
        try:
            return os.read(self.fd, 4096).decode(errors="replace").replace("\r", "")
        except OSError:
            return ""

    def _skip_newline(self, deadline):
        shown = ""
        while "\n" not in shown:
            data = self._read(deadline)
            if data is None:
                os.kill(self.pid, signal.SIGKILL)
                raise Ended
            if not data:
                break
            shown += data
        return shown.removeprefix("\n")


# libpam, as login and sudo use it.

PAM_SUCCESS, PAM_CONV_ERR = 0, 19
ECHO_OFF, ECHO_ON, ERROR_MSG, TEXT_INFO = 1, 2, 3, 4
PAM_TTY = 3
PAM_ESTABLISH_CRED = 2


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


def _libraries():
    pam, c = ctypes.CDLL("libpam.so.0"), ctypes.CDLL(None)
    c.calloc.restype = ctypes.c_void_p
    c.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    c.strdup.restype = ctypes.c_void_p
    c.strdup.argtypes = [ctypes.c_char_p]
    pam.pam_start_confdir.argtypes = [
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.POINTER(_Conversation),
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.c_void_p),
    ]
    pam.pam_set_item.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
    pam.pam_strerror.argtypes = [ctypes.c_void_p, ctypes.c_int]
    pam.pam_strerror.restype = ctypes.c_char_p
    for name in ("authenticate", "setcred", "acct_mgmt", "open_session", "close_session", "end"):
        getattr(pam, "pam_" + name).argtypes = [ctypes.c_void_p, ctypes.c_int]
    return pam, c


class Login:
    """One PAM transaction, from pam_start to pam_end. Answers come from a list, or from the person."""

    def __init__(self, folder, service, user, page, answers=None):
        self.pam, self.c = _libraries()
        self.page, self.answers, self.lines = page, None if answers is None else list(answers), []
        self.callback = _CONVERSE(self._converse)
        self.conversation, self.error = _Conversation(self.callback, None), None
        self.handle, self.result, self.watch = ctypes.c_void_p(), PAM_SUCCESS, Stopwatch()
        code = self.pam.pam_start_confdir(
            service.encode(), user.encode(), ctypes.byref(self.conversation), folder.encode(), ctypes.byref(self.handle)
        )
        if code != PAM_SUCCESS:
            raise OSError(f"pam_start_confdir: {code}")
        self.pam.pam_set_item(self.handle, PAM_TTY, b"demo")

    def call(self, name, flags=0):
        """The call's code and its seconds, without the person's time."""
        self.watch = Stopwatch()
        self.result = getattr(self.pam, "pam_" + name)(self.handle, flags)
        if self.error is not None:
            raise self.error
        return self.result, self.watch.seconds

    def words(self, code):
        return self.pam.pam_strerror(self.handle, code).decode()

    def end(self):
        self.pam.pam_end(self.handle, self.result)

    def _answer(self, style, text):
        if style in (ERROR_MSG, TEXT_INFO):
            self.lines.append(text)
            self.page.line(text)
            return None
        if self.answers is None:
            return self.watch.pause(lambda: getpass.getpass("    " + text)).encode()
        if not self.answers:
            return PAM_CONV_ERR
        answer = self.answers.pop(0)
        self.page.line(text, answer)
        return answer.encode()

    def _converse(self, count, messages, responses, _data):
        try:
            array = ctypes.cast(self.c.calloc(count, ctypes.sizeof(_Response)), ctypes.POINTER(_Response))
            for index in range(count):
                message = messages[index].contents
                answer = self._answer(message.style, (message.text or b"").decode(errors="replace"))
                if isinstance(answer, int):
                    return answer
                if answer is not None:
                    # Memory from malloc, which the module frees.
                    array[index].text = self.c.strdup(answer)
            responses[0] = array
            return PAM_SUCCESS
        except BaseException as error:
            # No exception may pass through libpam; Ctrl-C continues when libpam has returned.
            self.error = error
            return PAM_CONV_ERR


# logind's own files, of a person who sits at this machine.
SESSION = "UID={uid}\nUSER=demo\nACTIVE=1\nSTATE=active\nREMOTE=0\nTYPE=x11\nCLASS=user\nLEADER=1\nSEAT=seat0\nVTNR=2\n"
SEAT = "IS_SEAT0=1\nCAN_MULTI_SESSION=1\nCAN_TTY=1\nCAN_GRAPHICAL=1\nACTIVE=demo\nACTIVE_UID={uid}\n"
BUS = """<busconfig><type>system</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/></policy></busconfig>"""


class Stage:
    """A temporary folder with everything in it; nothing of it is left afterwards."""

    def __init__(self):
        build = os.environ.get("APPVAULT_BUILD") or os.path.join(ROOT, ".build", "release")
        module = os.path.join(build, "pam_appvault.so")
        if not os.path.exists(module):
            module = os.path.join(build, "libpam_appvault.so")
        programs = ("appvaultd", "appvault", "appvault-fingerprint", "appvault-agent", "appvault-windows")
        for path in (*(os.path.join(build, name) for name in programs), module):
            if not os.path.exists(path):
                sys.exit(f"appvault: {path} is missing\nhint: run make first")
        # A socket's path has at most 107 bytes; some TMPDIRs are longer.
        place = tempfile.gettempdir()
        self.folder = tempfile.mkdtemp(prefix="appvault-demo.", dir=place if len(place) < 64 else "/tmp")
        self.daemon = self.reader = self.agent = None
        self.logind, self.before = [], []
        for name in ("state", "etc", "pam.d"):
            os.mkdir(self.at(name), 0o700)
        for name in programs:
            os.symlink(os.path.join(build, name), self.at(name))
        os.symlink(module, self.at("pam_appvault.so"))
        self.environment = {
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.at(name), "w", encoding="utf-8") as file:
            file.write(text)

    def start_logind(self):
        """Plays a logind with the person's session in front, which only our own daemon sees. Returns why that is not
        possible here; nothing if it is."""
        for program in ("dbus-daemon", "busctl"):
            if shutil.which(program) is None:
                return f"{program} is not installed"
        if any(importlib.util.find_spec(name) is None for name in ("dbus", "gi")):
            return "python3-dbus and python3-gi are not installed"
        for folder in ("run", "run/sessions", "run/seats", "run/users"):
            os.mkdir(self.at(folder))
        self.write("run/sessions/demo", SESSION.format(uid=os.getuid()))
        self.write("run/seats/seat0", SEAT.format(uid=os.getuid()))
        self.write("bus.conf", BUS.format(self.at("bus")))
        # The daemon finds the session's files where logind's are, in a name space of its own.
        bind = f"mount --bind '{self.at('run')}' /run/systemd"
        bind += ' && exec setpriv --ambient-caps -all --inh-caps -all "$@"'
        own = [] if os.getuid() == 0 else ["--map-current-user", "--keep-caps"]
        before = ["unshare", *own, "--mount", "sh", "-c", bind, "sh"]
        if subprocess.run([*before, "true"], capture_output=True).returncode != 0:
            return "the kernel gives an ordinary user no name space of their own"
        self.environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={self.at('bus')}"
        self._play("dbus-daemon", "--nofork", "--nopidfile", "--config-file", self.at("bus.conf"))
        self._play(sys.executable, os.path.join(ROOT, "Tools", "demo_logind.py"), "demo", waits_for="bus")
        asking = ["busctl", "--system", "status", "org.freedesktop.login1"]
        deadline = time.monotonic() + 10
        while subprocess.run(asking, env=self.environment, capture_output=True).returncode != 0:
            if time.monotonic() > deadline:
                del self.environment["DBUS_SYSTEM_BUS_ADDRESS"]
                return "the played logind does not answer"
            time.sleep(0.01)
        self.before = before
        return ""

    def _play(self, *command, waits_for=None):
        deadline = time.monotonic() + 10
        while waits_for and not os.path.exists(self.at(waits_for)) and time.monotonic() < deadline:
            time.sleep(0.005)
        self.logind.append(subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))

    def start_daemon(self):
        """Starts it and waits until it serves."""
        with open(self.at("journal"), "ab") as journal:
            self.daemon = subprocess.Popen(
                [*self.before, "./appvaultd", "--socket", "socket", "--state-dir", "state", "--config-dir", "etc",
                 "--fingerprint-socket", "fingerprint"],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=journal, stderr=journal, env=self.environment,
            )
        deadline = time.monotonic() + 10
        while not os.path.exists(self.at("socket")) or b"serves" not in open(self.at("journal"), "rb").read():
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def start_reader(self):
        """Starts the real worker with libfprint's own virtual reader, and waits until it can be
        asked."""
        with open(self.at("reader.log"), "wb") as log:
            self.reader = subprocess.Popen(
                ["./appvault-fingerprint", "--listen", "fingerprint", "--linger", "0", "--fixed",
                 "--env", f"FP_VIRTUAL_DEVICE={self.at('reader')}"],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={})
        deadline = time.monotonic() + 10
        while not os.path.exists(self.at("fingerprint")):
            if self.reader.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def is_logged_in(self):
        """Whether the real logind, if the daemon sees that one, knows of sessions of the person's."""
        return not self.before and os.path.exists(f"/run/systemd/users/{os.getuid()}")

    def start_agent(self):
        """Starts an agent of our own on the person's own session bus. Returns why applications cannot be frozen here;
        nothing if they can."""
        session = {name: os.environ[name] for name in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
                   if name in os.environ}
        if "XDG_RUNTIME_DIR" not in session:
            return "no session of a desktop or of systemd (there is no XDG_RUNTIME_DIR)"
        if shutil.which("busctl") is None:
            return "busctl is not installed"
        self.environment.update(session)
        # It comes to a bus a moment after the bus was started, which the first one to ask does.
        deadline = time.monotonic() + 3
        while self._on_bus("org.freedesktop.systemd1") is None:
            if time.monotonic() > deadline:
                return "you have no systemd of your own, or no session bus"
            time.sleep(0.05)
        if self._on_bus("org.appvault.Agent1") is not None:
            return "this session has an agent already, of the installed AppVault"
        with open(self.at("agent.log"), "wb") as log:
            self.agent = subprocess.Popen(
                [self.at("appvault-agent"), "--socket", self.at("socket"), "--tool", self.at("appvault"),
                 "--windows", self.at("appvault-windows")],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        deadline = time.monotonic() + 10
        while self._on_bus("org.appvault.Agent1") is None:
            if self.agent.poll() is not None or time.monotonic() > deadline:
                with open(self.at("agent.log"), encoding="utf-8", errors="replace") as log:
                    return "the agent does not run: " + log.read().strip()
            time.sleep(0.01)
        return ""

    def _on_bus(self, name):
        """The process that owns it on the session bus; None if nobody does. Nothing is started by asking."""
        asking = ["busctl", "--user", "--auto-start=no", "--timeout=5", "call", "org.freedesktop.DBus", "/",
                  "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", name]
        done = subprocess.run(asking, env=self.environment, capture_output=True, text=True)
        return done.stdout.split()[-1] if done.returncode == 0 else None

    def is_frozen(self, process):
        """Whether the control group of the process is; None if there is none."""
        try:
            with open(f"/proc/{process}/cgroup", encoding="ascii") as file:
                group = file.read().strip().rpartition("::")[2]
            with open(f"/sys/fs/cgroup{group}/cgroup.events", encoding="ascii") as file:
                return "frozen 1" in file.read()
        except OSError:
            return None

    def touch(self, finger, times=1):
        """Makes so many touches, one after the other, from the moment at which the reader is
        open."""
        thread = threading.Thread(target=self._touch, args=(finger, times), daemon=True)
        thread.start()
        return thread

    def _touch(self, finger, times):
        deadline = time.monotonic() + 20
        while times and time.monotonic() < deadline:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                try:
                    connection.connect(self.at("reader"))
                    connection.sendall(f"SCAN {finger}".encode())
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(64)
                except OSError:
                    time.sleep(0.01)
                    continue
            times -= 1

    def signal_daemon(self, number):
        os.kill(self.daemon.pid, number)
        if number == signal.SIGKILL:
            self.daemon.wait()

    def appvault(self, *words):
        return [self.at("appvault"), "--socket", self.at("socket"), *words]

    def close(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGCONT)
            self.daemon.terminate()
            try:
                self.daemon.wait(5)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
        for process in [self.reader, self.agent, *self.logind]:
            if process is not None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
