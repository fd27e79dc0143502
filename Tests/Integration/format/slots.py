"""The vectors of a slots file and of failed tokens, opened only by what FORMAT.md says."""

import os
import struct
import unittest
import uuid

from places import VECTORS
from slotfile import (
    Damaged, Machine, OtherBoot, Wrong, followed, history, is_genuine, is_reused, keyring_password, member, member_key,
    open_device, open_follower, open_member, open_passcode, open_recovery, owner, read, recovery_key, terms, token_hash,
    token_key, tokens,
)


def vector(name):
    with open(os.path.join(VECTORS, name), "rb") as file:
        return file.read()


class FormatCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lines = [line for line in vector("slots.txt").decode().splitlines() if line and line[0] != "#"]
        cls.values = {name.strip(): value.strip() for name, value in (line.split("=", 1) for line in lines)}
        cls.machine = bytes.fromhex(cls.values["machine-key"])
        cls.key = bytes.fromhex(cls.values["store-key"])
        cls.slots = vector("slots.bin")

    def test_passcodes(self):
        """FORMAT.md alone opens the vector with either passcode, and not with a wrong one"""
        for name in ("passcode", "old-passcode"):
            opened = open_passcode(self.slots, self.machine, self.values[name].encode())
            self.assertEqual(opened, self.key)
        with self.assertRaises(Wrong):
            open_passcode(self.slots, self.machine, b"wrong")

    def test_recovery(self):
        """FORMAT.md alone opens the vector with the recovery key's text, on any machine"""
        self.assertEqual(recovery_key(self.values["recovery-text"]).hex(), self.values["recovery-key"])
        self.assertEqual(open_recovery(self.slots, self.values["recovery-text"].lower()), self.key)

    def test_device(self):
        """FORMAT.md alone opens the vector without a passcode"""
        self.assertEqual(open_device(vector("slots-device.bin"), self.machine), self.key)

    def test_follower(self):
        """FORMAT.md alone opens a store with the key of the one that it follows, and with no other"""
        data = vector("slots-follower.bin")
        self.assertEqual(followed(data, self.machine), uuid.UUID(self.values["store"]).bytes)
        self.assertIsNone(followed(self.slots, self.machine))
        self.assertEqual(open_follower(data, self.machine, self.key).hex(), self.values["follower-key"])
        with self.assertRaises(Wrong):
            open_follower(data, self.machine, bytes(32))
        with self.assertRaises(Wrong):
            open_device(data, self.machine)

    def test_member(self):
        """FORMAT.md alone opens a shared store with what a member's own store gives, and with nothing else"""
        shared, key = uuid.UUID(self.values["follower"]).bytes, bytes.fromhex(self.values["follower-key"])
        data = vector("member.bin")
        public, private = member_key(vector("slots-member.bin"), self.machine, self.key)
        found = member(data, self.machine, shared)
        self.assertEqual((found.kind, found.role, found.generation, found.number), (1, 2, 3, 4242))
        self.assertEqual((found.name.decode(), found.public), (self.values["account"], public))
        self.assertEqual(open_member(data, self.machine, shared, private), key)
        self.assertFalse(is_genuine(found, shared, self.key))
        with self.assertRaises(Wrong):
            open_member(data, self.machine, shared, bytes(31) + b"@")
        with self.assertRaises(Damaged):
            open_member(data, self.machine, bytes(16), private)
        with self.assertRaises(Damaged):
            member_key(vector("slots-member.bin"), self.machine, key)

    def test_owner(self):
        """FORMAT.md alone says whose store the vector is"""
        found = owner(self.slots, self.machine)
        self.assertEqual(found["uid"], 4242)
        self.assertEqual(found["account"].decode(), self.values["account"])
        self.assertEqual(found["store"].decode(), self.values["store-name"])
        self.assertEqual(str(uuid.UUID(bytes=self.slots[16:32])), self.values["store"])
        self.assertEqual(Machine(self.machine).id.hex(), self.values["machine-key-id"])

    def test_tries(self):
        """FORMAT.md alone says how many tries of each kind there were"""
        _, blocks = read(vector("slots-tries.bin"), Machine(self.machine))
        payload = blocks[2].payload
        counters = [struct.unpack_from("<II16sQ", payload, at) for at in (0, 32, 97, 64)]
        self.assertEqual(
            counters,
            [(wrong, wrong + 1, bytes([boot]) * 16, 1000 + boot) for wrong, boot in ((1, 1), (3, 2), (7, 4), (5, 3))])
        self.assertEqual(payload[96], 0)
        self.assertEqual(payload[129:], bytes(len(payload) - 129))
        # A file of an earlier release has zeroes there.
        _, blocks = read(self.slots, Machine(self.machine))
        self.assertEqual(blocks[2].payload[97:], bytes(432 - 97))

    def test_terms(self):
        """FORMAT.md alone reads the terms of a store"""
        found = terms(vector("slots-terms.bin"), self.machine)
        self.assertEqual(found["seen"], int(self.values["terms-seen-at"]))
        self.assertEqual((found["allowed"], found["on"], found["offered"]), (0, 0, 1))
        self.assertEqual(found["pending"], (3, 3))
        self.assertEqual(found["failures"], int(self.values["terms-finger-failures"]))
        self.assertEqual(terms(self.slots, self.machine)["allowed"], 1)
        self.assertEqual(terms(vector("slots-fingerprint.bin"), self.machine)["on"], 1)
        self.assertEqual(open_device(vector("slots-fingerprint.bin"), self.machine), self.key)

    def test_history(self):
        """FORMAT.md alone distinguishes the former passcodes from all others"""
        data = vector("slots-terms.bin")
        self.assertEqual(open_passcode(data, self.machine, self.values["passcode"].encode()), self.key)
        entries = history(data, self.machine, self.key)
        self.assertEqual(len(entries), 2)
        for name, reused in (("older-passcode", True), ("old-passcode", True), ("passcode", False)):
            self.assertEqual(is_reused(entries, self.values[name].encode()), reused, name)
        self.assertTrue(is_reused(entries[:1], self.values["old-passcode"].encode()))
        self.assertEqual(history(self.slots, self.machine, self.key), [])
        with self.assertRaises(Damaged):
            history(data, self.machine, bytes(32))

    def test_keyring(self):
        """FORMAT.md alone reads the login password with the store key, and not without"""
        data = vector("slots-keyring.bin")
        key = open_passcode(data, self.machine, self.values["passcode"].encode())
        self.assertEqual(keyring_password(data, self.machine, key).decode(), self.values["keyring-password"])
        self.assertIsNone(keyring_password(self.slots, self.machine, key))
        with self.assertRaises(Damaged):
            keyring_password(data, self.machine, bytes(32))

    def test_tokens(self):
        """FORMAT.md alone tells which tokens a store knows in this boot"""
        store, boot = uuid.UUID(self.values["store"]).bytes, bytes.fromhex(self.values["tokens-boot"])
        key = token_key(vector("tokens-key.bin"), boot)
        given, failed, moved, stranger = [
            token_hash(key, store, self.values[f"tokens-{name}"].encode())
            for name in ("given", "failed", "moved", "stranger")]
        self.assertEqual(tokens(vector("tokens.bin"), store, boot), (given, [failed], [moved], []))
        self.assertEqual(tokens(vector("tokens-strangers.bin"), store, boot), (given, [failed], [moved], [stranger]))
        for wrong in (OtherBoot, bytes(16)), (Damaged, boot):
            with self.assertRaises(wrong[0]):
                tokens(vector("tokens.bin") + bytes(wrong[1] == boot), store, wrong[1])
        with self.assertRaises(OtherBoot):
            token_key(vector("tokens-key.bin"), bytes(16))

    def test_foreign(self):
        """a foreign machine key is damage, not a wrong passcode"""
        with self.assertRaises(Damaged):
            open_passcode(self.slots, bytes(32), self.values["passcode"].encode())

    def test_damage(self):
        """one wrong bit is put right wherever it is; what is damaged further opens where the passcode needs it not"""
        store, passcode = uuid.UUID(self.values["store"]).bytes, self.values["passcode"].encode()
        for place in [*range(3, len(self.slots), 1361), 16, 500, 4096 * 4 + 100, len(self.slots) - 1]:
            changed = bytearray(self.slots)
            changed[place] ^= 1 << place % 8
            self.assertEqual(open_passcode(bytes(changed), self.machine, passcode, store), self.key, str(place))
        for block, opens in ((0, False), (1, False), (2, True), (6, True), (8, True), (9, True), (15, True)):
            changed = bytearray(self.slots)
            changed[block * 4096 + 60] ^= 0xFF
            if opens:
                self.assertEqual(open_passcode(bytes(changed), self.machine, passcode, store), self.key, str(block))
            else:
                with self.assertRaises(Damaged, msg=str(block)):
                    open_passcode(bytes(changed), self.machine, passcode, store)
        alone = bytearray(b"\xee" * len(self.slots))
        slot = slice(6 * 4096 + 48, 6 * 4096 + 480)
        alone[slot] = self.slots[slot]
        self.assertEqual(open_recovery(bytes(alone), self.values["recovery-text"], store), self.key)
        for length in (65_535, 40_000, 20_480):
            self.assertEqual(open_passcode(self.slots[:length], self.machine, passcode, store), self.key)


if __name__ == "__main__":
    unittest.main()
