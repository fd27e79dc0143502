"""What `appvault watch` prints, and when it ends: the real tool and the real daemon."""

import json
import os
import re
import select
import signal
import subprocess
import time
import unittest

from clilab import INTERRUPT
from daemonlab import comes_to_rest
from realcli import SECRET, Real
from slow import slow

ANY = "00000000-0000-4000-8000-000000000000"


class Watching:
    """A watch whose output is a pipe."""

    def __init__(self, lab, *arguments, **more):
        self.process = subprocess.Popen(
            lab.command("watch", *arguments), env=lab.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more)
        self.rest = b""

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if not stream.closed:
                stream.close()

    def line(self, seconds=20.0):
        """The next line, as its fields."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not piece:
                raise AssertionError(f"no line came; {self.rest!r}, status {self.process.poll()}")
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def end(self, seconds=20.0):
        """Status, what else it printed, and its complaints."""
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, self.rest + out, err


class Watch(unittest.TestCase):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)
        self.ok("create", "--own-passcode", passcodes=[SECRET])

    def ok(self, *arguments, **more):
        result = self.lab.run(*arguments, **more)
        self.assertEqual(result.status, 0, result)
        return result.out

    def watch(self, *arguments, **more):
        watching = Watching(self.lab, *arguments, **more)
        self.addCleanup(watching.close)
        return watching

    def hear(self, watching, *expected):
        """The next lines say this; that `status` has changed may be said between them at any time."""
        expected = list(expected)
        while expected:
            said = watching.line().split("\t")[:2]
            if said[0] == "changed" and expected[0][0] != "changed":
                continue
            self.assertEqual(tuple(said), expected.pop(0))

    def test_a_line_for_each_event(self):
        self.ok("create", "mail")
        watching = self.watch()
        begun = {tuple(watching.line().split("\t")[:2]) for _ in range(2)}
        self.assertEqual(begun, {("opened", "default"), ("opened", "mail")})
        self.hear(watching, ("told", ""))
        self.ok("--store", "mail", "lock")
        self.hear(watching, ("locked", "mail"))
        self.ok("create", "team", "--shared")
        self.hear(watching, ("opened", "team"))
        self.ok("--store", "team", "reset", "--yes", passcodes=[SECRET])
        self.hear(watching, ("locked", "team"))

    def test_objects_for_programs(self):
        watching = self.watch("--json")
        first, second = json.loads(watching.line()), json.loads(watching.line())
        self.assertEqual((first["event"], first["name"]), ("opened", "default"))
        ident = json.loads(self.ok("status", "--json"))["store"]
        self.assertEqual(first["store"], ident)
        self.assertLess(abs(first["at"] - time.time()), 60)
        self.assertEqual((second["event"], second["name"], second["store"]), ("told", None, None))
        self.ok("lock")
        while (event := json.loads(watching.line()))["event"] == "changed":
            pass
        self.assertEqual((event["event"], event["name"], event["store"]), ("locked", "default", ident))

    def test_values_where_it_is_wanted(self):
        quiet, watching = self.watch(), self.watch("--records")
        for each in (quiet, watching):
            self.hear(each, ("opened", "default"), ("told", ""))
        self.ok("set", "a", input=b"value")
        self.hear(watching, ("records", "default"))
        self.ok("lock")
        self.hear(quiet, ("locked", "default"))

    def test_one_store_by_each_of_its_names(self):
        self.ok("create", "team", "--shared")
        ident = json.loads(self.ok("--store", "team", "status", "--json"))["store"]
        watches = [self.watch("--store", name) for name in ("team", ident)] + [self.watch("--store", "default")]
        for watching in watches[:2]:
            self.hear(watching, ("opened", "team"), ("told", ""))
        self.hear(watches[2], ("opened", "default"), ("told", ""))
        self.ok("rename", "team", "crew")
        self.ok("lock")
        for watching in watches[:2]:
            self.hear(watching, ("locked", "crew"))
        self.hear(watches[2], ("locked", "default"))

    def test_no_such_store(self):
        for arguments in (["--store", "nothing"], ["--store", "nobody/team"], ["--store", ANY]):
            status, out, err = self.watch(*arguments).end()
            self.assertEqual((status, out), (3, b""))
            self.assertIn(b"there is no store " + arguments[1].encode(), err)
        refused = self.lab.run("watch", "--store", "nothing", "--json")
        self.assertEqual((refused.status, json.loads(refused.out)["name"]), (3, "DoesNotExist"))

    def test_the_daemon_ends(self):
        watches = self.watch(), self.watch("--json")
        self.hear(watches[0], ("opened", "default"), ("told", ""))
        while json.loads(watches[1].line())["event"] != "told":
            pass
        for watching in watches:
            comes_to_rest(watching.process.pid)
        self.lab.process.terminate()
        self.lab.process.wait(20)
        status, out, err = watches[0].end()
        self.assertEqual(status, 5)
        self.assertIn(b"appvaultd has ended", err)
        status, out, err = watches[1].end()
        self.assertEqual((status, err), (5, b""))
        self.assertEqual(json.loads(out.splitlines()[-1])["name"], "ServiceUnavailable")
        self.assertEqual(self.lab.run("watch").status, 5)
        self.lab.start()

    @slow
    def test_it_rests_until_something_happens(self):
        watching = self.watch()
        self.hear(watching, ("opened", "default"), ("told", ""))
        comes_to_rest(watching.process.pid)
        # Longer than a daemon that owes an answer may be silent.
        time.sleep(6)
        self.ok("lock")
        self.hear(watching, ("locked", "default"))

    def test_nobody_reads_it_any_more(self):
        watching = self.watch()
        self.hear(watching, ("opened", "default"), ("told", ""))
        watching.process.stdout.close()
        self.assertEqual(watching.process.wait(20), 0)
        self.assertEqual(watching.process.stderr.read(), b"")
        shell = "appvault() { " + " ".join(self.lab.command('"$@"')) + "; }; set -o pipefail; appvault watch | head -1"
        done = subprocess.run(
            ["bash", "-c", shell], capture_output=True, timeout=30, env=self.lab.environment())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout.startswith(b"opened\tdefault\t"))
        closed = subprocess.run(
            ["bash", "-c", shell.replace("| head -1", ">&-")], capture_output=True, timeout=30,
            env=self.lab.environment())
        self.assertEqual((closed.returncode, closed.stdout, closed.stderr), (0, b"", b""))

    def test_a_file_that_is_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                self.lab.command("watch"), stdout=full, stderr=subprocess.PIPE, timeout=30, env=self.lab.environment())
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"standard output cannot be written", done.stderr)

    def test_a_person_reads_sentences(self):
        with self.lab.terminal("watch") as screen:
            before = screen.expect("default is open")
            self.assertRegex(before.decode(), r"^\d\d:\d\d:\d\d  $")
            screen.expect("Ctrl-C ends this")
            self.ok("lock")
            screen.expect("default is locked")
            screen.type(INTERRUPT)
            self.assertEqual(screen.end(), -signal.SIGINT)
            self.assertTrue(screen.is_restored)

    def test_in_german(self):
        with self.lab.terminal("watch", env={"LC_ALL": "de_DE.UTF-8"}) as screen:
            seen = screen.expect("\n", 20)
            self.assertIsNotNone(re.search(b"default (ist offen|is open)", seen))
            self.ok("lock")
            screen.expect("default " + ("ist gesperrt" if b"ist offen" in seen else "is locked"))

    def test_a_fifth_is_refused(self):
        watches = [self.watch() for _ in range(4)]
        for watching in watches:
            self.hear(watching, ("opened", "default"))
        refused = self.lab.run("watch", "--json")
        self.assertEqual((refused.status, json.loads(refused.out)["name"]), (5, "Busy"))


if __name__ == "__main__":
    unittest.main()
