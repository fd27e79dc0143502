"""People who sign for an organisation, with the real tools."""

import os
import shutil
import subprocess

MISSING = "" if shutil.which("minisign") and shutil.which("ssh-keygen") else "minisign or ssh-keygen is not installed"


class Signers:
    """People with keys of every kind that this machine has a tool for."""

    def __init__(self, folder):
        self.folder = folder
        self.keys = {}
        for name, tool in (("anna", self.minisign), ("bert", self.ssh), ("cora", self.ssh)):
            self.keys[name] = tool(name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, **more):
        subprocess.run(words, check=True, capture_output=True, cwd=self.folder, **more)

    def minisign(self, name):
        self.run("minisign", "-G", "-W", "-p", name + ".pub", "-s", name + ".key")
        with open(self.path(name + ".pub")) as file:
            return file.read().split("\n")[1]

    def ssh(self, name):
        self.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)
        with open(self.path(name + ".pub")) as file:
            return " ".join(file.read().split()[:2])

    def sign(self, name, file):
        """The file with the signature."""
        written = f"{file}.of-{name}"
        if os.path.exists(self.path(name + ".key")):
            self.run("minisign", "-S", "-s", name + ".key", "-m", file, "-x", written)
        else:
            self.run("ssh-keygen", "-q", "-Y", "sign", "-f", name, "-n", "appvault-fleet", file)
            os.rename(self.path(file + ".sig"), self.path(written))
        return self.path(written)
