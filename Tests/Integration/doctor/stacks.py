"""What libpam returns for a stack: doctor's own reading of PAM files is tested with vectors that
come from libpam.

    PYTHONPATH=Tests/Labs /usr/bin/python3 Tests/Integration/doctor/stacks.py --write

makes Tests/Vectors/pam-stacks.txt anew.
"""

import ctypes
import os
import random
import re
import sys
import tempfile
import unittest

from places import ROOT

VECTORS = os.path.join(ROOT, "Tests", "Vectors", "pam-stacks.txt")

RESULTS = [
    "success", "open_err", "symbol_err", "service_err", "system_err", "buf_err", "perm_denied", "auth_err",
    "cred_insufficient", "authinfo_unavail", "user_unknown", "maxtries", "new_authtok_reqd", "acct_expired",
    "session_err", "cred_unavail", "cred_expired", "cred_err", "no_module_data", "conv_err", "authtok_err",
    "authtok_recover_err", "authtok_lock_busy", "authtok_disable_aging", "try_again", "ignore", "abort",
    "authtok_expired", "module_unknown", "bad_item", "conv_again", "incomplete"]
SAID = [
    "success", "success", "success", "success", "success", "auth_err", "ignore", "user_unknown", "authinfo_unavail",
    "new_authtok_reqd"]
CONTROLS = [
    "required", "required", "requisite", "sufficient", "optional", "optional", "Required",
    "[success=1 default=ignore]", "[success=2 default=ignore]", "[success=3 default=bad]",
    "[success=ok default=ignore]", "[success=done default=die]", "[default=die]", "[default=reset]",
    "[success=reset default=ok]", "[success=ok]", "[ignore=ok success=ok default=bad]", "[default=1]",
    "[success=ok new_authtok_reqd=ok ignore=ignore default=bad]", "[success=ok user_unknown=ignore default=die]",
    "[ success = 1   default = ignore ]", "[success=end default=ignore]", "[default=ignore success=1]",
    "[success=0 default=ignore]", "perhaps"]

libpam = ctypes.CDLL("libpam.so.0")


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


class Conversation(ctypes.Structure):
    _fields_ = [("ask", CALLBACK), ("data", ctypes.c_void_p)]


libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p


@CALLBACK
def answer(count, _messages, responses, _data):
    responses[0] = libc.calloc(count, 16)
    return 0


def libpam_says(files):
    """The result of `auth` of the service `main`."""
    with tempfile.TemporaryDirectory(prefix="appvault-pam-") as folder:
        for name, text in files.items():
            # libpam looks for included files in /etc/pam.d, whatever the folder of the service is.
            whole = re.sub(r"((?:@include|\binclude|\bsubstack)[ \t]+)(\w+)", rf"\1{folder}/\2", text)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(whole)
        handle = ctypes.c_void_p()
        conversation = Conversation(answer, None)
        started = libpam.pam_start_confdir(
            b"main", b"nobody", ctypes.byref(conversation), folder.encode(), ctypes.byref(handle))
        if started != 0:
            return "start"
        result = libpam.pam_authenticate(handle, 0)
        libpam.pam_end(handle, result)
        return RESULTS[result]


def line(chance, kind="auth"):
    said = chance.choice(SAID)
    module = chance.choice(["pam_debug.so"] * 9 + ["pam_appvault_is_not_here.so"])
    return f"{chance.choice(['', '', '', '-'])}{kind}\t{chance.choice(CONTROLS)}\t{module} auth={said}"


def text(chance, fragments, most):
    lines = []
    for _ in range(chance.randint(1, most)):
        kind = chance.random()
        if kind < 0.10 and fragments:
            lines.append(f"@include {chance.choice(fragments)}")
        elif kind < 0.18 and fragments:
            lines.append(f"auth include {chance.choice(fragments)}")
        elif kind < 0.38 and fragments:
            lines.append(f"auth substack {chance.choice(fragments)}")
        elif kind < 0.42:
            lines.append("account required pam_permit.so")
        elif kind < 0.45:
            lines.append("# auth required pam_deny.so")
        elif kind < 0.48:
            lines.append(line(chance).replace("\t", "  \\\n   ", 1))
        elif kind < 0.51:
            lines.append(line(chance) + " # required pam_deny.so")
        else:
            lines.append(line(chance))
    return "\n".join(lines) + "\n"


def stacks(count, seed):
    chance = random.Random(seed)
    for _ in range(count):
        yield {
            "main": text(chance, ["one", "two"] * 6 + ["missing"], 6),
            "one": text(chance, ["two"], 4),
            "two": text(chance, [], 3),
            "other": "auth required pam_deny.so\n",
        }


def write():
    with open(VECTORS, "w", encoding="utf-8") as out:
        out.write(
            "# Stacks, and what libpam returned for `auth` of the service main: `== NAME` begins a file,"
            " `=> RESULT` ends a\n"
            "# stack. pam_debug.so says what its argument says."
            " Written by Tests/Integration/doctor/stacks.py --write.\n")
        for files in stacks(300, 5):
            for name, content in files.items():
                if name != "other":
                    out.write(f"== {name}\n{content}")
            out.write(f"=> {libpam_says(files)}\n")


def vectors():
    files, name = {}, None
    with open(VECTORS, encoding="utf-8") as file:
        for row in file:
            if row.startswith("== "):
                name = row[3:].strip()
                files[name] = ""
            elif row.startswith("=> "):
                files["other"] = "auth required pam_deny.so\n"
                yield files, row[3:].strip()
                files, name = {}, None
            elif name is not None:
                files[name] += row


class Stacks(unittest.TestCase):
    def test_the_vectors_are_what_this_libpam_says(self):
        count = 0
        for files, expected in vectors():
            count += 1
            self.assertEqual(libpam_says(files), expected, files)
        self.assertEqual(count, 300)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
