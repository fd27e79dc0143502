"""`appvault import keyring|kwallet|pass`: what a real gnome-keyring, a real KWallet and a real pass keep comes into the
store `secrets`, once, with everything that belongs to it."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from daemonlab import wait_until
from foreignlab import PASSWORD, Case, Keyring, sorted_items
from itemlab import Mirror
from slow import slow

TIMEOUT = 1200


class FromKeyring(Case):
    FOLDER = ".local/share/keyrings"

    def content(self, name):
        with open(os.path.join(self.home, self.FOLDER, name), "rb") as file:
            return file.read()

    @slow
    def test_a_thousand_items(self):
        """each of a thousand items of a real gnome-keyring comes, with everything that it says of it itself"""
        keyring = Keyring(self.home)
        try:
            for number in range(997):
                attributes = {"xdg:schema": f"org.example.S{number % 7}", "number": str(number)}
                attributes |= {f"a{n}": "ß" * n for n in range(number % 5)}
                keyring.put(keyring.login, f"Item {number} ☃", attributes, os.urandom(number % 200))
            keyring.put(keyring.login, "", {}, b"no name, no attributes")
            # Notes: all of them have the same attributes.
            for text in (b"one", b"two"):
                keyring.put(keyring.login, "a note", {"xdg:schema": "org.gnome.keyring.Note"}, text)
        finally:
            keyring.close()
        # What another gnome-keyring reads out of the file.
        keyring = Keyring(self.home)
        try:
            there = keyring.all(keyring.login)
        finally:
            keyring.close()
        self.assertEqual(len(there), 1000)
        before = self.content("login.keyring")
        self.assertEqual(self.counts("keyring", passwords=[PASSWORD]), {"Login": (1000, 0, 0)})
        here = self.stored()
        self.assertEqual({item.pop("collection") for item in here}, {"Login"})
        self.assertEqual(sorted_items(here), sorted_items(there))
        self.assertEqual(self.content("login.keyring"), before)
        # A second time nothing comes.
        self.assertEqual(self.counts("keyring", passwords=[PASSWORD]), {"Login": (0, 1000, 0)})
        self.assertEqual(len(self.stored()), 1000)

    def test_several_keyrings(self):
        """other keyrings become collections of their names; each is asked for its password, and one that does not open
        is named while the others come"""
        keyring = Keyring(self.home)
        try:
            keyring.put(keyring.login, "here", {"a": "1"}, b"1")
            keyring.put(keyring.keyring("Work things", b"another"), "there", {"a": "1"}, b"2")
            keyring.put(keyring.keyring("In the open", b""), "open", {"a": "1"}, b"3")
            keyring.put(keyring.keyring("Shut", b"nobody knows"), "shut", {"a": "1"}, b"4")
        finally:
            keyring.close()
        # In the order of the files' names, login first: the plain one needs none, and what has opened one is tried.
        done = self.over("keyring", passwords=[PASSWORD, b"wrong", b"another"], status=1)
        self.assertIn(b"appvault: Shut: that is not its password\n", done.err)
        self.assertIn(b"Work things: came: 1, there already: 0, did not come: 0\n", done.out)
        self.assertEqual(
            {(item["collection"], item["secret"]) for item in self.stored()},
            {("Login", b"1"), ("Work things", b"2"), ("In the open", b"3")})
        again = self.counts("keyring", passwords=[PASSWORD, b"wrong", b"another"], status=1)
        self.assertEqual(set(again.values()), {(0, 1, 0)})
        self.assertEqual(len(Mirror(self.items()).follow().collections), 3)

    def test_doubles(self):
        """of several items with the same attributes the one that was changed last comes, and what is here stays; what
        differs is named"""
        keyring = Keyring(self.home)
        try:
            keyring.put(keyring.login, "first", {"user": "ann"}, b"old")
            begun = time.time()
            wait_until(lambda: int(time.time()) > int(begun), "the clock stands")
            keyring.put(keyring.login, "second", {"user": "ann"}, b"new")
        finally:
            keyring.close()
        answers = [json.loads(self.over("keyring", *dry, "--json", passwords=[PASSWORD]).out)
                   for dry in (["--dry-run"], [])]
        for answer in answers:
            self.assertEqual(answer["from"], [{"name": "Login", "came": 1, "present": 0, "different": 1, "left": 0}])
            self.assertEqual(answer["different"], [{"from": "Login", "item": "first"}])
            self.assertEqual(answer["result"], "done")
        [item] = self.stored()
        self.assertEqual((item["label"], item["secret"]), ("second", b"new"))
        items = self.items()
        items.change(items.find()[0]["id"], b"newer")
        done = self.over("keyring", passwords=[PASSWORD])
        self.assertIn(b"Login: second: it differs; what is here stays\n", done.err)
        self.assertIn(b"came: 0, there already: 0, did not come: 0\nLogin: differs, kept as it is here: 2\n", done.out)
        self.assertEqual([item["secret"] for item in self.stored()], [b"newer"])

    def test_the_same_kind(self):
        """an item of no kind is the same item, whether the program that stored it has said so or not"""
        keyring = Keyring(self.home)
        try:
            keyring.put(keyring.login, "there", {"user": "ann"}, b"1")
        finally:
            keyring.close()
        self.over("keyring", passwords=[PASSWORD])
        items = self.items()
        [item] = items.find()
        items.change(item["id"], attributes={"user": "ann"})
        self.assertEqual(self.counts("keyring", passwords=[PASSWORD]), {"Login": (0, 1, 0)})

    def test_deleted(self):
        """what was deleted in gnome-keyring does not come, neither an item nor a keyring"""
        keyring = Keyring(self.home)
        try:
            for n in range(3):
                item = keyring.put(keyring.login, f"item {n}", {"n": str(n)}, b"1")
            keyring.of(item, "Item").Delete()
            gone = keyring.keyring("Gone", b"another")
            keyring.put(gone, "there", {"a": "1"}, b"2")
            keyring.of(gone, "Collection").Delete()
        finally:
            keyring.close()
        self.assertEqual(self.counts("keyring", passwords=[PASSWORD]), {"Login": (2, 0, 0)})
        self.assertEqual({item["label"] for item in self.stored()}, {"item 0", "item 1"})

    def test_cut_short(self):
        """killed in the middle and begun again, everything is there once"""
        lines = ["[keyring]", "display-name=Plain"]
        for number in range(400):
            lines += [f"[{number}]", "item-type=0", f"display-name=Item {number}", f"secret=s{number}", "mtime=1",
                      f"[{number}:attribute0]", "name=n", "type=string", f"value={number % 390}"]
        self.file(self.FOLDER + "/plain.keyring", "\n".join(lines).encode())
        command = self.lab.command("import", "keyring")
        process = subprocess.Popen(
            command, env=self.lab.environment(HOME=self.home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(
            lambda: process.poll() is not None or ("secrets" in self.stores() and self.count() > 20), "nothing came")
        process.send_signal(signal.SIGKILL)
        process.wait()
        came = len(self.stored())
        self.assertGreater(came, 20)
        # Of those with the same attributes the last one comes, and the other ten differ.
        # The daemon may have been at one more.
        counts = self.counts("keyring")["Plain"]
        self.assertEqual((sum(counts), counts[2]), (390, 0))
        self.assertGreaterEqual(counts[1], came)
        self.assertEqual(len({item["attributes"]["n"] for item in self.stored()}), 390)
        self.assertEqual(len(self.stored()), 390)

    def test_dry_run(self):
        """a dry run says what would come, and neither makes the store nor stores anything"""
        self.samples(self.FOLDER, "login.keyring", "open.keyring")
        done = self.over("keyring", "--dry-run", passwords=[PASSWORD])
        self.assertIn(b"Login: would come: 4, there already: 0, would not come: 0\n", done.out)
        self.assertEqual(self.stores(), ["default"])
        self.over("keyring", passwords=[PASSWORD])
        self.assertEqual(
            self.counts("keyring", "--dry-run", passwords=[PASSWORD]), {"Login": (0, 4, 0), "In the open": (0, 2, 0)})

    def test_too_large(self):
        """what is larger than AppVault keeps does not come, and is named"""
        lines = ["[keyring]", "display-name=P", "[1]", "item-type=0", "display-name=large",
                 "secret=" + "x" * ((1 << 20) + 1), "[2]", "display-name=ok", "secret=y"]
        self.file(self.FOLDER + "/p.keyring", "\n".join(lines).encode())
        done = self.over("keyring", status=1)
        self.assertIn(b"appvault: P: large: it is larger than AppVault allows\n", done.err)
        self.assertEqual([item["label"] for item in self.stored()], ["ok"])

    def test_locked(self):
        """while the store is locked nobody is asked for a keyring's password"""
        self.samples(self.FOLDER, "open.keyring")
        self.over("keyring")
        self.assertEqual(self.lab.run("lock").status, 0)
        self.over("keyring", passwords=[], status=4)

    def test_at_a_terminal(self):
        """the password does not show, and a wrong one is asked for again"""
        self.samples(self.FOLDER, "login.keyring")
        with self.lab.terminal("import", "keyring", env={"HOME": self.home}) as screen:
            screen.expect("Password of login: ")
            screen.type("wrong\n")
            screen.expect("that is not its password")
            screen.expect("Password of login: ")
            screen.type(PASSWORD.decode() + "\n")
            self.assertEqual(screen.end(), 0)
            self.assertNotIn(PASSWORD, screen.seen)
            self.assertIn(b"came: 4", screen.seen)

    def test_usage(self):
        """a file of such a name is reached by ./, and options of the other kind are refused"""
        self.file("keyring", b"x" * 100)
        for words in (["keyring", "--replace"], ["./keyring", "--dry-run"]):
            self.assertEqual(self.lab.run("import", *words, cwd=self.home).status, 2)
        refused = self.lab.run("import", "./keyring", passcodes=[b"x"], cwd=self.home)
        self.assertNotEqual(refused.status, 0)
        self.assertIn(b"there is nothing to import in", self.over("keyring", status=3).err)
        self.over("keyring", "--store", "other", status=3)
        self.samples(self.FOLDER, "login.keyring")
        self.assertIn(b"Login".lower(), self.over("keyring", status=1).err)


class FromWallet(Case):
    FOLDER = ".local/share/kwalletd"

    def test_a_wallet(self):
        """a wallet that kwalletd has written comes as KDE's own programs look for it"""
        self.samples(self.FOLDER, "kdewallet.kwl", "kdewallet.salt", "kdewallet_attributes.json")
        self.assertEqual(self.counts("kwallet", passwords=[PASSWORD]), {"kdewallet": (8, 0, 0)})
        here = {item["label"]: item for item in self.stored() if not item["label"].startswith("Git")}
        self.assertEqual({item["collection"] for item in here.values()}, {"Login"})
        mail = here["Passwords/mail"]
        self.assertEqual(mail["secret"].decode(), "wähle ☃ 🔑")
        self.assertEqual(
            mail["attributes"],
            {"server": "Passwords", "user": "mail", "type": "plaintext", "xdg:schema": "org.qt.keychain"})
        wifi = here["Network Management/{uuid};802-11-wireless-security"]
        self.assertEqual(json.loads(wifi["secret"]), {"psk": 'otter "quoted"\n', "user": "", "ä": "ü"})
        key = here["Application key for org.example.Notes"]
        self.assertEqual(key["secret"], bytes(range(64)))
        self.assertEqual(key["attributes"]["app_id"], "org.example.Notes")
        found = self.items().find({"xdg:schema": "org.git.Password", "user": "bob"})
        self.assertEqual([item["label"] for item in found], ["Git: https://example.org"])
        self.assertEqual(self.counts("kwallet", passwords=[PASSWORD]), {"kdewallet": (0, 8, 0)})

    def test_others(self):
        """a further wallet becomes a collection of its name; one without its salt is named"""
        for name in ("kdewallet", "Two;2Fthree"):
            for ending in (".kwl", ".salt"):
                self.sample("kdewallet" + ending, f"{self.FOLDER}/{name}{ending}")
        self.sample("kdewallet.kwl", self.FOLDER + "/four.kwl")
        done = self.over("kwallet", passwords=[PASSWORD], status=1)
        self.assertIn(b"four: its .salt file is missing\n", done.err)
        self.assertEqual({item["collection"] for item in self.stored()}, {"Login", "Two/three"})


class FromPass(Case):
    def setUp(self):
        super().setUp()
        self.keys = tempfile.mkdtemp(prefix="appvault-gpg-")
        self.addCleanup(shutil.rmtree, self.keys, True)
        self.environment = {"GNUPGHOME": self.keys, "HOME": self.home, "PATH": os.environ["PATH"]}
        self.addCleanup(self.gpg, "", "gpgconf", "--kill", "all")
        self.gpg("", "gpg", "--batch", "--passphrase", "", "--quick-gen-key", "ann@example.org", "default", "default")

    def gpg(self, text, *words):
        return subprocess.run(
            words, input=text.encode(), env=self.environment, check=True, capture_output=True).stdout

    def entry(self, path, text):
        sealed = self.gpg(
            text, "gpg", "--batch", "--encrypt", "--recipient", "ann@example.org", "--trust-model", "always")
        return self.file(path, sealed)

    def test_entries(self):
        """each entry comes by its path, one line or all of the text; links and .git stay out"""
        self.entry(".password-store/web/example.org.gpg", "otter\n")
        self.entry(".password-store/bank.gpg", "heron\nuser: ann\nurl: https://bank.example\n")
        self.entry(".password-store/.git/objects.gpg", "no entry\n")
        os.symlink("bank.gpg", os.path.join(self.home, ".password-store/again.gpg"))
        self.file(".password-store/broken.gpg", b"no message of GnuPG's")
        self.file(".password-store/README", b"no entry")
        env = {"GNUPGHOME": self.keys}
        dry = self.counts("pass", "--dry-run", env=env)
        self.assertEqual(dry, {"pass": (3, 0, 0)})
        done = self.over("pass", env=env, status=1)
        self.assertIn(b"pass: broken: GnuPG does not decrypt it", done.err)
        self.assertEqual(
            {(item["collection"], item["label"], item["attributes"]["path"], item["secret"]) for item in self.stored()},
            {("pass", "web/example.org", "web/example.org", b"otter"),
             ("pass", "bank", "bank", b"heron\nuser: ann\nurl: https://bank.example")})
        self.assertEqual(self.counts("pass", env=env, status=1), {"pass": (0, 2, 1)})

    @slow
    def test_elsewhere(self):
        """PASSWORD_STORE_DIR says where the entries are"""
        self.entry("elsewhere/a.gpg", "otter")
        env = {"GNUPGHOME": self.keys, "PASSWORD_STORE_DIR": os.path.join(self.home, "elsewhere")}
        self.assertEqual(self.counts("pass", env=env), {"pass": (1, 0, 0)})
        self.assertEqual([item["secret"] for item in self.stored()], [b"otter"])


if __name__ == "__main__":
    unittest.main()
