"""Everybody is spoken to in their own language: the real module, the real tool, one daemon, catalogues that
msgfmt made."""

import json
import locale
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import unittest

import clilab
import pamlab
import wire
from daemonlab import IS_ROOT, answers, wait_until
from faultlab import ME
from pamlab import PAM_AUTH_ERR, PAM_SUCCESS, Lab, Talk
from slow import slow

POLICY = """PasscodeServices=alone
LocalServices=alone
ConversingServices=
DerivationMemory=19MiB
DerivationPasses=2
ThrottleAfter=0
RetryLimit=0
"""
PASSCODE = "correct horse battery"
GERMAN = "de_DE.UTF-8"
PROMPTS = {"C": "AppVault passcode: ", GERMAN: "AppVault-Passcode: "}
WRONG = {"C": "Wrong passcode.", GERMAN: "Falscher Passcode."}


def template():
    """The texts of po/de.po, by id: (English, German)."""
    with open(os.path.join(pamlab.ROOT, "po", "de.po")) as file:
        entries = re.findall(r'^msgctxt "(.*)"\nmsgid "(.*)"\nmsgstr "(.*)"$', file.read(), re.MULTILINE)
    plain = lambda text: text.replace('\\"', '"').replace("\\\\", "\\")
    return {name: (plain(english), plain(german)) for name, english, german in entries}


class Tool(clilab.Lab):
    """The tool, at a daemon that the test has started."""

    def __init__(self, path):
        self.path = path


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        self.lab.stack("auth required {ours}", name="alone")
        self.locales = os.path.join(self.lab.folder, "locale")
        self.catalogue("de")
        self.tool = Tool(self.lab.socket)

    def catalogue(self, language, content=None):
        folder = os.path.join(self.locales, language, "LC_MESSAGES")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "appvault.mo")
        if content is None:
            subprocess.run(["msgfmt", "-o", path, os.path.join(pamlab.ROOT, "po", "de.po")], check=True)
        else:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def daemon(self, policy=POLICY, create=True):
        daemon = self.lab.appvaultd(policy, options=["--locale-dir", self.locales])
        if create:
            daemon.create(PASSCODE)
        return daemon

    def texts(self, language):
        with wire.Client(self.lab.socket) as client:
            client.hello(frontEnd="terminal", language=language)
            answer = client.run("texts")
        self.assertEqual(answer.name, "textList")
        return {text["id"]: (text["text"], text["origin"]) for text in answer.texts}


class Faces(Case):
    def login(self, language, together, told):
        """Runs a login in a process of its own, as an application in that language does."""
        # What a locale contains does not matter: the module asks only for its name.
        locale.setlocale(locale.LC_MESSAGES, language)

        def typed():
            # Both questions are shown before either is answered.
            together.wait(20)
            return "no such horse"

        talk = Talk([typed])
        with self.lab.transaction("alone", talk=talk) as pam:
            result = pam.authenticate()
        told.put((language, result, talk.prompts, talk.lines))

    def test_pam(self):
        """a German and an English application at the same time: each reads its own language"""
        folder = os.path.join(self.lab.folder, "locales")
        shutil.copytree("/usr/lib/locale/C.utf8", os.path.join(folder, GERMAN))
        os.environ["LOCPATH"] = folder
        self.addCleanup(os.environ.pop, "LOCPATH")
        self.daemon()
        context = multiprocessing.get_context("fork")
        together, told = context.Barrier(2), context.Queue()
        people = [context.Process(target=self.login, args=(name, together, told)) for name in PROMPTS]
        for person in people:
            person.start()
        heard = [told.get(timeout=30) for _ in people]
        for person in people:
            person.join(30)
        self.assertEqual({language for language, *_ in heard}, set(PROMPTS))
        for language, result, prompts, lines in heard:
            self.assertEqual(result, PAM_AUTH_ERR)
            self.assertEqual(prompts, [PROMPTS[language]])
            self.assertEqual(lines[0], WRONG[language])

    def test_tool(self):
        """the tool, German and English in turn: prompts, what was done, refusals with their hints"""
        self.daemon(create=False)
        for language, words in (
            (GERMAN, ("Der Tresor ist geschlossen.", "der Tresor ist geschlossen", "»appvault unlock«")),
            ("C.UTF-8", ("The store is locked.", "the store is locked", "`appvault unlock`")),
        ):
            done, refused, hint = words
            env = {"LC_ALL": language}
            created = self.tool.run("create", "--own-passcode", passcodes=[PASSCODE.encode()], env=env)
            self.assertEqual(created.status, 0, created)
            locked = self.tool.run("lock", env=env)
            self.assertIn(done[1:].encode(), locked.out)
            got = self.tool.run("get", "wifi", env=env)
            self.assertIn(refused.encode(), got.err)
            self.assertIn(hint.encode(), got.err)
            # What programs read is the same in every language.
            told = json.loads(self.tool.run("--json", "get", "wifi", env=env).out)
            self.assertEqual((told["code"], told["name"]), (6, "Locked"))
            with self.tool.terminal("unlock", env=env) as screen:
                screen.expect(PROMPTS.get(language, PROMPTS["C"]).encode())
                screen.type(b"wrong\n")
                screen.expect(WRONG.get(language, WRONG["C"]).rstrip(".")[1:].encode())
                screen.signal(signal.SIGINT)
                screen.end()
            reset = self.tool.run("reset", "--yes", passcodes=[PASSCODE.encode()], env=env)
            self.assertEqual(reset.status, 0, reset)


    def test_checklist(self):
        """what a rule demands is said in the person's language, with its numbers; its id is the same"""
        self.daemon(POLICY + "MinLength=12\nRequireDigit=yes\n", create=False)
        for language, wants in (
            (GERMAN, ["mindestens 12 Zeichen", "eine Ziffer"]), ("C.UTF-8", ["12 or more characters", "a digit"])):
            told = self.tool.run("--json", "policy", "check", "-", input=b"tooshort", env={"LC_ALL": language})
            rules = {rule["id"]: rule["wants"] for rule in json.loads(told.out)["rules"]}
            self.assertEqual([rules["minLength"], rules["digit"]], wants)

    def test_list(self):
        """`appvault texts` lists every text in the person's language, and where it comes from"""
        self.daemon(create=False)
        told = json.loads(self.tool.run("--json", "texts", env={"LC_ALL": GERMAN}).out)
        listed = {text["id"]: (text["text"], text["origin"]) for text in told["texts"]}
        self.assertEqual(listed, {name: (german, "catalogue") for name, (_, german) in template().items()})


class Catalogues(Case):
    def test_complete(self):
        """every text of the daemon is in the German catalogue, and comes from there"""
        self.daemon(create=False)
        built, german, source = self.texts("C"), self.texts("de"), template()
        self.assertEqual(built, {name: (english, "builtIn") for name, (english, _) in source.items()})
        self.assertEqual(german, {name: (text, "catalogue") for name, (_, text) in source.items()})

    def test_claims(self):
        """the language that a peer names is never used as a path, and every claim gets an answer"""
        outside = self.catalogue("../outside/de")
        self.assertTrue(os.path.exists(outside))
        self.daemon(create=False)
        for claim in (
            "../outside/de", "/", "..", "de/../de", "%n%s", "x" * 255, "de_" * 85, "\x01", "\u202ede", "DE", ""):
            origins = {origin for _, origin in self.texts(claim).values()}
            expected = "catalogue" if claim.startswith("de_") else "builtIn"
            self.assertEqual(origins, {expected}, claim)

    def test_broken(self):
        """a broken catalogue is left out and noted; the others and the daemon go on"""
        with open(self.catalogue("de"), "rb") as file:
            good = file.read()
        broken = {
            "aa": b"", "bb": b"\xde\x12\x04\x95", "cc": good[: len(good) // 2], "dd": os.urandom(4096),
            "ee": good[:8] + b"\xff" * 4 + good[12:], "ff": b"\0" * (2 << 20), "gg": good[:-40] + b"\xff" * 40,
        }
        for language, content in broken.items():
            self.catalogue(language, content)
        daemon = self.daemon(create=False)
        for language in broken:
            self.assertEqual({origin for _, origin in self.texts(language).values()}, {"builtIn"}, language)
            self.assertIn(f"/{language}/LC_MESSAGES/appvault.mo", daemon.said())
        self.assertEqual({origin for _, origin in self.texts("de").values()}, {"catalogue"})

    def test_none(self):
        """without any catalogue everybody reads English"""
        shutil.rmtree(self.locales)
        self.daemon(create=False)
        self.assertEqual({origin for _, origin in self.texts(GERMAN).values()}, {"builtIn"})

    def test_quotes(self):
        """a command that the English names is in the German, too, in German quotes, and no other quotes are"""
        for name, (english, german) in template().items():
            for command in re.findall("`(.*?)`", english):
                # FILE, USER and the like are words of the language.
                before = re.split("[A-Z]{4}", command)[0]
                self.assertIn("»" + before, german, name)
            self.assertNotRegex(german, '[`"]', name)


class OwnWords(Case):
    """The tool's own texts, beside those of the daemon that it shows."""

    def say(self, language, *arguments, **more):
        result = self.tool.run(*arguments, env={"LC_ALL": language}, **more)
        return (result.out + result.err).decode()

    def made(self):
        made = self.tool.run("create", "--own-passcode", passcodes=[PASSCODE.encode()])
        self.assertEqual(made.status, 0, made)

    def test_status(self):
        """`status` without a store, open, locked, and with a change that is due: no English line is left in German"""
        daemon = self.daemon(POLICY + "IdleTimeout=10min\nExpireDays=90\n", create=False)
        titles = {english for name, (english, _) in template().items() if name.startswith("tool.title.")}
        self.assertGreaterEqual(len(titles), 16)

        def compared(*expected):
            german, english = self.say(GERMAN, "status"), self.say("C.UTF-8", "status")
            for line in german.splitlines():
                if not line.startswith("id ") and "Kennung" not in line:
                    self.assertNotIn(line, english.splitlines(), german)
            for title in titles:
                self.assertNotIn("\n" + title.ljust(11), "\n" + german)
            for words in expected:
                self.assertIn(words, german)

        compared("Zustand", "es gibt keinen", "»appvault create« legt einen an")
        self.made()
        compared(
            "offen", "öffnet mit einem eigenen Passcode", "nicht in Gebrauch", "(heute)", "nach 10 min ohne Anfrage")
        self.tool.run("lock")
        compared("geschlossen", "»appvault unlock« öffnet ihn")
        with open(os.path.join(daemon.config, "policy.conf"), "a") as file:
            file.write("MinLength=30\n")
        daemon.signal(signal.SIGHUP)
        told = lambda: json.loads(self.tool.run("--json", "status").out)["pending"]
        wait_until(lambda: told() == [{"number": 3, "name": "change"}], "the policy was read again")
        compared(
            "ein neuer Passcode muss gewählt werden: die Regeln haben sich geändert", "»appvault unlock« führt durch")

    def test_verbs(self):
        """the other verbs' own texts: on a terminal, in refusals and in hints"""
        self.daemon(create=False)
        self.made()
        again = self.say(GERMAN, "create", "--own-passcode", passcodes=[PASSCODE.encode()])
        self.assertIn("es gibt schon einen Tresor", again)
        self.assertIn("»appvault create --open-existing«", again)
        self.assertIn("lässt sich nicht lesen", self.say(GERMAN, "import", "/nowhere"))
        unknown = "es gibt kein Konto nobody-here" if IS_ROOT else "das ist nicht erlaubt"
        self.assertIn(unknown, self.say(GERMAN, "--user", "nobody-here", "status"))
        for arguments, expected in (
            (("policy", "show"), "die Richtlinie der Systemverwaltung"),
            (("policy", "check"), "Passcode zum Prüfen: "),
            (("set", "name"), "Wert von name (unsichtbar): "),
            (("passwd", "--off"), "zum Fortfahren »yes« eingeben: "),
            (("reset",), "zum Fortfahren den Namen des Tresors eingeben, default: "),
        ):
            with self.subTest(arguments), self.tool.terminal(*arguments, env={"LC_ALL": GERMAN}) as screen:
                screen.expect(expected)
                screen.type(clilab.INTERRUPT)

    def test_programs(self):
        """--json, and output that goes to a program, is the same in every language"""
        self.daemon(create=False)
        self.made()
        # The daemon's texts are in the person's language, also in JSON: its code is for programs.
        other = [("--json", "--user", "nobody-here", "status")] if IS_ROOT else []
        for arguments in (
            *other, ("--json", "create", "--own-passcode"), ("--json", "import", "/nowhere"),
            ("--json", "reset"), ("--json", "export", "/"), ("policy", "show"), ("version",),
        ):
            with self.subTest(arguments):
                more = {"passcodes": [PASSCODE.encode()]}
                self.assertEqual(self.say(GERMAN, *arguments, **more), self.say("C.UTF-8", *arguments, **more))
        german, english = (
            json.loads(self.tool.run("--json", "status", env={"LC_ALL": name}).out) for name in (GERMAN, "C.UTF-8"))
        self.assertEqual(german, english)

    def test_nobody_to_ask(self):
        """without a daemon the tool says so in English"""
        daemon = self.daemon(create=False)
        daemon.stop()
        self.assertIn("appvaultd is not running", self.say(GERMAN, "status"))

    def test_own(self):
        """[Texts] replaces the tool's texts like all others, with arguments in their places"""
        self.daemon(
            POLICY + "[Texts]\ntool.title.state=wie\ntool.state.open=auf\n"
            "tool.store.of={2}: {1}\ntool.next.recovery-new=ask Bob\n",
            create=False)
        self.made()
        shown = self.say("C.UTF-8", "status")
        self.assertRegex(shown, r"(?m)^wie        auf$")
        self.assertRegex(shown, r"(?m)^store      \S+: default$")
        self.assertIn("hint: ask Bob", shown)


class Often(Case):
    def processor(self, daemon):
        """Seconds of processor time that the daemon has used."""
        with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    @slow
    def test_list(self):
        """a peer that asks for all texts over and over costs the daemon little"""
        daemon = self.daemon(create=False)
        asked = 400
        for language in ("C", "de"):
            with wire.Client(self.lab.socket) as client:
                client.hello(frontEnd="terminal", language=language)
                client.run("texts")
                before = self.processor(daemon)
                for _ in range(asked):
                    self.assertEqual(client.run("texts").name, "textList")
                self.assertLess((self.processor(daemon) - before) / asked, 0.0005, language)


class Own(Case):
    def test_texts(self):
        """[Texts] of the policy replaces a text in every language, from the reload on, and nothing else"""
        daemon = self.daemon()
        with open(os.path.join(daemon.config, "policy.conf"), "a") as file:
            file.write("[Texts]\nmatch.prompt=Code for the vault:\nhint.Locked=ask the desk, room {1}\n")
        daemon.signal(signal.SIGHUP)
        expected = ("Code for the vault: ", "administrator")
        wait_until(lambda: self.texts("de")["match.prompt"] == expected, "the policy was read again")
        self.assertEqual(self.texts("C")["match.prompt"], expected)
        self.assertEqual(self.texts("de")["match.retry"], ("Falscher Passcode.", "catalogue"))
        talk = Talk([PASSCODE])
        with self.lab.transaction("alone", talk=talk) as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
        self.assertEqual(talk.prompts, ["Code for the vault: "])
        self.assertEqual(self.tool.run("lock").status, 0)
        self.assertIn("ask the desk, room {1}".encode(), self.tool.run("get", "wifi").err)


    def test_yes(self):
        """a yes in the administrator's words counts, a yes in English still does, and everything else is a no"""
        self.daemon(POLICY + "[Texts]\nanswer.yes=oui da\n", create=False)
        for typed, agreed in (("OUI", True), ("yes", True), ("ja", False), ("non", False), ("", False)):
            made = self.tool.run("create", "--own-passcode", passcodes=[PASSCODE.encode()])
            self.assertEqual(made.status, 0, made)
            # A front end that draws no screens.
            with wire.Client(self.lab.socket) as client:
                client.hello(frontEnd="terminal", language="C")
                said = answers(PASSCODE, choice=typed)
                self.assertEqual(client.run("offerRecovery", said, subject=ME).name, "done")
                self.assertIn("choice", [ask.purpose for ask in client.asked])
            state = json.loads(self.tool.run("--json", "status").out)
            self.assertEqual(state["recoveryKey"], agreed, typed)
            self.assertEqual(self.tool.run("reset", "--yes", passcodes=[PASSCODE.encode()]).status, 0)


if __name__ == "__main__":
    unittest.main()
