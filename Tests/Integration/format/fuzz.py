"""One fuzz target builds and finds nothing for a moment over its seeds; `make fuzz` builds all
of them, and takes its time."""

import os
import re
import subprocess
import tempfile
import unittest

from places import ROOT
from slow import slow

# The target of the protocol, because any peer may send that; it needs one module, so it builds
# fast.
TARGET = "wire"

FUZZ = os.path.join(ROOT, "Tests", "Fuzz")


def has_fuzzer():
    swift = os.environ.get("SWIFT") or "swift"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.swift")
        with open(source, "w") as file:
            file.write('@_cdecl("LLVMFuzzerTestOneInput")\n'
                       'public func probe(_ d: UnsafePointer<UInt8>?, _ n: Int) -> CInt { 0 }\n')
        command = [swift + "c", "-parse-as-library", "-sanitize=fuzzer,address", "-use-ld=lld", source,
                   "-o", source + ".out"]
        return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


class Smoke(unittest.TestCase):
    def test_every_target_has_seeds(self):
        """Every fuzz target has seeds or makes its own, and every folder of seeds a target."""
        folder = os.path.join(FUZZ, "Targets")
        targets = sorted(name[:-6] for name in os.listdir(folder) if name.endswith(".swift"))
        own = [name for name in targets if "FUZZ_SEEDS" in open(os.path.join(folder, name + ".swift")).read()]
        corpus = os.path.join(FUZZ, "Corpus")
        kept = os.listdir(corpus)
        self.assertEqual(targets, sorted(kept + own))
        for name in kept:
            self.assertTrue(os.listdir(os.path.join(corpus, name)), name)

    @slow
    def test_a_target_is_clean_over_its_seeds(self):
        """The target of the protocol builds, and is clean over its seeds, of every message some, and for a moment
        more."""
        if not has_fuzzer():
            self.skipTest("this toolchain has no libFuzzer")
        done = subprocess.run(
            [os.path.join(FUZZ, "run"), TARGET], env=dict(os.environ, FUZZ_SECONDS="3"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        seeds = os.listdir(os.path.join(ROOT, ".build", "fuzz", "seeds", TARGET))
        vectors = open(os.path.join(ROOT, "Tests", "Vectors", "wire.txt")).read()
        messages = set(re.findall(r"^\[(\w+)\]$", vectors, re.M))
        self.assertEqual(messages, {name.split("-")[0] for name in seeds})
