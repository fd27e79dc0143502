"""What an organisation asks people to agree to: asked where they can read it, kept, and shut without it."""

import os
import unittest
from types import SimpleNamespace

import wire
from daemonlab import PASSCODE, answers, as_uid_connection
from orderslab import NO_ONE, Lab
from slow import slow
from stepslab import Steps

NEEDS_ROOT = True
TIMEOUT = 240
CANCELLED, LOCKED = 27, 46
TERMS = """[Licence]
Version={licence}
Title=Terms <b>of use</b>

# What this is about
One \u202eparagraph.
---
- the second page
https://example.org/terms
[Licence de]
Title=Nutzungsbedingungen

Ein Absatz.
[Consent must]
Version=1
Required=yes
Title=Inventory

We count machines.
[Consent may]
Version=1
Required=no
LearnMore=https://example.org/may
Title=Diagnostics

What goes wrong is told.
"""


class Consents(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        self.lab.join()
        self.seen, self.version = [], 0

    def publish(self, licence=1):
        self.lab.order(terms=TERMS.format(licence=licence) if licence else None)

    def ask(self, request, says=lambda screen: 0, script=None, **fields):
        """At a front end that draws. `says` has the place of a choice for each screen of a paper."""
        hello = {"version": 2, **fields.pop("hello", {})}
        script = script or answers(PASSCODE)
        with as_uid_connection(self.lab.people[0][1], self.lab.server, "terminal", **hello) as client:

            def draw(screen):
                self.seen.append(screen)
                if screen.kind != "document":
                    return 0, [script(SimpleNamespace(**field)) for field in screen.formFields]
                choice = says(screen)
                return None if choice is None else (choice, [])

            client.draws = draw
            if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
                fields["subject"] = NO_ONE
            answer = client.run(request, script, **fields)
            return answer

    def papers(self):
        """What was shown since the last time."""
        found = [screen.lines[0]["text"] for screen in self.seen if screen.kind == "document"]
        self.seen = []
        return found

    def said(self):
        with self.lab.client() as client:
            return {item["id"]: item["answer"] for item in client.run("consents")["items"]}

    def create(self, *arguments, **more):
        return self.ask("create", *arguments, way="ownPasscode", **more)

    ALL = ["Terms <b>of use</b>", "Inventory", "Diagnostics"]

    def test_before_a_store_is_made(self):
        """each is shown as it was written, and once; then the passcode"""
        self.publish()
        self.assertEqual(self.create().name, "done")
        first = self.seen[0]
        self.assertEqual((first.id, first.step, first.steps), ("licence", 1, 3))
        self.assertEqual(
            [(text["role"], text["text"]) for text in first.document],
            [("heading", "What this is about"), ("paragraph", "One ?paragraph."), ("page", ""),
             ("item", "the second page"), ("link", "https://example.org/terms")])
        self.assertEqual([choice["id"] for choice in first.choices], ["agree", "disagree", "cancel"])
        self.assertEqual([choice["id"] for choice in self.seen[2].choices], ["agree", "not-now", "cancel"])
        self.assertIn({"role": "link", "text": "https://example.org/may"}, self.seen[2].lines)
        self.assertEqual(self.papers(), self.ALL)
        self.assertEqual(self.said(), {"licence": "yes", "must": "yes", "may": "yes"})
        self.lab.ask("lock")
        self.assertEqual((self.ask("openStore").name, self.papers()), ("done", []))

    def test_language(self):
        """a person reads their language where there is one"""
        self.publish()
        self.create(hello={"language": "de_AT.UTF-8"})
        self.assertEqual(self.papers(), ["Nutzungsbedingungen", "Inventory", "Diagnostics"])

    def test_cancel_is_no_answer(self):
        """what was answered before it stays, nothing else is kept, and no store is made"""
        self.publish()
        answer = self.create(lambda screen: 2 if screen.id == "consent" else 0)
        self.assertEqual((answer.name, answer.code), ("refused", CANCELLED))
        self.assertEqual(self.said(), {"licence": "yes", "must": "open", "may": "open"})
        answer = self.create(lambda screen: None)
        self.assertEqual((answer.code, self.lab.root("status", subject=self.lab.people[0]).lock), (CANCELLED, "absent"))
        self.papers()
        self.create()
        self.assertEqual(self.papers(), self.ALL[1:])

    def test_denied(self):
        """what is required and denied shuts the store, for a login too, until the person agrees; what is left to them
        does not"""
        self.publish(licence=None)
        self.assertEqual(self.create().name, "done")
        self.publish()
        # A login asks nothing, and opens; the status says it, and the agent by it.
        self.assertIn("example.org asks you to read", self.lab.state().trouble)
        self.lab.ask("lock")
        self.assertEqual(self.lab.ask("openStore", answers(PASSCODE)).name, "done")
        no_to = lambda wanted: lambda screen: 1 if screen.lines[0]["text"] == wanted else 0
        answer = self.ask("openStore", no_to("Inventory"))
        self.assertEqual((answer.code, self.said()["must"]), (LOCKED, "no"))
        self.assertIn("Inventory", answer.message)
        self.papers()
        self.assertEqual(self.ask("switchStore", no_to("Inventory")).code, LOCKED)
        self.assertEqual(self.papers(), ["Inventory"])
        for name in ("openStore", "get", "switchStore"):
            fields = {"name": "a"} if name == "get" else {}
            self.assertEqual(self.lab.ask(name, answers(PASSCODE), **fields).code, LOCKED)
        self.lab.server.restart()
        self.assertEqual(self.lab.ask("openStore", answers(PASSCODE)).code, LOCKED)
        self.papers()
        answer = self.ask("consentAsk", no_to("Diagnostics"))
        self.assertEqual((answer.name, self.papers()), ("done", ["Inventory", "Diagnostics"]))
        self.assertEqual(self.said(), {"licence": "yes", "must": "yes", "may": "no"})
        self.assertEqual(self.lab.ask("openStore", answers(PASSCODE)).name, "done")
        self.assertEqual(self.lab.state().trouble, "")

    def test_a_changed_version_asks_again(self):
        """and nothing that was answered in the same version is asked"""
        self.publish()
        self.create()
        self.papers()
        self.publish(licence=2)
        self.ask("openStore")
        self.assertEqual(self.papers(), self.ALL[:1])

    def test_taken_back(self):
        """what was agreed to is asked again only after what opens the store was typed"""
        self.publish()
        self.create()
        self.papers()
        self.assertEqual((self.ask("consentAsk").name, self.papers()), ("done", []))
        answer = self.ask("consentAsk", script=answers("wrong"), again=True)
        self.assertEqual([screen.id for screen in self.seen], ["match.current"] * 3)
        self.assertEqual((answer.name, self.papers()), ("refused", []))
        answer = self.ask("consentAsk", lambda screen: 1 if screen.id == "licence" else 0, again=True)
        self.assertEqual((answer.code, self.papers()), (LOCKED, self.ALL[:1]))

    def test_others(self):
        """root answers for nobody, and a front end that draws nothing is shown lines"""
        self.publish()
        with self.lab.server.client(frontEnd="terminal", version=2) as client:
            answer = client.run("create", answers(PASSCODE), subject=self.lab.people[0], way="ownPasscode")
            self.assertEqual(
                (answer.name, [screen.id for screen in client.screens]), ("refused", ["create.passcode"]))
        self.assertEqual(set(self.said().values()), {"open"})
        with self.lab.client() as client:
            answer = client.run("consentAsk", answers(choice="y"))
            self.assertEqual(answer.name, "done", answer)
            self.assertIn("One ?paragraph.", client.shown)
            self.assertIn("Do you agree to: Inventory? [y/n] ", [ask.line[2] for ask in client.asked])
        self.assertEqual(set(self.said().values()), {"yes"})

    def test_nothing_of_it_is_left_out(self):
        """a long title, address and paragraph, on a screen and as lines"""
        title, address = "T" * 256, "https://example.org/" + "a" * 780
        words = " ".join(f"word{number}" for number in range(300))
        self.lab.order(
            terms=f"[Consent may]\nVersion=1\nRequired=no\nLearnMore={address}\nTitle={title}\n\n{words}\n")
        with self.lab.client() as client:
            self.assertEqual(client.run("consentAsk", answers(choice="y")).name, "done")
            self.assertIn(words, " ".join(client.shown))
            self.assertLessEqual({title, address}, set(client.shown))
            self.assertIn(title, client.asked[0].line[2])
        self.lab.root("fleetImport", [self.lab.organisation.bundle(9, (), terms=(
            f"[Consent may]\nVersion=2\nRequired=no\nLearnMore={address}\nTitle={title}\n\n{words}\n"))])
        self.ask("consentAsk")
        screen = self.seen[-1]
        self.assertEqual([text["text"] for text in screen.document], [words])
        self.assertLessEqual({title, address}, {line["text"] for line in screen.lines})

    @slow
    def test_killed(self):
        """at each step of an answer: what was answered is there, and nothing else; the person is asked again"""
        self.publish()
        self.create(lambda screen: None)
        steps = Steps(self.lab.folder, "daemon")
        self.lab.server.env = steps.environment(self.lab.server.state)
        step, died = 0, True
        while died:
            self.lab.server.restart()
            steps.arm(step)
            answered = []

            def says(screen):
                # The next one comes once this one is kept.
                answered.append(screen.lines[0]["text"])
                return 0

            try:
                done = self.ask("consentAsk", says).name == "done"
            except (OSError, AssertionError, AttributeError, wire.WireError):
                done = False
            steps.comes_to_rest(self.lab.server.process)
            died = self.lab.server.process.poll() is not None
            steps.disarm()
            self.lab.server.kill()
            self.lab.server.start()
            said = self.said()
            names = dict(zip(self.ALL, said))
            with self.subTest(step, said=said):
                for name in answered if done else answered[:-1]:
                    self.assertEqual(said[names[name]], "yes")
                self.assertNotIn("no", said.values())
            self.assertTrue(died or done)
            step += 1
            self.again()
        self.assertGreater(step, 5)

    def again(self):
        """As if nothing had been answered."""
        path = os.path.join(self.lab.server.state, "fleet", f"agreed.{self.lab.people[0][1]}")
        if os.path.exists(path):
            os.unlink(path)

    def test_kept_and_forgotten(self):
        """it outlasts a killed daemon; a damaged file is as none; whoever leaves the organisation takes it along"""
        self.publish()
        self.create()
        self.lab.server.kill()
        self.lab.server.start()
        self.assertEqual(set(self.said().values()), {"yes"})
        path = os.path.join(self.lab.server.state, "fleet", f"agreed.{self.lab.people[0][1]}")
        with open(path, "r+b") as file:
            file.write(b"?")
        self.lab.server.restart()
        self.assertEqual(set(self.said().values()), {"open"})
        self.assertEqual(self.lab.root("fleetLeave").name, "done")
        self.assertFalse(os.path.exists(path))
        self.assertEqual(self.said(), {})


if __name__ == "__main__":
    unittest.main()
