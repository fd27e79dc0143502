"""One fuzz target builds and is clean for a moment over its seeds; `make fuzz` builds all, and takes its time."""

import os
import subprocess
import tempfile
import unittest

from places import ROOT

# What any peer may send; it needs one module, and so little to build.
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
        """Every fuzz target has seeds, and every folder of seeds a target."""
        targets = os.listdir(os.path.join(FUZZ, "Targets"))
        targets = sorted(name[:-6] for name in targets if name.endswith(".swift"))
        corpus = os.path.join(FUZZ, "Corpus")
        self.assertEqual(targets, sorted(os.listdir(corpus)))
        for name in targets:
            self.assertTrue(os.listdir(os.path.join(corpus, name)), name)

    def test_a_target_is_clean_over_its_seeds(self):
        """The target of the protocol builds and is clean over its seeds and for a moment more."""
        if not has_fuzzer():
            self.skipTest("this toolchain has no libFuzzer")
        done = subprocess.run(
            [os.path.join(FUZZ, "run"), TARGET], env=dict(os.environ, FUZZ_SECONDS="3"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
