"""The built packages, in a machine.

    with Machine(bind=BIND) as machine:
        install(machine)
"""

import glob
import os
import unittest

from machine import ROOT

DEBS = os.path.join(ROOT, ".build", "deb")
BIND = {DEBS: "/packages"}
APT = "DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "


def install(machine, names=("appvault", "libpam-appvault", "appvault-fingerprint")):
    """By apt, from a folder, gives what apt said."""
    if not glob.glob(os.path.join(DEBS, "*.deb")):
        raise unittest.SkipTest("no packages in .build/deb: make deb")
    files = " ".join(f"/packages/{name}_*.deb" for name in names)
    return machine.check(f"{APT} install --no-install-recommends {files} 2>&1", timeout=300)
