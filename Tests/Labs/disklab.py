"""A state folder on a file system of its own, which a test can fill."""

import os
import subprocess
import unittest

from faultlab import Lab, Slots, policy

PASSCODE = "correct horse"


def mount(*arguments):
    return subprocess.run(["mount", *arguments], capture_output=True, text=True)


def ext4(test, lab, size, *options):
    """An ext4 in a file, mounted on the lab's state folder; returns the name of its loop device."""
    image = os.path.join(lab.folder, "disk")
    with open(image, "wb") as file:
        file.truncate(size)
    made = subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-N", "64", image], capture_output=True, text=True)
    if made.returncode != 0:
        test.skipTest(f"no ext4 here: {made.stderr.strip()}")
    done = mount("-o", ",".join(["loop", *options]), image, lab.state)
    if done.returncode != 0:
        test.skipTest(f"no loop device here: {done.stderr.strip()}")
    os.chmod(lab.state, 0o700)
    with open("/proc/mounts") as file:
        (device,) = [line.split()[0] for line in file if line.split()[1] == lab.state]
    return os.path.basename(device)


class Mounted(unittest.TestCase):
    """A state folder on a file system of its own."""

    SIZE = "4m"

    def setUp(self):
        if os.getuid() != 0:
            self.skipTest("only root can mount")
        self.lab = Lab(policy(RetryLimit="9"), start=False)
        self.addCleanup(self.lab.close)
        self.mount()
        self.lab.start()
        self.lab.make(PASSCODE)

    def mount(self):
        done = mount("-t", "tmpfs", "-o", f"size={self.SIZE},mode=0700", "tmpfs", self.lab.state)
        if done.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted here: {done.stderr.strip()}")
        self.addCleanup(self.unmount)

    def unmount(self):
        self.lab.kill()
        subprocess.run(["umount", "-l", self.lab.state], check=False)

    def ballast(self):
        """The file that `make_room` removes."""
        with open(os.path.join(self.lab.state, "filler"), "wb") as file:
            file.write(bytes(1 << 19))

    def fill(self):
        """Fills it until not one more byte fits."""
        size = 1 << 16
        with open(os.path.join(self.lab.state, "filler"), "ab", buffering=0) as file:
            while size:
                try:
                    if file.write(b"x" * size) < size:
                        size //= 2
                except OSError:
                    size //= 2

    def make_room(self):
        os.unlink(os.path.join(self.lab.state, "filler"))

    def tries(self):
        return Slots(self.lab.store()).tally


class MountedExt4(Mounted):
    """The same on a file system that allocates as a disk does."""

    SIZE = 8 << 20

    def mount(self):
        ext4(self, self.lab, self.SIZE)
        self.addCleanup(self.unmount)
