"""The verbs about rules, texts and possible actions: each on a terminal, into a pipe, as JSON,
and used wrongly."""

import json
import os
import signal
import tempfile
import time
import unittest

from clilab import END_OF_FILE, INTERRUPT, Lab

STORE = bytes(range(16))
LONG = "login gdm-password lightdm sddm greetd sudo sudo-i su su-l polkit-1"
VALUES = [
    {"key": "MinLength", "value": "12", "file": "/etc/appvault/policy.conf", "line": 2, "actedOn": True},
    {"key": "LocalServices", "value": LONG, "file": "", "line": 0, "actedOn": True},
    {"key": "AllowFingerprint", "value": "yes", "file": "", "line": 0, "actedOn": False},
]
RULES = [{"name": "company", "display": "not the company's name", "kind": "reject",
          "file": "/etc/appvault/policy.conf", "line": 9}]
LIVE = {"NO_COLOR": "1"}


def judged(candidate, custom):
    """A daemon's judgement of a passcode of six characters with a digit, and one custom rule."""
    def entry(id, finding, wants, reason=""):
        return {"id": id, "finding": finding, "wants": wants, "reason": reason}

    text = candidate.decode("utf-8")
    met = lambda yes: "satisfied" if yes else "unmet"
    rule = met("company" not in text) if custom else "notChecked"
    return [
        entry("minLength", met(len(text) >= 6), "6 or more characters"),
        entry("rule.company", rule, "not the company's name", "" if custom else "asked on Enter"),
        entry("digit", met(any(c.isdigit() for c in text)), "at least one digit"),
        entry("history", "notChecked", "none of the last 5", "judged inside a change only"),
    ]


class Base(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.candidates = []
        self.lab.answer("policyCheck", self.check)
        self.addCleanup(self.finish)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def check(self, daemon, request):
        self.candidates.append((request.payload, request["custom"]))
        try:
            daemon.reply("checklist", entries=judged(request.payload, request["custom"]))
        except UnicodeDecodeError:
            daemon.refuse(4, "that is not text")

    def on_terminal(self, *arguments, **more):
        """Exit status and screen of a verb that asks no question."""
        with self.lab.terminal(*arguments, env={"NO_COLOR": "1", **more.pop("env", {})}, **more) as screen:
            status = screen.end()
            text = screen.seen.decode().replace("\r\n", "\n")
        self.assertTrue(all(len(line) <= 80 for line in text.split("\n")), text)
        return status, text


class Show(Base):
    def serve(self, **more):
        fields = {"mode": "administrators", "problem": "", "values": VALUES, "rules": RULES, **more}
        self.lab.answer("policyShow", lambda daemon, request: daemon.reply("policyValues", **fields))

    def test_a_terminal_gets_columns_with_the_place_of_each_value(self):
        self.serve()
        status, text = self.on_terminal("policy", "show")
        self.assertEqual(status, 0)
        self.assertEqual(
            text,
            "the administrator's policy\n\n"
            "MinLength               12          /etc/appvault/policy.conf:2\n"
            "LocalServices           login gdm-password lightdm sddm greetd sudo sudo-i su\n"
            "                        su-l polkit-1\n"
            "                        built in\n"
            "AllowFingerprint        yes         built in, not acted on yet\n\n"
            "rules of the administrator\n"
            "company                 not the company's name [reject]\n"
            "                        /etc/appvault/policy.conf:9\n")

    def test_a_broken_file_stands_on_top(self):
        self.serve(problem="/etc/appvault/policy.conf:3: MinLegth: not a key: perhaps MinLength")
        _, text = self.on_terminal("policy", "show")
        broken = "a policy file has an error; its last good version stays in force\n  /etc/appvault/policy.conf:3: "
        self.assertTrue(text.startswith(broken))
        out = self.lab.run("policy", "show").out.decode().split("\n")
        self.assertEqual(out[1], "# broken: /etc/appvault/policy.conf:3: MinLegth: not a key: perhaps MinLength")

    def test_a_pipe_gets_tabs(self):
        self.serve()
        self.assertEqual(
            self.lab.run("policy", "show").out.decode(),
            "# the administrator's policy\n"
            "MinLength\t12\t/etc/appvault/policy.conf:2\t\n"
            f"LocalServices\t{LONG}\tbuilt in\t\n"
            "AllowFingerprint\tyes\tbuilt in\tnot acted on yet\n"
            "rule.company\tnot the company's name\t/etc/appvault/policy.conf:9\treject\n")

    def test_the_modes_have_words_and_names(self):
        for mode, words, name in [
            ("administrators", "the administrator's policy", "administrators"),
            ("standard", "the default policy", "standard"),
            ("noPasscodeMode", "no passcodes: stores open without asking; this is not recommended", "no-passcode"),
        ]:
            self.serve(mode=mode)
            self.assertIn(f"# {words}\n", self.lab.run("policy", "show").out.decode())
            self.assertEqual(json.loads(self.lab.run("policy", "show", "--json").out)["mode"], name)

    def test_json_has_null_for_what_is_built_in(self):
        self.serve()
        told = json.loads(self.lab.run("policy", "show", "--json").out)
        self.assertIsNone(told["problem"])
        self.assertEqual(told["values"][0], VALUES[0])
        self.assertEqual((told["values"][1]["file"], told["values"][1]["line"]), (None, None))
        self.assertFalse(told["values"][2]["actedOn"])
        self.assertEqual(told["rules"], RULES)

    def test_person_and_store_reach_the_daemon(self):
        self.serve()
        self.assertEqual(self.lab.run("policy", "show", "--user", "root", "--store", "notes").status, 0)
        request = self.lab.requests[-1]
        self.assertEqual(request["store"], "notes")
        self.assertEqual(request["subject"][0], "root")

    def test_while_the_store_is_held_open(self):
        self.serve()
        self.lab.answer("status", lambda daemon, request: daemon.reply("state", heldUntil=1_800_000_000))
        self.assertIn("held open until 2027-01-15 08:00.", self.on_terminal("policy", "show", env={"TZ": "UTC"})[1])
        self.assertIn(b"# held until 1800000000\n", self.lab.run("policy", "show").out)
        self.assertEqual(json.loads(self.lab.run("policy", "show", "--json").out)["heldUntil"], 1_800_000_000)
        # Without a store there is nothing to hold.
        self.lab.answer("status", lambda daemon, request: daemon.refuse(2, "there is none"))
        self.assertNotIn("held", self.on_terminal("policy", "show")[1])
        self.assertEqual(json.loads(self.lab.run("policy", "show", "--json").out)["heldUntil"], 0)

    def test_a_file_name_cannot_steer_the_terminal(self):
        self.serve(values=[{**VALUES[0], "file": "/etc/\x1b[2Jx", "value": "\x1b]0;x\x07"}])
        _, text = self.on_terminal("policy", "show")
        self.assertNotIn("\x1b", text)
        self.assertNotIn(b"\x1b", self.lab.run("policy", "show").out)


class Check(Base):
    def test_a_line_of_a_pipe_is_the_candidate(self):
        for line in [b"abc123", b"abc123\n", b"abc123\nsecond\n"]:
            result = self.lab.run("policy", "check", input=line)
            self.assertEqual((result.status, result.err), (0, b""))
            self.assertEqual(self.candidates[-1], (b"abc123", True))
        self.assertEqual(
            result.out.decode(),
            "minLength\tmet\t6 or more characters\t\n"
            "rule.company\tmet\tnot the company's name\t\n"
            "digit\tmet\tat least one digit\t\n"
            "history\tnot checked\tnone of the last 5\tjudged inside a change only\n")

    def test_a_rule_that_is_not_met_is_exit_1(self):
        result = self.lab.run("policy", "check", "-", input=b"abcdef\n")
        self.assertEqual((result.status, result.err), (1, b""))
        self.assertIn(b"digit\tunmet\t", result.out)

    def test_json(self):
        result = self.lab.run("policy", "check", "--json", input=b"abc\n")
        told = json.loads(result.out)
        self.assertEqual(result.status, 1)
        self.assertFalse(told["met"])
        self.assertEqual([rule["finding"] for rule in told["rules"]], ["unmet", "met", "unmet", "not-checked"])
        self.assertTrue(json.loads(self.lab.run("policy", "check", "--json", input=b"abc123\n").out)["met"])

    def test_a_descriptor_works_as_for_every_passcode(self):
        self.assertEqual(self.lab.run("policy", "check", passcodes=[b"abc123"]).status, 0)

    def test_an_empty_line_is_a_candidate_and_nothing_is_none(self):
        self.assertEqual(self.lab.run("policy", "check", input=b"\n").status, 1)
        self.assertEqual(self.candidates, [(b"", True)])
        result = self.lab.run("policy", "check", input=b"")
        self.assertEqual(result.status, 2)
        self.assertIn(b"there is no candidate", result.err)

    def test_what_no_rule_could_look_at_is_not_met(self):
        self.lab.answer("policyCheck", lambda daemon, request: daemon.reply("checklist", entries=[
            {"id": id, "finding": "notChecked", "wants": id, "reason": "not UTF-8"} for id in ["minLength", "digit"]]))
        self.assertEqual(self.lab.run("policy", "check", input=b"\xff\n").status, 1)
        result = self.lab.run("policy", "check", "--json", input=b"\xff\n")
        self.assertEqual((result.status, json.loads(result.out)["met"]), (1, False))
        with self.lab.terminal("policy", "check", env={"TERM": "dumb"}) as screen:
            screen.expect(": ")
            screen.type(b"\xff\n")
            self.assertEqual(screen.end(), 1)
            self.assertIn(b"it cannot be a passcode: not UTF-8", screen.seen)

    def test_too_long_is_refused_and_not_cut(self):
        self.assertEqual(self.lab.run("policy", "check", input=b"a1" * 512).status, 0)
        result = self.lab.run("policy", "check", "--json", input=b"a1" * 512 + b"x")
        self.assertEqual(json.loads(result.out)["code"], 33)
        self.assertEqual(len(self.candidates), 1)

    def test_a_candidate_on_the_command_line_is_refused_unseen(self):
        result = self.lab.run("policy", "check", "hunter22")
        self.assertEqual(result.status, 2)
        self.assertNotIn(b"hunter22", result.err)
        self.assertEqual(self.candidates, [])

    def test_a_terminal_without_a_cursor_is_asked_once(self):
        with self.lab.terminal("policy", "check", env={"TERM": "dumb", "LC_ALL": "C"}) as screen:
            screen.expect("candidate (does not show): ")
            self.assertFalse(screen.echoes)
            screen.type("company1\n")
            self.assertEqual(screen.end(), 1)
            text = screen.seen.decode()
        self.assertIn("  ok 6 or more characters\r\n", text)
        self.assertIn("  no not the company's name\r\n", text)
        self.assertIn("  -- none of the last 5 (judged inside a change only)\r\n", text)
        self.assertIn("it does not meet one of the rules", text)
        self.assertNotIn("\x1b", text)


class Live(Base):
    def open(self, **env):
        screen = self.lab.terminal("policy", "check", env={**LIVE, **env})
        self.addCleanup(screen.__exit__)
        screen.expect("candidate: ")
        self.assertFalse(screen.echoes)
        return screen

    def test_the_list_follows_what_is_typed(self):
        screen = self.open()
        self.assertEqual(self.candidates, [(b"", False)])
        screen.type("abcdef")
        screen.expect("\u2713 6 or more characters")
        screen.expect("\u00b7 not the company's name (asked on Enter)")
        screen.expect("\u2717 at least one digit")
        screen.expect("candidate: " + "\u2022" * 6)
        screen.type("1")
        screen.expect("\u2713 at least one digit")
        screen.type("\x7f")
        screen.expect("\u2717 at least one digit")
        screen.type("2\n")
        screen.expect("\u2713 not the company's name")
        screen.expect("it meets the rules")
        self.assertEqual(screen.end(), 0)
        self.assertTrue(screen.is_restored)
        self.assertEqual(self.candidates[-1], (b"abcdef2", True))
        self.assertEqual([custom for _, custom in self.candidates[:-1]], [False] * (len(self.candidates) - 1))

    def test_before_the_first_key_nothing_is_met_and_nothing_unmet(self):
        screen = self.lab.terminal("policy", "check", env=LIVE)
        self.addCleanup(screen.__exit__)
        before = screen.expect("candidate: ")
        self.assertNotIn("\u2717".encode(), before)
        self.assertNotIn("\u2713".encode(), before)
        screen.type(INTERRUPT)
        self.assertEqual(screen.end(), 130)

    def test_what_is_typed_never_shows(self):
        screen = self.open()
        screen.type("geheim7")
        screen.expect("candidate: " + "\u2022" * 7)
        screen.type("\n")
        self.assertEqual(screen.end(), 0)
        self.assertNotIn(b"geheim", screen.seen)
        self.assertNotIn(b"h", screen.seen.replace(b"\x1b[", b"").split(b"candidate: ")[-1].split(b"\r\n")[0])

    def test_ascii_where_the_locale_has_no_more(self):
        screen = self.open(LC_ALL="C")
        screen.type("abcdef")
        screen.expect("ok 6 or more characters")
        screen.expect("no at least one digit")
        screen.expect("candidate: ******")
        screen.type(INTERRUPT)
        self.assertEqual(screen.end(), 130)
        screen.seen.decode("ascii")

    def test_ctrl_c_and_ctrl_d_leave_with_130_and_the_terminal_as_it_was(self):
        for keys in [INTERRUPT, END_OF_FILE, b"abc" + INTERRUPT, b"abc\x15" + END_OF_FILE]:
            screen = self.open()
            screen.type(keys)
            self.assertEqual(screen.end(), 130, keys)
            self.assertTrue(screen.is_restored, keys)
            self.assertIn(b"cancelled", screen.seen)

    def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(self):
        for number in [signal.SIGTERM, signal.SIGHUP]:
            screen = self.open()
            screen.signal(number)
            self.assertEqual(screen.end(), -number)
            self.assertTrue(screen.is_restored)

    def test_a_daemon_that_dies_leaves_the_terminal_as_it_was(self):
        screen = self.open()
        self.lab.answer("policyCheck", lambda daemon, request: daemon.channel.close())
        screen.type("a")
        self.assertEqual(screen.end(), 5)
        self.assertTrue(screen.is_restored)
        self.assertIn(b"closed the connection", screen.seen)

    def test_after_a_stop_it_begins_anew_in_quiet(self):
        import termios

        screen = self.open()
        screen.type("abc")
        screen.expect("candidate: \u2022\u2022\u2022")
        termios.tcsetattr(screen.slave, termios.TCSANOW, screen.before)
        screen.signal(signal.SIGSTOP)
        screen.signal(signal.SIGCONT)
        screen.expect("candidate: ")
        self.assertFalse(screen.echoes)
        screen.type("def456\n")
        self.assertEqual(screen.end(), 0)
        self.assertEqual(self.candidates[-1], (b"def456", True))
        self.assertTrue(screen.is_restored)

    def test_editing(self):
        for keys, typed in [
            (b"wrong\x15abc123", b"abc123"),
            (b"two words9\x17abc1", b"two abc1"),
            (b"ab\x1b[D\x1bOAc123", b"abc123"),
            (b"ab\x01\x09c123", b"abc123"),
            ("abc12\u00e9\u20ac\x7f\x7f3".encode(), b"abc123"),
            (b"abcde\x08\x083x4y", b"abc3x4y"),
        ]:
            screen = self.open()
            screen.type(keys + b"\n")
            screen.end()
            self.assertEqual(self.candidates[-1], (typed, True))

    def test_a_character_is_judged_when_all_its_bytes_are_there(self):
        screen = self.open()
        for byte in "ab\u20ac45\u00e9".encode():
            screen.type(bytes([byte]))
            time.sleep(0.02)
        screen.expect("candidate: " + "\u2022" * 6)
        screen.type("\n")
        self.assertEqual(screen.end(), 0)
        for candidate, _ in self.candidates:
            candidate.decode()

    def test_too_long_ends_it(self):
        screen = self.open()
        for _ in range(5):
            screen.type(b"abcdefghij" * 25)
            time.sleep(0.05)
        self.assertEqual(screen.end(), 1)
        self.assertIn(b"too long", screen.seen)
        self.assertTrue(screen.is_restored)

    def test_what_comes_behind_enter_does_not_reach_the_shell(self):
        screen = self.open()
        screen.type("abc123\nrm -rf x\n")
        self.assertEqual(screen.end(), 0)
        import fcntl, struct, termios
        waiting = struct.unpack("i", fcntl.ioctl(screen.slave, termios.FIONREAD, b"\0" * 4))[0]
        self.assertEqual(waiting, 0)


class Lint(Base):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="appvault-lint.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="policy.conf"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_a_good_file_says_nothing_and_needs_no_daemon(self):
        path = self.file("[Passcode]\nMinLength=12\n")
        self.lab.stop_listening()
        result = self.lab.run("policy", "lint", path)
        self.assertEqual((result.status, result.out, result.err), (0, b"", b""))

    def test_a_mistake_is_a_line_and_exit_1(self):
        path = self.file("[Passcode]\nMinLegth=12\nRetryLimit=many\n")
        result = self.lab.run("policy", "lint", path)
        lines = result.out.decode().splitlines()
        self.assertEqual((result.status, result.err, len(lines)), (1, b"", 2))
        self.assertTrue(lines[0].startswith(f"{path}:2: MinLegth: "), lines)
        self.assertTrue(lines[1].startswith(f"{path}:3: RetryLimit: "), lines)

    def test_a_warning_is_marked_and_is_no_error(self):
        path = self.file("[Passcode]\nAllowNoPasscode=no\nNoPasscodeByDefault=yes\n")
        result = self.lab.run("policy", "lint", path)
        self.assertEqual(result.status, 0, result)
        self.assertTrue(result.out.startswith(b"warning: " + path.encode() + b":3: NoPasscodeByDefault: "), result)

    def test_files_are_one_policy_in_their_order(self):
        first = self.file("[Passcode]\nNoPasscodeByDefault=yes\n")
        second = self.file("[Passcode]\nAllowNoPasscode=no\n", "10-more.conf")
        self.assertEqual(self.lab.run("policy", "lint", first).out, b"")
        self.assertIn(b"NoPasscodeByDefault", self.lab.run("policy", "lint", first, second).out)

    def test_standard_input(self):
        result = self.lab.run("policy", "lint", "-", input=b"[Passcode]\nX=1\n")
        self.assertEqual(result.status, 1)
        self.assertTrue(result.out.startswith(b"-:2: X: "), result)

    def test_json(self):
        path = self.file("[Passcode]\nAllowNoPasscode=no\nNoPasscodeByDefault=yes\nX=1\n")
        result = self.lab.run("policy", "lint", "--json", path)
        told = json.loads(result.out)
        self.assertEqual((result.status, told["errors"]), (1, 1))
        problem = next(each for each in told["problems"] if each["severity"] == "error")
        self.assertEqual((problem["file"], problem["line"], problem["key"]), (path, 4, "X"))
        self.assertTrue(problem["wrong"] and problem["right"])

    def test_what_cannot_be_read(self):
        result = self.lab.run("policy", "lint", self.folder + "/none")
        self.assertEqual((result.status, result.out), (3, b""))
        self.assertIn(b"No such file", result.err)
        self.assertEqual(self.lab.run("policy", "lint", self.folder).status, 2)
        self.assertEqual(self.lab.run("policy", "lint").status, 2)
        self.assertEqual(self.lab.run("policy", "lint", "-", "-").status, 2)
        big = self.file("#" * (1 << 20) + "\n")
        self.assertEqual(json.loads(self.lab.run("policy", "lint", "--json", big).out)["code"], 33)

    def test_texts_are_looked_at_without_a_daemon(self):
        self.lab.stop_listening()
        path = self.file("[Texts]\ncreate.chose=Now choose\ncreate.choose=Choose\nmatch.retry.left=Still {9} of {1}\n")
        result = self.lab.run("policy", "lint", path)
        self.assertEqual((result.status, result.err), (0, b""))
        first, second = result.out.decode().splitlines()
        self.assertIn(f"{path}:2: create.chose: no text has this id: perhaps create.choose", first)
        self.assertIn(f"{path}:4: match.retry.left: this text has no {{9}}: {{1}}", second)


class Preview(Base):
    STORES = [
        {"store": STORE, "owner": "alice", "name": "default", "flows": [3], "certainty": "ifFallsShort",
         "reason": "MinLength became 12"},
        {"store": STORE, "owner": "bob", "name": "", "flows": [], "certainty": "certain", "reason": ""},
        {"store": STORE, "owner": "carol", "name": "default", "flows": [6, 3], "certainty": "certain", "reason": ""},
    ]

    def setUp(self):
        super().setUp()
        self.asked = []
        self.serve()
        handle, self.path = tempfile.mkstemp(prefix="appvault-preview.")
        os.write(handle, b"[Passcode]\nMinLength=12\n")
        os.close(handle)
        self.addCleanup(os.unlink, self.path)

    def serve(self, stores=None, total=3):
        def preview(daemon, request):
            self.asked.append((request["subject"], request["file"], request.payload))
            daemon.reply("preview", total=total, stores=self.STORES if stores is None else stores)

        self.lab.answer("policyPreview", preview)

    def test_a_terminal_gets_words(self):
        status, text = self.on_terminal("policy", "preview", self.path)
        self.assertEqual(status, 0)
        self.assertEqual(
            text,
            "alice (default)  a new passcode has to be chosen, if the present passcode does\n"
            "                 not meet the rules\n"
            "                 MinLength became 12\n"
            "bob (default)    nothing\n"
            "carol (default)  the fingerprints are removed; then a new passcode has to be\n"
            "                 chosen\n")
        subject, file, payload = self.asked[0]
        self.assertEqual((subject[0], file, payload), ("", self.path, b"[Passcode]\nMinLength=12\n"))

    def test_a_pipe_gets_tabs(self):
        self.assertEqual(
            self.lab.run("policy", "preview", self.path).out.decode(),
            "alice\tdefault\tchange\tif-short\tMinLength became 12\n"
            "bob\tdefault\t\tcertain\t\n"
            "carol\tdefault\tdrop-fingerprint change\tcertain\t\n")

    def test_json_has_numbers_and_names(self):
        told = json.loads(self.lab.run("policy", "preview", "--json", "-", input=b"[Passcode]\n").out)
        self.assertEqual(told["total"], 3)
        self.assertEqual(
            told["stores"][2]["flows"], [{"number": 6, "name": "drop-fingerprint"}, {"number": 3, "name": "change"}])
        self.assertEqual(told["stores"][0]["certainty"], "if-short")
        self.assertEqual(told["stores"][0]["store"], "00010203-0405-0607-0809-0a0b0c0d0e0f")
        self.assertEqual(self.asked[0][1:], ("-", b"[Passcode]\n"))

    def test_what_is_left_out_is_told(self):
        self.serve(total=2000)
        self.assertEqual(
            self.lab.run("policy", "preview", self.path).err,
            b"stores that are not shown: 1997; --user NAME shows one person's\n")

    def test_no_store_at_all(self):
        self.serve(stores=[], total=0)
        self.assertEqual(self.on_terminal("policy", "preview", self.path), (0, "there are no stores\n"))
        self.assertEqual(self.lab.run("policy", "preview", self.path).out, b"")

    def test_a_broken_file_is_the_daemons_refusal(self):
        self.lab.answer("policyPreview", lambda daemon, request: daemon.refuse(
            42, "x:2: X: not a key", file="x", line="2", key="X"))
        result = self.lab.run("policy", "preview", "--json", self.path)
        told = json.loads(result.out)
        self.assertEqual((result.status, told["code"], told["parameters"]["line"]), (1, 42, 2))

    def test_without_a_file_it_is_wrong_usage(self):
        self.assertEqual(self.lab.run("policy", "preview").status, 2)
        self.assertEqual(self.lab.run("policy", "preview", "/nonexistent/x").status, 3)


class ActionsAndTexts(Base):
    ACTIONS = [
        {"name": "change-passcode", "allowed": True, "code": 0, "reason": "", "verb": "appvault passwd"},
        {"name": "turn-off-passcode", "allowed": False, "code": 25,
         "reason": "the policy of this machine does not allow stores without a passcode, says AllowNoPasscode",
         "verb": "appvault passwd --off"},
    ]
    TEXTS = [
        {"id": "create.choose", "text": "Choose a passcode", "origin": "builtIn"},
        {"id": "create.rules", "text": "Regeln: {1}", "origin": "catalogue"},
        {"id": "match.retry",
         "text": "Once\tmore, please, and take your time with it, because nobody is in a hurry here",
         "origin": "administrator"},
    ]

    def setUp(self):
        super().setUp()
        self.lab.answer("actions", lambda daemon, request: daemon.reply("actionList", actions=self.ACTIONS))
        self.lab.answer("texts", lambda daemon, request: daemon.reply("textList", texts=self.TEXTS))
        self.lab.answer("status", lambda daemon, request: daemon.reply("state", lock="locked"))

    def test_actions_on_a_terminal(self):
        status, text = self.on_terminal("actions")
        self.assertEqual(status, 0)
        self.assertEqual(
            text,
            "\u2713 change-passcode    `appvault passwd`\n"
            "\u2717 turn-off-passcode  the policy of this machine does not allow stores without a\n"
            "                     passcode, says AllowNoPasscode\n")
        _, ascii = self.on_terminal("actions", env={"LC_ALL": "C"})
        self.assertTrue(ascii.startswith("ok change-passcode "), ascii)

    def test_actions_into_a_pipe_and_as_json(self):
        lines = self.lab.run("actions").out.decode().splitlines()
        self.assertEqual(lines[0], "change-passcode\tallowed\tappvault passwd\t")
        self.assertTrue(lines[1].startswith("turn-off-passcode\trefused\tappvault passwd --off\tthe policy"), lines)
        self.assertEqual(json.loads(self.lab.run("actions", "--json").out)["actions"], self.ACTIONS)

    def test_texts(self):
        status, text = self.on_terminal("texts")
        self.assertEqual(
            (status, text),
            (0,
             "create.choose\n    Choose a passcode\n"
             "create.rules (catalogue)\n    Regeln: {1}\n"
             "match.retry (administrator)\n"
             "    Once\\x09more, please, and take your time with it, because nobody is in a\n"
             "    hurry here\n"))
        self.assertEqual(
            self.lab.run("texts").out.decode().splitlines()[:2],
            ["create.choose\tbuilt-in\tChoose a passcode", "create.rules\tcatalogue\tRegeln: {1}"])
        told = json.loads(self.lab.run("texts", "--json").out)
        self.assertEqual([each["origin"] for each in told["texts"]], ["built-in", "catalogue", "administrator"])
        self.assertEqual(told["texts"][2]["text"], self.TEXTS[2]["text"])

    def test_wrong_usage(self):
        for line in [["actions", "x"], ["texts", "x"], ["texts", "--user", "root"], ["policy"], ["policy", "shw"],
                     ["policy", "show", "x"], ["policy", "lint", "--user", "root", "x"]]:
            result = self.lab.run(*line)
            self.assertEqual((result.status, result.out), (2, b""), line)
            self.assertTrue(result.err.startswith(b"appvault: "), line)
        self.assertIn(b"did you mean `appvault policy show`?", self.lab.run("policy", "shw").err)


if __name__ == "__main__":
    unittest.main()
