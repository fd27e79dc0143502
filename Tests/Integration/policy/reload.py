"""A policy file that changes is soon in force, however it was written, and no connection is
dropped."""

import os
import shutil
import time
import unittest

import wire
from daemonlab import answers, comes_to_rest, wait_until
from faultlab import Lab, code, policy
from slow import slow


class Reload(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(policy(MinLength="12"))
        self.addCleanup(self.lab.close)
        self.file = os.path.join(self.lab.config, "policy.conf")
        self.folder = os.path.join(self.lab.config, "policy.d")

    def minimum(self):
        """The shortest passcode that may be set, as the daemon tells a person."""
        answer = self.lab.ask("create", answers("x"), store="nobody's", way="ownPasscode")
        self.assertEqual(code(answer), wire.CODES["underMinLength"], answer)
        return int(answer.parameters["minimum"])

    def becomes(self, minimum):
        wait_until(lambda: self.minimum() == minimum, f"MinLength is {minimum}", 5)

    def write(self, path, minimum):
        with open(path, "w", encoding="utf-8") as file:
            file.write(policy(MinLength=str(minimum)))

    def test_editors(self):
        """written in place, by rename, with a backup, through a link, removed and put back"""
        self.assertEqual(self.minimum(), 12)
        self.write(self.file, 13)
        self.becomes(13)
        # vim, sed -i and most installers
        self.write(self.file + "~new", 14)
        os.rename(self.file + "~new", self.file)
        self.becomes(14)
        # emacs: the old file is moved away first
        os.rename(self.file, self.file + "~")
        self.becomes(8)
        self.write(self.file, 15)
        self.becomes(15)
        os.unlink(self.file)
        self.becomes(8)
        os.link(self.file + "~", self.file)
        self.becomes(14)
        # The file is elsewhere, and is changed there.
        elsewhere = os.path.join(self.lab.folder, "elsewhere")
        self.write(elsewhere, 16)
        os.unlink(self.file)
        os.symlink(elsewhere, self.file)
        self.becomes(16)
        self.write(elsewhere, 17)
        self.becomes(17)
        self.write(elsewhere + ".new", 18)
        os.rename(elsewhere + ".new", elsewhere)
        self.becomes(18)
        self.write(elsewhere, 19)
        self.becomes(19)

    def test_folders(self):
        """drop-ins and their folder come and go, and so does the folder of all"""
        os.mkdir(self.folder)
        self.write(os.path.join(self.folder, "50-more.conf"), 20)
        self.becomes(20)
        self.write(os.path.join(self.folder, "60-more.conf"), 21)
        self.becomes(21)
        self.write(os.path.join(self.folder, "60-more.conf"), 22)
        self.becomes(22)
        os.rename(os.path.join(self.folder, "60-more.conf"), os.path.join(self.folder, "60-more.off"))
        self.becomes(20)
        aside = self.lab.config + ".aside"
        os.rename(self.lab.config, aside)
        self.becomes(8)
        os.mkdir(self.lab.config)
        self.write(self.file, 23)
        self.becomes(23)
        shutil.rmtree(self.lab.config)
        os.rename(aside, self.lab.config)
        self.becomes(20)
        shutil.rmtree(self.folder)
        self.becomes(12)

    def test_absent(self):
        """a folder that was missing at the start is noticed when it is made"""
        self.lab.stop()
        shutil.rmtree(self.lab.config)
        self.lab.options += ["--config-dir", os.path.join(self.lab.folder, "deep", "config")]
        self.lab.start()
        self.assertEqual(self.minimum(), 8)
        os.mkdir(os.path.join(self.lab.folder, "deep"))
        time.sleep(0.3)
        os.mkdir(os.path.join(self.lab.folder, "deep", "config"))
        self.write(os.path.join(self.lab.folder, "deep", "config", "policy.conf"), 24)
        self.becomes(24)

    def test_flood(self):
        """a file that is written all the time is read once a second, and its last content is in force"""
        began = time.monotonic()
        number = 0
        while time.monotonic() < began + 3:
            number = 30 + (number + 1) % 50
            self.write(self.file + ".new", number)
            os.rename(self.file + ".new", self.file)
            time.sleep(0.002)
        self.becomes(number)
        # At the start, at once, and then so often; a machine with others to serve takes longer than these seconds.
        most = 3 + int(time.monotonic() - began)
        self.assertLessEqual(self.lab.log().count("the policy was read"), most)

    def test_open_conversation(self):
        """nobody is dropped: a person who is asked meanwhile answers, and a new passcode is judged by what then
        applies"""
        asked = []

        def script(ask):
            if not asked:
                self.write(self.file, minimum)
                self.becomes(minimum)
            asked.append(ask.purpose)
            return "fourteen chars"

        for minimum, expected in ((40, wire.CODES["underMinLength"]), (13, 0)):
            self.write(self.file, 12)
            self.becomes(12)
            asked.clear()
            answer = self.lab.ask("create", script, store="", way="ownPasscode")
            self.assertEqual(code(answer), expected, answer)
        self.assertEqual(self.lab.state_of().lock, "unlocked")

    @slow
    def test_idle(self):
        """watching costs nothing while nothing changes"""
        self.becomes(12)
        comes_to_rest(self.lab.pid)


if __name__ == "__main__":
    unittest.main()
