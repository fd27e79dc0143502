"""An organisation, as FORMAT.md says what it hands out; nothing of it is made by AppVault."""

import base64
import hashlib
import os
import time

import nacl.signing

NAME = "example.org"
CONTACT = "help@example.org"


def utc(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def blake2b(data, purpose, size, key=b""):
    return hashlib.blake2b(data, digest_size=size, key=key, person=purpose.ljust(16, b"\0")).digest()


class Signer:
    """One person with a key of minisign's."""

    def __init__(self, name):
        self.name = name
        self.id = os.urandom(8)
        self.key = nacl.signing.SigningKey.generate()

    @property
    def public(self):
        return base64.b64encode(b"Ed" + self.id + bytes(self.key.verify_key)).decode()

    def sign(self, text):
        signature = self.key.sign(hashlib.blake2b(text).digest()).signature
        comment = b"timestamp:1"
        lines = [
            b"untrusted comment: of a test", base64.b64encode(b"ED" + self.id + signature),
            b"trusted comment: " + comment, base64.b64encode(self.key.sign(signature + comment).signature),
        ]
        return b"\n".join(lines) + b"\n"


class Organisation:
    def __init__(self, signers=1, threshold=1, name=NAME, orders_apart=0, wipe_threshold=None):
        self.name = name
        self.signers = [Signer(f"anna{number}") for number in range(signers)]
        self.orderers = [Signer(f"otto{number}") for number in range(orders_apart)]
        self.threshold, self.wipe_threshold = threshold, wipe_threshold
        self.target_key = os.urandom(32)
        self.contact = CONTACT
        # Each manifest is signed later than the one before it.
        self.signed = int(time.time()) - 100_000

    # what it hands out

    def charter(self):
        lines = [f"Threshold={self.threshold}"]
        if self.orderers:
            lines.append("OrdersThreshold=1")
        if self.wipe_threshold:
            lines.append(f"WipeThreshold={self.wipe_threshold}")
        return lines

    def keys(self):
        lines = ["[Keys]", *(f"{each.name}={each.public}" for each in self.signers)]
        if self.orderers:
            lines += ["[OrdersKeys]", *(f"{each.name}={each.public}" for each in self.orderers)]
        return lines

    def join(self, **urls):
        lines = ["[Join]", f"Organisation={self.name}"]
        lines += [f"{key}={url}" for key, url in urls.items()]
        lines += [f"TargetKey={base64.b64encode(self.target_key).decode()}", *self.charter(), *self.keys()]
        return ("\n".join(lines) + "\n").encode()

    def bundle(self, version, orders=(), policy=None, kind="policy", by=None, signed=None, terms=None,
               signin=None):
        """`orders` are lines of text."""
        self.signed += 60
        parts = {}
        if policy is not None:
            parts["policy"] = policy.encode()
        if orders:
            parts["orders"] = "".join(line + "\n" for line in orders).encode()
        if terms is not None:
            parts["terms"] = terms.encode()
        if signin is not None:
            parts["signin"] = signin.encode()
        lines = [
            "[Manifest]", f"Organisation={self.name}", f"Bundle={kind}", f"Version={version}",
            f"Signed={utc(signed or self.signed)}", "Expires=2099-01-01T00:00:00Z",
        ]
        if self.contact:
            lines.append(f"Contact={self.contact}")
        if kind == "policy":
            lines += [*self.charter(), *self.keys()]
        lines.append("[Parts]")
        lines += [f"{name}={blake2b(text, b'AV bundle part', 32).hex()}" for name, text in parts.items()]
        manifest = ("\n".join(lines) + "\n").encode()
        signers = by or (self.orderers if kind == "orders" else self.signers)
        pieces = [(b"manifest", manifest), *((name.encode(), text) for name, text in parts.items())]
        pieces += [(b"signature", each.sign(manifest)) for each in signers]
        text = b"appvault bundle 1\n"
        for name, piece in pieces:
            text += b"%s 0 %d\n\n%s\n" % (name, len(piece), piece)
        return text + b"# whole\n"

    # whom an order means

    def target(self, *words):
        return blake2b(b"\0".join(words), b"AV fleet target", 16, self.target_key).hex()

    def person(self, name, machine=None):
        more = () if machine is None else (machine.encode(),)
        return self.target(b"person", name.encode(), *more)

    def machine(self, machine):
        return self.target(b"machine", machine.encode())
