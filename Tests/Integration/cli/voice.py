"""How the tool speaks: exit statuses, colours, and what is asked before something is lost."""

import json
import subprocess
import unittest

import wire
from clilab import END_OF_FILE, INTERRUPT, Lab

MISSING, LOCKED, UNAVAILABLE, DAMAGED, CANCELLED, USAGE = 3, 4, 5, 6, 130, 2
STATUS = {
    "doesNotExist": MISSING, "deleted": MISSING, "locked": LOCKED, "storeDamaged": DAMAGED, "cancelled": CANCELLED,
    "invalidArgument": USAGE, "serviceUnavailable": UNAVAILABLE, "outOfMemory": UNAVAILABLE, "busy": UNAVAILABLE,
    "protocolError": UNAVAILABLE, "storageFailed": UNAVAILABLE,
}


class Voice(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def test_every_code_has_its_exit_status_and_words(self):
        for name, code in wire.CODES.items():
            self.lab.answer("lock", lambda daemon, request, code=code: daemon.refuse(code))
            result = self.lab.run("lock")
            self.assertEqual(result.status, STATUS.get(name, 1), name)
            self.assertTrue(result.err.startswith(b"appvault: "), result.err)
            told = json.loads(self.lab.run("lock", "--json").out)
            self.assertEqual((told["code"], told["name"]), (code, name[0].upper() + name[1:]))
            self.assertTrue(told["message"])

    def test_a_code_of_a_newer_daemon_is_a_refusal_that_keeps_its_number(self):
        self.lab.answer("lock", lambda daemon, request: daemon.refuse(999, "locked by your administrator"))
        result = self.lab.run("lock", "--json")
        told = json.loads(result.out)
        self.assertEqual((result.status, told["code"], told["name"]), (1, 999, "Unknown"))

    def test_colours_are_for_terminals_and_can_be_turned_off(self):
        self.lab.answer("lock", lambda daemon, request: daemon.refuse(6))
        for environment, coloured in [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False),
                                      ({"NO_COLOR": ""}, True)]:
            with self.lab.terminal("lock", env=environment) as screen:
                self.assertEqual(screen.end(), 4)
                self.assertEqual(b"\x1b[31mappvault:\x1b[0m" in screen.seen, coloured, environment)
                self.assertEqual(b"\x1b" in screen.seen, coloured, environment)
        self.assertNotIn(b"\x1b", self.lab.run("lock").err)

    def test_a_long_line_is_broken_between_words_on_a_terminal_only(self):
        long = (
            "the rule company could not be checked, so no new passcode is accepted: "
            "the service that checks the rules is not running")
        self.lab.answer("lock", lambda daemon, request: daemon.refuse(22, long, "an " + "x" * 90))
        with self.lab.terminal("lock", env={"NO_COLOR": "1"}) as screen:
            self.assertEqual(screen.end(), 1)
            self.assertEqual(
                screen.seen.decode(),
                "appvault: the rule company could not be checked, so no new passcode is accepted:\r\n"
                "the service that checks the rules is not running\r\n"
                "hint: an\r\n" + "x" * 90 + "\r\n")
        self.assertIn(b"appvault: " + long.encode() + b"\n", self.lab.run("lock").err)

    def test_help_goes_to_standard_output_and_nothing_at_all_is_a_usage_error(self):
        for arguments in [["help"], ["--help"], ["-h"]]:
            result = self.lab.run(*arguments)
            self.assertEqual((result.status, result.err), (0, b""))
            self.assertIn(b"recovery new", result.out)
        bare = subprocess.run([self.lab.command()[0]], capture_output=True)
        self.assertEqual((bare.returncode, bare.stdout), (2, b""))
        self.assertEqual(bare.stderr, self.lab.run("help").out)

    def test_version_works_with_and_without_a_daemon(self):
        self.assertRegex(self.lab.run("version").out, rb"^appvault [0-9.]+\nappvaultd a test\n$")
        self.assertRegex(self.lab.run("--version", "--socket=/nonexistent").out, rb"^$|^appvault [0-9.]+\n$")
        told = json.loads(self.lab.run("version", "--json").out)
        self.assertEqual((told["appvaultd"], told["protocol"]), ("a test", 1))


class Status(unittest.TestCase):
    STORE = bytes(range(16))

    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)

    finish = Voice.finish

    def show(self, **fields):
        self.lab.answer("status", lambda daemon, request: daemon.reply("state", **fields))
        return self.lab.run("status")

    def test_an_open_store(self):
        result = self.show(
            lock="unlocked", passcode="passcode", followsLogin=True, hasRecoveryKey=True, store=self.STORE,
            owner=("alice", 1000), ownTriesLeft=7, apartTriesLeft=3, records=12, sessions=1)
        self.assertEqual(result.status, 0)
        self.assertEqual(result.err, b"")
        self.assertEqual(
            result.out.decode(),
            "store      default of alice\n"
            "state      open\n"
            "opens with the login password\n"
            "finger     not in use\n"
            "tries      7 left at this machine, 3 left from elsewhere\n"
            "recovery   a recovery key exists\n"
            "records    12\n"
            "sessions   1\n"
            "rules      the next login shows whether the login password meets them\n"
            "id         00010203-0405-0607-0809-0a0b0c0d0e0f\n")

    def test_age_expiry_idle_time_and_what_is_due(self):
        import time

        result = self.show(
            lock="locked", passcode="passcodeAndFingerprint", ownTriesLeft=-1, apartTriesLeft=-1, store=self.STORE,
            passcodeSetAt=int(time.time()) - 3 * 86400 - 60, expiresAt=4102444800, idleTimeout=900,
            pending=[6, 3], pendingReason="policy", meetsRules="no", followsLogin=True)
        lines = dict(line.split(maxsplit=1) for line in result.out.decode().splitlines())
        self.assertEqual(lines["finger"], "a fingerprint opens it as well")
        self.assertTrue(lines["set"].endswith("(3 days ago)"), lines)
        self.assertRegex(lines["expires"], r"^20(99|00)|^2100")
        self.assertEqual(lines["locks"], "after 15 min without a request")
        self.assertEqual(lines["rules"], "the login password does not meet them")
        self.assertEqual(
            lines["due"],
            "the fingerprints are removed; then a new passcode has to be chosen: the rules have changed")
        self.assertEqual(result.err, b"hint: `appvault unlock` leads you through what is due\n")
        result = self.show(
            lock="locked", passcode="passcode", ownTriesLeft=-1, apartTriesLeft=-1, expiresAt=1000000000, pending=[3],
            pendingReason="expired")
        self.assertIn(b"expires    2001-", result.out)
        self.assertIn(b"due        a new passcode has to be chosen: the passcode has expired\n", result.out)

    def test_what_all_stores_take(self):
        result = self.show(lock="locked", passcode="passcode", used=(12 << 20) + 1, quota=256 << 20)
        self.assertIn(b"space      13 MiB of 256 MiB, all stores together\n", result.out)
        result = self.show(lock="unlocked", passcode="passcode", used=200_000, quota=0)
        self.assertIn(b"space      196 KiB, all stores together\n", result.out)
        told = json.loads(self.lab.run("status", "--json").out)
        self.assertEqual((told["used"], told["quota"]), (200_000, 0))

    def test_what_can_be_done_is_a_hint(self):
        self.assertEqual(self.show(lock="absent").err, b"hint: `appvault create` makes one\n")
        self.assertEqual(
            self.show(lock="locked", passcode="passcode", ownTriesLeft=-1, apartTriesLeft=-1).err,
            b"hint: `appvault unlock` opens it\n")
        result = self.show(lock="damaged", trouble="the head does not fit", advice="restore a backup")
        self.assertIn(b"trouble    the head does not fit\n", result.out)
        self.assertEqual(result.err, b"hint: restore a backup\n")

    def test_json_holds_every_field(self):
        self.lab.answer(
            "status",
            lambda daemon, request: daemon.reply(
                "state", lock="retryLocked", passcode="passcode", store=self.STORE, owner=("alice", 1000),
                ownTriesLeft=0, apartTriesLeft=-1, throttledSeconds=900, expiresAt=4102444800, idleTimeout=60,
                pending=[3], pendingReason="recovery", meetsRules="yes", recoveryOffer=True))
        told = json.loads(self.lab.run("status", "--json").out)
        self.assertEqual(
            (told["state"], told["ownTriesLeft"], told["apartTriesLeft"], told["throttledSeconds"], told["uid"]),
            ("retry-locked", 0, -1, 900, 1000))
        self.assertEqual(
            (told["expiresAt"], told["idleTimeout"], told["pending"], told["pendingReason"], told["meetsRules"],
             told["recoveryOffer"]),
            (4102444800, 60, [{"number": 3, "name": "change"}], "recovery", True, True))
        self.lab.answer("status", lambda daemon, request: daemon.reply("state", lock="absent"))
        other = json.loads(self.lab.run("status", "--json").out)
        self.assertEqual((other["pending"], other["pendingReason"], other["meetsRules"]), ([], None, None))
        self.assertEqual(set(other), set(told))
        self.assertEqual(told["store"], "00010203-0405-0607-0809-0a0b0c0d0e0f")

    def test_what_is_printed_goes_nowhere_else(self):
        """where the caller has closed standard output, its number is not the connection's"""
        self.lab.answer("get", lambda daemon, request: daemon.reply("value", [b"\x01\0\0\0secret"]))
        for closed, status in ((">&-", 5), ("<&-", 0), ("2>&-", 0)):
            command = " ".join(self.lab.command("get", "name", closed))
            done = subprocess.run(
                ["bash", "-c", command], capture_output=True, timeout=30, env=self.lab.environment())
            self.assertEqual(done.returncode, status, done)
            if status == 0:
                self.assertEqual(done.stdout, b"\x01\0\0\0secret")
            else:
                self.assertIn(b"Bad file descriptor", done.stderr)


class Agreement(unittest.TestCase):
    VERBS = [
        ("reset", ["reset"]),
        ("passcode", ["passwd", "--off"]),
        ("triesClear", ["tries", "clear"]),
        ("chown", ["chown", "00010203-0405-0607-0809-0a0b0c0d0e0f", "root"]),
    ]

    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        for request, _ in self.VERBS:
            self.lab.answer(request, lambda daemon, request: daemon.done("it is done"))
        self.may_turn_off(True)

    finish = Voice.finish

    def may_turn_off(self, allowed):
        action = {"name": "turn-off-passcode", "allowed": allowed, "code": 0, "reason": "", "verb": ""}
        self.lab.answer("actions", lambda daemon, request: daemon.reply("actionList", actions=[action]))

    def sent(self):
        return [request for request in self.lab.requests if request.name != "actions"]

    def test_what_is_refused_anyway_is_refused_without_a_question(self):
        self.may_turn_off(False)
        self.lab.answer("passcode", lambda daemon, request: daemon.refuse(26, "not today"))
        with self.lab.terminal("passwd", "--off") as screen:
            self.assertEqual(screen.end(), 1)
            self.assertIn(b"not today", screen.seen)
            self.assertNotIn(b"type yes", screen.seen)

    def test_without_terminal_and_yes_nothing_is_sent(self):
        for _, arguments in self.VERBS:
            result = self.lab.run(*arguments, input=b"yes\n")
            self.assertEqual(result.status, 2, arguments)
            self.assertIn(b"hint: add --yes if you are sure", result.err)
        self.assertEqual(self.sent(), [])

    def test_yes_on_the_command_line_is_enough(self):
        for request, arguments in self.VERBS:
            self.assertEqual(self.lab.run(*arguments, "--yes").out, b"it is done\n")
            self.assertEqual(self.lab.requests.pop().name, request)

    def test_a_person_types_yes(self):
        for request, arguments in self.VERBS:
            asked, typed = "type yes to go on: ", "yes\n"
            if request == "reset":
                asked, typed = "type the store's name, default, to go on: ", "default\n"
            with self.lab.terminal(*arguments) as screen:
                screen.expect(asked)
                self.assertTrue(screen.echoes)
                screen.type(typed)
                self.assertEqual(screen.end(), 0)
                self.assertIn(b"it is done", screen.seen)

    def test_anything_else_changes_nothing(self):
        wrong = ["no\n", "y\n", "\n", "yes please\n", INTERRUPT, END_OF_FILE]
        for verb, typed in [("passwd --off", typed) for typed in wrong] + [
            ("reset", typed) for typed in [*wrong, "yes\n", "Default\n", "default2\n", "alice\n"]
        ]:
            with self.lab.terminal(*verb.split()) as screen:
                screen.expect("to go on: ")
                screen.type(typed)
                self.assertEqual(screen.end(), 130)
                self.assertTrue(screen.is_restored)
        self.assertEqual(self.sent(), [])

    def test_verbs_that_lose_nothing_do_not_ask(self):
        self.lab.answer("lock", lambda daemon, request: daemon.done("shut"))
        self.assertEqual(self.lab.run("lock").out, b"shut\n")


if __name__ == "__main__":
    unittest.main()
