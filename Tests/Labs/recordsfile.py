#!/usr/bin/python3
"""Opens a records file or an export file by what FORMAT.md says, and by nothing else: not one line of the daemon's code
is behind it.

    recordsfile.py RECORDS.DB STORE_ID STORE_KEY [KEY_GENERATION]   id and key in hexadecimal; prints names and lengths
    recordsfile.py --export FILE                                    asks for the passphrase

Tests/Integration/format/records.py does the same with Tests/Vectors.
"""

import getpass
import hashlib
import pathlib
import sqlite3
import struct
import sys

import nacl.bindings as sodium
import nacl.exceptions

from slotfile import argon

TABLES = [
    "CREATE TABLE head(id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE nodes(id INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE records(id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, tag BLOB NOT NULL, "
    "nonce BLOB NOT NULL, body BLOB NOT NULL)",
]
LANE = 1 << 64


class Damaged(Exception):
    pass


def h(purpose, message, count, key):
    return hashlib.blake2b(
        message, digest_size=count, key=key, person=purpose.encode().ljust(16, b"\0")).digest()


def padded(count):
    if count <= 2048:
        step = 64
    else:
        exponent = count.bit_length() - 1
        step = 1 << (exponent - exponent.bit_length())
    return (count + step - 1) // step * step


class Keys:
    def __init__(self, store, key, generation):
        self.store = store
        self.generation = generation
        self.names = h("AV record names", store, 32, key)
        self.sums = h("AV record sums", store, 16, key)
        self.seals = h("AV record seals", store, 32, key)

    def open(self, kind, place, generation, nonce, tag, text):
        bound = struct.pack("<B16sQQI", kind, self.store, place % LANE, generation, self.generation)
        try:
            return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(text + tag, bound, nonce, self.seals)
        except nacl.exceptions.CryptoError:
            raise Damaged(f"kind {kind} place {place}") from None

    def block(self, kind, place, generation, data):
        return self.open(kind, place, generation, data[:24], data[24:40], data[40:])

    def term(self, row, tag):
        return struct.unpack("<QQ", sodium.crypto_shorthash_siphashx24(struct.pack("<q", row) + tag, self.sums))


def read(path, store, key, key_generation=1):
    """All records, each checked in every way that the format knows."""
    keys = Keys(store, key, key_generation)
    database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    if [row[0] for row in database.execute("SELECT sql FROM sqlite_schema ORDER BY rowid")] != TABLES:
        raise Damaged("tables")
    if database.execute("PRAGMA application_id").fetchone()[0] != 1096184419:
        raise Damaged("application id")
    head = keys.block(1, 0, 0, database.execute("SELECT body FROM head WHERE id=0").fetchone()[0])
    generation, count, entries, marks = struct.unpack_from("<QQHH", head)
    nodes = struct.unpack_from("<64Q", head, 24)
    end = 536 + 18 * entries + 26 * marks
    if len(head) != 2840 or any(head[20:24]) or end > 2840 or marks > 64 or any(head[end:]):
        raise Damaged("head")
    sums = []
    for number, body in database.execute("SELECT id, body FROM nodes ORDER BY id"):
        lanes = struct.unpack("<128Q", keys.block(2, number, nodes[number], body))
        sums += [list(pair) for pair in zip(lanes[::2], lanes[1::2])]
    journal = [struct.unpack_from("<HQQ", head, 536 + 18 * index) for index in range(entries)]
    for bucket, first, second in journal:
        sums[bucket] = [(sums[bucket][0] + first) % LANE, (sums[bucket][1] + second) % LANE]
    proven = {}
    for index in range(marks):
        bucket, before, *debt = struct.unpack_from("<HQQQ", head, 536 + 18 * entries + 26 * index)
        if bucket in proven or before >= generation:
            raise Damaged("mark")
        proven[bucket] = before if any(debt) else 0
        sums[bucket] = [(have - lane) % LANE for have, lane in zip(sums[bucket], debt)]
    records = {}
    held_back = set()
    for row, written, tag, nonce, body in database.execute("SELECT id, generation, tag, nonce, body FROM records"):
        text = keys.open(3, row, written, nonce, tag, body)
        name = text[1:1 + text[0]]
        size, = struct.unpack_from("<I", text, 1 + text[0])
        start = 5 + text[0]
        if len(text) != padded(start + size) or any(text[start + size:]) or written > generation:
            raise Damaged("record")
        if h("AV record name", name, 16, keys.names)[:8] != struct.pack(">q", row):
            raise Damaged("name")
        bucket = row % LANE >> 52
        records[name] = text[start:start + size]
        if written <= proven.get(bucket, 0):
            held_back.add(name)
        sums[bucket] = [(have - lane) % LANE for have, lane in zip(sums[bucket], keys.term(row, tag))]
    if any(any(pair) for pair in sums) or not marks and len(records) != count:
        raise Damaged("sums")
    return {name: value for name, value in records.items() if name not in held_back}, entries


def read_export(data, passphrase):
    magic, version, zero, memory, passes, salt, stream = struct.unpack_from("<8sHHII16s24s", data)
    if (magic, version, zero) != (b"AVEXPORT", 1, 0) or not (8 <= memory <= 1 << 20 and 1 <= passes <= 16):
        raise Damaged("header")
    key = argon(passphrase, salt, passes, memory)
    state = sodium.crypto_secretstream_xchacha20poly1305_state()
    sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, stream, key)
    text, place, tag = b"", 60, 0
    while place < len(data):
        if tag == 3:
            raise Damaged("bytes behind the end")
        size, = struct.unpack_from("<I", data, place)
        try:
            part, tag = sodium.crypto_secretstream_xchacha20poly1305_pull(
                state, data[place + 4:place + 4 + size], data[:60])
        except (RuntimeError, ValueError, nacl.exceptions.CryptoError):
            raise Damaged("chunk") from None
        text += part
        place += 4 + size
    if tag != 3:
        raise Damaged("cut short")
    records, place = {}, 0
    while place < len(text):
        if text[place] == 0:
            # What was damaged, and is not in the file.
            place += 11 + text[place + 10]
            continue
        name = text[place + 1:place + 1 + text[place]]
        size, = struct.unpack_from("<I", text, place + 1 + len(name))
        place += 5 + len(name)
        records[name] = text[place:place + size]
        place += size
    return records


ITEM_NAMES = b"\0secret\0"


class Fields:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        piece = self.data[self.at:self.at + count]
        if len(piece) != count:
            raise Damaged("item")
        self.at += count
        return piece

    def number(self, count):
        return int.from_bytes(self.take(count), "little")

    def text(self):
        return self.take(self.number(2)).decode()


def item(name, value):
    """What a record of the desktop's secrets says: its kind, its id or name, and its fields. None of other records."""
    if not name.startswith(ITEM_NAMES) or len(name) <= len(ITEM_NAMES):
        return None
    kind, which = chr(name[8]), name[9:]
    fields = Fields(value)
    if fields.number(1) != 1:
        raise Damaged("version")
    if kind == "i":
        said = {"created": fields.number(8), "modified": fields.number(8), "label": fields.text(),
                "contentType": fields.text(), "collection": fields.take(16)}
        pairs = [(fields.text(), fields.text()) for _ in range(fields.number(2))]
        names = [pair[0].encode() for pair in pairs]
        if sorted(set(names)) != names:
            raise Damaged("attributes")
        said |= {"attributes": dict(pairs), "secret": fields.take(fields.number(4))}
    elif kind == "c":
        said = {"isDeleted": bool(fields.number(1)), "created": fields.number(8), "modified": fields.number(8),
                "label": fields.text()}
    elif kind == "a":
        said = {"collection": fields.take(16)}
    else:
        raise Damaged("kind")
    if fields.at != len(value):
        raise Damaged("bytes behind an item")
    return kind, which, said


def main():
    arguments = sys.argv[1:]
    try:
        if len(arguments) == 2 and arguments[0] == "--export":
            passphrase = getpass.getpass("passphrase: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
            records = read_export(pathlib.Path(arguments[1]).read_bytes(), passphrase.encode())
        elif len(arguments) in (3, 4):
            generation = int(arguments[3]) if len(arguments) == 4 else 1
            records, _ = read(arguments[0], bytes.fromhex(arguments[1]), bytes.fromhex(arguments[2]), generation)
        else:
            sys.exit(__doc__)
    except Damaged as what:
        sys.exit(f"damaged: {what}")
    for name, value in sorted(records.items()):
        said = item(name, value)
        print(name, len(value), *([said[2].get("label"), said[2].get("attributes")] if said else []))


if __name__ == "__main__":
    main()
