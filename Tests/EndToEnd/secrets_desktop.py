"""Programs of a desktop keep their secrets in AppVault, in a session with a screen: secret-tool, git, Seahorse,
Chromium, and a program in a sandbox through the portal. A login by password or by finger opens them, and a dialog asks
where the store is locked. Pictures are kept."""

import unittest

import clientlab
import packages
from clientlab import ALICE

NEEDS_ROOT = True
TIMEOUT = 2400
APP = "org.example.Otter"


@packages.on_later_releases
class Clients(clientlab.Case):
    def test_1_the_name_is_ours(self):
        told = self.command("appvault doctor || true")
        self.assertNotIn("gnome-keyring", told)
        self.assertIn("ok\tsecrets", told)

    def test_2_secret_tool(self):
        """stores, finds, finds after a new login without a question, and deletes"""
        self.stores("Mail at home", "otters hold hands", "user", "alice", "server", "mail.example")
        self.assertEqual(self.command("secret-tool lookup user alice server mail.example"), "otters hold hands")
        found = self.command("secret-tool search --all server mail.example 2>&1")
        for line in ("label = Mail at home", "secret = otters hold hands", "attribute.user = alice"):
            self.assertIn(line, found)
        self.again()
        self.assertEqual(self.command("secret-tool lookup user alice server mail.example"), "otters hold hands")
        self.stores("Other", "no otter", "user", "bob")
        self.command("secret-tool clear user bob")
        self.assertNotEqual(self.run_in_session("secret-tool lookup user bob")[0], 0)
        # Nothing of it is in gnome-keyring's files, and the names of the records are not listed.
        self.assertNotIn("otters", self.command("cat ~/.local/share/keyrings/* 2>/dev/null || true"))
        self.assertEqual(self.command("appvault --store secrets list"), "")

    def test_3_git(self):
        """git's helper keeps what git hands it, and git finds it"""
        helper = "git -c credential.helper=libsecret credential"
        asked = "protocol=https\\nhost=git.example\\nusername=alice\\n"
        self.command(f"printf '{asked}password=a token\\n' | {helper} approve")
        self.assertIn("password=a token\n", self.command(f"printf '{asked}' | GIT_ASKPASS=false {helper} fill"))
        self.command(f"printf '{asked}' | {helper} reject")
        self.assertNotEqual(
            self.run_in_session(f"printf '{asked}' | GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=false {helper} fill")[0], 0)

    def test_4_chromium(self):
        """the key under which it encrypts passwords and cookies is an item of ours"""
        self.starts(
            "chromium --no-sandbox --no-first-run --disable-gpu --password-store=gnome-libsecret about:blank")
        search = "secret-tool search --all application chromium 2>&1"
        self.until(lambda: "Safe Storage" in self.command(search), "an item of Chromium's")
        key = self.command("secret-tool lookup application chromium")
        self.assertTrue(key)
        self.until(lambda: self.window("--class", "chromium"), "a window of Chromium's")
        self.picture("clients-chromium")
        self.desktop.run("pkill -u alice chromium")
        self.until(lambda: self.desktop.run("pgrep -u alice chromium")[0] != 0, "Chromium's end")
        self.assertEqual(self.command("secret-tool lookup application chromium"), key)

    def sandboxed(self, app):
        """The command of a program in a sandbox, which prints its key."""
        info = f"[Application]\\nname={app}\\n[Instance]\\ninstance-id=1\\n"
        # Later portals also look for what bwrap itself has said, where Flatpak leaves it.
        return (
            f"printf '{info}' > ~/flatpak-info; mkdir -p $XDG_RUNTIME_DIR/.flatpak/1;"
            " bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64"
            " --ro-bind /etc /etc --ro-bind /run /run --proc /proc --dev /dev"
            " --info-fd 3 --ro-bind ~/flatpak-info /.flatpak-info /usr/local/bin/portal-key"
            " 3> $XDG_RUNTIME_DIR/.flatpak/1/bwrapinfo.json")

    def test_5_sandbox(self):
        """a program in a sandbox gets a key by the portal: the same each time, and another one than its neighbour"""
        # As a desktop does at its start: the portal asks for nothing where it does not know the desktop.
        self.command("systemctl --user import-environment XDG_CURRENT_DESKTOP")
        keys = [self.command(self.sandboxed(app)).strip() for app in (APP, APP, APP + "2")]
        self.assertEqual(len(bytes.fromhex(keys[0])), 64)
        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])

    def asks_in_a_dialog(self, name):
        """The person is asked, and answers."""
        self.until(lambda: self.window("--name", "^AppVault$"), f"a dialog: {name}")
        self.desktop.run("sleep 1")
        self.picture(name)
        self.desktop.type(ALICE)
        self.until(lambda: self.state() == "open", "an open store")
        self.until(lambda: not self.window("--name", "^AppVault$"), "the dialog's end")

    def test_6_a_dialog_where_the_store_is_locked(self):
        """secret-tool and a program in a sandbox wait for it, and get what they had before"""
        for name, command in (
            ("clients-dialog", "secret-tool lookup user alice server mail.example"),
            ("clients-dialog-sandbox", self.sandboxed(APP))):
            with self.subTest(name):
                before = self.command(command).strip()
                self.command("appvault lock")
                self.asks(command, "found")
                self.asks_in_a_dialog(name)
                self.until(lambda: self.result("found"), "the secret")
                self.assertEqual(self.result("found"), f"{before} ended 0")

    def test_6_chromium_where_the_store_is_locked(self):
        """Chromium waits for it, and has the same key"""
        key = self.command("secret-tool lookup application chromium")
        self.command("appvault lock")
        self.starts(
            "chromium --no-sandbox --no-first-run --disable-gpu --password-store=gnome-libsecret about:blank")
        self.asks_in_a_dialog("clients-dialog-chromium")
        self.until(lambda: self.window("--class", "chromium"), "a window of Chromium's")
        self.desktop.run("pkill -u alice chromium")
        self.until(lambda: self.desktop.run("pgrep -u alice chromium")[0] != 0, "Chromium's end")
        self.assertEqual(self.command("secret-tool lookup application chromium"), key)
        found = self.command("secret-tool search --all application chromium 2>&1")
        self.assertEqual(found.count("secret = "), 1)

    def test_7_seahorse(self):
        """shows the collection, and an item in it"""
        desktop = self.desktop
        self.starts("seahorse")
        self.until(lambda: self.window("--class", "seahorse"), "Seahorse")
        window = self.window("--class", "seahorse").split()[0]
        desktop.x(f"xdotool windowmove {window} 100 80 windowsize {window} 820 560 windowfocus {window}")
        # The first collection, which it shows when it is chosen.
        desktop.run("sleep 3")
        desktop.x("xdotool mousemove 240 181 click 1")
        desktop.run("sleep 2")
        self.picture("clients-seahorse")
        desktop.run("pkill -u alice seahorse")

    def test_8_finger(self):
        """after a login by finger everything is found"""
        desktop = self.desktop
        self.enrols_a_finger()
        desktop.logout()
        desktop.wait(lambda: self.state() == "locked", "a store that is shut after the logout")
        desktop.greeter(line=True, asks=False)
        self.touches_the_reader()
        desktop.wait(lambda: self.state() == "open", "a store that a finger opens")
        desktop.key("Return")
        desktop.session()
        self.assertEqual(self.command("secret-tool lookup user alice server mail.example"), "otters hold hands")


if __name__ == "__main__":
    unittest.main()
