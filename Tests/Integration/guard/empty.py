"""Every PAM service of Debian 12, as its package ships it and with our profiles, and an account
whose login password is empty: pam_unix lets everybody in, whatever they typed at our prompt. At
each service the guesses end where the policy says, and the login goes on as it does without
AppVault.

The auth lines are those of the packages login, util-linux (su), sudo, openssh-server, lightdm,
sddm, gdm3, greetd, polkitd, swaylock, i3lock and xscreensaver, with included files in place.
Modules that decide nothing are left out: pam_gnome_keyring, pam_kwallet5, pam_cap and pam_group
are optional and come after all others; pam_faildelay slows down what fails, and nothing fails
here. pkttyagent has no service of its own: polkit's helper asks for it, too.
"""

import collections
import os
import unittest

from daemonlab import change_accounts
from loginlab import OTHER, Logind
from pamlab import PAM_SUCCESS
from slow import slow
from wayslab import LOGIN, PASSCODE, Machine, account, in_child

NEEDS_ROOT = True
LIMIT = 5
ERASE = f"RetryLimit={LIMIT}\nThrottleAfter=0\nOnRetryLimit=erase\n"
TYPED = [f"guess {number}" for number in range(2 * LIMIT + 5)]

# What pam-auth-update makes of libpam-runtime's profile and of ours.
COMMON = (
    "auth [success=2 default=ignore] {ours} or_password",
    "auth [success=1 default=ignore] pam_unix.so nullok try_first_pass",
    "auth requisite pam_deny.so", "auth required pam_permit.so", "auth optional {ours} unlock",
)
# Whether the host has a nologin file must not matter.
NOT_NOW = "auth requisite pam_nologin.so file=/nonexistent"
NOT_ROOT = "auth required pam_succeed_if.so user != root quiet_success"
SU = ("auth sufficient pam_rootok.so", *COMMON)
AT_LOGIN = (NOT_NOW, *COMMON)
GREETER = (NOT_NOW, NOT_ROOT, *COMMON)
# A finger that matched stands for pam_fprintd: without one nobody is let in.
FINGER = (NOT_NOW, NOT_ROOT, "auth required {lab}")

# How many guesses a service allows, what then happened to the store, and the counts: own, apart,
# strangers'.
Bound = collections.namedtuple("Bound", "guesses lock counts", defaults=[None])
# One try is given back, so many move to the apart count, and so many stay.
OWN = Bound(2 * LIMIT + 1, "erased")
APART = Bound(LIMIT, "locked", (0, LIMIT, 0))
STRANGERS = Bound(LIMIT, "locked", (0, 0, LIMIT))
UNASKED = Bound(0, "locked", (0, 0, 0))

# Real, effective and saved uid; 1 stands for the person. Lockers have none of root's rights when
# they ask.
ROOT, PERSON, LOCKER, ANOTHER = (0, 0, 0), (1, 0, 0), (1, 1, 1), (OTHER, 0, 0)
HERE, REMOTE, THEIRS = dict(session="here"), dict(session="remote"), dict(session="others")
FAR, NAMED = dict(RHOST="192.0.2.7"), dict(RUSER="{name}")
LISTED = "PasscodeServices=LocalServices sshd\n"
# Whose process asks, where it is (a name is a unit's), PAM's items, additions to the policy, and
# whether another person is logged in.
Door = collections.namedtuple("Door", "service auth uids where bound items policy beside", defaults=({}, "", False))
DOORS = {
    "su": Door("su", SU, PERSON, HERE, OWN),
    "su of root": Door("su", SU, ROOT, HERE, UNASKED),
    "su of another person": Door("su", SU, ANOTHER, THEIRS, UNASKED, beside=True),
    "su -": Door("su-l", SU, PERSON, HERE, OWN),
    "sudo": Door("sudo", COMMON, PERSON, HERE, OWN, NAMED),
    "sudo -i": Door("sudo-i", COMMON, PERSON, HERE, OWN, NAMED),
    "sudo over ssh": Door("sudo", COMMON, PERSON, REMOTE, APART, NAMED),
    "login at a console": Door("login", AT_LOGIN, ROOT, {}, OWN),
    "login from afar": Door("login", AT_LOGIN, ROOT, {}, STRANGERS, FAR),
    "login at no console": Door("login", AT_LOGIN, ROOT, "some.service", STRANGERS),
    "sshd": Door("sshd", COMMON, ROOT, "ssh.service", UNASKED, FAR),
    "sshd where it is listed": Door("sshd", COMMON, ROOT, "ssh.service", STRANGERS, FAR, LISTED),
    "LightDM": Door("lightdm", AT_LOGIN, ROOT, "lightdm.service", OWN),
    "LightDM's greeter": Door("lightdm-greeter", ("auth required pam_permit.so",), ROOT, "lightdm.service", UNASKED),
    "SDDM": Door("sddm", GREETER, ROOT, "sddm.service", OWN),
    "GDM": Door("gdm-password", GREETER, ROOT, "gdm.service", OWN),
    "GDM beside another person": Door("gdm-password", GREETER, ROOT, "gdm.service", STRANGERS, beside=True),
    "GDM's finger": Door("gdm-fingerprint", FINGER, ROOT, "gdm.service", UNASKED),
    "greetd": Door("greetd", AT_LOGIN, ROOT, "greetd.service", OWN),
    "polkit": Door("polkit-1", COMMON, PERSON, HERE, OWN, NAMED),
    "polkit over ssh": Door("polkit-1", COMMON, PERSON, REMOTE, APART, NAMED),
    "polkit of another person": Door("polkit-1", COMMON, ANOTHER, THEIRS, UNASKED, NAMED, beside=True),
    "swaylock": Door("swaylock", AT_LOGIN, LOCKER, HERE, APART),
    "i3lock": Door("i3lock", AT_LOGIN, LOCKER, HERE, APART),
    "XScreenSaver": Door("xscreensaver", COMMON, LOCKER, HERE, APART),
}


class Doors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.logind = Logind(account()[1])
        cls.addClassCleanup(cls.logind.close)
        cls.addClassCleanup(change_accounts, "usermod", "--password", "!", account()[0])

    def machine(self, door, password=""):
        """A machine with that service, the same without AppVault, a store that is locked, and
        that login password."""
        self.logind.people()
        if not door.beside:
            self.logind.forget("others")
        machine = Machine(ERASE + door.policy, before=self.logind.before, env=self.logind.env)
        self.addCleanup(machine.close)
        machine.create(PASSCODE)
        if password:
            machine.change_password(password)
        else:
            change_accounts("usermod", "--password", "", machine.name)
        machine.stack("login", *AT_LOGIN)
        machine.stack(door.service, *door.auth)
        machine.stack("without", *(line for line in door.auth if "{ours}" not in line))
        return machine

    def stand(self, door):
        self.logind.set(**({"unit": door.where} if isinstance(door.where, str) else door.where))

    def enter(self, machine, door, answers, service=None):
        """A login with each of them, by the process that asks there. Returns how many
        derivations each took. All logins succeed."""
        self.stand(door)
        items = {key: value.replace("{name}", machine.name) for key, value in door.items.items()}
        # polkit's helper never calls setcred.
        confirm = door.service != "polkit-1"

        def once(answer):
            entered = machine.enter(service or door.service, [answer], confirm, **items)
            self.assertEqual(entered.code, PAM_SUCCESS, entered)

        def each():
            return [machine.derivations(lambda answer=answer: once(answer))[0] for answer in answers]

        return in_child(each, [machine.uid if uid == 1 else uid for uid in door.uids])

    def counts(self, machine):
        return machine.own, machine.apart, machine.stranger

    @slow
    def test_guesses(self):
        """guesses end at the bound of each service, empty answers among them change nothing, and every login
        succeeds"""
        for name, door in DOORS.items():
            with self.subTest(name):
                machine = self.machine(door)
                self.assertEqual(self.enter(machine, door, TYPED, "without"), [0] * len(TYPED))
                self.assertEqual(self.enter(machine, door, [""] * 3), [0] * 3)
                self.assertEqual(self.counts(machine), (0, 0, 0))
                derived = self.enter(machine, door, [answer for guess in TYPED for answer in (guess, "")])
                self.assertEqual(sum(derived[::2]), door.bound.guesses)
                self.assertEqual(derived[1::2], [0] * len(TYPED))
                self.assertEqual(machine.daemon.status().lock, door.bound.lock)
                if door.bound.lock == "locked":
                    self.assertEqual(self.counts(machine), door.bound.counts)
                    self.logind.set()
                    self.assertEqual(machine.enter("login", [PASSCODE]).code, PAM_SUCCESS)
                    self.assertTrue(machine.is_open, "the owner comes in at the machine")
                machine.close()

    @slow
    def test_login_password(self):
        """the right login password costs no try and erases nothing at any of them, however often it is typed"""
        for name, door in DOORS.items():
            with self.subTest(name):
                machine = self.machine(door, LOGIN)
                self.enter(machine, door, [LOGIN] * (LIMIT + 2))
                # A token that is not given back is remembered from then on.
                self.assertLessEqual(max(self.counts(machine)), 0 if door.bound is OWN else 1)
                self.assertEqual(machine.daemon.status().lock, "locked")
                machine.close()

    @slow
    def test_second_question(self):
        """a stranger's empty answer goes to pam_unix, which asks once more only where it does so without AppVault"""
        for name, door in DOORS.items():
            if door.bound is not STRANGERS:
                continue
            with self.subTest(name):
                machine = self.machine(door, LOGIN)
                self.stand(door)
                with_us, without = (
                    machine.enter(service, ["", LOGIN], **door.items) for service in (door.service, "without"))
                self.assertEqual((with_us.code, with_us.prompts), (without.code, without.prompts))
                machine.close()

    @slow
    def test_passcode(self):
        """after some guesses the right passcode opens the store at the same service, wherever that asks for it"""
        for name, door in DOORS.items():
            with self.subTest(name):
                machine = self.machine(door)
                self.enter(machine, door, TYPED[:3])
                isAsked = door.bound is not UNASKED
                self.assertEqual(self.enter(machine, door, [PASSCODE]), [int(isAsked)])
                self.assertEqual((machine.is_open, self.counts(machine)), (isAsked, (0, 0, 0)))
                machine.close()


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("an account without a password, and processes of other uids, need root")
    try:
        import dbus  # noqa: F401
        import dbusmock  # noqa: F401
    except ImportError as error:
        raise unittest.SkipTest(f"{error}: make deps") from error


if __name__ == "__main__":
    unittest.main()
