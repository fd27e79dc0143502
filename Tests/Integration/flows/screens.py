"""Screens, by a front end that draws them: what it may send, and what happens where it sends something else; and
peers of a former release, which know none."""

import unittest

import wire
from clilab import Lab
from daemonlab import CHEAP, Daemon, answers
from faultlab import ME

OLD, NEW = "correct horse 1", "a new passcode"
POLICY = "ThrottleAfter=0\nMinLength=12\nRequireDigit=yes\n"
CANCELLED, TOO_LARGE, SAME = 27, 33, 38
DRAFTS = 1000


class Case(unittest.TestCase):
    def daemon(self):
        daemon = Daemon(policy=POLICY)
        self.addCleanup(daemon.close)
        daemon.person = ME
        daemon.create(OLD)
        return daemon

    def change(self, client):
        """As far as the screen of the new passcode."""
        client.send("passcode", 7, subject=ME, change="change")
        client.tag = 7
        while True:
            message = client.receive(client.timeout)
            if message.name == "screen" and message.id == "match.current":
                client.answer(message, 0, [OLD])
            elif message.name == "screen":
                return message

    def end(self, client):
        while (message := client.receive(client.timeout)) is not None:
            if message.name not in ("working", "show"):
                return message
        return None

    def drawing(self, daemon):
        client = daemon.client(frontEnd="terminal", version=2)
        self.addCleanup(client.close)
        return client


class Screens(Case):
    def test_a_screen(self):
        """it has its fields, its rules and what can be done; and what was typed becomes the passcode"""
        daemon = self.daemon()
        client = self.drawing(daemon)
        screen = self.change(client)
        self.assertEqual((screen.kind, screen.id, screen.picture), ("form", "create.passcode", "key"))
        self.assertEqual(
            [(field["kind"], field["id"], field["isJudged"]) for field in screen.formFields],
            [("secret", "create.choose", True), ("secret", "create.confirm", False)])
        self.assertEqual([(rule["id"], rule["finding"]) for rule in screen.rules],
                         [("minLength", "notChecked"), ("digit", "notChecked")])
        self.assertEqual([(choice["id"], choice["role"], choice["needs"]) for choice in screen.choices],
                         [("continue", "primary", 3), ("cancel", "cancel", 0)])
        client.answer(screen, 0, ["too short", "too short"])
        screen = self.end(client)
        self.assertEqual((screen.name, screen.lines[-1]["role"]), ("screen", "error"))
        client.answer(screen, 0, [NEW + " 7", NEW + " 7"])
        self.assertEqual(self.end(client).name, "done")
        self.assertEqual(daemon.authenticate(NEW + " 7").outcome, "success")

    def test_drafts(self):
        """a draft is judged by the rules that are shown, and by nothing else: not by what the passcode is"""
        client = self.drawing(self.daemon())
        screen = self.change(client)
        for typed, found in [
                ("", {"minLength": "notChecked", "digit": "notChecked"}),
                ("a", {"minLength": "unmet", "digit": "unmet"}),
                ("twelve letters", {"minLength": "satisfied", "digit": "unmet"}),
                ("a draft of 14 letters", {"minLength": "satisfied", "digit": "satisfied"}),
                (OLD, {"minLength": "satisfied", "digit": "satisfied"})]:
            with self.subTest(typed):
                self.assertEqual(client.draft(screen, 0, typed), found)
        client.answer(screen, 1)
        answer = self.end(client)
        self.assertEqual((answer.name, answer.code), ("refused", CANCELLED))

    def test_more_rules_than_a_screen_has(self):
        """a draft is told as many as the screen shows, and no more"""
        daemon = self.daemon()
        rules = "".join(f"[Rule r{number}]\nDisplay=number {number}\nReject=zz{number}\n" for number in range(80))
        daemon.policy("[Passcode]\n" + CHEAP + POLICY + rules, reload=True)
        client = self.drawing(daemon)
        screen = self.change(client)
        self.assertEqual(len(screen.rules), 64)
        self.assertEqual(list(client.draft(screen, 0, "a")), [rule["id"] for rule in screen.rules])

    def test_none(self):
        """where there may be none, nothing has to be filled in"""
        daemon = Daemon(policy=POLICY)
        self.addCleanup(daemon.close)
        for policy, needs in [("", 0), ("AllowNoPasscode=no\n", 3)]:
            daemon.policy(POLICY + policy, reload=True)
            client = self.drawing(daemon)
            client.send("create", 7, subject=ME, way="ownPasscode")
            client.tag = 7
            self.assertEqual([choice["needs"] for choice in self.end(client).choices], [needs, 0])

    def test_drafts_have_an_end(self):
        """so many for a screen, and then the connection ends"""
        daemon = self.daemon()
        client = self.drawing(daemon)
        screen = self.change(client)
        for _ in range(DRAFTS):
            self.assertEqual(len(client.draft(screen, 0, "a")), 2)
        client.send("draft", 7, [b"a"], question=screen.question)
        self.assertEqual(self.end(client).code, 34)
        self.assertEqual(daemon.authenticate(OLD).outcome, "success")

    def test_what_is_no_answer(self):
        """it ends the connection, and nothing has changed"""
        daemon = self.daemon()
        pair = b"".join(len(value).to_bytes(2, "little") + value for value in [NEW.encode() + b"7"] * 2)
        for name, payload, fields in [
                ("answer", pair, {"choice": 2}), ("answer", pair, {"item": 1}), ("answer", pair, {"question": 99}),
                ("answer", pair[:-1], {}), ("answer", pair + b"\0", {}), ("answer", pair + b"\0\0", {}),
                ("answer", pair[:len(pair) // 2], {}), ("answer", b"", {}), ("answer", b"\xff\xff" + pair, {}),
                ("draft", b"a", {"field": 1}), ("draft", b"a", {"field": 2}), ("draft", b"a", {"question": 99}),
                ("reply", b"a", {}), ("status", None, {"subject": ME})]:
            with self.subTest(name, payload=payload, **fields):
                client = self.drawing(daemon)
                screen = self.change(client)
                if name != "status":
                    fields.setdefault("question", screen.question)
                client.send(name, 7, [] if payload is None else [payload], **fields)
                answer = self.end(client)
                self.assertEqual((answer.name, answer.code), ("refused", 34))
                self.assertIsNone(client.receive(client.timeout))
        self.assertEqual(daemon.authenticate(OLD).outcome, "success")

    def test_a_list(self):
        """one of the items where one is needed; anything else ends the connection, and opens and locks nothing"""
        daemon = self.daemon()
        made = daemon.ask("create", answers(newPasscode=NEW + " 7", confirmPasscode=NEW + " 7"), subject=ME,
                          store="work", way="ownPasscode")
        self.assertEqual(made.name, "done")
        daemon.lock()

        def states():
            return [daemon.ask("status", subject=ME, store=store).lock for store in ("", "work")]

        def lists(act):
            client = self.drawing(daemon)
            client.send("switchStore", 7, act=act)
            client.tag = 7
            return client, self.end(client)

        opens, adds, removes, cancels = range(4)
        for act, choice, item in [
                ("ask", opens, 0), ("ask", opens, 3), ("ask", opens, 255), ("ask", adds, 1), ("ask", adds, 255),
                ("ask", removes, 0), ("ask", removes, 3), ("ask", 4, 1), ("ask", 255, 0), ("ask", cancels, 1),
                ("tell", opens, 0), ("tell", adds, 1), ("tell", 3, 1), ("ask", opens, 2)]:
            with self.subTest(act, choice=choice, item=item):
                client, screen = lists(act)
                self.assertEqual((screen.kind, screen.id), ("list", "people"))
                self.assertEqual([(one["title"], one["mark"]) for one in screen["items"]],
                                 [("default", "none"), ("work", "current")])
                self.assertEqual([(one["id"], one["role"], one["needsItem"]) for one in screen.choices],
                                 [("open", "primary", True), ("add", "other", False)]
                                 + [("remove", "grave", True)] * (act == "ask") + [("cancel", "cancel", False)])
                client.answer(screen, choice, item=item)
                answer = self.end(client)
                if item == 2:
                    # It is open already: the others lock, and this one was the only one.
                    self.assertEqual((answer.name, states()), ("done", ["locked", "unlocked"]))
                else:
                    self.assertEqual(answer.code, CANCELLED if act == "ask" and choice == cancels else 34)
                    self.assertEqual(states(), ["locked", "unlocked"])

    def test_who_is_removed(self):
        """is no screen's answer alone: their name is typed, and then what `reset` asks for"""
        daemon = self.daemon()
        made = daemon.ask("create", answers(newPasscode=NEW + " 7", confirmPasscode=NEW + " 7"), subject=ME,
                          store="work", way="ownPasscode")
        self.assertEqual(made.name, "done")
        for typed, passcode, code in [
                (["default"], None, CANCELLED), ([""], None, CANCELLED), (["work"], OLD, 5), (["work"], "", CANCELLED),
                (["work"], NEW + " 7", None)]:
            with self.subTest(typed, passcode=passcode):
                client = self.drawing(daemon)
                client.send("switchStore", 7, act="ask")
                client.tag = 7
                client.answer(self.end(client), 2, item=2)
                client.draws = lambda screen, typed=typed, passcode=passcode: (
                    0, [passcode] if screen.id == "match.current" else typed)
                answer = client.follow()
                removing = [screen for screen in client.screens if screen.id == "people.remove"]
                for screen in removing:
                    self.assertEqual((screen.id, screen["formFields"][0]["kind"]), ("people.remove", "name"))
                    self.assertEqual([(one["role"], one["needs"]) for one in screen.choices],
                                     [("grave", 1), ("cancel", 0)])
                self.assertEqual(len(removing), 3 if typed == ["default"] else 1)
                if code is None:
                    self.assertEqual(answer.name, "done")
                else:
                    self.assertEqual(answer.code, code)
                state = daemon.ask("status", subject=ME, store="work").lock
                self.assertEqual(state == "absent", code is None)

    def test_an_answer_is_judged_as_ever(self):
        """the same passcode, two that differ, one that is too long, none"""
        daemon = self.daemon()
        for values, code in [([OLD] * 2, SAME), (["a passcode 7", "a passcode 8"], 37), (["", ""], CANCELLED)]:
            with self.subTest(values):
                client = self.drawing(daemon)
                screen = self.change(client)
                for _ in range(3):
                    client.answer(screen, 0, values)
                    screen = self.end(client)
                    if screen.name != "screen":
                        break
                self.assertEqual(screen.code, code)
        self.assertEqual(daemon.authenticate(OLD).outcome, "success")

    def test_a_screen_only_for_who_draws(self):
        """version 1 gets lines and questions, whatever front end it is"""
        daemon = self.daemon()
        with daemon.client(frontEnd="terminal") as client:
            answer = client.run("passcode", answers(OLD, newPasscode=NEW + " 7"), subject=ME, change="change")
            self.assertEqual((answer.name, client.screens), ("done", []))
            self.assertEqual([ask.purpose for ask in client.asked], ["passcode", "newPasscode", "confirmPasscode"])


class Releases(unittest.TestCase):
    """The tool, and a daemon that knows no screens."""

    def test_a_former_daemon(self):
        """it is greeted again, and gets its answers as ever"""
        with Lab() as lab:
            lab.versions = (1,)

            def change(daemon, request):
                self.assertEqual(daemon.ask("passcode", "Passcode: "), b"one")
                self.assertEqual(daemon.ask("newPasscode", "New passcode: "), b"two")
                daemon.done("changed")

            lab.answer("openStore", change)
            with lab.terminal("unlock") as screen:
                for prompt, typed in [("Passcode: ", "one\n"), ("New passcode: ", "two\n")]:
                    screen.expect(prompt)
                    screen.type(typed)
                screen.expect("changed")
                self.assertEqual(screen.end(), 0)
            self.assertEqual([hello.version for hello in lab.hellos][:2], [2, 1])
            self.assertEqual(lab.faults, [])

    def test_the_first_meeting_with_a_former_daemon(self):
        """it knows no steps: it is asked for a store as `create` asks"""
        with Lab() as lab:
            lab.versions = (1,)
            lab.answer("create", lambda daemon, request: daemon.done("made " + request.way))
            with lab.terminal("welcome", "--pam-dir", lab.folder) as screen:
                screen.expect("made usuallyOwnPasscode")
                self.assertEqual(screen.end(), 0)
            self.assertEqual(lab.faults, [])

    def test_a_pipe_draws_nothing(self):
        """a script's answers go the way that they always went"""
        with Lab() as lab:
            lab.answer("lock", lambda daemon, request: daemon.done("locked"))
            self.assertEqual(lab.run("lock").status, 0)
            self.assertEqual([hello.version for hello in lab.hellos], [1])

    def test_what_a_screen_says_is_shown_as_it_is(self):
        """markup, controls and marks of direction do nothing; choices are numbers, and Enter agrees to nothing"""
        with Lab() as lab:
            def ask(daemon, request):
                daemon.reply(
                    "screen", question=5, kind="document", id="licence", step=1, steps=2,
                    lines=[{"role": "heading", "text": "<b>Terms</b>"}],
                    document=[{"role": "paragraph", "text": "a\x1b[31mb\u202ec"}, {"role": "page", "text": ""},
                              {"role": "item", "text": "second"}],
                    choices=[{"id": "agree", "role": "primary", "label": "Agree"},
                             {"id": "no", "role": "other", "label": "Disagree\x07"}])
                answer = daemon.channel.receive(30)
                self.assertEqual((answer.name, answer.question, answer.choice), ("answer", 5, 1))
                daemon.done("kept")

            lab.answer("consentAsk", ask)
            with lab.terminal("consents", "answer") as screen:
                screen.expect("Step 1 of 2")
                screen.expect("<b>Terms</b>")
                screen.expect("Next page [Enter]")
                self.assertNotIn(b"\x1b[31m", screen.seen)
                self.assertNotIn("\u202e".encode(), screen.seen)
                screen.type("\n")
                screen.expect("second")
                screen.expect("1 to 2")
                screen.type("\n")
                screen.expect("type a number from 1 to 2")
                screen.type("2\n")
                screen.expect("kept")
                self.assertEqual(screen.end(), 0)
            self.assertEqual(lab.faults, [])

    def test_the_gallery(self):
        """each screen with made-up contents, without a daemon: a line for a pipe, and on a terminal as it will be"""
        with Lab() as lab:
            lab.stop_listening()
            lines = [line.split("\t") for line in lab.run("demo", "screens").out.decode().splitlines()]
            self.assertLessEqual(
                {"notice", "create.passcode", "licence", "consent", "welcome", "welcome.way", "welcome.ready",
                 "people"},
                {name for name, kind, first in lines})
            self.assertTrue(all(first for _, _, first in lines))
            with lab.terminal("demo", "screens") as screen:
                for _ in range([name for name, _, _ in lines].index("create.passcode")):
                    screen.expect("Continue [Enter]")
                    screen.type("\n")
                screen.expect("New passcode: ")
                screen.type("short\n")
                screen.expect("\u2717")
                screen.expect("New passcode: ")
                screen.type("\x03")
                self.assertEqual(screen.end(), 0)


if __name__ == "__main__":
    unittest.main()
