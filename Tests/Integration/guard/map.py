"""Many people log in at once, and another one's secrets are read: the loop changes nothing in the daemon's memory map.
Each such change would wait for all derivations that fill their memory at that moment, and everybody for the loop."""

import os
import re
import signal
import subprocess
import threading
import time
import unittest

from daemonlab import IS_ROOT, Daemon
from slow import slow

TIMEOUT = 300
PEOPLE = [(f"person{number}", 48000 + number) for number in range(24)]
READER = ("root", 0)
POLICY = "ThrottleAfter=0\n"


class Watched:
    """The loop's thread under strace, from the moment of `with` until its end."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.path = os.path.join(daemon.folder, "calls")

    def __enter__(self):
        calls = "trace=%memory,epoll_wait,epoll_pwait,epoll_pwait2"
        # Without -f it follows the first thread alone, which is the loop's.
        self.process = subprocess.Popen(
            ["strace", "-e", calls, "-o", self.path, "-p", str(self.daemon.pid)], stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        if "attached" not in said:
            self.process.wait()
            raise unittest.SkipTest(f"nothing may be traced here: {said.strip()}")
        return self

    def so_far(self):
        with open(self.path) as file:
            return file.readlines()

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.process.stderr.close()
        with open(self.path) as file:
            calls = [line.strip() for line in file if re.match(r"\w+\(", line)]
        self.waits = [call for call in calls if call.startswith("epoll")]
        self.changes = [call for call in calls if not call.startswith("epoll")]


@unittest.skipUnless(IS_ROOT, "only root may open other people's stores")
class MemoryMap(unittest.TestCase):
    def leave_holes(self, daemon):
        """Values that go through buffers of their own. The daemon gives back what they leave in its heap, and has the
        same room as before."""
        with Watched(daemon) as loop:
            for number in range(8):
                done = daemon.ask("set", payloads=[b"x" * 500_000], store="", name=f"large {number}")
                self.assertEqual(done.name, "done", done)
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not any(call.startswith("brk(") for call in loop.so_far()):
                time.sleep(0.2)
            # It was begun: it takes milliseconds, and this many more even where nothing gets a processor.
            time.sleep(2)
        self.assertIn("brk(", " ".join(loop.changes))

    @slow
    def test_logins_leave_it_as_it_is(self):
        daemon = Daemon(POLICY)
        self.addCleanup(daemon.close)
        daemon.create(way="noPasscode", subject=READER)
        done = daemon.ask("set", payloads=[b"a value"], store="", name="a name")
        self.assertEqual(done.name, "done", done)
        for person in PEOPLE:
            daemon.create(subject=person)
            daemon.lock(subject=person)
        self.leave_holes(daemon)
        verdicts, threads = [], []
        begin = threading.Barrier(len(PEOPLE))

        def enter(person):
            begin.wait()
            verdicts.append(daemon.authenticate(subject=person))

        with Watched(daemon) as loop:
            for person in PEOPLE:
                threads.append(threading.Thread(target=enter, args=(person,)))
                threads[-1].start()
            read = 0
            while any(thread.is_alive() for thread in threads):
                answer = daemon.ask("get", store="", name="a name")
                self.assertEqual(answer.name, "value", answer)
                read += 1
                time.sleep(0.005)
        for thread in threads:
            thread.join()
        self.assertEqual({verdict.fields["outcome"] for verdict in verdicts}, {"success"}, verdicts)
        self.assertGreater(read, 1)
        self.assertGreater(len(loop.waits), len(PEOPLE), "the loop was watched")
        self.assertEqual(loop.changes, [])

    def test_an_answer_that_is_read_wakes_nothing(self):
        """The kernel could tell the loop each time that a peer has made room: once more for each answer."""
        daemon = Daemon(POLICY)
        self.addCleanup(daemon.close)
        daemon.create(way="noPasscode", subject=READER)
        done = daemon.ask("set", payloads=[b"a value"], store="", name="a name")
        self.assertEqual(done.name, "done", done)
        with daemon.client() as client, Watched(daemon) as loop:
            for _ in range(50):
                self.assertEqual(client.run("get", (), store="", name="a name").name, "value")
        waits = " ".join(loop.waits)
        self.assertIn("EPOLLIN", waits)
        self.assertNotIn("EPOLLOUT", waits)


if __name__ == "__main__":
    unittest.main()
