"""Values and names through the tool: byte for byte into pipes, readable on terminals."""

import json
import os
import subprocess
import unittest

from clilab import END_OF_FILE, INTERRUPT, Lab


class Records(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.__exit__)
        self.values = {}
        self.lab.answer("get", self.get)
        self.lab.answer("set", self.set)
        self.lab.answer("delete", lambda daemon, request: daemon.done())

    def get(self, daemon, request):
        if request["name"] in self.values:
            daemon.reply("value", [self.values[request["name"]]])
        else:
            daemon.refuse(3, "there is no such name")

    def set(self, daemon, request):
        self.values[request["name"]] = request.payload
        daemon.done()

    def test_who_has_nothing_to_say_asks_for_no_texts(self):
        asked = []
        self.lab.answer("texts", lambda daemon, request: (asked.append(1), daemon.reply("textList", texts=[])))
        for arguments in [["set", "name"], ["get", "name"], ["--json", "get", "name"], ["get", "nothing"],
                          ["--json", "set", "name"], ["--json", "get", "nothing"], ["delete", "name"]]:
            self.lab.run(*arguments, input=b"value")
            self.assertEqual(asked, [], arguments)
        self.assertEqual(len(self.lab.hellos), 7)
        self.lab.run("set", "name", "value")
        self.assertEqual(asked, [1])

    def test_get_into_a_pipe_gives_the_very_bytes(self):
        for value in [b"", b"plain", b"line\n", bytes(range(256)), b"\xff" * 1048576]:
            self.values[b"name"] = value
            result = self.lab.run("get", "name")
            self.assertEqual((result.status, result.err), (0, b""))
            self.assertEqual(result.out, value)

    def test_get_on_a_terminal_ends_the_line(self):
        for value, shown in [(b"plain", b"plain\r\n"), (b"line\n", b"line\r\n"), (b"", b"\r\n")]:
            self.values[b"name"] = value
            with self.lab.terminal("get", "name") as screen:
                self.assertEqual(screen.end(), 0)
                self.assertEqual(screen.seen, shown)

    def test_a_value_cannot_steer_the_terminal(self):
        """its control bytes, overrides of the direction and broken text are written out; lines and tabs stay"""
        self.values[b"name"] = b"a\x1b[31mb\x07\tc\xe2\x80\xaed\xff\r\xc3\xa9\nend"
        with self.lab.terminal("get", "name") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertEqual(
                screen.seen, b"a\\x1b[31mb\\x07\tc\\xe2\\x80\\xaed\\xff\\x0d\xc3\xa9\r\nend\r\n")

    def test_get_says_when_its_output_was_not_written_whole(self):
        self.values[b"name"] = b"x" * 100_000
        with open("/dev/full", "wb") as full:
            command = self.lab.command("get", "name")
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"No space left", done.stderr)

    def secrets(self):
        """Answers `itemChanges` with two pages."""
        mail = {"id": bytes(range(16)), "collection": bytes(16), "label": "Mail\x1b[31m", "contentType": "text/plain",
                "attributes": {"server": "mail", "user": "ann\t"}, "created": 5, "modified": 6}
        chat = {"id": b"\xff" * 16, "collection": b"w" * 16, "label": "Chat", "attributes": {}}
        lost = {**chat, "collection": b"x" * 16}
        collections = [{"id": bytes(16), "label": "Login"}, {"id": b"w" * 16, "label": "Work"}]
        pages = {0: dict(opening=7, now=3, isAnew=True, cursor=9, collections=collections, items=[chat, lost]),
                 9: dict(opening=7, now=3, items=[mail])}
        asked = []

        def answer(daemon, request):
            asked.append(request.store)
            daemon.reply("itemNews", **pages[request.cursor])

        self.lab.answer("itemChanges", answer)
        return asked

    def test_list_of_secrets(self):
        """tells what programs keep by label and attributes: a table for a person, lines and an object for a program"""
        asked = self.secrets()
        result = self.lab.run("list", "--secrets")
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertEqual(
            result.out.decode().split("\n"),
            ["000102030405060708090a0b0c0d0e0f\tLogin\tMail\\x1b[31m\tserver=mail\tuser=ann\\x09",
             "f" * 32 + "\tWork\tChat", ""])
        self.assertEqual(asked, ["secrets"] * 2)
        self.lab.run("list", "--secrets", "--store", "team")
        self.assertEqual(asked[2:], ["team"] * 2)
        said = json.loads(self.lab.run("--json", "list", "--secrets").out)["secrets"]
        self.assertEqual(said[0], {
            "id": "000102030405060708090a0b0c0d0e0f", "collection": "Login", "label": "Mail\x1b[31m",
            "contentType": "text/plain", "created": 5, "modified": 6,
            "attributes": [{"name": "server", "value": "mail"}, {"name": "user", "value": "ann\t"}]})
        self.assertEqual([each["label"] for each in said[1:]], ["Chat"])
        with self.lab.terminal("list", "--secrets") as screen:
            self.assertEqual(screen.end(), 0)
            lines = screen.seen.decode().split("\r\n")
        self.assertEqual(lines[1], "Login       \x1b[1mMail\\x1b[31m\x1b[0m  server=mail, user=ann\\x09")
        self.assertEqual(lines[2], "Work        \x1b[1mChat\x1b[0m          ")

    def test_list_of_no_secrets(self):
        self.lab.answer("itemChanges", lambda daemon, request: daemon.reply("itemNews", isAnew=True))
        with self.lab.terminal("list", "--secrets") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertEqual(screen.seen, b"no program keeps a secret here\r\n")
        self.assertEqual(self.lab.run("list", "--secrets").out, b"")
        self.assertEqual(self.lab.run("list", "--secrets", "mail").status, 2)

    def test_a_name_that_does_not_exist_is_exit_3(self):
        result = self.lab.run("get", "name")
        self.assertEqual((result.status, result.out), (3, b""))
        self.assertEqual(result.err, b"appvault: there is no such name\n")

    def test_a_locked_store_is_exit_4_with_a_hint(self):
        def locked(daemon, request):
            daemon.refuse(6)

        for request, arguments in [
            ("get", ["get", "a"]), ("set", ["set", "a"]), ("list", ["list"]), ("delete", ["delete", "a"])
        ]:
            self.lab.answer(request, locked)
            result = self.lab.run(*arguments)
            self.assertEqual(result.status, 4)
            self.assertEqual(
                result.err, b"appvault: the store is locked\nhint: `appvault unlock` opens it\n")

    def test_set_reads_standard_input_byte_for_byte(self):
        for arguments in [["set", "name"], ["set", "name", "-"]]:
            for value in [b"", b"line\n", bytes(range(256)) * 4096]:
                result = self.lab.run(*arguments, input=value)
                self.assertEqual((result.status, result.out, result.err), (0, b"", b""))
                self.assertEqual(self.values.pop(b"name"), value)

    def test_set_takes_a_mebibyte_and_no_byte_more(self):
        self.assertEqual(self.lab.run("set", "name", input=b"x" * 1048576).status, 0)
        self.lab.requests.clear()
        result = self.lab.run("set", "name", input=b"x" * 1048577)
        self.assertEqual(result.status, 1)
        self.assertIn(b"a value has at most 1 MiB\nhint: ", result.err)
        self.assertEqual(self.lab.requests, [])
        told = json.loads(self.lab.run("--json", "set", "name", input=b"x" * 1048577).out)
        self.assertEqual((told["code"], told["parameters"]), (33, {"limit": 1048576}))

    def test_set_of_a_value_in_the_arguments_hints_at_who_can_see_it(self):
        result = self.lab.run("set", "name", "value")
        self.assertEqual((result.status, result.out), (0, b""))
        self.assertIn(b"hint: other users could have seen this value", result.err)
        self.assertEqual(self.values[b"name"], b"value")

    def test_set_on_a_terminal_asks_without_echo(self):
        with self.lab.terminal("set", "mail") as screen:
            screen.expect("value of mail (does not show): ")
            self.assertFalse(screen.echoes)
            screen.type("hunter2\n")
            self.assertEqual(screen.end(), 0)
            self.assertEqual(screen.seen, b"\r\nstored mail\r\n")
            self.assertTrue(screen.is_restored)
        self.assertEqual(self.values[b"mail"], b"hunter2")

    def test_set_that_is_not_answered_changes_nothing(self):
        for key in [INTERRUPT, END_OF_FILE]:
            with self.lab.terminal("set", "mail") as screen:
                screen.expect("(does not show): ")
                screen.type(key)
                self.assertEqual(screen.end(), 130)
                self.assertTrue(screen.is_restored)
        self.assertEqual(self.lab.requests, [])

    def test_a_typed_value_that_the_terminal_would_cut_is_refused(self):
        with self.lab.terminal("set", "mail") as screen:
            screen.expect("(does not show): ")
            for _ in range(10):
                screen.type("x" * 500)
            screen.type("\n")
            self.assertEqual(screen.end(), 1)
            self.assertIn(b"too long to be typed", screen.seen)
        self.assertEqual(self.lab.requests, [])

    def test_names_need_not_be_text(self):
        result = self.lab.run(b"set", b"a\xff\x01", input=b"v")
        self.assertEqual(result.status, 0)
        self.assertIn(b"a\xff\x01", self.values)

    def test_delete_says_so_on_a_terminal_only(self):
        self.assertEqual(self.lab.run("delete", "name").out, b"")
        with self.lab.terminal("delete", "name") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertEqual(screen.seen, b"deleted name\r\n")

    def test_the_store_that_is_named_is_the_one_that_is_asked(self):
        self.lab.run("set", "--store", "work", "name", input=b"v")
        self.lab.run("get", "--store=work", "name")
        self.assertEqual([request["store"] for request in self.lab.requests], ["work", "work"])

    def test_a_name_behind_two_dashes_may_begin_with_one(self):
        self.lab.run("set", "--", "-name", "-value")
        self.assertEqual(self.values, {b"-name": b"-value"})


class Listing(unittest.TestCase):
    NAMES = [b"b", b"a\x1b[31m", b"\xff", "\u00e9\u202e".encode(), b"a\nb"]

    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.__exit__)
        self.lab.answer("list", self.list)

    def list(self, daemon, request):
        at = request["cursor"]
        left = [name for name in self.NAMES if name.startswith(request["prefix"])]
        daemon.reply("names", cursor=at + 2 if at + 2 < len(left) else 0, names=left[at : at + 2])

    def test_all_pages_arrive_sorted_and_raw_in_a_pipe(self):
        result = self.lab.run("list")
        self.assertEqual(result.status, 0)
        self.assertEqual(result.out, b"".join(name + b"\n" for name in sorted(self.NAMES)))
        self.assertEqual(len(self.lab.requests), 3)

    def test_a_terminal_gets_no_control_bytes(self):
        with self.lab.terminal("list") as screen:
            self.assertEqual(screen.end(), 0)
            self.assertEqual(
                screen.seen.split(b"\r\n")[:-1],
                [b"a\\x0ab", b"a\\x1b[31m", b"b", "\u00e9\\xe2\\x80\\xae".encode(), b"\\xff"])

    DAMAGED = [
        {"kind": "broken", "id": 7, "name": b"mail\x1b[31m"},
        {"kind": "broken", "id": 0xFEDCBA9876543210, "name": b""},
        {"kind": "unproven", "id": 9, "name": b"wifi"},
        {"kind": "missing", "id": 5 << 52, "name": b""},
    ]
    TOLD = (
        b"appvault: mail\\x1b[31m is damaged and cannot be read\n"
        b"appvault: a record whose name is damaged too cannot be read (fedcba9876543210)\n"
        b"appvault: wifi is held back, because it may be older than what you stored last\n"
        b"appvault: some records are missing, or were replaced by older ones\n"
        b"hint: a backup may still have it; `appvault set` stores a new value; `appvault mend` goes on without it\n"
    )

    def damaged(self, daemon, request):
        if request["cursor"] == 0:
            daemon.reply("damaged", records=self.DAMAGED[:3])
            daemon.reply("names", cursor=7, names=[b"b"])
        else:
            daemon.reply("damaged", records=self.DAMAGED[3:])
            daemon.reply("names", cursor=0, names=[b"a"])

    def test_what_is_damaged_goes_to_standard_error_and_the_others_are_given(self):
        self.lab.answer("list", self.damaged)
        result = self.lab.run("list")
        self.assertEqual((result.status, result.out, result.err), (6, b"a\nb\n", self.TOLD))
        with self.lab.terminal("list") as screen:
            self.assertEqual(screen.end(), 6)
            self.assertTrue(screen.seen.startswith(b"a\r\nb\r\n"), screen.seen)
            self.assertNotIn(b"\x1b[31m is damaged", screen.seen)
        told = json.loads(self.lab.run("list", "--json").out)
        self.assertEqual([entry["name"] for entry in told["names"]], ["a", "b"])
        self.assertEqual([entry["what"] for entry in told["damaged"]], ["broken", "broken", "unproven", "missing"])
        self.assertEqual([entry["name"] for entry in told["damaged"]], ["mail\x1b[31m", None, "wifi", None])
        self.assertEqual(told["damaged"][1]["id"], "fedcba9876543210")

    def test_very_many_damaged_records_are_counted(self):
        many = [{"kind": "broken", "id": index, "name": b"n%d" % index} for index in range(1000)]

        def answer(daemon, request):
            daemon.reply("damaged", records=many)
            daemon.reply("names", cursor=0, names=[])

        self.lab.answer("list", answer)
        result = self.lab.run("list")
        self.assertEqual((result.status, result.out), (6, b""))
        self.assertEqual(len(result.err.splitlines()), 102)
        self.assertIn(b"appvault: and 900 more\n", result.err)

    def test_mend_says_what_goes_before_it_asks(self):
        self.lab.answer("list", self.damaged)

        def mend(daemon, request):
            assert daemon.ask("passcode") == b"code"
            daemon.done("Mended.")

        self.lab.answer("mend", mend)
        result = self.lab.run("mend", passcodes=[b"code"])
        self.assertEqual(result.status, 2)
        self.assertNotIn("mend", [request.name for request in self.lab.requests])
        result = self.lab.run("mend", "--yes", passcodes=[b"code"])
        self.assertEqual(result.status, 0, result.err)
        self.assertIn(b"wifi is held back", result.err)
        self.assertIn("mend", [request.name for request in self.lab.requests])
        with self.lab.terminal("mend") as screen:
            screen.expect("mail\\x1b[31m is damaged")
            screen.expect("will be removed")
            screen.type("no\n")
            self.assertEqual(screen.end(), 130)

    def test_a_prefix_goes_to_the_daemon(self):
        self.assertEqual(self.lab.run("list", "b").out, b"b\n")

    def test_json_gives_what_is_not_text_as_base64(self):
        told = json.loads(self.lab.run("list", "--json").out)
        self.assertIn({"name": "/w==", "nameEncoding": "base64"}, told["names"])
        self.assertIn({"name": "a\nb"}, told["names"])
        self.assertEqual(len(told["names"]), 5)


class Json(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.__exit__)

    def test_values_survive_whatever_they_are(self):
        import base64

        for value in ["", "plain", "a\"\\\n\x00\x1f\x7f", "\u00e9\U0001f511"]:
            self.lab.answer("get", lambda daemon, request, value=value: daemon.reply("value", [value.encode()]))
            result = self.lab.run("--json", "get", "name")
            self.assertEqual(json.loads(result.out), {"name": "name", "value": value})
            self.assertEqual(result.out.count(b"\n"), 1)
        for value in [b"\xff", b"ab\xc3", os.urandom(1000) + b"\xff", b"\xed\xa0\x80", b"x" * 1048575 + b"\x80"]:
            self.lab.answer("get", lambda daemon, request, value=value: daemon.reply("value", [value]))
            told = json.loads(self.lab.run("--json", "get", "name").out)
            self.assertEqual(told["valueEncoding"], "base64")
            self.assertEqual(base64.b64decode(told["value"]), value)

    def test_a_refusal_is_an_object_on_standard_output(self):
        self.lab.answer(
            "get", lambda daemon, request: daemon.refuse(24, "wait", "until then", seconds="12", reason="throttle"))
        result = self.lab.run("get", "name", "--json")
        self.assertEqual((result.status, result.err), (1, b""))
        self.assertEqual(
            json.loads(result.out),
            {
                "domain": "org.appvault", "code": 24, "name": "Throttled",
                "parameters": {"seconds": 12, "reason": "throttle"}, "message": "wait", "reason": "throttle",
                "hint": "until then",
            })

    def test_a_usage_error_is_an_object_too(self):
        result = self.lab.run("--json", "gett")
        told = json.loads(result.out)
        self.assertEqual((result.status, told["code"], told["name"]), (2, 4, "InvalidArgument"))


if __name__ == "__main__":
    unittest.main()
