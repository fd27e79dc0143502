"""What "until the machine restarts" is said of survives the daemon: failed tokens, the refund and the key of the
hashes, in the runtime folder. Killed at every step, full, read-only, missing, wiped, and with whatever content."""

import contextlib
import glob
import os
import stat
import subprocess
import tempfile
import unittest
import uuid

import loginlab
import pamlab
import slotfile
from daemonlab import Daemon, answers, build, derivation_counter
from pamlab import PAM_SUCCESS
from slow import slow
from wayslab import LOGIN, PASSCODE, Machine

NEEDS_ROOT = True
TIMEOUT = 600
# A file that says only that the refund is spent.
SPENT = (True, [], [], [])
POLICY = "RetryLimit=9\nThrottleAfter=0\nOnRetryLimit=lock"


def boot():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return uuid.UUID(file.read().strip()).bytes


class Folder:
    """The daemon's runtime folder, as FORMAT.md has it."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.path = daemon.runtime

    @property
    def store(self):
        return os.path.basename(self.daemon.store())

    @property
    def file(self):
        return os.path.join(self.path, self.store)

    def read(self, path=None):
        with open(path or self.file, "rb") as file:
            return file.read()

    @property
    def key(self):
        return slotfile.token_key(self.read(os.path.join(self.path, "key")), boot())

    @property
    def known(self):
        return slotfile.tokens(self.read(), uuid.UUID(self.store).bytes, boot())

    def hash(self, token):
        return slotfile.token_hash(self.key, uuid.UUID(self.store).bytes, token.encode())

    @property
    def hashes(self):
        """All bytes in the folder that could be a hash."""
        return b"".join(self.read(path)[64:] for path in glob.glob(self.path + "/*") if os.path.basename(path) != "key")


class Case(unittest.TestCase):
    def machine(self, policy=POLICY, way="ownPasscode", **options):
        machine = Machine(policy, **{"runtime": True, **options})
        self.addCleanup(machine.close)
        return self.wired(machine, way)

    def wired(self, machine, way="ownPasscode"):
        machine.create(PASSCODE, way)
        # This module lets everybody in, whatever was typed at our prompt.
        machine.stack(
            "login", "auth [success=2 default=ignore] {ours} or_password", "auth [success=1 default=ignore] {lab}",
            "auth requisite pam_deny.so", "auth required pam_permit.so", "auth optional {ours} unlock")
        self.folder = Folder(machine.daemon)
        return machine

    def again(self, machine):
        machine.daemon.kill()
        machine.daemon.start()

    def token(self, machine, word):
        """Sends a token that another module brought: an apart try. Returns how many derivations
        it took."""
        return machine.derivations(
            lambda: machine.daemon.authenticate(None, word.encode(), tokenOnly=True))[0]

    def stranger(self, machine, word):
        """The same from a program of another person."""
        return loginlab.as_peer(lambda: self.token(machine, word), loginlab.manager(loginlab.OTHER))

    def guess(self, machine, word):
        """A login whose wrong passcode is confirmed with the same token. Returns what it added
        to own and apart, and its derivations."""
        before = machine.own, machine.apart
        derived, entered = machine.derivations(lambda: machine.enter(typed=[word]))
        self.assertEqual(entered.code, PAM_SUCCESS)
        return machine.own - before[0], machine.apart - before[1], derived

    def assertSpent(self, machine, word="the next one"):
        self.assertEqual(self.guess(machine, word), (0, 1, 1))

    def assertThere(self, machine, word="the next one"):
        self.assertEqual(self.guess(machine, word), (0, 0, 1))


class Kept(Case):
    def test_token(self):
        """a token that failed is refused by the next daemon too, without a derivation"""
        machine = self.machine()
        self.assertEqual(self.token(machine, LOGIN), 1)
        for _ in range(3):
            self.again(machine)
            self.assertEqual(self.token(machine, LOGIN), 0)
        self.assertEqual((machine.own, machine.apart), (0, 1))
        machine.daemon.restart()
        self.assertEqual(self.token(machine, LOGIN), 0)

    def test_refund(self):
        """the token that was given back is known to the next daemon, and no other one is given back"""
        machine = self.machine()
        self.assertEqual(self.guess(machine, LOGIN), (0, 0, 1))
        self.again(machine)
        self.assertEqual(self.guess(machine, LOGIN), (0, 0, 0))
        self.assertSpent(machine)
        self.again(machine)
        self.assertEqual(self.guess(machine, "the next one"), (0, 0, 0))

    def test_drift(self):
        """the next daemon knows that the login password has drifted away"""
        machine = self.machine(way="followLogin")
        machine.way_a()
        machine.enter(typed=[LOGIN])
        before = machine.daemon.status().trouble
        self.assertTrue(before)
        self.again(machine)
        self.assertEqual(machine.daemon.status().trouble, before)

    def test_file(self):
        """the files are as FORMAT.md says, and only the daemon can read them"""
        machine = self.machine()
        self.token(machine, "one")
        self.guess(machine, LOGIN)
        self.guess(machine, "two")
        self.assertEqual(
            self.folder.known, (self.folder.hash(LOGIN), [self.folder.hash("one")], [self.folder.hash("two")], []))
        self.assertEqual(sorted(os.listdir(self.folder.path)), sorted([self.folder.store, "key"]))
        for name in os.listdir(self.folder.path):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.folder.path, name)).st_mode), 0o600)

    def test_bounded(self):
        """however many tokens fail, the file has room for sixteen of each kind, and the first key stays"""
        machine = self.machine("RetryLimit=0\nThrottleAfter=0")
        self.guess(machine, LOGIN)
        key = self.folder.key
        for number in range(20):
            self.token(machine, f"token {number}")
            self.guess(machine, f"guess {number}")
        given, failed, confirmed, _ = self.folder.known
        self.assertEqual((given, len(failed), len(confirmed), self.folder.key), (self.folder.hash(LOGIN), 16, 16, key))
        self.again(machine)
        self.assertEqual(self.guess(machine, LOGIN)[2], 0)

    def test_strangers(self):
        """strangers' tokens do not push out the person's and reveal none of them, and survive the daemon as well"""
        machine = self.machine("RetryLimit=0\nThrottleAfter=0")
        stranger = lambda word: self.stranger(machine, word)
        self.assertEqual(self.token(machine, LOGIN), 1)
        self.assertEqual(stranger(LOGIN), 1, "a quick answer tells what the person has typed")
        for number in range(20):
            self.assertEqual(stranger(f"guess {number}"), 1)
        self.assertEqual((self.folder.known[1], len(self.folder.known[3])), ([self.folder.hash(LOGIN)], 16))
        self.again(machine)
        self.assertEqual([self.token(machine, LOGIN), stranger("guess 19"), stranger("guess 0")], [0, 0, 1])
        # A token that a stranger has tried is as wrong when the person types it, and stays known to
        # the person.
        self.assertEqual(self.token(machine, "guess 19"), 0)
        self.assertEqual(self.folder.known[1], [self.folder.hash(LOGIN), self.folder.hash("guess 19")])
        self.assertEqual((machine.own, machine.apart), (0, 1))

    def test_private_daemon(self):
        """a private daemon without a runtime folder forgets when it ends, and writes nothing"""
        machine = self.machine(runtime=False)
        self.assertEqual(self.token(machine, LOGIN), 1)
        self.assertEqual(self.token(machine, LOGIN), 0)
        self.assertEqual(os.listdir(machine.daemon.runtime), [])
        self.again(machine)
        self.assertEqual(self.token(machine, LOGIN), 1)


class Forgotten(Case):
    def known(self, **options):
        machine = self.machine(**options)
        self.token(machine, "one")
        self.guess(machine, LOGIN)
        self.assertTrue(self.folder.hashes)
        return machine

    def test_new_passcode(self):
        """a new passcode makes the daemon forget the tokens, also in the folder, but not that the refund is spent"""
        machine = self.known()
        done = machine.appvault("passwd", passcodes=[PASSCODE, LOGIN])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.folder.known, SPENT)
        machine.lock()
        self.again(machine)
        self.assertTrue(machine.opens_with(LOGIN))
        self.assertEqual(self.token(machine, LOGIN), 1)
        machine.lock()
        self.assertSpent(machine)

    def test_cleared(self):
        """when root clears the tries, the tokens are forgotten"""
        machine = self.known()
        self.assertEqual(machine.daemon.ask("triesClear").name, "done")
        self.assertEqual(self.folder.known, SPENT)
        self.again(machine)
        self.assertEqual(self.token(machine, "one"), 1)

    def test_nothing_spent(self):
        """if nothing was given back, nothing is left"""
        machine = self.machine()
        self.token(machine, "one")
        machine.daemon.ask("triesClear")
        self.assertEqual(os.listdir(self.folder.path), ["key"])
        self.again(machine)
        self.assertThere(machine)

    def test_reset(self):
        """the file of a reset store is removed, also if the daemon was killed in between"""
        machine = self.known()
        gone = self.folder.file
        kept = self.folder.read()
        machine.daemon.ask("reset", answers(PASSCODE))
        self.assertFalse(os.path.exists(gone))
        machine.create(PASSCODE)
        with open(gone, "wb") as file:
            file.write(kept)
        self.again(machine)
        self.assertFalse(os.path.exists(gone))
        self.assertThere(machine)

    def test_erased(self):
        """an erased store has no hashes left"""
        machine = self.machine("RetryLimit=3\nThrottleAfter=0")
        self.token(machine, "one")
        self.guess(machine, LOGIN)
        for number in range(3):
            machine.daemon.authenticate(f"guess {number}")
        self.assertEqual(machine.daemon.status().lock, "erased")
        self.assertEqual(self.folder.known, SPENT)


class Untrusted(Case):
    def spoilt(self, spoil):
        """A store whose file has this content when the daemon starts."""
        machine = self.machine()
        self.token(machine, "one")
        self.guess(machine, LOGIN)
        machine.daemon.kill()
        spoil(self.folder.file)
        machine.daemon.start()
        return machine

    @slow
    def test_content(self):
        """a file that cannot be read is thrown away, nobody is kept out, and the refund counts as spent"""

        def write(data):
            def spoil(path):
                with open(path, "wb") as file:
                    file.write(data(self.folder.read(path)) if callable(data) else data)

            return spoil

        def instead(make):
            def spoil(path):
                os.unlink(path)
                make(path)

            return spoil

        cases = {
            "empty": write(b""),
            "one byte": write(b"A"),
            "cut in a hash": write(lambda data: data[:-1]),
            "cut after the header": write(lambda data: data[:64]),
            "cut in the header": write(lambda data: data[:63]),
            "too long": write(lambda data: data + bytes(32)),
            "a mebibyte": write(bytes(1 << 20)),
            "random": write(os.urandom(144)),
            "a refund of no kind": write(lambda data: data[:6] + b"\x03" + data[7:]),
            "more than it holds": write(lambda data: data[:7] + b"\xff\xff" + data[9:]),
            "not zero": write(lambda data: data[:9] + b"\x01" + data[10:]),
            "another version": write(lambda data: data[:4] + b"\x02" + data[5:]),
            "another store's": write(lambda data: data[:32] + bytes(16) + data[48:]),
            "a link": instead(lambda path: os.symlink("/etc/passwd", path)),
            "a pipe": instead(os.mkfifo),
            "a hole of a tebibyte": instead(lambda path: subprocess.run(["truncate", "-s", "1T", path], check=True)),
        }
        for name, spoil in cases.items():
            with self.subTest(name):
                machine = self.spoilt(spoil)
                self.assertEqual(self.folder.known, SPENT, machine.daemon.log())
                self.assertEqual(self.token(machine, "one"), 1)
                self.assertSpent(machine)
                self.assertEqual(machine.enter(typed=[PASSCODE]).code, PAM_SUCCESS)
                self.assertTrue(machine.is_open)
                machine.close()

    def test_folder_in_place_of_a_file(self):
        """a folder with a store's name can be neither read nor replaced: nothing is given back"""
        machine = self.spoilt(lambda path: (os.unlink(path), os.mkdir(path)))
        self.assertSpent(machine)
        self.assertTrue(machine.opens_with(PASSCODE))

    def test_other_boot(self):
        """a file of another boot means nothing: the refund is available again, and no token is known"""
        def earlier(path):
            for name, at in ((path, 16), (os.path.dirname(path) + "/key", 8)):
                with open(name, "r+b") as file:
                    file.seek(at)
                    file.write(bytes(range(16)))

        machine = self.spoilt(earlier)
        self.assertFalse(os.path.exists(self.folder.file))
        self.assertEqual(self.token(machine, "one"), 1)
        self.assertThere(machine)

    def test_key(self):
        """without their key the hashes are worthless: all are removed, and what was spent stays spent"""
        for spoil in (os.unlink, lambda path: os.truncate(path, 55), lambda path: (os.unlink(path), os.mkdir(path))):
            machine = self.spoilt(lambda path, spoil=spoil: spoil(os.path.join(os.path.dirname(path), "key")))
            self.assertEqual(self.folder.known, SPENT)
            self.assertEqual(self.token(machine, "one"), 1)
            self.assertSpent(machine)
            machine.close()

    def test_leftovers(self):
        """files that a kill left half written are removed; files that are not the daemon's stay"""
        def leave(path):
            for name in (path + ".new", os.path.dirname(path) + "/key.new", os.path.dirname(path) + "/notes"):
                with open(name, "wb") as file:
                    file.write(b"left")

        self.spoilt(leave)
        self.assertEqual(sorted(os.listdir(self.folder.path)), sorted([self.folder.store, "key", "notes"]))


class Unusable(Case):
    SAID = "failed tokens cannot be kept"

    def without(self, spoil):
        """A daemon whose folder is in this state from the start."""
        machine = self.machine()
        self.token(machine, "one")
        machine.daemon.kill()
        spoil(machine.daemon.runtime)
        machine.daemon.start()
        return machine

    def works(self, machine):
        """Nothing is given back, everything else works as before, and the journal says so once."""
        self.assertEqual(self.guess(machine, LOGIN), (0, 1, 1))
        self.assertEqual(self.guess(machine, LOGIN), (0, 0, 0))
        self.assertSpent(machine)
        self.assertEqual(machine.enter(typed=[PASSCODE]).code, PAM_SUCCESS)
        self.assertTrue(machine.is_open)
        self.assertEqual(machine.daemon.log().count(self.SAID), 1)

    def test_missing(self):
        """a missing folder is not made"""
        machine = self.without(lambda path: subprocess.run(["rm", "-r", path], check=True))
        self.works(machine)
        self.assertFalse(os.path.exists(machine.daemon.runtime))

    def test_not_private(self):
        """a folder that others may look into, that belongs to another user, or that is a link, is not used"""
        def link(path):
            os.rename(path, path + "s")
            os.symlink(path + "s", path)

        for spoil in (lambda path: os.chmod(path, 0o755), lambda path: os.chown(path, 1, 1), link):
            machine = self.without(spoil)
            files = sorted(glob.glob(machine.daemon.runtime + "/*"))
            before = [self.folder.read(path) for path in files]
            self.works(machine)
            self.assertEqual([self.folder.read(path) for path in files], before)
            machine.close()

    def mounted(self, size="256k"):
        machine = Machine(POLICY, runtime=True, start=False)
        self.addCleanup(machine.close)
        path = machine.daemon.runtime
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", path], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", path], check=False)
        machine.daemon.start()
        return self.wired(machine)

    def fill(self, machine):
        with open(os.path.join(machine.daemon.runtime, "filler"), "ab", buffering=0) as file:
            size = 1 << 16
            while size:
                try:
                    if file.write(b"x" * size) < size:
                        size //= 2
                except OSError:
                    size //= 2

    def make_room(self, machine):
        os.unlink(os.path.join(machine.daemon.runtime, "filler"))

    def test_full_from_the_start(self):
        """on a full folder the login goes on, and nothing is given back; with room, the next daemon gives back"""
        machine = self.mounted()
        self.fill(machine)
        self.works(machine)
        self.make_room(machine)
        machine.lock()
        self.again(machine)
        self.assertThere(machine, "with room again")

    def test_full_later(self):
        """a folder that fills up loses nothing that it had, and a new passcode is not taken for a former token"""
        machine = self.mounted()
        self.token(machine, LOGIN)
        self.guess(machine, "given back")
        self.fill(machine)
        self.assertEqual(self.token(machine, LOGIN), 0)
        self.assertSpent(machine, "a guess")
        self.again(machine)
        self.assertEqual((self.token(machine, LOGIN), self.guess(machine, "given back")), (0, (0, 0, 0)))
        done = machine.appvault("passwd", passcodes=[PASSCODE, LOGIN])
        self.assertEqual(done.returncode, 0, done.stderr)
        machine.lock()
        self.again(machine)
        self.assertEqual(self.token(machine, LOGIN), 1)
        self.assertTrue(machine.is_open)
        machine.lock()
        self.assertSpent(machine, "after it")

    def test_read_only(self):
        """on a folder that has become read-only the login goes on, and nothing is given back"""
        machine = self.mounted()
        done = subprocess.run(["mount", "-o", "remount,ro", machine.daemon.runtime], capture_output=True)
        if done.returncode != 0:
            self.skipTest("it cannot be made read-only here")
        self.works(machine)


class Hibernation(Case):
    def forget(self, machine):
        return subprocess.run(
            [build("appvaultd"), "--forget-tokens", "--runtime-dir", machine.daemon.runtime],
            capture_output=True, text=True, check=False)

    def known(self):
        machine = self.machine()
        self.token(machine, "one")
        self.guess(machine, LOGIN)
        return machine

    def assertWiped(self, machine):
        self.assertEqual(os.listdir(self.folder.path), [self.folder.store])
        self.assertEqual(self.folder.known, SPENT)

    def test_no_daemon(self):
        """--forget-tokens leaves only what is spent, and overwrites what it removes"""
        machine = self.known()
        machine.daemon.stop()
        with open(self.folder.file, "rb") as file, open(self.folder.path + "/key", "rb") as key:
            self.assertEqual(self.forget(machine).returncode, 0)
            self.assertEqual(set(file.read()[64:] + key.read()), {0})
        self.assertWiped(machine)
        machine.daemon.start()
        self.assertEqual(self.token(machine, "one"), 1)
        self.assertSpent(machine)

    def test_beside_a_daemon(self):
        """a daemon that began before the folder was wiped forgets with it, and draws another key"""
        machine = self.known()
        key = self.folder.key
        self.assertEqual(self.forget(machine).returncode, 0)
        self.assertWiped(machine)
        self.assertEqual(self.token(machine, "one"), 1)
        self.assertNotEqual(self.folder.key, key)
        self.assertEqual(self.folder.known, (True, [self.folder.hash("one")], [], []))
        self.assertSpent(machine)

    def test_between_try_and_confirmation(self):
        """a login that waits for its confirmation during that gets nothing back"""
        machine = self.machine()
        with machine.login(typed=[LOGIN]) as login:
            login.authenticate()
            self.assertEqual(self.forget(machine).returncode, 0)
            login.setcred()
        self.assertEqual((machine.own + machine.apart), 1)
        self.assertEqual(self.folder.hashes, b"")

    def test_links(self):
        """it follows no link, and removes nothing that is not the daemon's"""
        machine = self.known()
        machine.daemon.stop()
        precious = os.path.join(machine.daemon.folder, "precious")
        with open(precious, "wb") as file:
            file.write(b"precious")
        os.unlink(self.folder.file)
        for name in ("key", "key.new", self.folder.store, str(uuid.uuid4()), "notes"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder.path, name))
            os.symlink(precious, os.path.join(self.folder.path, name))
        self.forget(machine)
        with open(precious, "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.assertIn("notes", os.listdir(self.folder.path))
        self.assertFalse(os.path.lexists(os.path.join(self.folder.path, "key")))

    def test_nothing(self):
        """where nothing was remembered it reports no error; where it cannot look it does"""
        machine = self.machine()
        self.assertEqual(self.forget(machine).returncode, 0)
        os.chmod(machine.daemon.runtime, 0o755)
        self.assertEqual(self.forget(machine).returncode, 1)
        subprocess.run(["rm", "-r", machine.daemon.runtime], check=True)
        self.assertEqual(self.forget(machine).returncode, 0)


class Killed(Case):
    """Killed before each write, rename and removal: of the slots file and of the folder."""

    def run_killed(self, act, check):
        """Runs `act` on a store, killed at step after step until it comes to its end. Returns
        the number of steps."""
        for step in range(60):
            steps = os.path.join(self.make_folder(), "steps")
            killer = pamlab.compiled("killsteps.c", "killsteps.so", "-shared", "-fPIC", "-ldl")
            machine = self.machine(env={"LD_PRELOAD": f"{derivation_counter()}:{killer}", "KILL_STEPS": steps})
            try:
                with open(steps, "w") as file:
                    file.write(f"{step} \n")
                with contextlib.suppress(OSError, AssertionError):
                    act(machine)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(steps)
                try:
                    done = machine.daemon.status() is not None
                except (OSError, AssertionError):
                    done = False
                if not done:
                    machine.daemon.process.wait(10)
                    machine.daemon.start()
                check(machine, done)
            finally:
                machine.close()
            if done:
                return step
        self.fail("it does not come to its end")

    def make_folder(self):
        folder = tempfile.TemporaryDirectory(prefix="appvault-steps-")
        self.addCleanup(folder.cleanup)
        return folder.name

    @slow
    def test_token(self):
        """killed anywhere in a try with a token, the person's or a stranger's: it is counted before it is looked at,
        and one that is counted as wrong is known to the next daemon"""
        for whose, make in (("apart", self.token), ("stranger", self.stranger)):
            def check(machine, done):
                tries = getattr(machine.daemon.tally(), whose)
                self.assertLessEqual(tries.count, 1)
                self.assertEqual(machine.own + machine.apart + machine.stranger, tries.count)
                derived = machine.daemon.derivations() - before[-1]
                self.assertGreaterEqual(tries.count, derived, "looked at, and not counted")
                known = make(machine, LOGIN) == 0
                if tries.wrong == 1:
                    self.assertTrue(known)
                if known:
                    self.assertEqual(tries.count, 1, "known, and nothing counted")

            def act(machine):
                before.append(machine.daemon.derivations())
                make(machine, LOGIN)

            with self.subTest(whose):
                before = []
                self.assertGreater(self.run_killed(act, check), 5)

    @slow
    def test_refund(self):
        """killed anywhere in a login that gets its try back: never are two tokens given back"""
        def check(machine, done):
            counted, derived = machine.own + machine.apart, machine.daemon.derivations() - before[-1]
            self.assertLessEqual(counted, 1)
            own, apart, again = self.guess(machine, "another")
            self.assertEqual(again, 1)
            self.assertGreaterEqual(counted + own + apart, derived, "two guesses, and nothing counted")
            self.guess(machine, "a second")
            self.assertEqual(self.guess(machine, "a third")[:2], (0, 1))

        before = []

        def act(machine):
            before.append(machine.daemon.derivations())
            machine.enter(typed=[LOGIN])

        steps = self.run_killed(act, check)
        self.assertGreater(steps, 8)

    @slow
    def test_new_passcode(self):
        """killed anywhere in a change of passcode to what was a failed token: the store opens, nothing comes back"""
        def act(machine):
            steps = machine.daemon.environment()["KILL_STEPS"]
            os.rename(steps, steps + ".aside")
            self.token(machine, LOGIN)
            self.guess(machine, "given back")
            self.guess(machine, LOGIN)
            os.rename(steps + ".aside", steps)
            machine.appvault("passwd", passcodes=[PASSCODE, LOGIN])

        def check(machine, done):
            machine.lock()
            new = machine.opens_with(LOGIN)
            self.assertNotEqual(new, machine.opens_with(PASSCODE))
            if new:
                # Neither our prompt nor a token gets the quick answer that it is known to be wrong.
                self.assertEqual(machine.enter(typed=[LOGIN]).code, PAM_SUCCESS)
                self.assertTrue(machine.is_open)
                machine.lock()
                self.assertEqual(self.token(machine, LOGIN), 1)
            machine.lock()
            self.assertEqual(self.guess(machine, "the next one")[:2], (0, 1))

        self.run_killed(act, check)


class Idle(unittest.TestCase):
    def activated(self, *options):
        daemon = Daemon(POLICY, socket_activated=True, options=["--deadline", "idle=1", *options], start=False)
        self.addCleanup(daemon.close)
        return daemon

    def fail_with(self, daemon):
        before = daemon.derivations()
        daemon.authenticate(None, b"a token", tokenOnly=True)
        return daemon.derivations() - before

    def test_leaves(self):
        """a daemon that remembers failed tokens ends if nothing is lost by it, and the next one knows them"""
        daemon = self.activated("--stopped-before-hibernation")
        with daemon.awake():
            daemon.create()
            daemon.lock()
            self.assertEqual(self.fail_with(daemon), 1)
        self.assertEqual(daemon.process.wait(60), 0)
        with daemon.awake():
            self.assertEqual(self.fail_with(daemon), 0)

    @slow
    def test_stays(self):
        """it stays if it has to wipe them itself before a hibernation, or could not keep them"""
        for options, spoil in (((), False), (("--stopped-before-hibernation",), True)):
            daemon = self.activated(*options)
            with daemon.awake():
                daemon.create()
                daemon.lock()
            if spoil:
                os.chmod(daemon.runtime, 0o755)
            daemon.end()
            with daemon.awake():
                self.assertEqual(self.fail_with(daemon), 1)
            with self.assertRaises(subprocess.TimeoutExpired):
                daemon.process.wait(3)


if __name__ == "__main__":
    unittest.main()
