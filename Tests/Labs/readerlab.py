"""A daemon with the real fingerprint worker and libfprint's virtual readers, and a person with a finger."""

import os
import time

from daemonlab import IS_ROOT, answers
from fingerlab import Desk
from fprintlab import Worker


class RealDesk(Desk):
    """A daemon whose worker starts after it, as the user of its account."""

    def __init__(self, *readers, policy="", daemon_env=(), **options):
        self.reader, self.readers, self.options, self.real = readers[0], readers, options, None
        self.folder_path = os.path.join("/tmp", f"appvault-finger-{os.getpid()}-{time.monotonic_ns()}")
        super().__init__(None, policy, path=self.folder_path, env=daemon_env)
        try:
            self.work()
        except BaseException:
            self.close()
            raise

    def work(self):
        uid = self.daemon.uid
        # A change of user undoes that the process ends with the test.
        wrapper = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--pdeathsig=KILL"]
        self.real = Worker(readers=self.readers, wrapper=wrapper if IS_ROOT else [], **self.options)
        os.symlink(self.real.socket, self.folder_path)

    def close(self):
        # Its account is removed last.
        if self.real is not None:
            self.real.close()
        super().close()
        if os.path.lexists(self.folder_path):
            os.unlink(self.folder_path)

    def playing(self, *commands):
        """Sends one command for each touch that the reader waits for."""
        left = list(commands)

        def touch(scan):
            # After a touch that did not match, the reader says again that it waits.
            if left and (scan.event in ("place", "stage") or scan.line[0].startswith("fingerprint.retry")):
                command = left.pop(0)
                command() if callable(command) else self.real.play(self.reader, command)
            return False

        return touch

    def enroll_real(self, finger="alice", number="unnamed", before=()):
        touches = [f"SCAN {finger}"] * 5
        done = self.ask("fingerprintEnroll", answers(), self.playing(*before, *touches), finger=number)
        assert done.last.name == "done", (done.last, self.daemon.log(), self.real.log())
        return done

    def touch(self, *commands, request="openStore", script=()):
        return self.ask(request, script, self.playing(*commands))
