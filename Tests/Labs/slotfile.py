#!/usr/bin/python3
"""Opens a slots file by what FORMAT.md says, and by nothing else: not one line of the daemon's code is behind it.

    slotfile.py SLOTS MACHINE_KEY              asks for the passcode, prints the store key in hexadecimal
    slotfile.py SLOTS MACHINE_KEY --device     a store without a passcode
    slotfile.py SLOTS --recovery               asks for the recovery key instead; no machine key needed

Tests/Integration/format/slots.py does the same with Tests/Vectors.
"""

import functools
import getpass
import hashlib
import struct
import sys
import unicodedata
from types import SimpleNamespace

import nacl.bindings as sodium
import nacl.exceptions

BLOCK = 512
PAGE = 4096
EMPTY = bytes(BLOCK)
MACHINE_BLOCKS = (*range(0, 6), *range(8, 16))
PASSCODE_BLOCKS = (3, 4)
DEVICE_BLOCK = 5
RECOVERY_BLOCKS = (6, 7)
TERMS_BLOCK = 8
HISTORY_BLOCKS = range(9, 13)
KEYRING_BLOCK = 13
COMMIT_BLOCK = 14
MEMBER_KEY_BLOCK = 15
MEMBER = 32
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Damaged(Exception):
    pass


class Wrong(Exception):
    pass


def h(purpose, message, count, key=b""):
    return hashlib.blake2b(
        message, digest_size=count, key=key, person=purpose.encode().ljust(16, b"\0")
    ).digest()


def normal(typed):
    """What a key is derived from: a passcode or a passphrase as OpaqueString, else its bytes as they are."""
    try:
        text = typed.decode()
    except UnicodeDecodeError:
        return typed
    if len(typed) > 1024 or any(unicodedata.category(each) == "Cc" for each in text):
        return typed
    spaced = "".join(" " if unicodedata.category(each) == "Zs" else each for each in text)
    composed = unicodedata.normalize("NFC", spaced).encode()
    return composed if len(composed) <= 1024 else typed


@functools.lru_cache(4096)
def argon(passcode, salt, passes, kibibytes):
    """Whoever reads one store's file again and again asks for the same derivations."""
    return sodium.crypto_pwhash_alg(
        32, normal(passcode), salt, passes, kibibytes * 1024, sodium.crypto_pwhash_ALG_ARGON2ID13)


class Machine:
    def __init__(self, key):
        if len(key) != 32:
            raise Damaged("machine.key")
        self.id = h("AV machine id", key, 16)
        self.block_key = h("AV block key", b"", 32, key)
        self.slot_key = h("AV slot key", b"", 32, key)


def check(data, machine):
    """With a machine key, the machine guards the block; without one, anybody can check it."""
    return h("AV block mac", data, 32, machine.block_key) if machine else h("AV block check", data, 32)


def corrected(data, number, store, machine):
    """The block with its one wrong bit put right, or as it is."""
    data = bytearray(data)
    header = struct.pack("<4sHH", b"AVSB", 1, number) + data[8:16] + store
    if distance(data[:48], header + (machine.id if machine else bytes(16))) > 1:
        return data
    mac = check(data[:480], machine)
    if distance(data[480:], mac) == 1:
        return data[:480] + mac
    for bit in range(480 * 8):
        data[bit // 8] ^= 1 << bit % 8
        if check(data[:480], machine) == data[480:]:
            return data
        data[bit // 8] ^= 1 << bit % 8
    return data


def distance(one, two):
    return sum((a ^ b).bit_count() for a, b in zip(one, two))


class Block:
    def __init__(self, data, number, store, machine):
        if check(data[:480], machine) != data[480:]:
            data = bytes(corrected(data, number, store, machine))
        magic, version, found, self.sequence = struct.unpack_from("<4sHHQ", data)
        if (magic, version, found, data[16:32]) != (b"AVSB", 1, number, store):
            raise Damaged(f"block {number}")
        if data[32:48] != (machine.id if machine else bytes(16)):
            raise Damaged("foreign machine key" if machine else f"block {number}")
        if data[480:] != check(data[:480], machine):
            raise Damaged(f"block {number}")
        self.number, self.payload = number, data[48:480]


def read(data, machine, store=None):
    """The store's id and the blocks that can be read, all checked; without a machine key only the recovery slots.
    The id is the folder's name; where it is not given, block 0's word is taken for it."""
    store = store or data[16:32]
    blocks = {}
    for number in range(16):
        part = data[number * PAGE : number * PAGE + BLOCK]
        if machine is None and number not in RECOVERY_BLOCKS or len(part) == BLOCK and distance(part, EMPTY) <= 1:
            continue
        try:
            if len(part) < BLOCK:
                raise Damaged("length")
            blocks[number] = Block(part, number, store, None if number in RECOVERY_BLOCKS else machine)
        except Damaged:
            # Blocks 0 and 1 are once more in the owner file, which is not looked at here.
            if machine and number < 2:
                raise
            # Whatever is around it, a recovery slot is proven by its own seal.
            if machine is None and len(part) == BLOCK and part[48:52] == b"\x01\0\0\0" and not any(part[136:480]):
                blocks[number] = SimpleNamespace(number=number, sequence=0, payload=part[48:480])
    if machine and not {0, 1} <= blocks.keys():
        raise Damaged("no owner, no label")
    return store, blocks


def unwrap(kek, wrapped, store, kind, number, generation, memory=0, passes=0):
    place = store + struct.pack("<HHIII", kind, number, generation, memory, passes)
    try:
        return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(wrapped[24:], place, wrapped[:24], kek)
    except nacl.exceptions.CryptoError:
        raise Wrong from None


def here(store, number):
    return store + struct.pack("<H", number)


def open_passcode(data, machine_key, passcode, store=None):
    machine = Machine(machine_key)
    store, blocks = read(data, machine, store)
    slots = [blocks[number] for number in PASSCODE_BLOCKS if number in blocks]
    if not slots:
        raise Wrong("no passcode slot")
    for slot in sorted(slots, key=lambda slot: -slot.sequence):
        generation, memory, passes, _way, source, zero, _set_at, salt, _digest, wrapped = struct.unpack_from(
            "<IIIBBHQ16s32s72s", slot.payload
        )
        if source > 2 or zero != 0:
            raise Damaged(f"block {slot.number}")
        if not (8 <= memory <= 1048576 and 1 <= passes <= 16):
            raise Damaged(f"block {slot.number}")
        derived = argon(passcode, salt, passes, memory)
        kek = h("AV kek passcode", derived + here(store, slot.number), 32, machine.slot_key)
        try:
            return unwrap(kek, wrapped, store, 1, slot.number, generation, memory, passes)
        except Wrong:
            continue
    raise Wrong


def open_device(data, machine_key):
    machine = Machine(machine_key)
    store, blocks = read(data, machine)
    if DEVICE_BLOCK not in blocks:
        raise Wrong
    generation, wrapped = struct.unpack_from("<I72s", blocks[DEVICE_BLOCK].payload)
    kek = h("AV kek device", here(store, DEVICE_BLOCK), 32, machine.slot_key)
    return unwrap(kek, wrapped, store, 2, DEVICE_BLOCK, generation)


def followed(data, machine_key):
    """The id of the store that this one follows; None where it follows none."""
    _store, blocks = read(data, Machine(machine_key))
    kind, parent = struct.unpack_from("<B16s", blocks[1].payload, 385)
    if kind > 3 or (kind == 1) != any(parent) or any(blocks[1].payload[402:]):
        raise Damaged("block 1")
    # Its recovery key has given it a passcode of its own.
    return parent if kind == 1 and not any(number in blocks for number in PASSCODE_BLOCKS) else None


def open_follower(data, machine_key, parent_key):
    """With the key of the store that it follows."""
    store, blocks = read(data, Machine(machine_key))
    parent = followed(data, machine_key)
    if parent is None or DEVICE_BLOCK not in blocks:
        raise Wrong
    generation, wrapped = struct.unpack_from("<I72s", blocks[DEVICE_BLOCK].payload)
    following = h("AV following", parent + struct.pack("<I", 1), 32, parent_key)
    kek = h("AV kek parent", here(store, DEVICE_BLOCK) + parent, 32, following)
    return unwrap(kek, wrapped, store, 4, DEVICE_BLOCK, generation)


def member_key(data, machine_key, store_key=None):
    """The key pair of the store's owner: the public key, and the private one where the store key is given."""
    store, blocks = read(data, Machine(machine_key))
    if MEMBER_KEY_BLOCK not in blocks:
        return None, None
    generation, public, nonce, sealed = struct.unpack_from("<I32s24s48s", blocks[MEMBER_KEY_BLOCK].payload)
    if store_key is None:
        return public, None
    bound = here(store, MEMBER_KEY_BLOCK) + struct.pack("<I", generation) + public
    key = h("AV member key", bound, 32, store_key)
    try:
        private = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, bound, nonce, key)
    except nacl.exceptions.CryptoError:
        raise Damaged(f"block {MEMBER_KEY_BLOCK}") from None
    if sodium.crypto_scalarmult_base(private) != public:
        raise Damaged(f"block {MEMBER_KEY_BLOCK}")
    return public, private


def member(data, machine_key, store):
    """A member's file: who, and what they may do."""
    if len(data) != BLOCK:
        raise Damaged("length")
    # That of a recovery slot can be read on any machine.
    payload = Block(data, MEMBER, store, None if machine_key is None else Machine(machine_key)).payload
    generation, kind, role, sealed, by_group, added, by, number, length = struct.unpack_from("<IBBBBQIIB", payload)
    name, rest = payload[25 : 25 + length], payload[25 + length : 280]
    public, box, mac = payload[280:312], payload[312:392], payload[392:424]
    if not (1 <= kind <= 4 and 1 <= role <= 3 and max(sealed, by_group) <= 1) or any(rest) or any(payload[424:]):
        raise Damaged("member")
    if bool(sealed) != any(public + box) or (kind != 1 and by_group) or (kind in (3, 4)) != (not name):
        raise Damaged("member")
    if sealed != (kind == 4) and kind != 1 or (kind == 4) != (machine_key is None):
        raise Damaged("member")
    return SimpleNamespace(
        generation=generation, kind=kind, role=role, by_group=by_group, added=added, by=by, number=number,
        name=name, public=public, box=box if sealed else None, mac=mac, fields=payload[:392])


def is_genuine(found, store, store_key):
    key = h("AV member mkey", store + struct.pack("<I", found.generation), 32, store_key)
    return h("AV member mac", found.fields + store, 32, key) == found.mac


def open_member(data, machine_key, store, private):
    """The key of a shared store, with the private key of a member."""
    found = member(data, machine_key, store)
    if found.box is None or sodium.crypto_scalarmult_base(private) != found.public:
        raise Wrong
    try:
        store_key = sodium.crypto_box_seal_open(found.box, found.public, private)
    except nacl.exceptions.CryptoError:
        raise Wrong from None
    if not is_genuine(found, store, store_key):
        raise Wrong
    return store_key


def open_shared_recovery(data, text, store, files):
    """The keys of a shared store by their generation, with its recovery key; `files` are its `members/r*`."""
    private, found = open_recovery(data, text, store), {}
    for each in files:
        try:
            found[member(each, None, store).generation] = open_member(each, None, store, private)
        except Wrong:
            continue
    return found


def open_recovery(data, text, store=None):
    key = recovery_key(text)
    store, blocks = read(data, None, store)
    for slot in sorted(blocks.values(), key=lambda slot: -slot.sequence):
        generation, _unproven, _set_at, wrapped = struct.unpack_from("<IIQ72s", slot.payload)
        kek = h("AV kek recovery", here(store, slot.number), 32, key)
        try:
            return unwrap(kek, wrapped, store, 3, slot.number, generation)
        except Wrong:
            continue
    raise Wrong


def check_symbol(values, group):
    total = 0
    for value in values:
        total ^= value
        total <<= 1
        if total & 32:
            total ^= 0b100101
    return total ^ group


def recovery_key(text):
    values = []
    for character in text.upper():
        if character in " \t\r\n-\u00a0" or "\u2010" <= character <= "\u2015":
            continue
        character = {"O": "0", "I": "1", "L": "1", "U": "V"}.get(character, character)
        if character not in ALPHABET:
            raise Damaged("a character of the recovery key")
        values.append(ALPHABET.index(character))
    if len(values) != 35:
        raise Damaged("the recovery key's length")
    bits = 0
    for group in range(7):
        *data, check = values[group * 5 : group * 5 + 5]
        if check != check_symbol(data, group + 1):
            raise Damaged(f"group {group + 1} of the recovery key")
        for value in data:
            bits = bits << 5 | value
    key = (bits >> 12).to_bytes(16, "big")
    if bits & 0xFFF != int.from_bytes(h("AV recovery text", key, 16)[:2], "big") >> 4:
        raise Damaged("the recovery key")
    return key


def owner(data, machine_key):
    _store, blocks = read(data, Machine(machine_key))
    created, uid, way, condition, without, length = struct.unpack_from("<QIBBBB", blocks[0].payload)
    return {
        "created": created,
        "uid": uid,
        "way": way,
        "condition": condition,
        "without": without,
        "account": blocks[0].payload[16 : 16 + length],
        "store": blocks[1].payload[1 : 1 + blocks[1].payload[0]],
    }


def terms(data, machine_key):
    """The terms of the store, and the flow that has begun for the present passcode slot."""
    _store, blocks = read(data, Machine(machine_key))
    if TERMS_BLOCK not in blocks:
        return {"seen": 0, "allowed": 1, "on": 0, "offered": 0, "pending": None, "failures": 0}
    payload = blocks[TERMS_BLOCK].payload
    seen, allowed, on, offered, flow, reason, salt, failures, due = struct.unpack_from("<QBBBBB16sBB", payload)
    if any(payload[31:]) or due > 1 or max(allowed, on, offered) > 1 or flow > 7 or reason > 4:
        raise Damaged("block 8")
    salts = [blocks[number].payload[24:40] for number in PASSCODE_BLOCKS if number in blocks] or [bytes(16)]
    pending = (flow, reason) if flow and salt in salts else None
    return {"seen": seen, "allowed": allowed, "on": on, "offered": offered, "pending": pending, "failures": failures}


def history(data, machine_key, store_key):
    """The former passcodes, the latest first, each with salt and hash."""
    store, blocks = read(data, Machine(machine_key))
    present = [blocks[number].payload[24:40] for number in PASSCODE_BLOCKS if number in blocks]
    found = []
    for number in HISTORY_BLOCKS:
        if number not in blocks:
            continue
        generation, nonce, sealed = struct.unpack_from("<I24s380s", blocks[number].payload)
        bound = here(store, number) + struct.pack("<I", generation)
        key = h("AV history", bound, 32, store_key)
        try:
            book = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, bound, nonce, key)
        except nacl.exceptions.CryptoError:
            raise Damaged(f"block {number}") from None
        found += [entry for entry in struct.iter_unpack("<I16s32s", book) if entry[0]]
    return [(salt, value) for _serial, salt, value in sorted(found, reverse=True) if salt not in present]


def keyring_password(data, machine_key, store_key):
    """The login password that is kept for logins by finger; None where there is none."""
    store, blocks = read(data, Machine(machine_key))
    if KEYRING_BLOCK not in blocks:
        return None
    generation, nonce, sealed = struct.unpack_from("<I24s404s", blocks[KEYRING_BLOCK].payload)
    bound = here(store, KEYRING_BLOCK) + struct.pack("<I", generation)
    key = h("AV keyring", bound, 32, store_key)
    try:
        text = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, bound, nonce, key)
    except nacl.exceptions.CryptoError:
        raise Damaged(f"block {KEYRING_BLOCK}") from None
    (length,) = struct.unpack_from("<H", text)
    if any(text[2 + length :]):
        raise Damaged(f"block {KEYRING_BLOCK}")
    return text[2 : 2 + length]


def noted_commit(data, machine_key, store=None):
    """The last commit of the records that the file says was answered; 0 where it says none."""
    _, blocks = read(data, Machine(machine_key), store)
    if COMMIT_BLOCK not in blocks or any(blocks[COMMIT_BLOCK].payload[8:]):
        return 0
    return struct.unpack_from("<Q", blocks[COMMIT_BLOCK].payload)[0]


def is_reused(entries, passcode):
    return any(argon(passcode, salt, 2, 19456) == value for salt, value in entries)


class OtherBoot(Exception):
    pass


def token_key(data, boot):
    """The key of the hashes in the runtime folder."""
    if len(data) != 56 or data[:8] != b"AVBK" + struct.pack("<HH", 1, 0):
        raise Damaged("key")
    if data[8:24] != boot:
        raise OtherBoot
    return data[24:]


def token_hash(key, store, token):
    return h("AV token", store + token, 32, key)


def tokens(data, store, boot):
    """A store's file in the runtime folder: the refund (None if unspent, a hash, or True if it
    is spent), the failed hashes, the confirmed ones and strangers'."""
    if len(data) < 64:
        raise Damaged("length")
    magic, version, refund, *counts, drifted, rest, made, whose, _salt = struct.unpack_from(
        "<4sHBBBBB5s16s16s16s", data)
    if (magic, version, rest) != (b"AVTK", 1, bytes(5)) or drifted > 1:
        raise Damaged("header")
    if made != boot:
        raise OtherBoot
    if whose != store or refund > 2 or max(counts) > 16:
        raise Damaged("header")
    hashes = [data[at : at + 32] for at in range(64, len(data), 32)]
    if len(data) != 64 + 32 * ((refund == 1) + sum(counts)):
        raise Damaged("length")
    given = {0: None, 1: hashes[0] if hashes else None, 2: True}[refund]
    rest = iter(hashes[refund == 1 :])
    return given, *([next(rest) for _ in range(count)] for count in counts)


def main():
    arguments = sys.argv[1:]
    flags = {argument for argument in arguments if argument.startswith("--")}
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if flags - {"--device", "--recovery"} or len(paths) != (1 if "--recovery" in flags else 2):
        sys.exit(__doc__)
    data = open(paths[0], "rb").read()
    try:
        if "--recovery" in flags:
            key = open_recovery(data, ask("recovery key: "))
        elif "--device" in flags:
            key = open_device(data, open(paths[1], "rb").read())
        else:
            key = open_passcode(data, open(paths[1], "rb").read(), ask("passcode: ").encode())
    except Damaged as what:
        sys.exit(f"damaged: {what}")
    except Wrong:
        sys.exit("does not open")
    print(key.hex())


def ask(prompt):
    return getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")


if __name__ == "__main__":
    main()
