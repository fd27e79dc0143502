"""Runs in the machine: ROUNDS NAME PASSWORD. Times su, sudo and login under each of the stacks
in /var/tmp/pam, in turns. Prints one line each: program, stack, the median, and the median of
how much longer it took than "without", in seconds."""

import os
import pty
import pwd
import shutil
import statistics
import sys
import time

ROUNDS, NAME, PASSWORD = int(sys.argv[1]), sys.argv[2], sys.argv[3]
STACKS = sorted(os.listdir("/var/tmp/pam"))
PROGRAMS = {
    "su": ("carol", ["su", NAME, "-c", "true"]),
    "sudo": (NAME, ["sudo", "-k", "true"]),
    "login": (None, ["login", NAME]),
}


def once(user, words):
    """The time until the prompt, and from the answer to the end; the time of the shell in
    between does not belong to the login."""
    began = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        if user is not None:
            account = pwd.getpwnam(user)
            os.initgroups(user, account.pw_gid)
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
        os.execvp(words[0], words)
    shown = b""
    while b"assword" not in shown or not shown.endswith(b": "):
        try:
            shown += os.read(terminal, 1024)
        except OSError:
            # util-linux's login hangs its terminal up and opens it anew.
            assert os.waitpid(pid, os.WNOHANG) == (0, 0), (words, shown)
            time.sleep(0.0002)
    os.write(terminal, PASSWORD.encode() + b"\n")
    try:
        while os.read(terminal, 1024):
            pass
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    took = time.monotonic() - began
    os.close(terminal)
    assert status == 0, (words, status, shown)
    return took


os.system(f"usermod --shell /bin/true {NAME} >/dev/null 2>&1")
times = {(program, stack): [] for program in PROGRAMS for stack in STACKS}
for number in range(ROUNDS + 1):
    for stack in STACKS:
        for file in os.listdir(f"/var/tmp/pam/{stack}"):
            shutil.copy(f"/var/tmp/pam/{stack}/{file}", "/etc/pam.d/")
        for program, (user, words) in PROGRAMS.items():
            took = once(user, words)
            if number > 0:
                times[program, stack].append(took)
for (program, stack), values in times.items():
    more = statistics.median(a - b for a, b in zip(values, times[program, "without"]))
    print(program, stack, statistics.median(values), more)
