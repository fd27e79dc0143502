"""Applications that are locked with their store, on a booted machine: systemd freezes, thaws and ends them."""

import json
import os
import re
import time

import packages
from installed import COUNTING, Seated

NEEDS_ROOT = True
AGENT = "org.appvault.Agent1"
TIMEOUT = 900
APPS = """
[App asks]
Require=passcode
[App quits]
OnLock=quit
[App leaves]
LockOnBackground=immediate
"""
# A process tree: children, a session of its own, and one whose parents have gone.
TREE = """
import os, time
def burn():
    while True:
        pass
for number in range(99):
    if os.fork() == 0:
        if number % 3 == 1:
            os.setsid()
        if number % 3 == 2 and os.fork():
            os._exit(0)
        time.sleep(100000) if number else burn()
print("ready", flush=True)
time.sleep(100000)
"""


class Apps(Seated):
    POLICY = COUNTING + "LockGrace=0\n" + APPS
    BIND = {**packages.BIND, os.path.join(packages.ROOT, "Tools"): "/srv/Tools"}

    def setUp(self):
        self.alice = self.with_store(self.person())
        self.shell = self.login(self.alice).ready()
        self.addCleanup(self.leave)
        self.uid = int(self.machine.check(f"id -u {self.alice.name}"))
        self.until_state(self.alice, "unlocked")

    def leave(self):
        self.machine.run(f"loginctl terminate-user {self.alice.name}")

    # what it does

    def unlocks(self):
        self.machine.check("appvault unlock --passcode-fd 3 3<&0", user=self.alice.name, stdin=self.alice.password)
        self.until_state(self.alice, "unlocked")

    def locks(self):
        self.machine.check("appvault lock", user=self.alice.name)

    def starts(self, command, options=""):
        """In the background of the person's own shell."""
        self.shell(f"(appvault run {options} -- {command} > out 2>&1 &)")
        self.until(self.groups)

    def groups(self, kind="*"):
        """The control groups of applications that run."""
        pattern = f"/sys/fs/cgroup/user.slice/user-{self.uid}.slice/user@{self.uid}.service/app.slice"
        found = self.machine.run(f"ls -d {pattern}/app-appvault-{kind}.scope 2>/dev/null")[1]
        return found.split()

    def is_frozen(self, group):
        return "frozen 1" in self.machine.run(f"cat {group}/cgroup.events")[1]

    def until_frozen(self, group, frozen=True):
        try:
            self.until(lambda: self.is_frozen(group) == frozen, 60)
        except AssertionError:
            journal = self.machine.run(f"journalctl -b --no-pager -n 60 _UID={self.uid}")[1]
            self.fail(f"frozen: not {frozen}\n{journal}")

    def used(self, group):
        text = self.machine.check(f"cat {group}/cpu.stat")
        return int(re.search(r"usage_usec (\d+)", text).group(1))

    # tests

    def test_as_without_us(self):
        """the exit status, the signals, the terminal and its size are the command's own"""
        for command, status in (
                ("true", 0), ("sh -c 'exit 7'", 7), ("sh -c 'kill -9 $$'", 137), ("/nowhere", 127), ("/etc", 126)):
            code, shown = self.shell(f"appvault run -- {command}")
            self.assertEqual(code, status, shown)
        self.shell("stty rows 33 cols 77")
        self.assertIn("33 77", self.shell("appvault run -- stty size")[1])
        # Ctrl-C reaches the command, Ctrl-Z stops it, and fg lets it go on. Short sleeps: a signal between the echo and
        # the fork is handled when the next command has ended.
        terminal = self.shell.terminal
        command = "trap \"echo got it; exit 5\" INT; echo begun; while true; do sleep 0.1; done"
        terminal.send(f"appvault run -- sh -c '{command}'; echo =$?=")
        terminal.expect("begun\n")
        terminal.key("C")
        terminal.expect("got it")
        terminal.expect("=5=")
        self.shell.ready()
        terminal.send("appvault run -- sh -c 'echo begun; line=$(head -n 1); echo was $line; exit 6'")
        terminal.expect("begun\n")
        terminal.key("Z")
        terminal.expect("Stopped")
        self.shell.ready()
        terminal.send("fg; echo =$?=")
        terminal.expect("exit 6'\n")
        terminal.send("an otter")
        terminal.expect("was an otter")
        terminal.expect("=6=")
        self.shell.ready()

    def test_frozen(self):
        """a hundred processes, with sessions of their own and without parents, freeze when the store is locked, use no
        processor, and go on with the store"""
        self.machine.write("/tmp/tree.py", TREE)
        self.starts("python3 /tmp/tree.py", "--app tree")
        (group,) = self.groups()
        self.until(lambda: len(self.machine.run(f"cat {group}/cgroup.procs")[1].split()) == 100)
        # Within one process, so that only the lock is timed: from its answer to the last frozen process.
        took = self.machine.check(
            "python3 - <<'END'\n"
            "import os, subprocess, time\n"
            f"events = '{group}/cgroup.events'\n"
            f"subprocess.run(['runuser', '-u', '{self.alice.name}', '--', 'appvault', 'lock'], check=True,"
            " stdout=subprocess.DEVNULL)\n"
            "began = time.monotonic()\n"
            "while 'frozen 1' not in open(events).read():\n"
            "    assert time.monotonic() - began < 60\n"
            "print(round((time.monotonic() - began) * 1000, 1))\nEND")
        print(f"frozen {took.strip()} ms after `lock` had answered", flush=True)
        before = self.used(group)
        time.sleep(1)
        self.assertEqual(self.used(group), before)
        self.assertEqual(len(self.machine.run(f"cat {group}/cgroup.procs")[1].split()), 100)
        self.unlocks()
        self.until_frozen(group, False)
        self.until(lambda: self.used(group) > before)

    def test_screen(self):
        """with the screen, by way of the store"""
        self.starts("sleep 1000")
        (group,) = self.groups()
        session = self.sits_down(self.alice)
        self.unlocks()
        self.until_frozen(group, False)
        self.hint(session, True)
        self.until_frozen(group)
        self.hint(session, False)
        self.assertTrue(self.is_frozen(group))
        self.unlocks()
        self.until_frozen(group, False)

    def test_background(self):
        """a store that stays open behind the screen, and an application that does not"""
        self.policy(COUNTING + "LockGrace=0\nLockOnBackground=never\n" + APPS)
        self.addCleanup(self.policy, self.POLICY)
        session = self.sits_down(self.alice)
        self.starts("sleep 1000", "--app leaves")
        (group,) = self.groups()
        self.hint(session, True)
        self.until_frozen(group)
        self.assertEqual(self.state(self.alice), "unlocked")
        self.hint(session, False)
        self.until_frozen(group, False)

    def test_demand(self):
        """one that demands the passcode asks although the store is open, stays frozen when it opens again, and goes on
        after `app open` or a second start"""
        terminal = self.shell.terminal
        terminal.send("appvault run --app asks -- sleep 1000 &")
        self.shell.ready()
        terminal.send("fg")
        terminal.expect("asscode")
        terminal.send(self.alice.password)
        self.until(lambda: self.groups("asks-*"))
        terminal.key("Z")
        terminal.expect("Stopped")
        self.shell.ready()
        terminal.send("bg")
        self.shell.ready()
        (group,) = self.groups("asks-*")
        for again in ("appvault app open asks", "appvault run --app asks -- sleep 1000"):
            self.locks()
            self.until_frozen(group)
            self.unlocks()
            self.assertTrue(self.is_frozen(group))
            # What was shown for another store, or less than is demanded, does not count.
            for shown in ("asks other 3", "asks default 2", "other default 3"):
                call = f"busctl --user call {AGENT} /org/appvault/Agent1 {AGENT} GoOn ssu {shown}"
                self.assertIn("u 0", self.shell(call)[1])
            self.assertTrue(self.is_frozen(group))
            terminal.send(again)
            terminal.expect("asscode")
            terminal.send(self.alice.password)
            terminal.expect("asks goes on where it was")
            self.shell.ready()
            self.until_frozen(group, False)
        self.assertEqual(self.groups("asks-*"), [group])

    def test_ends_meanwhile(self):
        """one that ends while it is being locked leaves nothing: no scope, and no file"""
        folder = f"/run/user/{self.uid}/appvault/apps"
        for pause in (0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3):
            self.starts("sleep 1000", "--app short")
            (group,) = self.groups("short-*")
            lock = f"runuser -u {self.alice.name} -- appvault lock"
            self.machine.check(f"{lock} & sleep {pause}; kill -KILL $(cat {group}/cgroup.procs); wait")
            self.until(lambda: not self.groups())
            self.until(lambda: not self.machine.run(f"ls {folder}")[1])
            self.unlocks()

    def test_without_systemd(self):
        """a scope to which systemd gives no order any more is frozen all the same, and goes on"""
        self.starts("sh -c 'trap : TERM; while true; do sleep 0.1; done'", "--app stopping")
        (group,) = self.groups("stopping-*")
        scope = os.path.basename(group)
        # Asked to stop, and it does not: until the SIGKILL of systemd's, after a minute and a half.
        self.shell(f"systemctl --user stop --no-block {scope}")
        self.until(lambda: "deactivating" in self.shell(f"systemctl --user is-active {scope}")[1])
        self.assertNotEqual(self.shell(f"systemctl --user freeze {scope}")[0], 0)
        self.locks()
        self.until_frozen(group)
        self.unlocks()
        self.until_frozen(group, False)
        self.machine.check(f"echo 1 >{group}/cgroup.kill")
        self.until(lambda: not self.groups())

    def test_quit_and_stay(self):
        """one that is ended instead, and one that nothing happens to"""
        self.starts("sleep 1000", "--app quits")
        self.shell("(appvault run --on-lock stay -- sleep 1001 &)")
        code, shown = self.shell("appvault run --app quits --on-lock stay -- true")
        self.assertEqual(code, 1)
        self.assertIn("the policy says", shown)
        self.locks()
        self.until(lambda: not self.groups("quits-*"))
        self.assertEqual(self.machine.run("pgrep -f 'sleep 1001'")[0], 0)
        self.machine.run("pkill -f 'sleep 1001'")

    def test_secrets(self):
        """a record as a file that exists only in memory, and one in a variable"""
        self.machine.check("appvault set token", user=self.alice.name, stdin="s3cret")
        code, shown = self.shell(
            "appvault run --file A=token --env B=token -- sh -c 'cat $A; echo; cat $A; echo; echo $B;"
            " echo $APPVAULT_CREDENTIALS; echo x > $A; readlink $A; ls /proc/self/fd'")
        self.assertEqual(shown.count("s3cret"), 3, shown)
        self.assertRegex(shown, r"A=/dev/fd/\d+")
        self.assertIn("memfd:appvault", shown)
        self.assertEqual(code, 0)
        code, shown = self.shell("appvault run --file A=nothing -- echo started")
        self.assertEqual(code, 3, shown)
        self.assertNotIn("started\n", shown.replace("echo started", ""))

    def test_what_it_does_not_stop(self):
        """as SECURITY.md says, not the person's other programs: they start the command themselves, leave by systemd, or
        let it go on"""
        self.starts("sh -c 'systemd-run --user --quiet sleep 2001; exec sleep 2002'")
        (group,) = self.groups()
        self.until(lambda: self.machine.run("pgrep -f '^[^ ]*sleep 2001'")[0] == 0)
        self.locks()
        self.until_frozen(group)
        inside = self.machine.check(f"cat {group}/cgroup.procs").split()
        self.assertEqual([self.machine.check(f"cat /proc/{pid}/comm").strip() for pid in inside], ["sleep"])
        left = self.machine.check("pgrep -f '^[^ ]*sleep 2001'").strip()
        self.assertNotIn(left, inside)
        self.assertEqual(self.shell("sleep 0")[0], 0)
        self.shell(f"systemctl --user thaw {os.path.basename(group)}")
        self.until_frozen(group, False)

    def test_agent_dies(self):
        """the agent is killed while an application is frozen: the next one knows of it"""
        self.starts("sleep 1000")
        (group,) = self.groups()
        self.locks()
        self.until_frozen(group)
        self.machine.check(f"pkill -KILL -u {self.alice.name} appvault-agent")
        self.until(lambda: self.machine.run(f"pgrep -u {self.alice.name} appvault-agent")[0] == 0)
        self.assertTrue(self.is_frozen(group))
        self.unlocks()
        self.until_frozen(group, False)
        # Also one that was locked while no agent was there.
        self.machine.check(f"pkill -KILL -u {self.alice.name} appvault-agent")
        self.locks()
        self.until_frozen(group)

    def test_agent_dies_halfway(self):
        """the agent is killed after it has written what it is about to do: the next one does it"""
        self.starts("sleep 1000")
        (group,) = self.groups()
        agent = f"-u {self.alice.name} appvault-agent"
        self.machine.check(f"pkill -STOP {agent}")
        self.locks()
        record = f"/run/user/{self.uid}/appvault/apps/{os.path.basename(group)}"
        self.machine.check(f"sed -i s/locked=0/locked=1/ {record} && grep -q locked=1 {record} && pkill -KILL {agent}")
        self.until_frozen(group)
        self.unlocks()
        self.until_frozen(group, False)

    def test_daemon_dies(self):
        """the daemon is killed: its stores are locked, and so are the applications"""
        self.starts("sleep 1000")
        (group,) = self.groups()
        self.machine.check("systemctl kill --kill-whom=main --signal=KILL appvaultd.service")
        self.until_frozen(group)
        self.unlocks()
        self.until_frozen(group, False)

    def test_logout(self):
        """at the last logout they end, also what was frozen, and get their SIGTERM"""
        self.starts("sh -c 'trap \"echo asked > ended; exit\" TERM; while true; do sleep 0.1; done'", "--app ending")
        (group,) = self.groups()
        self.locks()
        self.until_frozen(group)
        self.leave()
        self.until(lambda: not self.groups(), 60)
        home = self.machine.check(f"getent passwd {self.alice.name}").split(":")[5]
        self.until(lambda: self.machine.run(f"cat {home}/ended")[1].strip() == "asked", 30)

    def test_refused(self):
        """without a session bus, or without systemd of the person's own, it says so and starts nothing"""
        code, shown = self.shell("env -u XDG_RUNTIME_DIR appvault run -- echo started")
        self.assertEqual(code, 5)
        self.assertIn("cannot be locked", shown)
        code, shown = self.shell(
            "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere XDG_RUNTIME_DIR=/tmp appvault run -- echo started")
        self.assertEqual(code, 5, shown)
        self.assertIn("cannot be locked", shown)
        self.assertNotIn("started\n", shown.replace("echo started", ""))

    def test_demo(self):
        """the demo shows an application that is frozen and goes on, and leaves nothing behind"""
        self.machine.check("mkdir -p /srv/build && ln -sf /usr/libexec/appvault/* /usr/bin/appvault /srv/build/ &&"
                           " ln -sf $(find /usr/lib -name pam_appvault.so | head -n 1) /srv/build/")
        code, shown = self.shell("APPVAULT_BUILD=/srv/build /srv/Tools/demo > demo; sed 's/ *[0-9.]* m*s$//' demo", 90)
        self.assertEqual(code, 0)
        self.assertRegex(shown, r"All \d+ steps as they should be")
        for step in ("it runs", "frozen", "it goes on"):
            self.assertIn(f"    ok  {step}\n", shown)
        self.assertEqual(self.groups(), [])
        self.assertEqual(self.machine.run(f"ls /run/user/{self.uid}/appvault/apps")[1], "")

    def test_listed(self):
        """`app list` shows what runs, and what is locked now"""
        self.starts("sleep 1000")
        (group,) = self.groups()

        def listed():
            found = json.loads(self.machine.check(
                f"runuser -l {self.alice.name} -c 'XDG_RUNTIME_DIR=/run/user/{self.uid} appvault app list --json'"))
            return [(app["id"], app["locked"]) for app in found["running"]]

        self.assertEqual(listed(), [("sleep", False)])
        self.locks()
        self.until_frozen(group)
        self.until(lambda: listed() == [("sleep", True)])
        self.unlocks()
        self.until_frozen(group, False)
        self.machine.check(f"kill $(cat {group}/cgroup.procs)")
        self.until(lambda: listed() == [])
