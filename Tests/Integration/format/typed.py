"""What a person types, and what is noted about people, on the disk as FORMAT.md says."""

import os
import stat
import unittest

import faultlab
import policylab
from daemonlab import answers, wait_until
from faultlab import ME
from recordsfile import Damaged, read_export
from slotfile import Wrong, open_passcode

# As it is typed here and there; the third has a no-break space.
COMPOSED, DECOMPOSED = "pf\u00fctze und otter", "pfu\u0308tze und otter"
SPACED = "pf\u00fctze\u00a0und\u3000otter"
OTHER = "pfutze und otter"
# Bytes that no passcode may have: they are taken as they are.
RAW = b"tab\tand \xff otter"


class Typed(unittest.TestCase):
    def lab(self):
        lab = faultlab.Lab()
        self.addCleanup(lab.close)
        return lab

    def test_passcode(self):
        """the slot is made of the normalised text, however it is typed"""
        for typed in (COMPOSED, DECOMPOSED, SPACED):
            lab = self.lab()
            lab.make(typed)
            lab.stop()
            with open(os.path.join(lab.state, "machine.key"), "rb") as file:
                key = file.read()
            with open(os.path.join(lab.state, "stores", lab.stores()[0], "slots"), "rb") as file:
                slots = file.read()
            for again in (COMPOSED, DECOMPOSED, SPACED):
                self.assertIsNotNone(open_passcode(slots, key, again.encode()))
            with self.assertRaises(Wrong):
                open_passcode(slots, key, OTHER.encode())

    def test_source(self):
        """who has made a passcode up is kept with its slot, as the front end says; a slot from before says nothing"""
        lab = self.lab()
        sources = {"terminal": "user", "dialog": "user", "program": "unknown", "device": "device"}
        for front_end, source in sources.items():
            with self.subTest(front_end), lab.client(frontEnd=front_end) as client:
                made = client.run("create", answers("correct horse"), way="ownPasscode", store=front_end)
                self.assertEqual(made.name, "done", made)
                self.assertEqual(client.run("status", store=front_end).passcodeSource, source)
        # It goes with the next one, and survives a restart.
        with lab.client(frontEnd="device") as client:
            script = answers("correct horse", newPasscode="another horse")
            self.assertEqual(client.run("passcode", script, change="change", store="terminal").name, "done")
        lab.restart()
        for store, source in {**sources, "terminal": "device"}.items():
            self.assertEqual(lab.state_of(store).passcodeSource, source)

    def test_export(self):
        """so is the key of an export; a passphrase that cannot be normalised counts byte for byte"""
        lab = self.lab()
        lab.make("correct horse")
        lab.set("wifi", b"otter")
        for typed, others in (
            (DECOMPOSED, [COMPOSED, SPACED]), (SPACED, [COMPOSED]), (RAW, [])):
            with lab.client() as client:
                script = answers("correct horse", newPassphrase=typed)
                pieces = [client.run("exportBegin", script)]
                while not pieces[-1].last:
                    pieces.append(client.run("exportNext"))
            file = b"".join(piece.payload for piece in pieces)
            for again in (typed, *others):
                again = again if isinstance(again, bytes) else again.encode()
                self.assertEqual(read_export(file, again), {b"wifi": b"otter"})
            with self.assertRaises(Damaged):
                read_export(file, OTHER.encode())


class Groups(unittest.TestCase):
    def test_file(self):
        """the account's name, the groups that the directory service named last, and the last line"""
        lab = policylab.PolicyLab(policylab.policy(MinLength="10") + "[Passcode group:staff]\nMinLength=20\n")
        self.addCleanup(lab.close)
        lab.groups(**{ME[0]: ["staff", "two words"]})
        lab.make("correct horse battery staple")
        path = os.path.join(lab.state, "groups", str(ME[1]))
        wait_until(lambda: os.path.exists(path), "the groups are kept")
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        self.assertEqual((lines[0], lines[-1]), (ME[0], "# whole"))
        self.assertIn("staff", lines[1:-1])
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)


if __name__ == "__main__":
    unittest.main()
