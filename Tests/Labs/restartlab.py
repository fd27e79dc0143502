"""A test that plays systemd: it starts the daemon with a socket, is told by it what systemd is told, keeps the
descriptors that it is given, and hands them to the next one.

    lab = Restarting(policy())
    lab.make("correct horse")
    lab.restart()                      # `stop` and `start`: what the first has left, the second gets
    lab.lines()                        # what it wrote to the journal
"""

import array
import contextlib
import os
import re
import select
import shutil
import signal
import socket
import struct
import tempfile
import threading

from daemonlab import Daemon, wait_until
from fingerlab import Private
from policylab import PolicyLab

NAME = "open-stores"
# A mount of its own, with a journal that the test reads.
JOURNAL = 'mkdir -p /run/systemd/journal; mount --bind "$1" /run/systemd/journal; shift; exec "$@"'


class Systemd:
    """The two sockets, each read as messages come."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-systemd-")
        os.chmod(self.folder, 0o755)
        self.kept, self.notes, self.lines, self.takes = {}, [], [], True
        self.notify = self._bind("notify")
        # As systemd does, to know who tells it something.
        self.notify.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.journal = self._bind("socket")
        # Of those who wait until all is read that was sent before.
        self.marks = []
        self.ends = os.pipe()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _bind(self, name):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        made.bind(os.path.join(self.folder, name))
        os.chmod(os.path.join(self.folder, name), 0o666)
        return made

    def close(self):
        if not self.thread.is_alive():
            return
        os.close(self.ends[1])
        self.thread.join(10)
        self.drop()
        for each in (self.notify, self.journal):
            each.close()
        os.close(self.ends[0])
        shutil.rmtree(self.folder, ignore_errors=True)

    def catch_up(self):
        """Returns when it has read what a daemon that has ended told it: what a dead one has sent still arrives."""
        mark = threading.Event()
        self.marks.append(mark)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own:
            own.sendto(b"MARK=1", os.path.join(self.folder, "notify"))
        if not mark.wait(120):
            raise AssertionError("what was told is not read")

    def drop(self):
        """What systemd does at a stop."""
        for number in self.kept.values():
            os.close(number)
        self.kept = {}

    def _read(self):
        while True:
            ready, _, _ = select.select([self.notify, self.journal, self.ends[0]], [], [])
            if self.ends[0] in ready:
                return
            if self.notify in ready:
                self._told()
            if self.journal in ready:
                found = re.search(rb"^MESSAGE=(.*)$", self.journal.recv(65536), re.M)
                if found:
                    self.lines.append(found[1].decode())

    def _told(self):
        data, others, _, _ = self.notify.recvmsg(65536, 1024)
        numbers = array.array("i")
        for level, kind, body in others:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers.frombytes(body[: len(body) // 4 * 4])
        fields = dict(line.split("=", 1) for line in data.decode().splitlines())
        if "MARK" in fields:
            self.marks.pop(0).set()
            return
        if fields.get("FDSTORE") == "1" and self.takes and fields["FDNAME"] not in self.kept:
            self.kept[fields["FDNAME"]] = os.dup(numbers[0])
        if fields.get("FDSTOREREMOVE") == "1":
            with contextlib.suppress(KeyError):
                os.close(self.kept.pop(fields["FDNAME"]))
        self.notes.append(fields)
        # A barrier is over when this end of it is closed.
        for number in numbers:
            os.close(number)


class Restarts:
    """In front of a kind of Daemon. As root the journal is the test's, too."""

    def __init__(self, *arguments, before=(), env=(), start=True, **settings):
        self.systemd = Systemd()
        # Handed to the next daemon besides what systemd keeps, also under the same name.
        self.more = []
        if settings.get("uid", os.getuid()) == 0:
            # Last: what goes before may cover /run.
            before = [*before, "unshare", "--mount", "sh", "-c", JOURNAL, "sh", self.systemd.folder]
        super().__init__(
            *arguments, socket_activated=True, start=False, before=before,
            env={"NOTIFY_SOCKET": os.path.join(self.systemd.folder, "notify"), **dict(env)}, **settings)
        if start:
            self.start()

    def close(self):
        super().close()
        self.systemd.close()

    def lines(self):
        return list(self.systemd.lines)

    def spawn(self):
        self.handed, self.more = [*self.systemd.kept.items(), *self.more], []
        return super().spawn()

    def start(self):
        """Returns when it has told systemd that it serves."""
        before = len(self.systemd.notes)
        self.spawn()

        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"appvaultd ended with {self.process.returncode}: {self.log()}")
            return any("READY" in note for note in self.systemd.notes[before:])

        wait_until(is_ready, "appvaultd serves", 120)
        return self

    def end(self, number=signal.SIGTERM, seconds=120.0):
        status = super().end(number, seconds)
        self.systemd.catch_up()
        return status

    @property
    def says(self):
        """What `systemctl status` shows of it."""
        return [note["STATUS"] for note in self.systemd.notes if "STATUS" in note][-1]


class Restarting(Restarts, PolicyLab):
    """A daemon whose person is the user who runs the tests."""


class RestartingDesk(Restarts, Daemon):
    """One for a Desk of root's."""


class RestartingPrivate(Restarts, Private):
    """One for a Desk of another account."""


def secret_file(data, uid=None):
    """Secret memory with these bytes; -1 where the kernel has none."""
    import ctypes
    import mmap

    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.syscall(447, os.O_CLOEXEC)
    if number < 0:
        return number
    if not data:
        return number
    os.ftruncate(number, len(data))
    with mmap.mmap(number, len(data)) as area:
        area[:] = data
    if uid is not None:
        os.fchown(number, uid, uid)
    return number


def has_secret_memory():
    number = secret_file(b"one")
    if number < 0:
        return False
    os.close(number)
    return True


def content(number):
    """The bytes of a descriptor of secret memory."""
    import mmap

    with mmap.mmap(number, os.fstat(number).st_size) as area:
        return area[:]


class Bytes:
    """An area as the daemon writes it, to be changed."""

    MAGIC = b"AppVault: left to the next"
    VERSION = slice(26, 34)
    BOOT = slice(34, 50)
    LENGTH = slice(58, 66)
    RECORDS = 66

    STORE, RESIDENT = 1, 2

    @classmethod
    def keys(cls, data):
        """The keys in it: of a store's records, and what a finger opens a store with."""
        found, at = {}, cls.RECORDS
        end = at + struct.unpack("<Q", data[cls.LENGTH])[0]
        while at < end:
            kind, size = struct.unpack_from("<BH", data, at)
            body, at = data[at + 3 : at + 3 + size], at + 3 + size
            if kind in (cls.STORE, cls.RESIDENT):
                found["records" if kind == cls.STORE else "resident"] = cls._key(body)
        return found

    @staticmethod
    def _key(body):
        def counted(at):
            end = at + 2 + struct.unpack_from("<H", body, at)[0]
            return body[at + 2 : end], end

        # Its id, two moments, the hold, how its owner left, and what it rests on.
        _, at = counted(0)
        at += 16 + 16
        at += 1 + 9 * body[at]
        _, at = counted(at + 1)
        return counted(at)[0]

    @staticmethod
    def changed(data, place, value):
        made = bytearray(data)
        made[place] = value
        return bytes(made)

    @classmethod
    def version(cls, data, number):
        return cls.changed(data, cls.VERSION, struct.pack("<Q", number))
