"""appvault-rules under test, and workers that lie.

    with Worker() as worker:                                    # a private one, a process a connection
        worker.judge("hunter2", matches("[0-9]"), dictionary()) # [("satisfied", ""), ("unmet", "it is too short")]
    with FakeWorker(lambda socket: socket.close()) as fake:     # whoever answers at fake.socket is ours
"""

import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading

import pamlab
from daemonlab import build, wait_until

QUESTION, ANSWER = 0x60, 0x61
OUTCOMES = ("satisfied", "unmet", "cannotRun")
MATCHES, REJECTS, DICTIONARY = 1, 2, 3
# For a candidate of 64 letters glibc needs years.
CATASTROPHE = r"^(.*)(.*)(.*)(.*)(.*)\1\2\3\4\5b$"

_libc = ctypes.CDLL(None, use_errno=True)


def matches(pattern):
    return (MATCHES, pattern.encode())


def rejects(pattern):
    return (REJECTS, pattern.encode())


def dictionary():
    return (DICTIONARY, b"")


def frame(kind, body, tag=0):
    return struct.pack("<IHI", len(body), kind, tag) + body


def question(candidate, rules, nonce=b"n" * 16):
    candidate = candidate.encode() if isinstance(candidate, str) else candidate
    body = nonce + bytes([len(rules)])
    for kind, pattern in rules:
        body += bytes([kind]) + struct.pack("<H", len(pattern)) + pattern
    return frame(QUESTION, body + struct.pack("<I", len(candidate)) + candidate)


def answer(nonce, place, outcome=0, reason=b"", kind=ANSWER, tag=0):
    return frame(kind, nonce + bytes([place, outcome]) + struct.pack("<H", len(reason)) + reason, tag)


def receive(connection, count):
    data = b""
    while len(data) < count:
        try:
            more = connection.recv(count - len(data))
        except ConnectionResetError:
            # The worker closed the connection without reading all that the test sent.
            return data
        if not more:
            return data
        data += more
    return data


def read_question(connection):
    """What the daemon asked: nonce, rules, candidate."""
    length, kind, tag = struct.unpack("<IHI", receive(connection, 10))
    body = receive(connection, length)
    assert (kind, tag) == (QUESTION, 0), (kind, tag)
    nonce, count, at, rules = body[:16], body[16], 17, []
    for _ in range(count):
        size = struct.unpack_from("<H", body, at + 1)[0]
        rules.append((body[at], body[at + 3 : at + 3 + size]))
        at += 3 + size
    size = struct.unpack_from("<I", body, at)[0]
    assert at + 4 + size == len(body)
    return nonce, rules, body[at + 4 :]


def read_answers(connection):
    """All answers until the end: (nonce, place, outcome, reason)."""
    found = []
    while True:
        header = receive(connection, 10)
        if len(header) < 10:
            return found
        length, kind, tag = struct.unpack("<IHI", header)
        body = receive(connection, length)
        assert (kind, tag) == (ANSWER, 0) and len(body) == length, (kind, tag, body)
        size = struct.unpack_from("<H", body, 18)[0]
        assert 20 + size == length
        found.append((body[:16], body[16], body[17], body[20:]))


class Worker:
    """The real worker at a socket of its own."""

    def __init__(self, *options, env=(), uid=None):
        self.folder = tempfile.mkdtemp(prefix="appvault-rules-")
        os.chmod(self.folder, 0o777)
        self.socket = os.path.join(self.folder, "socket")
        self.log_path = os.path.join(self.folder, "log")

        def prepare():
            _libc.prctl(1, signal.SIGKILL, 0, 0, 0)
            if uid is not None:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)

        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [build("appvault-rules"), "--listen", self.socket, *options], env=dict(env), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=prepare, start_new_session=True)
        try:
            wait_until(self.is_ready, "appvault-rules listens")
        except BaseException:
            self.close()
            raise

    def is_ready(self):
        assert self.process.poll() is None, f"appvault-rules ended with {self.process.returncode}: {self.log()}"
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def connect(self, seconds=5.0):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(seconds)
        connection.connect(self.socket)
        return connection

    def ask(self, data):
        """Sends bytes; returns every answer until the end."""
        with self.connect() as connection:
            try:
                connection.sendall(data)
            except BrokenPipeError:
                # Closed before the question was sent.
                pass
            return read_answers(connection)

    def judge(self, candidate, *rules):
        found = self.ask(question(candidate, rules))
        assert [place for _, place, _, _ in found] == list(range(len(found)))
        assert all(nonce == b"n" * 16 for nonce, _, _, _ in found)
        return [(OUTCOMES[outcome], reason.decode()) for _, _, outcome, reason in found]

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return [int(word) for word in file.read().split()]


class FakeWorker:
    """`serve(connection)` is called in a thread for each connection."""

    def __init__(self, serve):
        self.folder = tempfile.mkdtemp(prefix="appvault-fake-")
        os.chmod(self.folder, 0o755)
        self.socket = os.path.join(self.folder, "socket")
        self.serve, self.connections = serve, 0
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.socket)
        self.listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        with connection:
            try:
                self.serve(connection)
            except (OSError, struct.error):
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def library():
    return pamlab.compiled("rulespreload.c", "rulespreload.so", "-shared", "-fPIC", "-lpthread")
