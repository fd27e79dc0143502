"""The real `appvault` against a daemon that a test writes, with or without a terminal.

    with Lab() as lab:
        lab.answer("get", lambda daemon, request: daemon.reply("value", [b"secret"]))
        self.assertEqual(lab.run("get", "name").out, b"secret")
        with lab.terminal("unlock") as screen:
            screen.expect("passcode: ")
            screen.type("secret\\n")
            self.assertEqual(screen.end(), 0)
"""

import fcntl
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

import wire
from places import ROOT

BUILD = os.environ.get("APPVAULT_BUILD", os.path.join(ROOT, ".build", "release"))
APPVAULT = os.path.join(BUILD, "appvault")
# What the daemon says about fingers, with characters that no terminal should be shown.
FINGERS = {
    "on": True,
    "ready": False,
    "failuresLeft": 4,
    "unavailable": "",
    "readers": [
        {
            **{"name": "Virtual\x1b[2J reader", "driver": "virtual_device", "scan": "swipe", "stages": 5},
            **{"identifies": True, "stores": False, "isInternal": True, "port": "usb1-1"},
        }
    ],
    "fingers": [
        {"finger": "rightIndex", "reader": "Virtual reader", "at": 1_700_000_000, "standing": "usable"},
        {"finger": "leftThumb", "reader": "Other reader", "at": 1_700_000_000, "standing": "away"},
    ],
    "foreign": 2,
}


class Aborted(Exception):
    """The front end said that it will not answer."""


class Daemon:
    """The daemon's side of one connection, as a handler sees it."""

    def __init__(self, channel, tag):
        self.channel, self.tag, self.question = channel, tag, 0

    def reply(self, name, payloads=(), **fields):
        self.channel.send(name, self.tag, payloads, **fields)

    def done(self, text=""):
        self.reply("done", line=text)

    def refuse(self, code, message="", hint="", **parameters):
        self.reply("refused", code=code, message=message, hint=hint, parameters=parameters)

    def ask(self, purpose, text="", echo=False):
        """Returns the answer's bytes; raises Aborted if none comes."""
        self.question += 1
        self.reply("ask", question=self.question, purpose=purpose, echo=echo, line=text)
        message = self.channel.receive(30)
        if message is None:
            raise Aborted("hung up")
        if message.name == "abort":
            self.reply("refused", code=27, message="cancelled; nothing was changed")
            raise Aborted(message["reason"])
        assert message.name == "reply" and message.question == self.question, message
        return message.payload

    def receive(self):
        message = self.channel.receive(30)
        if message is not None:
            self.tag = message.tag
        return message


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return f"<{self.status} {self.out!r} {self.err!r}>"


class Lab:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-cli-")
        self.path = os.path.join(self.folder, "socket")
        self.handlers, self.requests, self.hellos, self.aborts, self.faults = {}, [], [], [], []
        self.greet = True
        # What it speaks; a daemon of a former release knows no screens.
        self.versions = (1, 2)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(16)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop_listening()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- the daemon

    def answer(self, request, handler):
        self.handlers[request] = handler

    def stop_listening(self):
        """Wakes the thread before the descriptor's number can be given to another socket."""
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(5)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connected, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _serve(self, connected):
        channel = wire.Channel(connected)
        try:
            while True:
                message = channel.receive(60)
                if message is None:
                    return
                if message.name == "hello":
                    self.hellos.append(message)
                    if message.version not in self.versions:
                        return channel.send("refused", message.tag, code=31, message="another version")
                    if self.greet:
                        channel.send("welcome", message.tag, version=message.version, software="a test")
                    continue
                handler = self.handlers.get(message.name)
                if handler is None and message.name == "stores":
                    # `reset` asks what goes with the store.
                    channel.send("storeList", message.tag, stores=[])
                    continue
                if handler is None and message.name == "texts":
                    # The tool asks for this before it shows texts of its own; it also has them in
                    # English.
                    channel.send("textList", message.tag, texts=[])
                    continue
                self.requests.append(message)
                if handler is None:
                    channel.send("refused", message.tag, code=34, message=f"no handler for {message.name}")
                else:
                    handler(Daemon(channel, message.tag), message)
        except Aborted as reason:
            self.aborts.append(str(reason))
        except (OSError, wire.WireError):
            pass
        except Exception as fault:  # a handler's assertion: the test looks at it
            self.faults.append(fault)
        finally:
            connected.close()

    # --- the tool

    def command(self, *arguments):
        return [APPVAULT, "--socket", self.path, *arguments]

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm", **more}

    def run(self, *arguments, input=b"", passcodes=None, env=None, timeout=30, **more):
        """Runs the tool without any terminal. `passcodes` are the lines of --passcode-fd."""
        arguments, keep = list(arguments), ()
        if passcodes is not None:
            reading, writing = os.pipe()
            os.write(writing, b"".join(line + b"\n" for line in passcodes))
            os.close(writing)
            arguments += ["--passcode-fd", str(reading)]
            keep = (reading,)
        try:
            done = subprocess.run(
                self.command(*arguments), input=input, capture_output=True, timeout=timeout, pass_fds=keep,
                start_new_session=True, env=self.environment(**(env or {})), **more)
        finally:
            for descriptor in keep:
                os.close(descriptor)
        return Result(done.returncode, done.stdout, done.stderr)

    def terminal(self, *arguments, **more):
        return Screen(self.command(*arguments), self.environment(**more.pop("env", {})), **more)


class Screen:
    """A process on a terminal of its own."""

    def __init__(self, command, environment, stdin=None, stdout=None, columns=80):
        self.master, slave = os.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        # Kept open, so that the terminal's settings can still be read when the process has ended.
        self.slave = slave
        self.seen = b""

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, env=environment, preexec_fn=own_the_terminal, close_fds=True,
            stdin=slave if stdin is None else stdin, stdout=slave if stdout is None else stdout, stderr=slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        os.close(self.slave)
        os.close(self.master)

    def _read(self, timeout):
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return False
        try:
            self.seen += os.read(self.master, 65536)
        except OSError:
            return False
        return True

    def expect(self, text, timeout=10):
        text = text.encode() if isinstance(text, str) else text
        end = time.monotonic() + timeout
        while text not in self.seen:
            if time.monotonic() > end or not self._read(end - time.monotonic()):
                raise AssertionError(f"{text!r} did not come; seen {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text):
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    @property
    def settings(self):
        return termios.tcgetattr(self.slave)

    @property
    def echoes(self):
        return bool(self.settings[3] & termios.ECHO)

    @property
    def is_restored(self):
        return self.settings == self.before

    def end_declining(self):
        """The exit status if a recovery key is offered at the end: answers no, for good."""
        self.expect("Make a recovery key now")
        self.expect("Your choice [1] ")
        self.type("2\n")
        return self.end()

    def end(self, timeout=10):
        """The exit status. What was left on the screen is then in `seen`."""
        end = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"still running; seen {self.seen!r}")
            self._read(0.02)
        while self._read(0.05):
            pass
        return self.process.returncode

    def signal(self, number):
        os.kill(self.process.pid, number)


INTERRUPT = b"\x03"
END_OF_FILE = b"\x04"
SIGTERM = signal.SIGTERM
