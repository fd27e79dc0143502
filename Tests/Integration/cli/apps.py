"""Locked applications in the menu: what is written, that the desktop runs it, and that no file is lost."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from clilab import APPVAULT, Lab

ENTRY = """# made by hand
[Desktop Entry]
Type=Application
Name=Mail
Name[de]=Post
Exec=%s --open %%U
TryExec=%s
DBusActivatable=true
Actions=new;

[Desktop Action new]
Name=New
Exec=%s "a b" --new '$HOME; x'
"""
# In the test the tool is a copy, whose place this takes: it tells with what it was called.
STAND_IN = """#!/bin/sh
printf '%s\\n' "$@" >"$SEEN.part"
mv "$SEEN.part" "$SEEN"
exit 1
"""


class Apps(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-apps-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.lab = Lab()
        self.addCleanup(self.lab.__exit__)
        self.tool = self.path("bin dir/appvault")
        os.mkdir(os.path.dirname(self.tool))
        shutil.copy(APPVAULT, self.tool)
        self.program = self.path("bin dir/mail").replace(" ", "")
        self.system = self.path("system")
        self.home = self.path("home/share")
        self.write(self.program, "#!/bin/sh\n", 0o755)
        self.text = ENTRY % ((self.program,) * 3)
        self.write(f"{self.system}/applications/mail.desktop", self.text)

    def path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def write(path, text, mode=0o644):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    @staticmethod
    def read(path):
        with open(path) as file:
            return file.read()

    def environment(self, **more):
        return self.lab.environment(
            HOME=self.path("home"), XDG_DATA_HOME=self.home, XDG_DATA_DIRS=f"relative:{self.system}",
            XDG_CONFIG_HOME=self.path("home/config"), XDG_CONFIG_DIRS=self.path("xdg"), **more)

    def app(self, *arguments, **more):
        done = subprocess.run(
            [self.tool, "app", *arguments], capture_output=True, env=self.environment(**more), timeout=30, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def add(self, *arguments):
        status, out, err = self.app("add", *arguments)
        self.assertEqual(status, 0, out + err)
        return out + err

    def listed(self):
        return json.loads(self.app("list", "--json")[1])["apps"]

    def files(self):
        """Every file of the person's, with what it holds."""
        found = {}
        for folder, _, names in os.walk(self.path("home")):
            for name in names:
                path = os.path.join(folder, name)
                content = os.readlink(path) if os.path.islink(path) else self.read(path)
                found[os.path.relpath(path, self.path("home"))] = content
        return found

    @property
    def override(self):
        return f"{self.home}/applications/mail.desktop"

    def prefix(self, *options):
        return " ".join([f'"{self.tool}"', "run", "--app", "mail", *options, "--"])

    # --- what is written

    def test_every_command_asks_first_and_the_rest_stays(self):
        self.add("mail.desktop")
        before = self.prefix()
        expected = self.text.replace("[Desktop Entry]\n", "[Desktop Entry]\nX-AppVault=1\n")
        expected = expected.replace("DBusActivatable=true", "DBusActivatable=false")
        expected = expected.replace("Exec=" + self.program, f"Exec={before} {self.program}")
        expected = expected.replace("TryExec=" + before + " ", "TryExec=")
        expected = expected.replace("'$HOME; x'", '"\\\\$HOME; x"')
        self.assertEqual(self.read(self.override), expected)
        checked = subprocess.run(["desktop-file-validate", self.override], capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout), (0, b""))

    def test_options_go_on_to_run_and_may_be_changed(self):
        self.add("mail", "--require", "finger", "--store", "work % 1", "--on-lock", "quit")
        self.assertIn(self.prefix('--require finger --store "work %% 1" --on-lock quit'), self.read(self.override))
        self.assertEqual(
            self.listed(), [{"id": "mail", "name": "Mail", "state": "locked", "require": "finger",
                             "store": "work % 1", "onLock": "quit"}])
        self.add("mail")
        self.assertEqual(self.read(self.override).count("--app"), 2)
        self.assertIsNone(self.listed()[0]["require"])

    def test_the_desktop_runs_what_was_written(self):
        self.write(self.program, STAND_IN, 0o755)
        for command in [
            ["gio", "launch", f"{self.system}/applications/mail.desktop", "file:///tmp/a%20b"],
            ["xvfb-run", "-a", "gtk-launch", "mail", "/tmp/a b", "/tmp/c"],
        ]:
            with self.subTest(command):
                plain = self.launched(*command)
                self.assertEqual(plain[0], "--open")
                self.add("mail")
                self.write(self.tool, STAND_IN, 0o755)
                words = self.launched(*(self.override if word.endswith(".desktop") else word for word in command))
                self.assertEqual(words, ["run", "--app", "mail", "--", self.program, *plain])
                shutil.copy(APPVAULT, self.tool)
                self.assertEqual(self.app("remove", "mail")[0], 0)

    def launched(self, *command):
        """The arguments that the desktop has started a stand-in with."""
        seen = self.path("seen")
        if os.path.exists(seen):
            os.remove(seen)
        done = subprocess.run(command, env=self.environment(SEEN=seen), capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_for(seen)
        return self.read(seen).splitlines()

    def test_an_action_of_the_entry_runs_through_it_too(self):
        self.add("mail")
        self.write(self.tool, STAND_IN, 0o755)
        seen = self.path("seen")
        script = ("import sys, gi; gi.require_version('Gio', '2.0'); from gi.repository import Gio\n"
                  "Gio.DesktopAppInfo.new('mail.desktop').launch_action('new', None)")
        subprocess.run(["/usr/bin/python3", "-c", script], env=self.environment(SEEN=seen), timeout=30, check=True)
        self.wait_for(seen)
        self.assertEqual(
            self.read(seen).splitlines(),
            ["run", "--app", "mail", "--", self.program, "a b", "--new", "$HOME; x"])

    @staticmethod
    def wait_for(path):
        from daemonlab import wait_until

        wait_until(lambda: os.path.exists(path), "the command ran", 20)

    def test_an_entry_in_a_subfolder_has_the_folder_in_its_id(self):
        os.rename(f"{self.system}/applications/mail.desktop", self.path("mail"))
        self.write(f"{self.system}/applications/kde/a-b/mail.desktop", self.text)
        self.add("kde-a-b-mail")
        self.assertEqual(list(self.files()), ["share/applications/kde-a-b-mail.desktop"])
        own = f"{self.home}/applications/my/mail.desktop"
        self.write(own, self.text)
        self.add("my-mail")
        self.assertIn("--app my-mail", self.read(own))
        self.assertEqual([app["id"] for app in self.listed()], ["kde-a-b-mail", "my-mail"])

    def test_what_starts_it_by_d_bus_and_with_the_session_asks_too(self):
        service = "[D-BUS Service]\nName=mail\nExec=%s --service\nSystemdService=mail.service\n" % self.program
        self.write(f"{self.system}/dbus-1/services/mail.service", service)
        self.write(self.path("xdg/autostart/mail.desktop"), self.text)
        self.assertIn("next login", self.add("mail"))
        files = self.files()
        self.assertEqual(set(files), {
            "share/applications/mail.desktop", "share/dbus-1/services/mail.service", "config/autostart/mail.desktop"})
        self.assertEqual(
            files["share/dbus-1/services/mail.service"],
            f"[D-BUS Service]\nX-AppVault=1\nName=mail\n"
            f"Exec='{self.tool}' run --app mail -- {self.program} --service\n")
        self.assertIn(self.prefix(), files["config/autostart/mail.desktop"])
        self.assertEqual(self.app("remove", "mail")[0], 0)
        self.assertEqual(self.files(), {})

    def test_the_session_bus_starts_the_service_through_it(self):
        service = f"[D-BUS Service]\nName=org.example.mail\nExec={self.program} --service 'a b'\n"
        self.write(f"{self.system}/dbus-1/services/org.example.mail.service", service)
        self.write(f"{self.system}/applications/org.example.mail.desktop", self.text)
        self.add("org.example.mail")
        self.write(self.tool, STAND_IN, 0o755)
        seen = self.path("seen")
        subprocess.run(
            ["dbus-run-session", "--", "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
             "org.freedesktop.DBus.StartServiceByName", "string:org.example.mail", "uint32:0"],
            env=self.environment(SEEN=seen), capture_output=True, timeout=60, check=False)
        self.wait_for(seen)
        self.assertEqual(
            self.read(seen).splitlines(),
            ["run", "--app", "org.example.mail", "--", self.program, "--service", "a b"])

    # --- nothing of the person's is lost

    def test_the_persons_own_entry_is_locked_and_comes_back_as_it_was(self):
        own = self.text.replace("Name=Mail", "Name=Mine")
        self.write(self.override, own, 0o640)
        before = os.lstat(self.override)
        self.add("mail")
        self.add("mail", "--on-lock", "stay")
        self.assertIn("Name=Mine", self.read(self.override))
        self.assertEqual([app["name"] for app in self.listed()], ["Mine"])
        self.assertEqual(self.app("remove", "mail")[0], 0)
        after = os.lstat(self.override)
        self.assertEqual(self.files(), {"share/applications/mail.desktop": own})
        self.assertEqual((before.st_ino, before.st_mode, before.st_mtime_ns),
                         (after.st_ino, after.st_mode, after.st_mtime_ns))

    def test_a_link_of_the_persons_comes_back_as_a_link(self):
        kept = self.path("dotfiles/mail.desktop")
        self.write(kept, self.text)
        os.makedirs(os.path.dirname(self.override))
        os.symlink(kept, self.override)
        self.add("mail")
        self.assertEqual(self.read(kept), self.text)
        self.assertFalse(os.path.islink(self.override))
        self.app("remove", "mail")
        self.assertEqual(os.readlink(self.override), kept)
        self.assertEqual(list(self.files()), ["share/applications/mail.desktop"])

    def test_wherever_it_is_killed_the_persons_file_is_there_and_remove_undoes_it(self):
        own = self.text.replace("Name=Mail", "Name=Mine")
        self.write(self.path("xdg/autostart/mail.desktop"), self.text)
        for call in ["linkat", "fsync", "renameat", "mkdir"]:
            for count in range(1, 40):
                shutil.rmtree(self.path("home"), ignore_errors=True)
                self.write(self.override, own)
                killed = subprocess.run(
                    ["strace", "-qq", "-o", "/dev/null", "-e", f"inject={call}:signal=KILL:when={count}", self.tool,
                     "app", "add", "mail"], env=self.environment(), capture_output=True, timeout=60, check=False)
                if killed.returncode == 0:
                    break
                with self.subTest(call=call, count=count):
                    self.assertIn(own, self.files().values())
                    status, out, err = self.app("remove", "mail")
                    self.assertIn(status, (0, 3), out + err)
                    left = {name for name in self.files() if not os.path.basename(name).startswith(".appvault-")}
                    self.assertEqual(left, {"share/applications/mail.desktop"})
                    self.assertEqual(self.read(self.override), own)
            self.assertLess(count, 39, call)

    def test_remove_cut_off_leaves_the_file_and_can_be_run_again(self):
        own = self.text.replace("Name=Mail", "Name=Mine")
        self.write(self.path("xdg/autostart/mail.desktop"), self.text)
        for count in range(1, 40):
            shutil.rmtree(self.path("home"), ignore_errors=True)
            self.write(self.override, own)
            self.add("mail")
            killed = subprocess.run(
                ["strace", "-qq", "-o", "/dev/null", "-e", f"inject=renameat,unlinkat,fsync:signal=KILL:when={count}",
                 self.tool, "app", "remove", "mail"], env=self.environment(), capture_output=True, timeout=60,
                check=False)
            if killed.returncode == 0:
                break
            self.assertIn(own, self.files().values())
            self.assertIn(self.app("remove", "mail")[0], (0, 3))
            self.assertEqual(self.files(), {"share/applications/mail.desktop": own})
        self.assertGreater(count, 2)
        self.assertLess(count, 39)

    def test_two_files_of_the_persons_are_both_left(self):
        self.write(self.override, self.text)
        self.add("mail")
        newer = self.text.replace("Mail", "Newer")
        os.remove(self.override)
        self.write(self.override, newer)
        before = self.files()
        status, _, err = self.app("add", "mail")
        self.assertEqual(status, 1)
        self.assertIn("before-appvault", err)
        self.assertEqual(self.app("remove", "mail")[0], 3)
        self.assertEqual(self.files(), before)

    def test_an_entry_that_was_changed_is_shown_as_that(self):
        self.add("mail")
        self.assertEqual(self.app("list")[1], "mail\tlocked\tMail\n")
        text = self.read(self.override)
        self.write(self.override, text.replace(self.prefix() + " ", ""))
        self.assertEqual(self.app("list")[1], "mail\tchanged\tMail\n")
        self.add("mail")
        self.write(self.override, self.read(self.override).replace(self.tool, "/nowhere/appvault"))
        self.assertEqual(self.app("list")[1], "mail\ttool-missing\tMail\n")
        self.add("mail")
        self.assertEqual(self.app("list")[1], "mail\tlocked\tMail\n")

    # --- what is refused

    def test_what_cannot_be_locked_is_refused_with_the_reason(self):
        cases = {
            "Exec=flatpak run org.x\n": (1, "Flatpak"),
            "Exec=env A=b /snap/bin/x\n": (1, "snap"),
            "Exec=gnome-terminal\n": (1, "gnome-terminal"),
            'Exec="x\n': (1, "(Exec=) is not valid"),
            "": (1, "no command"),
            "Hidden=true\nExec=x\n": (1, "Hidden=true"),
            "Exec=x\n" + "#" * (1 << 20): (1, "larger than 1 MiB"),
        }
        for keys, (status, reason) in cases.items():
            with self.subTest(reason):
                self.write(f"{self.system}/applications/x.desktop", "[Desktop Entry]\nType=Application\n" + keys)
                result = self.app("add", "x")
                self.assertEqual(result[0], status, result)
                self.assertIn(reason, result[2])
                self.assertIn("hint: ", result[2])
                self.assertEqual(self.files(), {})
        for name in ["../x", "a/b", ".x", "--", ""]:
            self.assertEqual(self.app("add", "--", name)[0], 2, name)
        self.assertEqual(self.app("add", "unknown")[0], 3)
        self.assertEqual(self.app("remove", "mail")[0], 3)
        self.assertEqual(self.app("add", "mail", "--require", "nothing")[0], 2)

    def test_a_service_of_another_program_is_refused_before_anything_is_written(self):
        self.write(f"{self.system}/dbus-1/services/mail.service", "[D-BUS Service]\nName=mail\nExec=/usr/bin/server\n")
        status, _, err = self.app("add", "mail")
        self.assertEqual(status, 1)
        self.assertIn("server", err)
        self.assertEqual(self.files(), {})

    def test_a_full_disk_leaves_what_was_there(self):
        self.write(self.override, self.text)
        status = subprocess.run(
            ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=ENOSPC:when=2", self.tool, "app", "add",
             "mail"], env=self.environment(), capture_output=True, timeout=60, check=False)
        self.assertEqual(status.returncode, 5, status)
        self.assertEqual(self.read(self.override), self.text)
        self.app("remove", "mail")
        self.assertEqual(self.files(), {"share/applications/mail.desktop": self.text})


if __name__ == "__main__":
    unittest.main()
