"""What a new policy file would demand at every store, before it is installed."""

import os
import pwd
import struct
import types
import unittest

import slotfile
from daemonlab import IS_ROOT, PASSCODE, answers, as_uid
from faultlab import ME, code
from policylab import PolicyLab, policy

BROKEN, DENIED = 42, 30
# Offsets in block 8, from FORMAT.md.
ALLOWED, ON = 8, 9


def set_terms(lab, folder, **fields):
    """Rewrites block 8 of a store's slots while the daemon is down."""
    with open(os.path.join(lab.state, "machine.key"), "rb") as file:
        machine = slotfile.Machine(file.read()[-32:])
    path = os.path.join(folder, "slots")
    with open(path, "rb") as file:
        data = bytearray(file.read())
    store, blocks = slotfile.read(bytes(data), machine)
    number = slotfile.TERMS_BLOCK
    block = blocks.get(number)
    payload = bytearray(block.payload if block else bytes([0] * 8 + [1]) + bytes(423))
    for name, value in fields.items():
        payload[{"allowed": ALLOWED, "on": ON}[name]] = value
    sequence = max(block.sequence for block in blocks.values()) + 1
    head = struct.pack("<4sHHQ", b"AVSB", 1, number, sequence) + store + machine.id + bytes(payload)
    whole = head + slotfile.h("AV block mac", head, 32, machine.block_key)
    at = number * slotfile.PAGE
    data[at : at + len(whole)] = whole
    with open(path, "wb") as file:
        file.write(data)


class Preview(unittest.TestCase):
    def lab(self, text=None):
        lab = PolicyLab(text or policy())
        self.addCleanup(lab.close)
        return lab

    def preview(self, lab, text, subject=("", 0xFFFFFFFF)):
        answer = lab.ask("policyPreview", (), [text.encode()], subject=subject, file="/tmp/new.conf")
        self.assertEqual(answer.name, "preview", answer)
        return [types.SimpleNamespace(**entry) for entry in answer.stores]

    def only(self, lab, **keys):
        (entry,) = self.preview(lab, policy(**keys))
        return entry.flows if isinstance(entry.flows, list) else list(entry.flows)

    def test_create(self):
        """1: a store without a passcode, where one is demanded"""
        lab = self.lab()
        lab.make(PASSCODE, way="noPasscode")
        self.assertEqual(self.only(lab), [])
        self.assertEqual(self.only(lab, AllowNoPasscode="no"), [1])
        self.assertEqual(self.only(lab, Enabled="no", UseDefaultPolicy="no"), [])

    def test_change(self):
        """3: a rule key changed; with noncompliant it is certain only if the passcode falls short"""
        lab = self.lab()
        lab.make(PASSCODE)
        self.assertEqual(self.only(lab, RetryLimit="5"), [])
        self.assertEqual(self.only(lab, MinLength="9"), [3])
        (entry,) = self.preview(lab, policy(MinLength="9"))
        self.assertEqual((entry.certainty, entry.owner, entry.name), ("certain", ME[0], "default"))
        self.assertTrue(entry.reason)
        (entry,) = self.preview(lab, policy(MinLength="9", ChangeOnUpdate="noncompliant"))
        self.assertEqual((list(entry.flows), entry.certainty), ([3], "ifFallsShort"))

    def test_drop(self):
        """4: in no-passcode mode the passcode is removed"""
        lab = self.lab()
        lab.make(PASSCODE)
        self.assertEqual(self.only(lab, Enabled="no", UseDefaultPolicy="no"), [4])
        # When it is switched off, the default policy applies: nothing is removed.
        self.assertNotIn(4, self.only(lab, Enabled="no"))

    def marked(self, **fields):
        lab = self.lab()
        lab.make(PASSCODE)
        folder = lab.folder_of()
        lab.stop()
        set_terms(lab, folder, **fields)
        lab.start()
        self.assertEqual(lab.state_of().lock, "locked")
        return lab

    def test_fingerprint(self):
        """5, 6, 7, and 3 after 6: what happens to a fingerprint, and to its permission"""
        lab = self.marked(allowed=0)
        self.assertEqual(self.only(lab), [5])
        self.assertEqual(self.only(lab, MinLength="9"), [3, 5])
        self.assertEqual(self.only(lab, AllowFingerprint="no"), [])
        lab = self.marked(allowed=1, on=1)
        self.assertEqual(lab.state_of().passcode, "passcodeAndFingerprint")
        self.assertEqual(self.only(lab), [])
        self.assertEqual(self.only(lab, AllowFingerprint="no"), [6])
        self.assertEqual(self.only(lab, AllowFingerprint="no", MinLength="9"), [6, 3])
        self.assertEqual(self.only(lab, Enabled="no", UseDefaultPolicy="no"), [7])

    def test_follows(self):
        """a store that follows the login password changes only with that"""
        lab = self.lab()
        answer = lab.ask("create", answers(PASSCODE), store="", way="followLogin")
        self.assertEqual(answer.name, "done", answer)
        self.assertEqual(self.only(lab, MinLength="30"), [])
        self.assertEqual(self.only(lab, Enabled="no", UseDefaultPolicy="no"), [4])

    @unittest.skipUnless(IS_ROOT, "acts for others")
    def test_drop_ins_and_people(self):
        """drop-ins stay, and sections apply to the people that they are for: groups, users, stores"""
        lab = self.lab()
        lab.groups(**{ME[0]: ["staff"], "guest": ["guests"]})
        lab.make(PASSCODE)
        guest = ("guest", 40021)
        lab.ask("create", answers(PASSCODE), subject=guest, store="", way="ownPasscode")
        text = policy() + "[Passcode group:guests]\nMinLength=9\n"
        flows = {entry.owner: list(entry.flows) for entry in self.preview(lab, text)}
        self.assertEqual(flows, {ME[0]: [], "guest": [3]})
        # What is demanded of most stores comes first.
        self.assertEqual([entry.owner for entry in self.preview(lab, text)], ["guest", ME[0]])
        self.assertEqual([entry.owner for entry in self.preview(lab, text, guest)], ["guest"])
        lab.write("[Passcode group:staff]\nMinLength=11\n", "policy.d/10.conf")
        flows = {entry.owner: list(entry.flows) for entry in self.preview(lab, text)}
        self.assertEqual(flows, {ME[0]: [3], "guest": [3]})

    def test_silent(self):
        """stores whose owners' groups are not known are listed as such, and everything takes ten seconds at most"""
        lab = self.lab()
        lab.make(PASSCODE)
        lab.hang()
        (entry,) = self.preview(lab, policy() + "[Passcode group:staff]\nMinLength=9\n")
        self.assertEqual(list(entry.flows), [])
        self.assertIn("groups", entry.reason)

    def test_applications(self):
        """what would be locked in another way, at the store that it goes with"""
        lab = self.lab(policy() + "[App mail]\nRequire=finger\n[App web]\nStore=work\n")
        lab.make(PASSCODE)
        lab.make(PASSCODE, "work")
        same = policy() + "[App mail]\nRequire=finger\n[App web]\nStore=work\n[App notes]\nRequire=open\n"
        self.assertEqual([entry.reason for entry in self.preview(lab, same)], ["", ""])

        def reasons(text):
            return {entry.name: (list(entry.flows), entry.reason) for entry in self.preview(lab, policy() + text)}

        mail = "[App mail]\nRequire=passcode\nOnLock=quit\n"
        found = reasons(mail + "[App web]\nStore=work\nLockOnBackground=immediate\n")
        self.assertEqual(found, {
            "default": ([], "applications that would change: mail (Require=passcode OnLock=quit)"),
            "work": ([], "applications that would change: web (LockOnBackground=immediate)")})
        # One that goes away is as if nobody had written of it.
        self.assertEqual(reasons("[App web]\nStore=work\n")["default"][1],
                         "applications that would change: mail (Require=open)")
        # At both: it leaves one store, and comes to the other.
        moved = reasons("[App mail]\nRequire=finger\nStore=work\n[App web]\nStore=work\n")
        self.assertEqual({reason for _flows, reason in moved.values()},
                         {"applications that would change: mail (Store=work)"})
        # Behind what is due.
        due = self.preview(lab, policy(MinLength="40", ChangeOnUpdate="always") + "[App web]\nStore=work\n")
        first = next(entry for entry in due if entry.name == "default")
        self.assertTrue(list(first.flows), first)
        self.assertRegex(first.reason, r"; applications that would change: mail \(Require=open\)$")
        # Very many are counted.
        many = "".join(f"[App {'x' * 120}{number:02}]\nRequire=passcode\n" for number in range(30))
        found = reasons("[App web]\nStore=work\n[App mail]\nRequire=finger\n" + many)
        self.assertRegex(found["default"][1], " and 26 more$")
        # What would be longer than a line is cut, also behind what is due.
        long = "".join(f"[App long{number}]\nStore=work{'y' * 250}\nRequire=passcode\n" for number in range(4))
        text = policy(MinLength="40", ChangeOnUpdate="always") + long
        first = next(entry for entry in self.preview(lab, text) if entry.name == "default")
        self.assertRegex(first.reason, "^the policy has changed.*; applications that would change: long0 ")
        self.assertEqual(len(first.reason), 800)

    def test_broken(self):
        """a broken file is reported as lint reports it: 42 with file, line and key"""
        lab = self.lab()
        lab.make(PASSCODE)
        answer = lab.ask("policyPreview", (), [b"[Passcode]\nMinLength=0\n"], file="/tmp/new.conf")
        self.assertEqual(code(answer), BROKEN, answer)
        self.assertEqual(
            {name: answer.parameters[name] for name in ("file", "line", "key")},
            {"file": "/tmp/new.conf", "line": "2", "key": "MinLength"},
        )
        # It is the asker's own file: nobody fills the journal with it.
        self.assertNotIn("/tmp/new.conf", lab.log())

    def test_changes_nothing(self):
        """it only asks: the policy in force, the slots and the journal stay as they are"""
        lab = self.lab()
        lab.make(PASSCODE)
        blocks = lab.blocks()
        self.only(lab, Enabled="no", UseDefaultPolicy="no")
        self.assertEqual(lab.blocks(), blocks)
        self.assertEqual(lab.get("a").code, 3)

    @unittest.skipUnless(IS_ROOT, "acts for others")
    def test_others(self):
        """a person is told only about their own stores"""
        lab = self.lab()
        lab.make(PASSCODE)
        person = (pwd.getpwuid(1).pw_name, 1)
        answer = lab.ask("create", answers(PASSCODE), subject=person, store="", way="ownPasscode")
        self.assertEqual(answer.name, "done", answer)
        text = policy(MinLength="9")
        self.assertEqual({entry.owner for entry in self.preview(lab, text)}, {ME[0], person[0]})
        for subject in (person, ("", 0xFFFFFFFF)):
            (own,) = as_uid(1, lambda: self.preview(lab, text, subject))
            self.assertEqual((own.owner, list(own.flows)), (person[0], [3]))
        denied = as_uid(1, lambda: lab.ask("policyPreview", (), [policy().encode()], subject=ME, file="").code)
        self.assertEqual(denied, DENIED)
        none = as_uid(
            2, lambda: lab.ask("policyPreview", (), [policy().encode()], subject=("", 0xFFFFFFFF), file="").stores
        )
        self.assertEqual(none, [])


if __name__ == "__main__":
    unittest.main()
