"""Searches a process's memory for secrets, also for a piece of one."""

import contextlib
import mmap
import os
import random
import re
import signal
import time

PIECE = 10
WIDE_PIECE = 32
CHUNK = 8 << 20


class Needles:
    """Secrets by name, each with the pieces that would reveal it: a freed block loses its first
    bytes to malloc."""

    def __init__(self, **secrets):
        self.pieces = {}
        for name, secret in secrets.items():
            self.add(name, secret)

    def add(self, name, secret, size=PIECE):
        secret = secret.encode() if isinstance(secret, str) else bytes(secret)
        if len(secret) < 2 * size:
            raise ValueError(f"{name} is too short to be told from chance")
        for at in range(0, len(secret) - size + 1, size // 2):
            self.pieces[secret[at : at + size]] = name

    def add_text(self, name, text):
        """Adds it as UTF-8, and as 32-bit scalars, which is how the normalisation stores it."""
        self.add(name, text)
        self.add(f"{name}, as scalars", text.encode("utf-32-le"), WIDE_PIECE)

    def names_in(self, data):
        if self.pieces:
            for piece in re.finditer(self.pattern, data):
                yield self.pieces[piece.group()]

    @property
    def pattern(self):
        return b"|".join(re.escape(piece) for piece in self.pieces)


def word(random_=random.SystemRandom()):
    """A passcode that is in no memory by chance, in ASCII so that normalisation does not change
    it."""
    letters = "abcdefghijkmnpqrstuvwxyzACDEFGHJKLMNPQRSTUVWXYZ23456789"
    return "".join(random_.choice(letters) for _ in range(32))


def needles(**texts):
    made = Needles()
    for name, text in texts.items():
        made.add_text(name, text)
    return made


def maps(pid):
    with open(f"/proc/{pid}/maps") as file:
        for line in file:
            fields = line.split(maxsplit=5)
            start, end = (int(number, 16) for number in fields[0].split("-"))
            yield start, end, fields[1], fields[5].strip() if len(fields) > 5 else ""


def guarded(pid):
    """The mappings that are never written to a swap device and left out of cores, by their start."""
    found, start = set(), None
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            begins = re.match(r"([0-9a-f]+)-[0-9a-f]+ ", line)
            if begins:
                start = begins[1]
            elif line.startswith("VmFlags:") and {"lo", "dd"} <= set(line.split()):
                found.add(start)
    return found


def open_files(pid):
    """What the descriptors of a process lead to. One that is closed meanwhile is left out."""
    folder, found = f"/proc/{pid}/fd", []
    for number in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"{folder}/{number}"))
    return found


def used(pid, start, end):
    """The parts of a mapping that have memory behind them; the others were never written."""
    page = mmap.PAGESIZE
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as file:
        file.seek(start // page * 8)
        entries = file.read((end - start) // page * 8)
    first = None
    for number in range(len(entries) // 8):
        here = entries[number * 8 + 7] & 0xC0
        if here and first is None:
            first = number
        elif not here and first is not None:
            yield start + first * page, start + number * page
            first = None
    if first is not None:
        yield start + first * page, start + len(entries) // 8 * page


def scan(pid, needles, stop=True):
    """The names of what was found, with the mappings: {"passcode": {"[heap]"}}. The process is
    stopped meanwhile."""
    if stop and pid != os.getpid():
        os.kill(pid, signal.SIGSTOP)
    found = {}
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for start, end, rights, name in list(maps(pid)):
                # A read-only mapping of a file contains no secret; guarded memory may be
                # inaccessible.
                if name in ("[vvar]", "[vsyscall]", "[vdso]") or (name.startswith("/") and "w" not in rights):
                    continue
                for first, last in used(pid, start, end):
                    tail = b""
                    for at in range(first, last, CHUNK):
                        try:
                            memory.seek(at)
                            data = memory.read(min(CHUNK, last - at))
                        except OSError:
                            break
                        for secret in needles.names_in(tail + data):
                            found.setdefault(secret, set()).add(f"{name or 'anonymous'} {start:x} {rights}")
                        tail = data[-WIDE_PIECE:]
    finally:
        if stop and pid != os.getpid():
            os.kill(pid, signal.SIGCONT)
    return found


def gone(pid, needles, seconds=120.0):
    """What is still found after the daemon has had time to come to rest; an empty result is
    good.

    The pause between two scans grows: on a busy machine, a process that is stopped again too
    soon never comes to rest.
    """
    end, pause = time.monotonic() + seconds, 0.02
    while True:
        found = scan(pid, needles)
        if not found or time.monotonic() > end:
            return found
        time.sleep(pause)
        pause = min(pause * 2, 1.0)
