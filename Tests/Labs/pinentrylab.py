"""A pinentry that a test writes: it keeps what it was told, and answers as the test says.

    pinentry = Pinentry(folder)
    pinentry.answers("wrong", "right")             # one dialog each: an answer, or a step below
    lab.run("unlock", env=pinentry.environment)
    pinentry.dialogs[0].desc                       # what the first one showed
"""

import json
import os
import sys
import time

PROGRAM = '''#!{python}
import json, os, signal, sys, time
folder = {folder!r}
number = 0
while True:
    try:
        os.mkdir(os.path.join(folder, f"dialog{{number}}"))
        break
    except FileExistsError:
        number += 1
steps = json.load(open(os.path.join(folder, "steps")))
step = steps[number] if number < len(steps) else ["cancel"]
own = os.path.join(folder, f"dialog{{number}}")

def say(text):
    os.write(1, text if isinstance(text, bytes) else text.encode())

def note(name, value):
    with open(os.path.join(own, name + ".new"), "w") as file:
        json.dump(value, file)
    os.rename(os.path.join(own, name + ".new"), os.path.join(own, name))

note("start", dict(pid=os.getpid(), arguments=sys.argv[1:], environment=dict(os.environ), parent=os.getppid(),
                   open=sorted(os.listdir("/proc/self/fd"))))
if step[0] == "stubborn":
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
if step[0] == "mute":
    time.sleep(600)
if step[0] == "raw":
    say(step[1].encode("latin-1"))
    time.sleep(0 if step[2:] else 600)
    sys.exit(0)
say("OK Pleased to meet you\\n")
told = []
for line in sys.stdin:
    line = line.rstrip("\\n")
    told.append(line)
    if not line.startswith(("GETPIN", "CONFIRM")):
        say("OK\\n")
        continue
    note("told", told)
    if step[0] == "answer":
        say(b"D " + step[1].encode("latin-1") + b"\\nOK\\n")
    elif step[0] == "ok":
        say("OK\\n")
    elif step[0] == "cancel":
        say("S BUTTON_INFO close\\nERR 83886179 Operation cancelled <Pinentry>\\n")
    elif step[0] == "error":
        say(f"ERR {{step[1]}} no\\n")
    elif step[0] == "die":
        sys.exit(1)
    elif step[0] == "flood":
        while True:
            say("D " + "x" * 900 + "\\n")
    elif step[0] == "line":
        while True:
            say("x" * 4096)
    elif step[0] in ("wait", "stubborn"):
        while not os.path.exists(os.path.join(own, "go")):
            time.sleep(0.02)
        say("D " + json.load(open(os.path.join(own, "go"))) + "\\nOK\\n")
    break
time.sleep(600)
'''


class Shown:
    """One dialog: what it was told, by the words of Assuan in small letters."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "start")) as file:
            start = json.load(file)
        self.pid, self.parent, self.environment = start["pid"], start["parent"], start["environment"]
        self.arguments, self.open = start["arguments"], start["open"]
        try:
            with open(os.path.join(folder, "told")) as file:
                self.told = json.load(file)
        except FileNotFoundError:
            self.told = []

    def _text(self, word):
        for line in self.told:
            if line.startswith(word + " "):
                return line[len(word) + 1:].replace("%0A", "\n").replace("%25", "%")
        return None

    title = property(lambda self: self._text("SETTITLE"))
    desc = property(lambda self: self._text("SETDESC"))
    error = property(lambda self: self._text("SETERROR"))
    prompt = property(lambda self: self._text("SETPROMPT"))
    ok = property(lambda self: self._text("SETOK"))
    cancel = property(lambda self: self._text("SETCANCEL"))
    last = property(lambda self: self.told[-1] if self.told else None)

    def go(self, answer):
        """Lets a dialog that waits give its answer."""
        with open(os.path.join(self.folder, "go.new"), "w") as file:
            json.dump(answer, file)
        os.rename(os.path.join(self.folder, "go.new"), os.path.join(self.folder, "go"))

    @property
    def lives(self):
        try:
            with open(f"/proc/{self.pid}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return False


class Pinentry:
    def __init__(self, folder):
        self.folder = os.path.join(folder, "pinentry-log")
        os.mkdir(self.folder, 0o700)
        self.path = os.path.join(folder, "pinentry")
        with open(self.path, "w") as file:
            file.write(PROGRAM.format(python=sys.executable, folder=self.folder))
        os.chmod(self.path, 0o755)
        self.answers()
        self.environment = {"DISPLAY": ":99", "APPVAULT_PINENTRY": self.path, "XDG_RUNTIME_DIR": folder}

    def answers(self, *steps):
        """For the dialogs in their order; one that is not named is cancelled."""
        steps = [["answer", step] if isinstance(step, str) else list(step) for step in steps]
        with open(os.path.join(self.folder, "steps"), "w") as file:
            json.dump(steps, file)

    @property
    def dialogs(self):
        """Those that have begun."""
        shown, number = [], 0
        while os.path.exists(os.path.join(self.folder, f"dialog{number}", "start")):
            shown.append(Shown(os.path.join(self.folder, f"dialog{number}")))
            number += 1
        return shown

    def wait(self, count=1, opened=True, seconds=20):
        """The dialog with this number, from 1, as soon as it is open."""
        end = time.monotonic() + seconds
        while True:
            dialogs = self.dialogs
            if len(dialogs) >= count and (dialogs[count - 1].told or not opened):
                return dialogs[count - 1]
            if time.monotonic() > end:
                raise AssertionError(f"no dialog {count}: {[dialog.told for dialog in dialogs]}")
            time.sleep(0.02)

    def kept(self):
        """Every byte that any of them was given or told, but for what the test itself makes them answer."""
        kept = b""
        for folder, _, files in os.walk(self.folder):
            for name in files:
                if name in ("start", "told"):
                    with open(os.path.join(folder, name), "rb") as file:
                        kept += file.read()
        return kept
