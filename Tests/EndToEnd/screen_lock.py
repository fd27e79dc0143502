"""People leave their screens on a booted machine, and its own logind says so: what becomes of their stores."""

import json
import re

from installed import COUNTING, Seated

NEEDS_ROOT = True
TIMEOUT = 600
POLICY = "/usr/share/dbus-1/system.d/org.appvault.conf"
BUS = "org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus"
# Signals to one connection that say what logind's say: so many, or without an end. A machine has no other way to send
# many, but it has libsystemd.
FLOOD = """
import ctypes, sys

destination, path, count = sys.argv[1].encode(), sys.argv[2].encode(), int(sys.argv[3])
systemd, bus, signal = ctypes.CDLL("libsystemd.so.0"), ctypes.c_void_p(), ctypes.c_void_p()
assert systemd.sd_bus_open_system(ctypes.byref(bus)) >= 0
sent = 0
while sent != count:
    systemd.sd_bus_message_new_signal(
        bus, ctypes.byref(signal), path, b"org.freedesktop.DBus.Properties", b"PropertiesChanged")
    systemd.sd_bus_message_set_destination(signal, destination)
    systemd.sd_bus_message_append(
        signal, b"sa{sv}as", b"org.freedesktop.login1.Session", 1, b"LockedHint", b"b", 1, 0)
    assert systemd.sd_bus_send(bus, signal, None) >= 0
    systemd.sd_bus_message_unref(signal)
    sent += 1
    if sent % 100 == 0:
        assert systemd.sd_bus_flush(bus) >= 0
        while systemd.sd_bus_process(bus, None) > 0:
            pass
"""
# Several at once reach a daemon faster than it reads.
PEERS, SIGNALS = 2, 40_000


class Screens(Seated):
    POLICY = COUNTING + "LockGrace=0\n"

    def setUp(self):
        self.alice = self.with_store(self.person())
        self.session = self.sits_down(self.alice)

    def unlocks(self, person):
        """The person proves who they are; no session begins by that."""
        self.machine.check("appvault unlock --passcode-fd 3 3<&0", user=person.name, stdin=person.password + "\n")
        self.assertEqual(self.state(person), "unlocked")

    def test_locked_and_unlocked(self):
        """the locker says that the screen is locked, and that it is not; told by loginctl, it says nothing"""
        self.unlocks(self.alice)
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        self.hint(self.session, False)
        self.assertEqual(self.state(self.alice), "locked")
        self.hint(self.session, True)
        self.unlocks(self.alice)
        self.hint(self.session, False)
        self.assertEqual(self.state(self.alice), "unlocked")
        self.machine.check(f"loginctl lock-session {self.session}")
        self.until_state(self.alice, "locked")

    def test_silent_locker(self):
        """a locker that tells nobody, run by `appvault screen` from a program of the person's user manager"""
        self.unlocks(self.alice)
        self.machine.check(
            f"systemd-run --quiet --collect --unit=locker --uid={self.alice.name} -p PAMName=systemd-user"
            " appvault screen -- sh -c 'until test -e /run/unlocked; do sleep 0.1; done'")
        self.addCleanup(self.machine.run, "systemctl stop locker; rm -f /run/unlocked")
        self.until_state(self.alice, "locked")
        self.unlocks(self.alice)
        # The locker ends by itself.
        self.machine.check("touch /run/unlocked")
        hint = f"loginctl show-session -P LockedHint {self.session}"
        self.until(lambda: self.machine.run(hint)[1].strip() == "no")
        self.assertEqual(self.state(self.alice), "unlocked")

    def test_another_person(self):
        """another person's session comes in front, and the first one's again"""
        self.unlocks(self.alice)
        bob = self.with_store(self.person())
        other = self.sits_down(bob)
        self.until_state(self.alice, "locked")
        self.unlocks(bob)
        self.machine.check(f"loginctl activate {self.session}")
        self.until_state(bob, "locked")
        self.assertEqual(self.state(self.alice), "locked")
        self.machine.check(f"loginctl activate {other}")

    def test_logind_restarts(self):
        """logind forgets over a restart which screens are locked, and nothing opens by that"""
        self.unlocks(self.alice)
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        self.machine.check("systemctl restart systemd-logind.service")
        self.assertEqual(self.state(self.alice), "locked")
        self.unlocks(self.alice)
        # The next lock is heard.
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")

    def test_signals_of_strangers(self):
        """the bus hands the daemon none but logind's and its own: a lock is heard among many, and they cost the daemon
        nothing; without the bus's policy it reads each of them, and believes none"""
        self.machine.write("/srv/flood.py", FLOOD)
        self.unlocks(self.alice)
        quiet = self.heard()
        refused, price = self.refused(), self.price()
        self.assertGreaterEqual(self.refused() - refused, 1)
        self.floods("flood", -1)
        flooded = [self.heard() for _ in range(3)]
        self.assertEqual(self.machine.run("systemctl is-active flood1")[1], "active\n")
        self.stops("flood")
        self.machine.check(f"mv {POLICY} /srv/")
        self.addCleanup(self.machine.run, f"mv /srv/{POLICY.split('/')[-1]} {POLICY}; busctl call {BUS} ReloadConfig")
        self.machine.check(f"busctl call {BUS} ReloadConfig")
        # The connection is the same one.
        refused, without = self.refused(), self.price()
        self.assertEqual(self.refused(), refused)
        print(f"a lock is heard after {quiet} ms, and among signals after {flooded} ms; {PEERS * SIGNALS} signals take"
              f" {price:.0f} ms of the daemon's time, and {without:.0f} ms without the policy")
        self.assertLess(price, without / 10)

    def heard(self):
        """Locks the screen and says after how many milliseconds the store was locked; opens it again."""
        call = self.hints(self.session)
        began = int(self.machine.check(f"date +%s%N; {call} true").split()[0]) // 1000
        self.until_state(self.alice, "locked")
        said = "journalctl -b -q -u appvaultd -o json --output-fields=_SOURCE_REALTIME_TIMESTAMP,MESSAGE"
        found = []

        def comes():
            found[:] = [
                int(line["_SOURCE_REALTIME_TIMESTAMP"])
                for line in map(json.loads, self.machine.check(f"{said} -n 20").splitlines())
                if line["MESSAGE"] == "a store was locked: the screen was locked"]
            return found and found[-1] > began

        self.until(comes)
        self.machine.check(f"{call} false")
        self.unlocks(self.alice)
        return (found[-1] - began) // 1000

    def price(self):
        """How many milliseconds of the processor the daemon takes while so many signals are sent to it."""
        before = self.machine.check("systemctl show -P CPUUsageNSec appvaultd.service")
        self.floods("few", SIGNALS)
        self.until(lambda: self.machine.run("systemctl is-active 'few*'")[0] != 0)
        # What logind says now comes after all of them.
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        after = self.machine.check("systemctl show -P CPUUsageNSec appvaultd.service")
        self.hint(self.session, False)
        self.unlocks(self.alice)
        return (int(after) - int(before)) / 1e6

    def refused(self):
        return int(self.machine.run("journalctl -b -q -u dbus -o cat | grep -c '^.system. Rejected receive'")[1])

    def floods(self, name, count):
        """Another person's programs send the daemon signals."""
        pid = self.machine.check("systemctl show -P MainPID appvaultd.service").strip()
        (peer,) = [line.split()[0] for line in self.machine.check("busctl --no-legend list").splitlines()
                   if line.split()[1] == pid]
        for number in range(1, PEERS + 1):
            self.machine.check(
                f"systemd-run --quiet --collect --unit={name}{number} --uid=carol"
                f" python3 /srv/flood.py {peer} {self.path(self.session)} {count}")
        self.addCleanup(self.stops, name)

    def stops(self, name):
        self.machine.run(f"systemctl stop '{name}*'")

    def test_ended(self):
        """the session with the screen is ended, or killed"""
        for how in ("terminate-session", "kill-session --signal=KILL"):
            with self.subTest(how):
                session = self.sits_down(self.alice)
                self.unlocks(self.alice)
                self.machine.check(f"loginctl {how} {session}")
                self.machine.run(f"loginctl terminate-session {self.session}")
                self.until_state(self.alice, "locked")

    def test_it_says_why(self):
        """the journal has one line for each lock"""
        self.unlocks(self.alice)
        self.hint(self.session, True)
        self.until_state(self.alice, "locked")
        self.until(lambda: re.search(
            "a store was locked: the screen was locked",
            self.machine.run("journalctl -b -u appvaultd -o cat --no-pager")[1]))
