"""A fingerprint worker that the test controls, and a person with a finger.

    with FakeWorker() as worker, Desk(worker) as desk:      # a daemon with a store that its passcode has opened
        desk.enroll()                                       # the passcode, and a finger that the worker knows
        worker.touches("match")                             # what the next touches come to
        desk.open()                                         # by the finger: "done"
"""

import contextlib
import os
import queue
import select
import shutil
import socket
import struct
import tempfile
import threading
import time

from daemonlab import IS_ROOT, PASSCODE, Daemon, add_account, answers, remove_account, wait_until
from fprintlab import (
    CANCEL, CLEAR, DELETE, DONE, ENROLL, ENROLLED, FAILED, FAULTS, LIST, MATCH, MATCHED, NO_MATCH, READERS, SCAN,
    STORED, STORED_PRINTS, Fields, frame, payload, text)

FAULT_NUMBERS = {name: number for number, name in FAULTS.items()}
PLACE, STAGE, RETRY = 1, 2, 3
POLICY = "RetryLimit=0\nThrottleAfter=0\n"


class Reader:
    def __init__(self, name="fake", port="1-2", internal=True, identifies=True, stores=False, stages=3):
        self.id, self.name, self.port = f"{name}/0", name, port
        self.internal, self.identifies, self.stores, self.stages = internal, identifies, stores, stages

    def encode(self):
        flags = bytes([self.identifies, self.stores, self.internal])
        return (text(self.id) + text(self.name) + text(self.name.title()) + bytes([1, self.stages]) + flags
                + text(self.port))


class Request:
    def __init__(self, kind, body):
        fields = Fields(body)
        self.kind, self.nonce = kind, fields.take(16)
        self.reader = self.port = None
        self.templates, self.seconds = [], 0
        if kind in (ENROLL, MATCH, DELETE, STORED, CLEAR):
            self.reader, self.port = fields.text(), fields.text()
        if kind in (MATCH, STORED):
            self.seconds = fields.u8()
            sizes = [struct.unpack("<I", fields.take(4))[0] for _ in range(fields.u8())]
            whole = fields.payload()
            for size in sizes:
                self.templates.append(whole[:size])
                whole = whole[size:]
            assert not whole
        if kind == DELETE:
            self.templates = [fields.payload()]
        fields.end()


class Gone(Exception):
    """The daemon has disconnected."""


class Visit:
    """One connection from the daemon."""

    def __init__(self, worker, connection):
        self.worker, self.connection, self.data = worker, connection, b""

    def send(self, kind, request, body=b"", nonce=None):
        try:
            self.connection.sendall(frame(kind, (nonce or request.nonce) + body))
        except OSError:
            raise Gone from None

    def scan(self, request, event, stage=0, stages=0, retry=0):
        self.send(SCAN, request, bytes([event, stage, stages, retry]))

    def receive(self, seconds=None):
        """The daemon's next request; None if none came in time."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            if len(self.data) >= 10:
                length, kind, tag = struct.unpack("<IHI", self.data[:10])
                assert tag == 0
                if len(self.data) >= 10 + length:
                    body, self.data = self.data[10 : 10 + length], self.data[10 + length :]
                    request = Request(kind, body)
                    self.worker.heard.append(request)
                    return request
            self.connection.settimeout(None if end is None else max(0.001, end - time.monotonic()))
            try:
                more = self.connection.recv(65536)
            except TimeoutError:
                return None
            except OSError:
                raise Gone from None
            if not more:
                raise Gone
            self.data += more

    def is_cancelled(self, seconds):
        """Whether the daemon cancels the request within that time."""
        request = self.receive(seconds)
        assert request is None or request.kind == CANCEL
        return request is not None


class FakeWorker:
    """`behave(visit, request)` answers one request. The default is an honest worker that gets
    its touches from the test."""

    def __init__(self, *readers):
        self.folder = tempfile.mkdtemp(prefix="appvault-fake-")
        os.chmod(self.folder, 0o755)
        self.path = os.path.join(self.folder, "socket")
        self.readers = list(readers) or [Reader()]
        self.chip, self.heard, self.behave = [], [], self.honest
        # Whether a touch that is compared is the one before an enrolment: it matches nothing.
        self.enrolls = False
        self._touches = queue.Queue()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(16)
        self.lock, self.visits = threading.Lock(), []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        # Its thread must have ended before the descriptor is closed: the next one gets its number.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kinds(self):
        return [request.kind for request in self.heard]

    def forget(self):
        """Forgets the requests so far, and the touches that were not made."""
        self.heard.clear()
        with contextlib.suppress(queue.Empty):
            while True:
                self._touches.get_nowait()

    def waits_again(self, number):
        """For `enter`: waits until the nth touch from now on is asked for. It is counted by
        then, and will be given back; the line that says "again" comes before that."""
        number += self.kinds().count(MATCH)
        return lambda scan: scan.event == "place" and self.kinds().count(MATCH) == number

    def touches(self, *what):
        """match or match N, no, retry, a fault's name; one for each touch."""
        for each in what:
            self._touches.put(each)

    def _serve(self):
        while True:
            select.select([self.listener], [], [])
            with self.lock:
                try:
                    connection, _ = self.listener.accept()
                except OSError:
                    return
                visit = threading.Thread(target=self._visit, args=(connection,), daemon=True)
                self.visits.append(visit)
                visit.start()

    def rest(self):
        """Waits until everything is read that an ended daemon sent: on a busy machine it was
        taken for the next daemon's."""
        def rests():
            with self.lock:
                self.visits = [visit for visit in self.visits if visit.is_alive()]
                return not self.visits and not select.select([self.listener], [], [], 0)[0]

        wait_until(rests, "the fake worker rests")

    def _visit(self, connection):
        visit = Visit(self, connection)
        with connection:
            try:
                while True:
                    self.behave(visit, visit.receive())
            except (Gone, OSError):
                pass

    def fail(self, visit, request, fault):
        visit.send(FAILED, request, bytes([FAULT_NUMBERS[fault]]))

    def honest(self, visit, request):
        if request.kind == LIST:
            visit.send(READERS, request, bytes([len(self.readers)]) + b"".join(r.encode() for r in self.readers))
        elif request.kind == ENROLL:
            self._enroll(visit, request)
        elif request.kind == MATCH:
            self._match(visit, request)
        elif request.kind == DELETE:
            self.chip = [print for print in self.chip if print not in request.templates]
            visit.send(DONE, request)
        elif request.kind == CLEAR:
            self.chip = []
            visit.send(DONE, request)
        elif request.kind == STORED:
            found = b"".join(
                bytes([request.templates.index(print) + 1 if print in request.templates else 0]) + text("a print")
                for print in self.chip)
            visit.send(STORED_PRINTS, request, struct.pack("<H", len(self.chip)) + found)

    def touch(self, visit, request):
        """The next touch that the test has set; "cancelled" if the daemon cancels first."""
        while True:
            try:
                return self._touches.get_nowait()
            except queue.Empty:
                if visit.is_cancelled(0.01):
                    return "cancelled"

    def _enroll(self, visit, request):
        reader = next(reader for reader in self.readers if reader.id == request.reader)
        visit.scan(request, PLACE, 0, reader.stages)
        stage = 0
        while stage < reader.stages:
            touch = self.touch(visit, request)
            if touch == "match":
                stage += 1
                visit.scan(request, STAGE, stage, reader.stages)
            elif touch == "retry":
                visit.scan(request, RETRY, stage, reader.stages, 2)
            else:
                return self.fail(visit, request, touch)
        print = b"print of " + os.urandom(200)
        if reader.stores:
            self.chip.append(print)
        visit.send(ENROLLED, request, payload(print))

    def _match(self, visit, request):
        visit.scan(request, PLACE)
        while True:
            touch = "no" if self.enrolls else self.touch(visit, request)
            if touch == "retry":
                visit.scan(request, RETRY, retry=1)
                continue
            if touch == "no":
                return visit.send(NO_MATCH, request)
            if touch.startswith("match"):
                return visit.send(MATCHED, request, bytes([int(touch[5:] or 0)]))
            return self.fail(visit, request, touch)


class Finger:
    """Follows one exchange: what is shown, and Enter when the test says so. The last answer is
    in `last`."""

    def __init__(self, client, script=(), enter=None):
        self.client, self.script, self.scans, self.enter = client, script, [], enter

    def run(self, request, /, payloads=(), **fields):
        client = self.client
        client.tag += 1
        client.send(request, client.tag, payloads, **fields)
        return self.follow()

    def follow(self):
        client = self.client
        while True:
            message = client.receive(client.timeout)
            if message is None:
                return None
            if message.name == "scan":
                self.scans.append(message)
                if self.enter is not None and self.enter(message):
                    client.send("abort", client.tag, question=message.question)
            elif message.name == "show":
                client.shown.append(message.line[2])
            elif message.name == "token":
                client.tokens.append(message.payload)
            elif message.name == "ask":
                client.asked.append(message)
                answer = self.script(message) if callable(self.script) else None
                if answer is None:
                    client.send("abort", client.tag, question=message.question)
                else:
                    client.send("reply", client.tag, [answer.encode()], question=message.question)
            elif message.name != "working":
                return message

    @property
    def events(self):
        return [scan.event for scan in self.scans]

    @property
    def lines(self):
        """The ids of the lines that the scans showed."""
        return [scan.line[0] for scan in self.scans if scan.line[0]]


@contextlib.contextmanager
def effective(uid):
    """Connections made within it are that user's; for an ordinary user nothing changes."""
    if not IS_ROOT:
        yield
        return
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


class Private(Daemon):
    """A private daemon: its only peer is its own user, and it believes what this user says about
    who is where."""

    def client(self, *arguments, **fields):
        with effective(self.uid):
            return super().client(*arguments, **fields)


class Desk:
    """A private daemon, its own person and their store. As root it runs as another account, because logind is asked
    about root's peers. With a `before` it is root's own daemon, which sees the logind of that command line."""

    def __init__(self, worker, policy="", path=None, create=True, options=(), kind=None, **more):
        self.worker = worker
        self.account = None
        whose = kind or (Daemon if more.get("before") else Private)
        if IS_ROOT:
            self.account = add_account()
            if issubclass(whose, Private):
                more["uid"] = self.account[1]
        self.daemon = whose(
            policy=POLICY + policy, options=["--fingerprint-socket", path or worker.path, *options], start=False,
            **more)
        self.daemon.person = self.account or self.daemon.person
        try:
            self.daemon.start()
            if create:
                self.daemon.create()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.daemon.close()
        if self.account:
            remove_account(self.account[0])

    @property
    def person(self):
        return self.daemon.person

    def finger(self, script=(), enter=None, frontEnd="terminal", timeout=45.0, **fields):
        client = self.daemon.client(frontEnd=frontEnd, timeout=timeout, **fields)
        return Finger(client, script, enter)

    def ask(self, request, script=(), enter=None, hello=(), payloads=(), enrolls=None, **fields):
        """`enrolls=False` leaves the touch before an enrolment to the test."""
        finger = self.finger(script, enter, **dict(hello))
        finger.last = None
        if isinstance(self.worker, FakeWorker):
            self.worker.enrolls = request == "fingerprintEnroll" if enrolls is None else enrolls
        with finger.client:
            if request != "fingerprintClear":
                fields.setdefault("subject", self.person)
            finger.last = finger.run(request, payloads, **fields)
        return finger

    def enroll(self, number="unnamed", passcode=PASSCODE):
        self.worker.touches(*["match"] * self.worker.readers[0].stages)
        finger = self.ask("fingerprintEnroll", answers(passcode), finger=number)
        assert finger.last is not None and finger.last.name == "done", (finger.last, self.daemon.log())
        return finger

    def lock(self):
        done = self.daemon.lock()
        assert done.name == "done", done

    def open(self, script=(), enter=None):
        return self.ask("openStore", script, enter)

    def list(self):
        return self.ask("fingerprintList").last

    def is_open(self):
        return self.daemon.status().lock == "unlocked"
