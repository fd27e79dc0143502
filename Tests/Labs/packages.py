"""The packages that `make deb` built, in a machine.

    with Machine(bind=packages.BIND) as machine:
        packages.install(machine)
"""

import functools
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from machine import LATER, ROOT

NAMES = ("appvault", "libpam-appvault", "appvault-fingerprint")
# The one for desktops. Where it is installed, each session has one more process and a store of its own.
DESKTOP = "appvault-secret-service"
# The system accounts that they make.
ACCOUNTS = ("_appvault", "_appvault-fingerprint")
DEBS = os.path.join(ROOT, ".build", "deb")
BIND = {DEBS: "/packages"}
APT = "DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends "


def file(name):
    found = glob.glob(os.path.join(DEBS, f"{name}_*.deb"))
    if not found:
        raise unittest.SkipTest("no packages in .build/deb: make deb")
    return found[0]


def within(folder, *more):
    """The words with which apt in a machine installs them from a folder."""
    for name in more:
        file(name)
    return " ".join(f"{folder}/{name}_*.deb" for name in (*NAMES, *more))


def install(machine, *more):
    """Installs them with apt, from a folder."""
    file("appvault")
    return machine.check(f"{APT} install {within('/packages', *more)} 2>&1", timeout=300)


@functools.cache
def newer(version):
    """A folder with the same packages, as if they were of this version."""
    folder = tempfile.mkdtemp(prefix="appvault-newer-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    for name in (*NAMES, DESKTOP):
        root = os.path.join(folder, name)
        subprocess.run(["dpkg-deb", "-R", file(name), root], check=True)
        control = os.path.join(root, "DEBIAN", "control")
        with open(control) as text:
            lines = text.read()
        former = re.search(r"^Version: (.*)$", lines, re.M).group(1)
        with open(control, "w") as text:
            text.write(lines.replace(former, version))
        subprocess.run(
            ["dpkg-deb", "-Znone", "--root-owner-group", "-b", root, folder], check=True, capture_output=True)
        shutil.rmtree(root)
    return folder


def on_later_releases(case):
    """A class of tests once more for each later Debian, with that one as its RELEASE."""
    for release in LATER:
        name = f"{case.__name__}_{release}"
        again = type(name, (case,), {"__module__": case.__module__, "RELEASE": release})
        setattr(sys.modules[case.__module__], name, again)
    return case
