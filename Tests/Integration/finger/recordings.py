"""Recordings of real readers, played to the worker: what its drivers send and get on the bus is
what was recorded.

The recordings are no part of the project. APPVAULT_RECORDINGS names their folder; otherwise it is ../shared/recordings
beside the checkout.
"""

import os
import shutil
import socket
import struct
import tempfile
import unittest
import zlib

from daemonlab import ROOT, wait_until
from fprintlab import ENROLL, Worker, choice
from patience import Stopwatch
from slow import slow

TIMEOUT = 180
RECORDINGS = os.environ.get("APPVAULT_RECORDINGS") or os.path.join(os.path.dirname(ROOT), "shared", "recordings")
CHASSIS = "/sys/class/dmi/id/chassis_type"


def recording(*names):
    return os.path.join(RECORDINGS, *names)


def first(name, prefix):
    """The device's path: after P: in its description, after @DEV in its ioctls."""
    with open(name) as file:
        words = file.readline().split()
    assert words[0] == prefix, words
    return words[1]


class Playback(Worker):
    """The worker in a test bed with one recorded reader."""

    def __init__(self, name, *playback, before="", mounts=False):
        self.notes = tempfile.mkdtemp(prefix="appvault-playback-")
        self.bed_path = os.path.join(self.notes, "bed")
        # The worker empties its environment, so it is told by an option where the test bed is.
        script = (
            f'echo "$UMOCKDEV_DIR" > {self.bed_path}; {before}'
            'exec "$0" "$@" --env "UMOCKDEV_DIR=$UMOCKDEV_DIR" --env FP_DEVICE_EMULATION=1 '
            '--env G_MESSAGES_DEBUG=libfprint-SSM')
        try:
            super().__init__(
                readers=(), fixed=False, environment={"PATH": os.environ["PATH"]},
                wrapper=[
                    *(["unshare", "-m"] if mounts else []),
                    "umockdev-run", "-d", recording(name, "device"), *playback, "--", "/bin/sh", "-c", script])
        except BaseException:
            shutil.rmtree(self.notes, ignore_errors=True)
            raise

    @property
    def bed(self):
        with open(self.bed_path) as file:
            return file.read().strip()

    def waits_for_interrupt(self):
        """Whether the synaptics driver has sent its last command, and now waits for what the reader does."""
        with open(self.log_path) as file:
            *_, last = (line for line in file if " entering state " in line)
        return last.rstrip().endswith("[synaptics] SYNAPTICS_CMD_NUM_STATES entering state 2")

    def close(self):
        super().close()
        shutil.rmtree(self.notes, ignore_errors=True)


def image(name, before=""):
    ioctls = recording(name, "capture.ioctl")
    return Playback(name, "-i", f"{first(ioctls, '@DEV')}={ioctls}", before=before)


def picture(path):
    """A PNG of 8 bits a sample without interlacing, as the reader's image of libfprint's virtual one."""
    with open(path, "rb") as file:
        data = file.read()
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack_from(">IIBB", chunk)
            assert depth == 8
        elif kind == b"IDAT":
            packed += chunk
    samples = {0: 1, 2: 3, 4: 2, 6: 4}[colours]
    raw, rows, above = zlib.decompress(packed), [], bytes(width * samples)
    for row in range(height):
        start = row * (width * samples + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * samples])
        for i in range(len(line)):
            left, corner = (line[i - samples], above[i - samples]) if i >= samples else (0, 0)
            guess = left + above[i] - corner
            nearest = min((left, above[i], corner), key=lambda each: abs(guess - each))
            line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, nearest)[raw[start]]) & 255
        rows.append(bytes(line[::samples]))
        above = line
    return struct.pack("ii", width, height) + b"".join(rows)


class Packets:
    """A recording of the synaptics reader, split into its commands and put together anew.

    The worker opens the reader for each request and lets it go, and clears no chip: the one recorded opening and the
    one recorded closing come more often, the recorded clearing does not come. Commands are counted, and so are their
    answers.
    """

    INIT, CLEAR, ENROLL, VERIFY, DELETE, CLOSE, CANCEL = 0x11, 0x84, 0x51, 0x65, 0x81, 0xA1, 0x41
    PACKET, HEAD = 6, 28 + 64

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.head, self.commands, at = [], [], 0
        part = self.head
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            block = data[at : at + length]
            at += length
            body = block[self.HEAD :]
            # A submission ("S") of a command: its place in the numbering, and which command it is.
            if kind == self.PACKET and block[36:37] == b"S" and body[:2] == b"\xa7\xfe":
                part = []
                self.commands.append((body[3], body[2], part))
            part.append(block)

    def find(self, command, place=0):
        return [each for each in self.commands if each[0] == command][place]

    def renumbered(self, blocks, old, new):
        for block in blocks:
            body = block[self.HEAD :]
            if body[:3] == bytes([0xA7, 0xFE, old]):
                block = block[: self.HEAD + 2] + bytes([new]) + block[self.HEAD + 3 :]
            elif body[:4] == bytes([0, 0, 0xFE, old]):
                block = block[: self.HEAD + 3] + bytes([new]) + block[self.HEAD + 4 :]
            yield block

    def rewritten(self, block, body):
        return block[: self.HEAD] + body + block[self.HEAD + len(body) :]

    def cancelled(self):
        """A verification that is cancelled while it waits for a finger.

        This was not recorded as such. It begins as recorded; then come the driver's cancel and
        the reader's answer to it, of the same length as the recorded end.
        """
        _, verify, blocks = self.find(self.VERIFY)
        _, _, close = self.find(self.CLOSE)
        send, sent, receive, received = close
        send = self.rewritten(send, bytes([0xA7, 0xFE, verify + 1, self.CANCEL, 0]))
        received = self.rewritten(received, bytes([0, 0, 0xFE, verify + 1, self.CANCEL + 1, 0]))
        # Its answer; the wait for a finger; then the message that this is over.
        return [*blocks[:4], blocks[6], send, sent, blocks[7], receive, received]

    def write(self, path, *names):
        written, count = list(self.head), 1
        # libfprint opens the reader once to find out what it is.
        for name in ("probe", *names):
            if name == "cancelled":
                old = self.find(self.VERIFY)[1]
                blocks = self.renumbered(self.cancelled(), old + 1, 0xEE)
                blocks = self.renumbered(self.renumbered(blocks, old, count), 0xEE, count + 1)
                count += 2
            else:
                _, old, blocks = {
                    "probe": lambda: self.find(self.INIT), "open": lambda: self.find(self.INIT, 1),
                    "clear": lambda: self.find(self.CLEAR), "enroll": lambda: self.find(self.ENROLL),
                    "verify": lambda: self.find(self.VERIFY), "delete": lambda: self.find(self.DELETE),
                    "close": lambda: self.find(self.CLOSE),
                }[name]()
                blocks = self.renumbered(blocks, old, count)
                count += 1
            written += blocks
        with open(path, "wb") as file:
            file.write(b"".join(written))


@unittest.skipUnless(os.path.isdir(RECORDINGS), f"no recordings in {RECORDINGS}")
@unittest.skipUnless(shutil.which("umockdev-run"), "no umockdev-run")
class Recorded(unittest.TestCase):
    def test_image_readers(self):
        """A real image reader's swipe is the first touch of an enrolment"""
        for name, wanted in (
            ("vfs5011", {"id": "vfs5011/0", "scan": 2, "internal": True, "port": "0000:00:14.0/6"}),
            ("aes3500", {"id": "aes3500/0", "scan": 1, "internal": False, "port": "0000:39:00.0/1.1.3"}),
        ):
            with self.subTest(name), image(name) as worker, worker.link(20) as link:
                (found,) = link.readers()
                self.assertEqual({key: found[key] for key in wanted}, wanted)
                self.assertFalse(found["stores"])
                link.begin_enroll(found["id"], found["port"])
                self.assertEqual(link.next(), ("scan", "stage", 1, found["stages"], "none"))
                # No second swipe was recorded.
                link.cancel()
                self.assertEqual(link.last(), ("failed", "cancelled"))

    def test_images(self):
        """An image reader enrols from real images; another finger does not match; a finger that stays blocks nobody"""
        def touch(worker, *parts):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as finger:
                finger.connect(worker.reader_socket("image"))
                finger.sendall(b"".join(parts))
                return link.next()

        one, other = (picture(recording(name, "capture.png")) for name in ("aes3500", "vfs5011"))
        # -3: whether a finger leaves by itself; -4: whether a finger is on the reader (libfprint's
        # virtual-image.c).
        stays = struct.pack("iiii", -3, 0, -4, 1)
        with Worker(readers=("image",)) as worker, worker.link(20) as link:
            link.begin_enroll("image")
            for stage in range(1, 6):
                self.assertEqual(touch(worker, one)[:3], ("scan", "stage", stage))
            kind, template = link.next()
            self.assertEqual(kind, "enrolled")
            self.assertTrue(100 < len(template) < 20_000, len(template))
            for found in ([template], [template] * 10):
                link.begin_match("image", found)
                self.assertEqual(touch(worker, other), ("noMatch",))
            # While it stays, the next touch does not begin: the person is told, and the touch counts also
            # where they go on without the finger.
            link.begin_match("image", [template])
            self.assertEqual(touch(worker, stays, other), ("scan", "retry", 0, 0, "removeFinger"))
            stopwatch = Stopwatch()
            link.cancel()
            self.assertEqual(link.next(), ("noMatch",))
            self.assertEqual(len(link.readers()), 1)
            stopwatch.assert_within(5)

    def test_match_on_chip(self):
        """Match on chip: enrolled with a real retry, matched across a sleep, deleted; in between the reader is free"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "packets.pcapng")
            # Before the sleep the scan is stopped and the reader released; after it the match is
            # requested again.
            Packets(recording("synaptics", "custom.pcapng")).write(
                path, "open", "enroll", "close", "open", "cancelled", "close", "open", "verify", "close",
                "open", "delete", "close")
            device = first(recording("synaptics", "device"), "P:")
            with Playback("synaptics", "-p", f"/sys{device}={path}") as worker, worker.link(20) as link:
                (reader,) = link.readers()
                self.assertEqual(
                    (reader["id"], reader["stages"], reader["identifies"], reader["stores"], reader["internal"]),
                    ("synaptics/emulated-device", 8, True, True, True))
                self.assertEqual(reader["port"], "0000:00:14.0/9")
                name = reader["id"]
                link.begin_enroll(name, reader["port"])
                steps = []
                while not steps or steps[-1][0] == "scan":
                    steps.append(link.next())
                self.assertEqual(
                    [step[1:3] for step in steps[:-1]],
                    [("stage", 1), ("stage", 2), ("stage", 3), ("stage", 4), ("stage", 5), ("retry", 5), ("stage", 6),
                     ("stage", 7), ("stage", 8)])
                kind, template = steps[-1]
                self.assertEqual(kind, "enrolled")
                link.begin_match(name, [template])
                # The driver asks for the finger just before it sends what the recording has next.
                wait_until(worker.waits_for_interrupt, "the reader waits for the finger")
                link.cancel()
                self.assertEqual(link.last(), ("failed", "cancelled"))
                link.begin_match(name, [template])
                self.assertEqual(link.last(), ("matched", 0))
                self.assertEqual(link.delete(name, template), ("done",))
                # Its driver cannot list what is on the chip.
                self.assertEqual(link.stored(name), ("failed", "notSupported"))

    def test_clear(self):
        """A chip that can be emptied at once is"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "packets.pcapng")
            Packets(recording("synaptics", "custom.pcapng")).write(path, "open", "clear", "close")
            device = first(recording("synaptics", "device"), "P:")
            with Playback("synaptics", "-p", f"/sys{device}={path}") as worker, worker.link(20) as link:
                (reader,) = link.readers()
                self.assertEqual(link.clear(reader["id"], reader["port"]), ("done",))

    @slow
    def test_built_in(self):
        """What is built in: by the kernel, by udev, by the firmware, by the kind of its chip; never behind a hub or a
        dock that can be unplugged"""
        chip, image_reader = "usb1/1-9", "usb2/2-6"
        hub, inner, far = "usb3/3-1", "usb3/3-1/3-1.1", "usb3/3-1/3-1.1/3-1.1.3"
        fixed = {hub: "fixed", inner: "fixed", far: "fixed"}
        laptop, tower, lid = {CHASSIS: "10"}, {CHASSIS: "3"}, {"/sys/class/input/input0/capabilities/sw": "21"}
        for name, removable, others, wanted in (
            ("synaptics", {chip: "removable"}, laptop, True),
            ("synaptics", {chip: "unknown"}, laptop, True),
            ("synaptics", {chip: "removable"}, {CHASSIS: "31"}, True),
            ("synaptics", {chip: "removable"}, tower | lid, True),
            # What is sold to makers of laptops is plugged into other machines.
            ("synaptics", {chip: "removable"}, {}, False),
            ("synaptics", {chip: "unknown"}, tower, False),
            ("synaptics", {chip: "removable"}, tower | {"/sys/class/input/input0/capabilities/sw": "20"}, False),
            ("synaptics", {chip: "fixed"}, tower, True),
            ("synaptics", {chip: "removable"}, laptop | {f"{chip}/idVendor": "047d"}, False),
            ("synaptics", {chip: "fixed"}, laptop | {f"{chip}/idVendor": "047d"}, True),
            ("synaptics", {chip: "removable"}, laptop | {f"{chip}/physical_location/dock": "yes"}, False),
            ("vfs5011", {image_reader: "fixed"}, {}, True),
            ("vfs5011", {image_reader: "removable"}, {}, False),
            ("vfs5011", {image_reader: "unknown"}, {}, False),
            ("vfs5011", {image_reader: "unknown"}, {f"{image_reader}/port/connect_type": "hardwired"}, True),
            ("vfs5011", {image_reader: "unknown"}, {f"{image_reader}/port/connect_type": "hotplug"}, False),
            ("vfs5011", {image_reader: "removable"}, {f"{image_reader}/port/physical_location/lid": "yes"}, True),
            ("vfs5011", {image_reader: "fixed"}, {f"{image_reader}/port/physical_location/dock": "yes"}, False),
            ("aes3500", fixed, {}, True),
            ("aes3500", {**fixed, hub: "removable"}, {}, False),
            ("aes3500", {**fixed, inner: "removable"}, {}, False),
            ("aes3500", {**fixed, hub: "unknown"}, {}, False),
            ("aes3500", fixed, {f"{hub}/physical_location/dock": "yes"}, False),
        ):
            with self.subTest(name, removable=removable, others=others):
                files = {f"{device}/removable": word for device, word in removable.items()} | others
                self.assertEqual(self.built_in(name, files), wanted)

    @slow
    def test_udev(self):
        """ID_INTEGRATION is believed where it is more than what the kernel said"""
        if os.geteuid() != 0:
            self.skipTest("needs root: another udev database")
        chip, reader, hub = "usb1/1-9", "usb2/2-6", "usb3/3-1"
        far = {f"{hub}/3-1.1/removable": "fixed", f"{hub}/3-1.1/3-1.1.3/removable": "unknown"}
        for name, files, said, wanted in (
            ("vfs5011", {f"{reader}/removable": "unknown"}, "internal", True),
            ("vfs5011", {f"{reader}/removable": "removable"}, "internal", True),
            ("vfs5011", {f"{reader}/removable": "fixed"}, "external", False),
            # What udev's own rule makes of a port that is not fixed.
            ("synaptics", {f"{chip}/removable": "unknown", CHASSIS: "10"}, "external", True),
            ("aes3500", {f"{hub}/removable": "fixed", **far}, "internal", True),
            ("aes3500", {f"{hub}/removable": "removable", **far}, "internal", False),
        ):
            with self.subTest(name, files=files, said=said):
                self.assertEqual(self.built_in(name, files, said), wanted)

    def built_in(self, name, files, said=""):
        """Whether the reader is built in, if /sys holds these files and udev says that."""
        device = first(recording(name, "device"), "P:")
        bus = "$UMOCKDEV_DIR/sys" + device[: device.index("/usb") + 1]
        before = ""
        for path, word in files.items():
            port = path.find("/port/")
            if port >= 0:
                # The recorded link leads nowhere.
                before += f'rm -f "{bus}{path[:port]}/port"; '
            whole = f"$UMOCKDEV_DIR{path}" if path.startswith("/sys/") else bus + path
            before += f'mkdir -p "{os.path.dirname(whole)}"; echo {word} > "{whole}"; '
        if said:
            with open(recording(name, "device")) as description:
                number = next(line[7:].strip() for line in description if line.startswith("A: dev="))
            data = f"/run/udev/data/c{number}"
            before += f"mount -t tmpfs none /run; mkdir -p /run/udev/data; echo E:ID_INTEGRATION={said} > {data}; "
        playback = []
        if name == "synaptics":
            packets = os.path.join(tempfile.mkdtemp(prefix="appvault-packets-"), "packets.pcapng")
            self.addCleanup(shutil.rmtree, os.path.dirname(packets))
            Packets(recording("synaptics", "custom.pcapng")).write(packets)
            playback = ["-p", f"/sys{device}={packets}"]
        else:
            ioctls = recording(name, "capture.ioctl")
            playback = ["-i", f"{first(ioctls, '@DEV')}={ioctls}"]
        with Playback(name, *playback, before=before, mounts=bool(said)) as worker, worker.link(20) as link:
            (found,) = link.readers()
            return found["internal"]

    def test_order(self):
        """A reader that the kernel calls fixed comes before one that it does not: the first is used to enrol"""
        names = ("vfs5011", "aes3500")
        devices = [first(recording(name, "device"), "P:") for name in names]
        for fixed in names:
            before = ""
            for name, device in zip(names, devices):
                word = "fixed" if name == fixed else "unknown"
                bus, *parts = device[device.index("/usb") + 1 :].split("/")
                for count in range(len(parts)):
                    folder = device[: device.index(bus)] + "/".join([bus, *parts[: count + 1]])
                    before += f'echo {word} > "$UMOCKDEV_DIR/sys{folder}/removable"; '
            with self.subTest(fixed), Playback(
                    names[0], "-d", recording(names[1], "device"), before=before) as worker, worker.link(20) as link:
                found = [reader["driver"] for reader in link.readers()]
                self.assertEqual(sorted(found), sorted(names))
                self.assertEqual(found[0], fixed)

    def test_appears_late(self):
        """A reader that is plugged in later is found by the next request, by its name and in the list"""
        device = "2-6"
        hide = f'mv "$UMOCKDEV_DIR/sys/bus/usb/devices/{device}" "$UMOCKDEV_DIR/{device}"; '
        for ask in ("list", "enroll"):
            with self.subTest(ask), image("vfs5011", before=hide) as worker, worker.link(20) as link:
                self.assertEqual(link.readers(), [])
                link.send(ENROLL, choice("vfs5011/0"))
                self.assertEqual(link.last(), ("failed", "noReader"))
                os.rename(os.path.join(worker.bed, device), os.path.join(worker.bed, "sys/bus/usb/devices", device))
                if ask == "list":
                    self.assertEqual([each["id"] for each in link.readers()], ["vfs5011/0"])
                link.begin_enroll("vfs5011/0")
                self.assertEqual(link.next()[:3], ("scan", "stage", 1))
                link.cancel()
                self.assertEqual(link.last(), ("failed", "cancelled"))

    def test_ends(self):
        """No test bed is left behind"""
        with image("vfs5011") as worker:
            bed = worker.bed
            self.assertTrue(os.path.isdir(bed))
        wait_until(lambda: not os.path.exists(bed), "the test bed is gone")


if __name__ == "__main__":
    unittest.main()
