"""Pictures with QR codes, as cameras and people make them: turned, blurred, dark; and such as nobody should make."""

import math
import random
import struct
import subprocess
import zlib

MARGIN = 4


def matrix(text, level="M"):
    """The modules of a code, with nothing around it."""
    out = subprocess.run(
        ["qrencode", "-t", "ASCII", "-m", "0", "-l", level, "-o", "-", text], capture_output=True, check=True).stdout
    return [[line[place] == "#" for place in range(0, len(line), 2)] for line in out.decode().splitlines() if line]


class Picture:
    """Brightness, row by row."""

    def __init__(self, rows):
        self.rows = rows

    @classmethod
    def of(cls, text, scale=5, level="M"):
        code = matrix(text, level)
        side = (len(code) + 2 * MARGIN) * scale
        rows = [bytearray(b"\xff" * side) for _ in range(side)]
        for y, line in enumerate(code):
            for x, dark in enumerate(line):
                if dark:
                    for row in rows[(y + MARGIN) * scale:(y + MARGIN + 1) * scale]:
                        row[(x + MARGIN) * scale:(x + MARGIN + 1) * scale] = bytes(scale)
        return cls(rows)

    @property
    def size(self):
        return len(self.rows[0]), len(self.rows)

    def turned(self, degrees):
        width, height = self.size
        side = int(math.hypot(width, height)) + 2
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        rows = []
        for y in range(side):
            row = bytearray(b"\xff" * side)
            for x in range(side):
                dx, dy = x - side / 2, y - side / 2
                there, down = int(cos * dx + sin * dy + width / 2), int(-sin * dx + cos * dy + height / 2)
                if 0 <= there < width and 0 <= down < height:
                    row[x] = self.rows[down][there]
            rows.append(row)
        return Picture(rows)

    def blurred(self, radius):
        def smooth(rows):
            done = []
            for row in rows:
                padded = bytes([row[0]]) * radius + bytes(row) + bytes([row[-1]]) * radius
                done.append(bytearray(
                    sum(padded[place:place + 2 * radius + 1]) // (2 * radius + 1) for place in range(len(row))))
            return done
        flat = smooth(self.rows)
        return Picture([bytearray(row) for row in zip(*smooth([bytearray(column) for column in zip(*flat)]))])

    def inverted(self):
        return Picture([bytearray(255 - value for value in row) for row in self.rows])

    def noisy(self, much=60, seed=7):
        chance = random.Random(seed)
        return Picture([
            bytearray(min(255, max(0, value // 2 + 60 + chance.randrange(-much, much))) for value in row)
            for row in self.rows])

    def beside(self, other):
        high = max(self.size[1], other.size[1])

        def padded(one):
            return [*one.rows, *[bytearray(b"\xff" * one.size[0]) for _ in range(high - one.size[1])]]
        return Picture([left + right for left, right in zip(padded(self), padded(other))])

    def within(self, width, height):
        """In a corner of a larger one."""
        rows = [row + b"\xff" * (width - len(row)) for row in self.rows]
        return Picture(rows + [b"\xff" * width] * (height - len(rows)))

    def png(self):
        return png(*self.size, b"".join(b"\0" + row for row in self.rows))

    def jpeg(self, *options):
        pgm = b"P5 %d %d 255\n" % self.size + b"".join(self.rows)
        return subprocess.run(["cjpeg", *options], input=pgm, capture_output=True, check=True).stdout


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, raw, depth=8, colour=0, packed=None):
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    data = chunk(b"IDAT", packed or zlib.compress(raw))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + data + chunk(b"IEND", b"")


def bomb(width, height):
    """A few KiB that are so many pixels of one bit."""
    row = b"\0" + bytes((width + 7) // 8)
    press = zlib.compressobj(9)
    return png(width, height, b"", depth=1, packed=b"".join(press.compress(row) for _ in range(height)) + press.flush())
