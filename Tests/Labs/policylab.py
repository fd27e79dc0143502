"""A daemon whose policy changes while it runs: groups that a test makes up, a directory service
that hangs, and a boot clock that goes on while the machine sleeps."""

import os

import pamlab
from faultlab import Lab, policy

__all__ = ["PolicyLab", "policy"]


class PolicyLab(Lab):
    def __init__(self, policy_text=None, **settings):
        self.groups_path = self.slept_path = None
        start = settings.pop("start", True)
        super().__init__(policy_text, start=False, **settings)
        self.groups_path = os.path.join(self.folder, "groups")
        self.slept_path = os.path.join(self.folder, "slept")
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def environment(self):
        environment = super().environment()
        shim = pamlab.compiled("policylab.c", "policylab.so", "-shared", "-fPIC")
        environment["LD_PRELOAD"] = f"{environment['LD_PRELOAD']}:{shim}"
        environment["LAB_GROUPS"] = self.groups_path
        environment["LAB_SLEPT"] = self.slept_path
        return environment

    def groups(self, **accounts):
        """Sets the groups of each account, from now on."""
        with open(self.groups_path + ".new", "w", encoding="utf-8") as file:
            for account, groups in accounts.items():
                print(account, *groups, file=file)
        os.rename(self.groups_path + ".new", self.groups_path)

    def hang(self):
        with open(self.groups_path + ".hang", "w", encoding="utf-8"):
            pass

    def release_groups(self):
        os.unlink(self.groups_path + ".hang")

    def sleep(self, seconds):
        """The machine slept so long: only the boot clock has gone on."""
        with open(self.slept_path, "w", encoding="utf-8") as file:
            file.write(str(seconds))

    def write(self, text, name="policy.conf"):
        """Writes as a careful editor does: the whole file, under another name first."""
        path = os.path.join(self.config, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + "~", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + "~", path)
