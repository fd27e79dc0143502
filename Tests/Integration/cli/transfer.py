"""export and import: whole files or none."""

import os
import stat
import time
import unittest

from clilab import Lab

DATA = os.urandom(700_000)


def exporting(daemon, request, pieces=(DATA[:300_000], DATA[300_000:]), breaks=False):
    assert daemon.ask("passcode") == b"code"
    assert daemon.ask("newPassphrase") == b"phrase"
    assert daemon.ask("confirmPassphrase") == b"phrase"
    sent = 0
    for index, piece in enumerate(pieces):
        if breaks and index:
            return daemon.refuse(32, "the store is damaged")
        sent += len(piece)
        daemon.reply("chunk", [piece], done=sent, total=len(DATA), last=index == len(pieces) - 1)
        if index < len(pieces) - 1:
            assert daemon.receive().name == "exportNext"


class Export(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("exportBegin", exporting)
        self.folder = os.path.join(self.lab.folder, "out")
        os.mkdir(self.folder)
        self.file = os.path.join(self.folder, "backup")

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def export(self, *arguments):
        return self.lab.run("export", *arguments, passcodes=[b"code", b"phrase"])

    def test_a_file_for_its_owner_alone(self):
        os.umask(0o000)
        result = self.export(self.file)
        os.umask(0o022)
        self.assertEqual((result.status, result.err), (0, b""))
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(), DATA)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        self.assertEqual(os.listdir(self.folder), ["backup"])

    def test_standard_output_takes_it_too(self):
        for arguments in [[], ["-"]]:
            result = self.export(*arguments)
            self.assertEqual((result.status, result.out), (0, DATA))

    def test_a_terminal_does_not(self):
        with self.lab.terminal("export") as screen:
            self.assertEqual(screen.end(), 2)
            self.assertIn(b"an export is not written to a terminal", screen.seen)

    def test_an_export_that_breaks_leaves_nothing_behind(self):
        self.lab.answer("exportBegin", lambda daemon, request: exporting(daemon, request, breaks=True))
        self.assertEqual(self.export(self.file).status, 6)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_export_without_what_is_damaged_is_whole_and_says_so(self):
        def damaged(daemon, request):
            assert [daemon.ask(one) for one in ("passcode", "newPassphrase", "confirmPassphrase")]
            daemon.reply("chunk", [DATA[:300_000]], done=1, total=3, last=False)
            assert daemon.receive().name == "exportNext"
            daemon.reply("damaged", records=[{"kind": "broken", "id": 7, "name": b"mail"}])
            daemon.reply("chunk", [DATA[300_000:]], done=2, total=3, last=True)

        self.lab.answer("exportBegin", damaged)
        told = b"appvault: mail is damaged and cannot be read\nhint: the file is without this; "
        result = self.export(self.file)
        self.assertEqual(result.status, 6, result)
        self.assertIn(told, result.err)
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(), DATA)
        result = self.export()
        self.assertEqual((result.status, result.out), (6, DATA))
        self.assertIn(told, result.err)

    def test_an_export_that_is_killed_leaves_nothing_behind(self):
        def slow(daemon, request):
            daemon.reply("chunk", [DATA], done=len(DATA), total=2 * len(DATA), last=False)
            daemon.receive()
            time.sleep(3)

        self.lab.answer("exportBegin", slow)
        with self.lab.terminal("export", self.file) as screen:
            screen.expect("50%")
            screen.process.kill()
            screen.end()
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_file_that_exists_is_replaced_only_when_agreed_to(self):
        with open(self.file, "w") as file:
            file.write("before")
        result = self.export(self.file)
        self.assertEqual(result.status, 2)
        self.assertEqual(self.lab.requests, [])
        with open(self.file) as file:
            self.assertEqual(file.read(), "before")
        self.assertEqual(self.export("--yes", self.file).status, 0)
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(), DATA)
        self.assertEqual(os.listdir(self.folder), ["backup"])

    def test_a_folder_that_is_not_there_is_told_before_anything_is_asked(self):
        result = self.export(os.path.join(self.folder, "none", "backup"))
        self.assertEqual(result.status, 3)
        self.assertIn(b"No such file or directory", result.err)
        self.assertEqual(self.lab.requests, [])

    def test_a_bar_on_a_terminal_is_gone_at_the_end(self):
        with self.lab.terminal("export", self.file) as screen:
            screen.expect("passcode: ")
            screen.type("code\n")
            screen.expect("new passphrase for the file: ")
            screen.type("phrase\n")
            screen.expect("once more: ")
            screen.type("phrase\n")
            screen.expect("exporting [")
            self.assertEqual(screen.end(), 0)
            self.assertTrue(screen.seen.endswith(b"\r\x1b[Kexported to " + self.file.encode() + b"\r\n"), screen.seen)


class Import(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("importBegin", self.importing)
        self.file = os.path.join(self.lab.folder, "backup")
        with open(self.file, "wb") as file:
            file.write(DATA)
        self.passes = []
        self.refusal = None

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def importing(self, daemon, request):
        self.begun = request
        assert daemon.ask("passphrase") == b"phrase"
        daemon.reply("progress")
        for number in [1, 2]:
            data, last = b"", False
            while not last:
                piece = daemon.receive()
                data += piece.payload
                assert piece["done"] == 60 + len(data), piece
                last = piece["last"]
                if number == 1 and last and self.refusal:
                    return daemon.refuse(*self.refusal)
                if number == 1 or not last:
                    daemon.reply("progress", done=len(data), total=piece["total"])
            self.passes.append(data)
        daemon.done("700000 records were imported")

    def test_the_whole_file_behind_its_header_goes_twice(self):
        result = self.lab.run("import", self.file, passcodes=[b"phrase"])
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertEqual(result.out, b"700000 records were imported\n")
        self.assertEqual(self.begun.payload, DATA[:60])
        self.assertEqual(self.passes, [DATA[60:], DATA[60:]])
        self.assertFalse(self.begun["replace"])

    def test_a_pipe_is_as_good_as_a_file(self):
        for arguments in [[], ["-"]]:
            self.passes.clear()
            result = self.lab.run("import", *arguments, input=DATA, passcodes=[b"phrase"])
            self.assertEqual((result.status, self.passes), (0, [DATA[60:], DATA[60:]]))

    def test_a_file_that_fails_the_check_is_not_sent_again(self):
        self.refusal = (32, "the file is damaged")
        result = self.lab.run("import", self.file, passcodes=[b"phrase"])
        self.assertEqual((result.status, self.passes), (6, []))
        self.assertIn(b"the file is damaged", result.err)

    def test_an_empty_file_is_sent_as_one(self):
        open(self.file, "wb").close()
        self.refusal = (4, "that is no export")
        self.assertEqual(self.lab.run("import", self.file, passcodes=[b"phrase"]).status, 2)

    def test_replacing_has_to_be_agreed_to(self):
        self.assertEqual(self.lab.run("import", "--replace", self.file, passcodes=[b"phrase"]).status, 2)
        result = self.lab.run("import", "--replace", "--yes", self.file, passcodes=[b"phrase"])
        self.assertEqual(result.status, 0)
        self.assertTrue(self.begun["replace"])

    def test_a_file_that_is_not_there_is_exit_3(self):
        result = self.lab.run("import", "/nonexistent")
        self.assertEqual(result.status, 3)
        self.assertEqual(result.err, b"appvault: cannot read /nonexistent: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
