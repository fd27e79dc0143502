"""The real tool and the real daemon, as an ordinary user runs a private one."""

import os
import subprocess
import tempfile
import time

import clilab

SECRET = b"correct horse battery"
POLICY = "[Passcode]\nDerivationMemory=19MiB\nDerivationPasses=2\nThrottleAfter=0\n"


class Real(clilab.Lab):
    """Runs the tool as the lab does, with appvaultd at the socket."""

    def __init__(self, policy=POLICY, options=(), before=(), env=()):
        """`before` is a command line before the daemon's own, and `env` goes to it."""
        self.options, self.before, self.env = options, before, dict(env)
        self.folder = tempfile.mkdtemp(prefix="appvault-cli-")
        self.path = os.path.join(self.folder, "socket")
        self.state = os.path.join(self.folder, "state")
        self.config = os.path.join(self.folder, "config")
        for folder in [self.state, self.config]:
            os.mkdir(folder, 0o700)
        self.policy = os.path.join(self.config, "policy.conf")
        with open(self.policy, "w") as file:
            file.write(policy)
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.start()

    def listens(self):
        """Its socket has its name a moment before anybody can connect to it."""
        with open("/proc/net/unix") as file:
            # Number, references, protocol, flags, type, state, inode, path.
            return any(line.split()[3] == "00010000" for line in file if line.rstrip().endswith(" " + self.path))

    def start(self):
        self.process = subprocess.Popen(
            [*self.before, os.path.join(clilab.BUILD, "appvaultd"), "--socket", self.path, "--state-dir", self.state,
             "--config-dir", self.config, *self.options],
            stdout=self.log, stderr=self.log, env={**os.environ, **self.env})
        end = time.monotonic() + 10
        while not self.listens():
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError("appvaultd did not start: " + open(self.log.name).read())
            time.sleep(0.01)

    def stop_listening(self):
        self.process.terminate()
        self.process.wait(10)
        self.log.close()
