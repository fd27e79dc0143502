#!/usr/bin/env python3
"""Writes Sources/Policy/NormalizationTable.swift and Tests/Vectors/policy-nfc.txt.

usage: python3 Tools/normalization-table.py    (from the top folder; pip install unicodedata2==16.0.0)
"""
import random
import sys

import unicodedata2 as unicode

HANGUL = range(0xAC00, 0xAC00 + 11172)
SCALARS = [n for n in range(0x110000) if not 0xD800 <= n < 0xE000]


def row(values, form, per):
    lines = []
    for start in range(0, len(values), per):
        lines.append("        " + " ".join(form(v) + "," for v in values[start:start + per]))
    return "\n".join(lines)


def number(n):
    return "0x%X" % n


def table():
    keys, starts, parts, pairs = [], [0], [], []
    for n in SCALARS:
        own = unicode.decomposition(chr(n))
        if n in HANGUL or not own or own.startswith("<"):
            continue
        keys.append(n)
        parts += [ord(c) for c in unicode.normalize("NFD", chr(n))]
        starts.append(len(parts))
        halves = [int(x, 16) for x in own.split()]
        if len(halves) == 2 and unicode.normalize("NFC", chr(n)) == chr(n):
            pairs.append((halves[0] << 32 | halves[1], n))
    pairs.sort()
    runs = []
    for n in SCALARS:
        value = unicode.combining(chr(n))
        if not value:
            continue
        if runs and runs[-1][1] == n - 1 and runs[-1][2] == value:
            runs[-1][1] = n
        else:
            runs.append([n, n, value])
    assert len(parts) < 65536
    return f"""// Written by Tools/normalization-table.py from Unicode {unicode.unidata_version}; not to be edited.

/// The tables of NFC. They are ours, and not the standard library's, so that a passcode which opens
/// a store today has the same bytes under every later compiler. What a newer Unicode adds was
/// unassigned before, and stays as it is.
enum NormalizationTable {{
    /// Scalars that decompose canonically (Hangul is computed), in order.
    static let decomposing: [UInt32] = [
{row(keys, number, 10)}
    ]

    /// Where the full decomposition of each starts in `parts`; one more for the end.
    static let starts: [UInt16] = [
{row(starts, str, 14)}
    ]

    static let parts: [UInt32] = [
{row(parts, number, 10)}
    ]

    /// First scalar in the upper half, second in the lower, in order.
    static let pairs: [UInt64] = [
{row([p for p, _ in pairs], number, 5)}
    ]

    /// What each pair composes to.
    static let composites: [UInt32] = [
{row([c for _, c in pairs], number, 10)}
    ]

    /// Runs of scalars with one combining class that is not 0: first and last scalar, class.
    static let classFirst: [UInt32] = [
{row([r[0] for r in runs], number, 10)}
    ]

    static let classLast: [UInt32] = [
{row([r[1] for r in runs], number, 10)}
    ]

    static let classes: [UInt8] = [
{row([r[2] for r in runs], str, 16)}
    ]
}}
"""


def prepared(text):
    """RFC 8265 OpaqueString of a text without control characters."""
    spaced = "".join(" " if unicode.category(c) == "Zs" else c for c in text)
    return unicode.normalize("NFC", spaced)


def vectors():
    chance = random.Random(8265)
    decomposing = [n for n in SCALARS if unicode.normalize("NFD", chr(n)) != chr(n)]
    marks = [n for n in SCALARS if unicode.combining(chr(n))]
    starters = [ord(c) for c in "aAeoOszqDL\u03b1\u03b9\u0915\u05d0\u1100\u1161\u11a8\uac00\uac01\u212b\u2126"]
    spaces = [n for n in SCALARS if unicode.category(chr(n)) == "Zs"]
    assigned = [n for n in SCALARS if unicode.category(chr(n)) not in ("Cc", "Cn", "Cs", "Co")]
    texts = [chr(n) for n in decomposing if n not in HANGUL]
    texts += [unicode.normalize("NFD", t) for t in texts]
    texts += [unicode.normalize("NFKD", t) for t in texts]
    texts += [chr(n) for n in chance.sample(list(HANGUL), 100)]
    texts += [unicode.normalize("NFD", chr(n)) for n in chance.sample(list(HANGUL), 100)]
    texts += ["a" + chr(n) + "b" for n in spaces]
    texts += ["a" + "\u0301\u0323" * 100 + "b"]
    for _ in range(2000):
        pools = chance.choice([(starters, marks), (starters, marks, spaces), (decomposing, marks), (assigned,)])
        texts.append("".join(chr(chance.choice(chance.choice(pools))) for _ in range(chance.randint(1, 12))))
    lines = {}
    for text in texts:
        lines.setdefault(text.encode().hex() + " " + prepared(text).encode().hex())
    head = ("# A text and what RFC 8265 OpaqueString makes of it, both UTF-8 in hexadecimal"
            f" (Unicode {unicode.unidata_version}).\n")
    return head + "\n".join(lines) + "\n"


with open("Sources/Policy/NormalizationTable.swift", "w", encoding="ascii") as out:
    out.write(table())
with open("Tests/Vectors/policy-nfc.txt", "w", encoding="ascii") as out:
    out.write(vectors())
most = max(len(unicode.normalize("NFD", chr(n))) / len(chr(n).encode()) for n in SCALARS)
print(f"at most {most} scalars for a byte", file=sys.stderr)
