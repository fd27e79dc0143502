"""The codec that these tests use agrees with the vectors that Sources/Wire is tested with."""

import os
import re
import unittest

import wire
from places import VECTORS

MESSAGES = os.path.join(VECTORS, "wire.txt")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|hex:[0-9a-f]*|[\[\]{},=]|[^\[\]{},=\s]+')


def value_of(text):
    tokens = TOKEN.findall(text)
    value, rest = one(tokens)
    if rest:
        raise ValueError(f"{text}: {rest} is left over")
    return value


def one(tokens):
    head, rest = tokens[0], tokens[1:]
    if head == "[":
        values = []
        while rest[0] != "]":
            value, rest = one(rest)
            values.append(value)
            if rest[0] == ",":
                rest = rest[1:]
        return values, rest[1:]
    if head == "{":
        pairs = {}
        while rest[0] != "}":
            name = rest[0]
            value, rest = one(rest[2:])
            pairs[name] = value
            if rest[0] == ",":
                rest = rest[1:]
        return pairs, rest[1:]
    if head.startswith('"'):
        return head[1:-1], rest
    if head.startswith("hex:"):
        return bytes.fromhex(head[4:]), rest
    if head in ("true", "false"):
        return head == "true", rest
    return (int(head), rest) if re.fullmatch(r"-?\d+", head) else (head, rest)


def vectors():
    vector = None
    with open(MESSAGES, encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                vector = (line[1:-1], {})
                continue
            key, _, text = line.partition(" = ")
            if key == "frame":
                yield vector[0], vector[1], bytes.fromhex(text.replace(" ", ""))
            elif key == "type":
                vector[1]["type"] = int(text, 16)
            else:
                vector[1].setdefault(key, value_of(text))


def shaped(values):
    """The vectors' flat names as the codec's fields and payloads."""
    values = {key.removeprefix("target."): value for key, value in values.items()}
    number, tag = values.pop("type"), values.pop("tag")
    payloads = [values.pop(key) for key in ("payload", "second") if key in values]
    fields = {}
    for key, value in values.items():
        name, _, part = key.partition(".")
        if not part or part == "bytes":
            fields[name] = value
        else:
            fields.setdefault(name, {})[part] = value
    for name, value in fields.items():
        if isinstance(value, dict) and set(value) == {"name", "uid"}:
            fields[name] = (value["name"], value["uid"])
        elif isinstance(value, dict) and set(value) == {"id", "arguments", "text"}:
            fields[name] = (value["id"], value["arguments"], value["text"])
    if isinstance(fields.get("parameters"), list):
        fields["parameters"] = [(each["name"], each["value"]) for each in fields["parameters"]]
    return number, tag, fields, payloads


class Vectors(unittest.TestCase):
    def test_vectors(self):
        """every vector is encoded to its frame, and its frame decoded and encoded again is the same"""
        seen = set()
        for name, values, frame in vectors():
            number, tag, fields, payloads = shaped(values)
            with self.subTest(name=name, tag=tag):
                seen.add(name)
                self.assertEqual(wire.MESSAGES[name].number, number)
                self.assertEqual(wire.encode(name, tag, payloads, **fields).hex(), frame.hex())
                message, rest = wire.decode_some(frame)
                self.assertEqual((message.name, message.tag, rest), (name, tag, b""))
                again = wire.encode(message.name, message.tag, message.payloads, **message.fields)
                self.assertEqual(again.hex(), frame.hex())
        self.assertEqual(seen, set(wire.MESSAGES))

    def test_cut_short(self):
        """no frame's body can lose or gain a byte"""
        for name, _, frame in vectors():
            body = frame[10:]
            number = wire.MESSAGES[name].number
            with self.subTest(name):
                for cut in range(len(body)):
                    with self.assertRaises(wire.WireError):
                        wire.decode(number, 1, body[:cut])
                with self.assertRaises(wire.WireError):
                    wire.decode(number, 1, body + b"\0")


if __name__ == "__main__":
    unittest.main()
