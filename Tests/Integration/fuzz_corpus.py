"""The fuzz targets build, and are clean for a moment over their seeds; `make fuzz` takes its time."""

import os
import subprocess
import tempfile
import unittest

ASIDE = True
TIMEOUT = 1200

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def has_fuzzer():
    swift = os.environ.get("SWIFT") or "swift"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "probe.swift")
        with open(source, "w") as file:
            file.write('@_cdecl("LLVMFuzzerTestOneInput") public func probe(_ d: UnsafePointer<UInt8>?, _ n: Int) -> CInt { 0 }\n')
        command = [swift + "c", "-parse-as-library", "-sanitize=fuzzer,address", "-use-ld=lld", source, "-o", source + ".out"]
        return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


class Corpus(unittest.TestCase):
    def test_every_target_is_clean_over_its_seeds(self):
        """Every fuzz target builds and is clean over its seeds."""
        if not has_fuzzer():
            self.skipTest("this toolchain has no libFuzzer")
        done = subprocess.run(
            [os.path.join(ROOT, "Tests", "Fuzz", "run")], env=dict(os.environ, FUZZ_SECONDS="2"),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])
