"""What a purge erases by itself, and what it does not: the package's own script, on a folder of
the test's."""

import os
import subprocess
import tempfile
import unittest

from places import ROOT


class Purge(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="appvault-purge-")
        self.addCleanup(made.cleanup)
        os.chmod(made.name, 0o755)
        self.folder = made.name
        self.state = os.path.join(made.name, "state")
        self.runtime = os.path.join(made.name, "runtime")
        self.programs = os.path.join(made.name, "programs")
        os.makedirs(os.path.join(self.state, "stores"))
        os.mkdir(self.programs)
        os.mkdir(self.runtime)
        with open(os.path.join(self.runtime, "key"), "wb") as file:
            file.write(bytes(56))
        with open(os.path.join(self.state, "machine.key"), "wb") as file:
            file.write(bytes(64))
        with open(os.path.join(ROOT, "debian", "appvault.postrm"), encoding="utf-8") as file:
            script = file.read()
        # Nobody can be asked here: the default applies.
        self.script = script
        for path, instead in (
            ("/var/lib/appvault", self.state), ("/usr/share/debconf", "/nonexistent"),
            ("/run/appvaultd", self.runtime)):
            self.assertIn(path, self.script)
            self.script = self.script.replace(path, instead)

    def purge(self, how="purge"):
        path = self.programs + ":/usr/bin:/bin"
        return subprocess.run(
            ["sh", "-c", self.script, "postrm", how], env={"PATH": path}, capture_output=True, text=True, check=True)

    def store(self):
        folder = os.path.join(self.state, "stores", "00")
        os.mkdir(folder)
        path = os.path.join(folder, "slots")
        with open(path, "wb") as file:
            file.write(bytes(64))
        return path

    def test_failed_tokens(self):
        """what was remembered of failed tokens goes with the programs, following no link, and not at an upgrade"""
        kept = os.path.join(self.programs, "kept")
        with open(kept, "wb"):
            pass
        os.symlink(self.programs, os.path.join(self.runtime, "link"))
        self.purge("upgrade")
        self.assertTrue(os.path.exists(os.path.join(self.runtime, "key")))
        self.purge("remove")
        self.assertFalse(os.path.exists(self.runtime))
        self.assertTrue(os.path.exists(kept) and os.path.exists(self.state))
        os.symlink(self.programs, self.runtime)
        self.purge("remove")
        self.assertTrue(os.path.exists(kept))

    def test_none(self):
        """where nobody has a store nothing is left, and no question is asked"""
        self.purge()
        self.assertFalse(os.path.exists(self.state))

    def test_one(self):
        """where a person has a store and nobody can be asked, it stays"""
        path = self.store()
        self.purge()
        self.assertTrue(os.path.exists(path))

    def test_cannot_be_listed(self):
        """a folder that cannot be listed does not count as an empty one"""
        path = self.store()
        with open(os.path.join(self.programs, "ls"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho ls: input/output error >&2\nexit 2\n")
        os.chmod(os.path.join(self.programs, "ls"), 0o755)
        self.purge()
        self.assertTrue(os.path.exists(path))


@unittest.skipUnless(os.getuid() == 0, "only root purges packages")
class TakenOver(Purge):
    """The folder belongs to a hostile user: root's purge may touch nothing that this user could
    not."""

    # No account has this uid: the user may be removed before their files are.
    UID = 47123
    SECRET = b"what only root may change\n"

    def setUp(self):
        super().setUp()
        # Nobody can be asked in a test, so the test puts the answer there.
        self.script = self.script.replace("erase=false", "erase=true", 1)
        self.victims = os.path.join(self.folder, "victims")
        os.mkdir(self.victims)
        self.victim = os.path.join(self.victims, "slots")
        with open(self.victim, "wb") as file:
            file.write(self.SECRET)
        os.chmod(os.path.join(self.state, "machine.key"), 0o400)

    def own(self):
        for folder, _, names in os.walk(self.state):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:
                if not os.path.samefile(path, self.victim) and not os.path.islink(path):
                    os.chown(path, self.UID, self.UID)

    def program(self, name, text):
        path = os.path.join(self.programs, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def untouched(self):
        with open(self.victim, "rb") as file:
            self.assertEqual(file.read(), self.SECRET)
        self.assertEqual(os.listdir(self.victims), ["slots"])
        self.assertFalse(os.path.lexists(self.state))

    # These tests of the suite above need a folder that nobody has taken over.
    test_none = test_one = test_cannot_be_listed = None

    def test_erased(self):
        """slots and the machine key are overwritten before they are removed, also if the folder's user has no
        account"""
        path = self.store()
        self.own()
        with open(path, "rb") as slots, open(os.path.join(self.state, "machine.key"), "rb") as key:
            self.purge()
            self.assertNotEqual(slots.read(64), bytes(64))
            self.assertNotEqual(key.read(64), bytes(64))
        self.untouched()

    def test_symbolic_link(self):
        """a symbolic link among the stores does not lead root anywhere"""
        path = self.store()
        os.unlink(path)
        os.symlink(self.victim, path)
        os.symlink(self.victims, os.path.join(self.state, "stores", "01"))
        self.own()
        self.purge()
        self.untouched()

    def test_hard_link(self):
        """a second name of one of root's files is removed, and the file is not overwritten"""
        path = self.store()
        os.unlink(path)
        os.link(self.victim, path)
        self.own()
        self.purge()
        self.untouched()

    def test_swapped(self):
        """a folder that becomes a link between the search and the overwriting does not lead to root's files"""
        path = self.store()
        self.own()
        folder = os.path.dirname(path)
        self.program("shred", f"mv {folder} {folder}.away\nln -s {self.victims} {folder}\nexec /usr/bin/shred \"$@\"\n")
        self.purge()
        self.untouched()

    def test_swapped_while_it_is_removed(self):
        """neither does one that becomes a link just before everything is removed"""
        path = self.store()
        self.own()
        folder = os.path.dirname(path)
        self.program("sync", f"mv {folder} {folder}.away\nln -s {self.victims} {folder}\n")
        self.purge()
        self.untouched()

    def test_nothing_of_roots(self):
        """the folder's user does the overwriting, without root's terminal and descriptors"""
        self.store()
        self.own()
        told = os.path.join(self.folder, "told")
        os.mkdir(told)
        os.chmod(told, 0o777)
        self.program("shred", f"""
            id -u >{told}/uid; id -g >{told}/gid; id -G >{told}/groups
            readlink /proc/$$/fd/0 >{told}/input; ls /proc/$$/fd >{told}/descriptors
            sed 's/.*) //' /proc/$$/stat | cut -d' ' -f4,5 >{told}/session
            grep NoNewPrivs /proc/$$/status >{told}/privileges
            """)
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        os.set_inheritable(write, True)
        # Like debconf's descriptor, which is open while postrm runs.
        self.script = self.script.replace("set -e\n", f"set -e\nexec 3>&{write}\n", 1)
        subprocess.run(
            ["sh", "-c", self.script, "postrm", "purge"], env={"PATH": self.programs + ":/usr/bin:/bin"},
            capture_output=True, check=True, pass_fds=(write,))

        def what(name):
            with open(os.path.join(told, name), encoding="utf-8") as file:
                return file.read().split()

        self.assertEqual((what("uid"), what("gid"), what("groups")), ([str(self.UID)],) * 3)
        self.assertEqual(what("input"), ["/dev/null"])
        self.assertEqual(what("privileges"), ["NoNewPrivs:", "1"])
        session, terminal = what("session")
        self.assertEqual(terminal, "0")
        self.assertNotEqual(int(session), os.getsid(0))
        # The shell itself reads its script from descriptor 10.
        self.assertEqual([number for number in what("descriptors") if 2 < int(number) < 10], [])
        self.untouched()
