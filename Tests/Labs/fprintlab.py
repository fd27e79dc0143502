"""appvault-fingerprint under test, with libfprint's virtual readers, and workers that lie.

    with Worker() as worker:                                # a private one, with a reader that is played
        link = worker.link()
        template = worker.enroll(link, "alice")             # an enrolment with that finger, all of its touches
        worker.match(link, [template], "bob")               # ("noMatch",)
    with Worker(readers=("device", "storage", "image")) as worker: ...

A virtual reader has a socket while the worker has it open: `worker.play(reader, "SCAN alice")`.
"""

import ctypes
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

from daemonlab import build, wait_until

LIST, ENROLL, MATCH, DELETE, STORED, CANCEL, CLEAR = 0x70, 0x72, 0x74, 0x76, 0x78, 0x7A, 0x7C
READERS, ENROLLED, MATCHED, DONE, STORED_PRINTS, SCAN, NO_MATCH, FAILED = (
    0x71, 0x73, 0x75, 0x77, 0x79, 0x7B, 0x7D, 0x7F)
FAULTS = {
    1: "cancelled", 2: "timedOut", 3: "noReader", 4: "busy", 5: "removed", 6: "notSupported", 7: "storageFull",
    8: "badTemplate", 9: "duplicate", 10: "general", 11: "notStored", 12: "tooHot",
}
EVENTS = {1: "place", 2: "stage", 3: "retry"}
RETRIES = {0: "none", 1: "tooShort", 2: "center", 3: "removeFinger", 4: "general"}

# libfprint's virtual readers: name here, environment variable, id at the worker.
VIRTUAL = {
    "device": ("FP_VIRTUAL_DEVICE", "virtual_device/0"),
    "storage": ("FP_VIRTUAL_DEVICE_STORAGE", "virtual_device_storage/0"),
    "image": ("FP_VIRTUAL_IMAGE", "virtual_image/0"),
}

_libc = ctypes.CDLL(None, use_errno=True)


def frame(kind, body, tag=0):
    return struct.pack("<IHI", len(body), kind, tag) + body


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<H", len(value)) + value


def payload(value):
    return struct.pack("<I", len(value)) + value


def choice(reader, port=""):
    return text(VIRTUAL[reader][1] if reader in VIRTUAL else reader) + text(port)


def templates(found, seconds=0):
    body = bytes([seconds, len(found)]) + b"".join(struct.pack("<I", len(each)) for each in found)
    return body + payload(b"".join(found))


class Fields:
    """Reads a body field by field."""

    def __init__(self, body):
        self.body, self.at = body, 0

    def take(self, count):
        assert self.at + count <= len(self.body), self.body
        self.at += count
        return self.body[self.at - count : self.at]

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return struct.unpack("<H", self.take(2))[0]

    def text(self):
        return self.take(self.u16()).decode()

    def payload(self):
        return self.take(struct.unpack("<I", self.take(4))[0])

    def end(self):
        assert self.at == len(self.body), self.body[self.at :]


def decode(kind, body):
    """(nonce, message)."""
    fields = Fields(body)
    nonce = fields.take(16)
    if kind == READERS:
        said = ("readers", [
            {
                "id": fields.text(), "driver": fields.text(), "name": fields.text(), "scan": fields.u8(),
                "stages": fields.u8(), "identifies": bool(fields.u8()), "stores": bool(fields.u8()),
                "internal": bool(fields.u8()), "port": fields.text(),
            }
            for _ in range(fields.u8())])
    elif kind == ENROLLED:
        said = ("enrolled", fields.payload())
    elif kind == MATCHED:
        said = ("matched", fields.u8())
    elif kind == DONE:
        said = ("done",)
    elif kind == STORED_PRINTS:
        said = ("stored", [(fields.u8(), fields.text()) for _ in range(fields.u16())])
    elif kind == SCAN:
        event, stage, stages, retry = EVENTS[fields.u8()], fields.u8(), fields.u8(), RETRIES[fields.u8()]
        said = ("scan", event, stage, stages, retry)
    elif kind == NO_MATCH:
        said = ("noMatch",)
    elif kind == FAILED:
        said = ("failed", FAULTS[fields.u8()])
    else:
        raise AssertionError(f"an answer of type {kind:#x}")
    fields.end()
    return nonce, said


class Ended(Exception):
    """The worker has closed the connection."""


class Link:
    """A connection to the worker: one request at a time."""

    def __init__(self, path, seconds=10.0):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(seconds)
        self.nonce = None
        try:
            self.socket.connect(path)
        except OSError:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, kind, body=b"", nonce=None):
        self.nonce = nonce or os.urandom(16)
        self.socket.sendall(frame(kind, self.nonce + body))
        return self.nonce

    def cancel(self, nonce=None):
        self.socket.sendall(frame(CANCEL, nonce or self.nonce))

    def _receive(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.socket.recv(count - len(data))
            except ConnectionResetError:
                more = b""
            if not more:
                raise Ended
            data += more
        return data

    def next(self):
        """The next answer, which must belong to the last request."""
        length, kind, tag = struct.unpack("<IHI", self._receive(10))
        assert tag == 0
        nonce, said = decode(kind, self._receive(length))
        assert nonce == self.nonce, (nonce, self.nonce)
        return said

    def event(self, *wanted):
        """The next answer, which must be a scan that begins with these values."""
        said = self.next()
        assert said[: 1 + len(wanted)] == ("scan", *wanted), (said, wanted)
        return said

    def last(self):
        """The answer that ends the request, without the scans before it."""
        while True:
            said = self.next()
            if said[0] != "scan":
                return said

    def readers(self):
        self.send(LIST)
        kind, found = self.next()
        assert kind == "readers"
        return found

    def begin_enroll(self, reader="device", port=""):
        """Begins, and waits until the reader waits for the first touch."""
        self.send(ENROLL, choice(reader, port))
        self.event("place")

    def begin_match(self, reader, found, seconds=0, port=""):
        """Begins, and waits until the reader waits for the touch."""
        self.send(MATCH, choice(reader, port) + templates(found, seconds))
        self.event("place")

    def delete(self, reader, template, port=""):
        self.send(DELETE, choice(reader, port) + payload(template))
        return self.next()

    def clear(self, reader, port=""):
        self.send(CLEAR, choice(reader, port))
        return self.next()

    def stored(self, reader, found=(), port=""):
        self.send(STORED, choice(reader, port) + templates(list(found)))
        return self.next()


def unread(pipe):
    """How many unread bytes it has; none if it is closed."""
    try:
        return struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4))[0]
    except ValueError:
        return 0


class Worker:
    """The real worker at a socket of its own, with readers that the test plays through sockets."""

    def __init__(self, *options, readers=("device",), fixed=True, linger=0, environment=(), variables=(), wrapper=()):
        self.folder = tempfile.mkdtemp(prefix="appvault-finger-")
        os.chmod(self.folder, 0o777)
        self.socket = os.path.join(self.folder, "socket")
        self.log_path = os.path.join(self.folder, "log")
        self.arguments = ["--listen", self.socket, "--linger", str(linger), *(["--fixed"] if fixed else []), *options]
        for name in readers:
            self.arguments += ["--env", f"{VIRTUAL[name][0]}={self.reader_socket(name)}"]
        for variable in variables:
            self.arguments += ["--env", variable]
        self.environment, self.wrapper = dict(environment), list(wrapper)
        self.process, self.logging = None, threading.Lock()
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def reader_socket(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        """Starts the worker, also after its end, as systemd would."""
        def prepare():
            _libc.prctl(1, signal.SIGKILL, 0, 0, 0)

        if self.process is not None:
            self.process.wait()
            self.logged.join(5)
        # The worker cannot write to a file, not even its log.
        self.process = subprocess.Popen(
            [*self.wrapper, build("appvault-fingerprint"), *self.arguments], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=prepare,
            start_new_session=True)
        self.logged = threading.Thread(target=self.keep_log, args=(self.process.stdout,), daemon=True)
        self.logged.start()
        wait_until(self.is_ready, "appvault-fingerprint listens")

    def keep_log(self, stream):
        with stream, open(self.log_path, "ab", buffering=0) as log:
            more = True
            while more:
                select.select([stream], [], [])
                with self.logging:
                    more = os.read(stream.fileno(), 4096)
                    log.write(more)

    def is_ready(self):
        assert self.process.poll() is None, f"appvault-fingerprint ended with {self.process.returncode}: {self.log()}"
        try:
            self.link().close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process is not None:
            if self.wrapper and self.process.poll() is None:
                # It removes its test bed.
                self.process.terminate()
                try:
                    self.process.wait(10)
                except subprocess.TimeoutExpired:
                    pass
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.logged.join(5)
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        """Everything that it has logged. Waits until lines before a received answer have
        arrived."""
        if self.process is not None and self.process.poll() is not None:
            self.logged.join(5)
        while True:
            with self.logging:
                if self.process is None or not unread(self.process.stdout):
                    with open(self.log_path, errors="replace") as file:
                        return file.read()
            time.sleep(0.001)

    def link(self, seconds=10.0):
        return Link(self.socket, seconds)

    def is_open(self, reader="device"):
        """Whether the worker has opened that reader."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            try:
                connection.connect(self.reader_socket(reader))
                return True
            except (FileNotFoundError, ConnectionRefusedError):
                return False

    def enroll(self, link, finger, reader="device"):
        """Enrols that finger; returns the template."""
        link.begin_enroll(reader)
        while True:
            self.play(reader, f"SCAN {finger}")
            said = link.next()
            if said[0] == "scan" and said[2] < said[3]:
                continue
            kind, template = said if said[0] != "scan" else link.next()
            assert kind == "enrolled", (kind, template)
            return template

    def match(self, link, found, finger, reader="device"):
        """Returns the result of a touch with that finger."""
        link.begin_match(reader, found)
        self.play(reader, f"SCAN {finger}")
        return link.last()

    def play(self, reader, *commands, seconds=5.0):
        """Sends commands to a virtual reader, which takes them while it is open; one connection
        for each."""
        path, answer = self.reader_socket(reader), b""
        for command in commands:
            deadline = time.monotonic() + seconds
            while True:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                    connection.settimeout(seconds)
                    try:
                        connection.connect(path)
                    except (FileNotFoundError, ConnectionRefusedError):
                        if time.monotonic() > deadline:
                            raise
                        time.sleep(0.01)
                        continue
                    connection.sendall(command.encode())
                    connection.shutdown(socket.SHUT_WR)
                    try:
                        answer = connection.recv(4096)
                    except ConnectionResetError:
                        answer = b""
                    break
        return answer


class HandedOver:
    """The worker as systemd starts it: with a listening socket, in any environment."""

    def __init__(self, *options, environment=()):
        self.folder = tempfile.mkdtemp(prefix="appvault-finger-")
        self.socket = os.path.join(self.folder, "socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(self.socket)
            listener.listen(8)
            script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@" 3<&%d' % listener.fileno()
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", script, "sh", build("appvault-fingerprint"), *options],
                pass_fds=[listener.fileno()], env={"PATH": "/usr/bin:/bin", **dict(environment)})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def link(self, seconds=10.0):
        return Link(self.socket, seconds)
