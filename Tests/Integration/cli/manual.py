"""The manual pages: made from the tables of the programs, rendered without a complaint, and complete."""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from places import ROOT

PAGES = ["appvault.1", "appvault-policy.conf.5", "appvaultd.8", "pam_appvault.8"]


def program(name):
    """A program of the build. A build that was copied for other users has what is installed, but
    not the program that makes the pages."""
    for folder in (os.environ.get("APPVAULT_BUILD", ""), os.path.join(ROOT, ".build", "release")):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    raise AssertionError(f"{name} was not built")


def out(*command, **more):
    return subprocess.run(command, capture_output=True, check=True, timeout=60, **more).stdout.decode()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="appvault-man.")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        completions = tempfile.TemporaryDirectory(prefix="appvault-completions.")
        cls.addClassCleanup(completions.cleanup)
        cls.completions = completions.name
        subprocess.run([program("manpages"), cls.folder, cls.completions], check=True, timeout=60)

    def path(self, page):
        return os.path.join(self.folder, page)

    def render(self, page, width):
        """The rendered text, and the complaints about it."""
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": str(width), "MAN_KEEP_FORMATTING": ""}
        done = subprocess.run(
            ["man", "--warnings", "-P", "cat", "-l", self.path(page)], capture_output=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, 0, done)
        return re.sub(r".\x08", "", done.stdout.decode()), done.stderr.decode()

    def words(self, page):
        return " ".join(self.render(page, 1000)[0].split())

    def test_there_are_four_and_no_more(self):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(PAGES))

    def test_what_make_install_installs_is_what_is_made(self):
        with open(os.path.join(ROOT, "Makefile")) as file:
            listed = re.search(r"^PAGES = (.*)$", file.read(), re.M).group(1).split()
        self.assertEqual(listed, PAGES)

    def test_each_is_rendered_without_a_warning_and_fits_80_columns(self):
        for page in PAGES:
            text, complaints = self.render(page, 80)
            self.assertEqual(complaints, "", page)
            self.assertIn("NAME", text)
            self.assertNotIn("\\", text.replace("\\xNN", ""))
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, f"{page}: {line}")

    @unittest.skipUnless(shutil.which("mandoc"), "needs mandoc, a second opinion")
    def test_mandoc_finds_nothing_but_the_missing_date(self):
        for page in PAGES:
            done = subprocess.run(
                ["mandoc", "-Tlint", "-W", "warning", self.path(page)], capture_output=True, timeout=60)
            complaints = [line for line in done.stdout.decode().splitlines() if "missing date" not in line]
            self.assertEqual(complaints, [])

    def test_every_page_that_is_referred_to_of_ours_exists(self):
        for page in PAGES:
            for name, section in re.findall(r"\b((?:pam_)?appvault[a-z.-]*)\((\d)\)", self.words(page)):
                self.assertIn(f"{name}.{section}", PAGES, page)

    def test_every_verb_stands_in_the_page_as_help_calls_it(self):
        text = self.words("appvault.1")
        verbs = json.loads(out(program("appvault"), "help", "--json"))["verbs"]
        self.assertGreater(len(verbs), 20)
        for verb in verbs:
            self.assertIn(verb["synopsis"], text)

    def test_every_option_of_every_help_stands_in_a_page(self):
        text = self.words("appvault.1")
        overview = out(program("appvault"), "help")
        verbs = [verb["name"].split() for verb in json.loads(out(program("appvault"), "help", "--json"))["verbs"]]
        flags = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", overview, re.M))
        for verb in verbs:
            flags |= set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", out(program("appvault"), "help", *verb), re.M))
        self.assertGreater(len(flags), 12)
        for flag in flags:
            self.assertRegex(text, rf"(?<![\w-]){flag}(?![\w-])")
        text = self.words("appvaultd.8")
        flags = re.findall(r"^  (?:-\w, )?(--[\w-]+)", out(program("appvaultd"), "--help"), re.M)
        self.assertGreater(len(flags), 4)
        for flag in flags:
            self.assertRegex(text, rf"(?<![\w-]){flag}(?![\w-])")

    def test_every_variable_that_the_tool_looks_at_stands_in_the_page(self):
        names = set()
        for folder in ["Client", "Posix"]:
            for path in glob.glob(os.path.join(ROOT, "Sources", folder, "**", "*.swift"), recursive=True):
                with open(path) as file:
                    source = file.read()
                names |= set(re.findall(r'variable\("(\w+)"\)', source))
                names |= {name for row in re.findall(r'for name in \[([^]]*)\]', source)
                          for name in re.findall(r'"([A-Z_]+)"', row)}
        self.assertIn("NO_COLOR", names)
        self.assertIn("LC_MESSAGES", names)
        environment = self.words("appvault.1").split("ENVIRONMENT")[1].split("FILES")[0]
        for name in names:
            self.assertIn(name, environment)

    def test_every_key_of_the_default_policy_stands_in_the_page(self):
        text = self.words("appvault-policy.conf.5")
        with open(os.path.join(ROOT, "config", "policy.conf")) as file:
            keys = re.findall(r"^(\w+)=", file.read(), re.M)
        self.assertGreater(len(keys), 35)
        for key in keys:
            self.assertIn(f"{key}=", text)

    def test_codes_have_the_names_of_the_protocol(self):
        text = self.words("appvault.1")
        with open(os.path.join(ROOT, "PROTOCOL.md")) as file:
            rows = re.findall(r"^\| (\d+) \| (\w+) \| (?:yes|no) \|", file.read(), re.M)
        self.assertGreater(len(rows), 43)
        for number, name in rows:
            self.assertIn(f"{number} {name} ", text)


if __name__ == "__main__":
    unittest.main()
