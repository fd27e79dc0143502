"""Every screen in a window, with made-up contents: what a screen reader finds on it, and what can be pressed."""

import json
import os
import platform
import subprocess
import unittest

import clilab
from daemonlab import wait_until
from assistivelab import VISIBLE
from slow import slow
from windowlab import BUTTON, FIELDS, ITEM, LABEL, LIST, PASSWORD, PROGRAM, display_of_suite

# A package is built where there is no display.
NEEDS_ROOT = True
display = None


def setUpModule():
    global display
    display = display_of_suite()


def screens():
    """The same, as the command line tells them."""
    out = subprocess.run(
        [clilab.APPVAULT, "demo", "screens", "--json"], capture_output=True, check=True, env=display.environment)
    return json.loads(out.stdout)["screens"]


def names(nodes, *roles):
    return [name for role, name, _ in nodes if role in roles]


def played(daemon, kind, **fields):
    """A screen of a test's own; what the window answers."""
    empty = {name: [] for name in ("lines", "formFields", "rules", "items", "choices", "document")}
    daemon.question += 1
    daemon.reply(
        "screen", question=daemon.question, kind=kind, id="played", picture="none", step=1, steps=3,
        **{**empty, **fields})
    return daemon.receive()


def choice(name, role, label, needs=0, needsItem=False):
    return {"id": name, "role": role, "label": label, "needs": needs, "needsItem": needsItem}


def visible(nodes):
    """GTK lists rows, too, that a search hides."""
    return [node for node in nodes if node[2].has(VISIBLE)]


def later_debian():
    return platform.freedesktop_os_release().get("VERSION_CODENAME") == "trixie"


class Gallery(unittest.TestCase):
    @slow
    def test_each_screen(self):
        """it says what it has to say, each field has its name, and there are the right buttons, in their order"""
        all_screens = screens()
        self.assertGreater(len(all_screens), 10)
        with display.window("--gallery") as window:
            for screen in all_screens:
                lines = [line["text"] for line in screen["lines"]]
                with self.subTest(screen["id"], lines=lines[:1]):
                    wanted = [choice["label"] for choice in screen["choices"]]
                    # Two that follow each other may say the same, and offer more.
                    isDrawn = lambda nodes, lines=lines, wanted=wanted, isRead=bool(screen["document"]): (
                        set(lines) <= {node[1] for node in nodes}
                        and (isRead or [name for name in names(nodes, BUTTON) if name in wanted] == wanted) and nodes)
                    nodes = window.until(isDrawn)
                    labels = [field["label"].rstrip(": ") for field in screen["fields"]]
                    self.assertEqual([name for role, name, _ in nodes if role in FIELDS], labels)
                    shown = {node[1] for node in nodes}
                    self.assertLessEqual({rule["wants"] for rule in screen["rules"]}, shown)
                    if screen["document"]:
                        self.read(window, screen, wanted)
                        nodes = window.nodes()
                    self.assertEqual([name for name in names(nodes, BUTTON) if name in wanted], wanted)
                    self.check_names(nodes)
                window.press("Next screen")

    def read(self, window, screen, wanted):
        """What is to be read is turned to its last page: only there it can be agreed to."""
        pages = [line["role"] for line in screen["document"]].count("page")
        for page in range(pages):
            buttons = names(window.nodes(), BUTTON)
            self.assertNotIn(wanted[0], buttons)
            self.assertIn("Cancel", buttons)
            window.press("Next")
            window.wait(f"Page {page + 2} of {pages + 1}")
        for line in screen["document"][-1:]:
            window.wait(line["text"])

    def check_names(self, nodes):
        for role, name, node in nodes:
            if role in (BUTTON, LABEL, LIST, ITEM, *FIELDS):
                self.assertTrue(name, (role, node.path))
                self.assertFalse(name.startswith("Gtk"), name)

    def test_faces(self):
        """who has chosen no picture is shown by the first letter of their name"""
        folder = os.path.join(display.folder, "appvault")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "pictures")
        self.addCleanup(os.remove, path)
        for text, letters in [
                ("", {"D", "W"}), ("organisation work\n", {"D"}), ("face work\nkey nobody\n", {"D", "W"})]:
            with open(path, "w") as file:
                file.write(text)
            with self.subTest(text), display.window("--gallery", "people") as window:
                window.wait("Which store should be open?")
                labels = names(window.nodes(), LABEL)
                if not any(len(name) == 1 for name in labels) and later_debian():
                    self.skipTest("a later GTK tells nothing of a picture in a row")
                self.assertEqual({name for name in labels if len(name) == 1}, letters)

    def test_passcode(self):
        """what is typed is judged while it is typed, and only with both fields filled it can go on"""
        with display.window("--gallery", "create.passcode") as window:
            window.wait("10 or more characters")
            self.assertFalse(window.is_enabled("Continue"))
            window.fill("New passcode", "short")
            window.wait("\u2717 10 or more characters")
            self.assertFalse(window.is_enabled("Continue"))
            window.fill("New passcode", "long enough 1")
            window.wait("\u2713 10 or more characters")
            window.wait("\u2713 a digit")
            self.assertFalse(window.is_enabled("Continue"))
            window.fill("New passcode again", "x")
            window.until(lambda _: window.is_enabled("Continue"))

    def test_told_to_nobody(self):
        """what is typed into a passcode's field crosses no bus: not its letters, and not when it is wiped"""
        heard = []
        listener = display.listen("object:text-changed", lambda event: heard.append(event.any_data))
        with display.window("--gallery", "create.passcode") as window:
            window.wait("10 or more characters")
            display.key(*"secret7", "BackSpace", "8")
            window.wait("\u2713 a digit")
            self.assertEqual(
                {window.text(node) for role, _, node in window.nodes() if role == PASSWORD}, {""})
            window.press("Cancel")
            window.wait("The passcodes do not match")
        # An entry that is no passcode's is heard, or this would show nothing.
        form = {"kind": "text", "id": "a", "label": "Town", "prefill": "", "isJudged": False}
        with clilab.Lab() as lab:
            lab.answer("create", lambda daemon, _: played(
                daemon, "form", formFields=[form], choices=[choice("go", "primary", "Go")]))
            with display.window("--socket", lab.path) as window:
                window.press("Make a store")
                window.wait("Town")
                display.key("u")
                window.until(lambda _: display.turn() or "u" in heard)
        self.assertEqual([text for text in heard if text.strip("u")], [])
        del listener

    def test_by_keys(self):
        """Enter goes on, Escape cancels; both lead to the next screen here"""
        with display.window("--gallery", "welcome") as window:
            window.wait("Welcome to AppVault")
            window.until(lambda _: display.key("Return") or "What should open" in str(names(window.nodes(), 83)))
            display.key("Escape")
            window.wait("Your store is ready")

    def test_agreed_to_by_no_key(self):
        """Enter turns a page, but what has been read is agreed to by its own button alone"""
        with display.window("--gallery", "licence") as window:
            window.wait("Page 1 of 2")
            window.until(lambda _: display.key("Return") or "Page 2 of 2" in names(window.nodes(), LABEL))
            display.key("Return")
            display.key("Escape")
            window.wait("Inventory")


class Texts(unittest.TestCase):
    @slow
    def test_nothing_is_markup(self):
        """whatever a text is, it stands there as it is: no markup, no control character, nothing that turns the text"""
        texts = ["<b>bold</b> &amp; <a href='x'>y</a>", "left\u202eright", "bell\x07\u2028", "\u05d0\u05d1\u05d2"]
        shown = [texts[0], "left\\xe2\\x80\\xaeright", "bell\\x07\\xe2\\x80\\xa8", texts[3]]
        roles = ["heading", "paragraph", "item", "hint", "error", "link"]
        told = []

        def create(daemon, _):
            for text in texts:
                told.append(played(
                    daemon, "page", lines=[{"role": role, "text": text} for role in roles],
                    rules=[{"id": "r", "finding": "unmet", "wants": text, "reason": text}],
                    document=[{"role": "paragraph", "text": text}],
                    choices=[choice("go", "primary", text), choice("no", "cancel", "Leave")]))
            daemon.done(texts[0])

        with clilab.Lab() as lab:
            lab.answer("create", create)
            with display.window("--socket", lab.path) as window:
                window.press("Make a store")
                for text in shown:
                    # In the line of each role, in the document, and on the button.
                    window.until(lambda nodes, text=text: len([1 for node in nodes if node[1] == text]) >= 8)
                    window.wait(f"{text} ({text})")
                    window.press(text)
                window.wait(shown[0])
            self.assertEqual([(each.name, each.choice) for each in told], [("answer", 0)] * len(texts))

    @slow
    def test_fields_and_items(self):
        """each kind of field can be filled, and of many items the right one is found and taken"""
        fields = [("text", "Town"), ("name", "Name"), ("email", "E-mail"), ("number", "Number"), ("secret", "PIN")]
        form_fields = [
            {"kind": kind, "id": kind, "label": label, "prefill": "Ulm" if kind == "text" else "", "isJudged": False}
            for kind, label in fields]
        items = [
            {"id": str(place), "title": f"Person {place}", "subtitle": "here", "mark": "none"} for place in range(12)]
        told = []

        def create(daemon, _):
            told.append(played(
                daemon, "form", formFields=form_fields,
                choices=[choice("go", "primary", "Go", needs=0b11111), choice("wipe", "grave", "Wipe")]))
            told.append(played(
                daemon, "list", items=items,
                choices=[choice("go", "primary", "Take", needsItem=True), choice("no", "cancel", "Leave")]))
            daemon.refuse(27, "cancelled; nothing was changed")

        with clilab.Lab() as lab:
            lab.answer("create", create)
            with display.window("--socket", lab.path) as window:
                window.press("Make a store")
                for _, label in fields[1:]:
                    self.assertFalse(window.is_enabled("Go"))
                    self.assertTrue(window.is_enabled("Wipe"))
                    window.fill(label, "7")
                window.press("Go")
                window.wait("Person 11")
                self.assertFalse(window.is_enabled("Take"))
                window.fill("Search", "person 1")
                window.until(lambda nodes: "Person 2, here" not in names(visible(nodes), ITEM))
                found = [node for node in visible(window.nodes()) if node[0] == ITEM]
                self.assertEqual([name for _, name, _ in found], [f"Person {place}, here" for place in (1, 10, 11)])
                window.choose("Person 10, here", 10)
                window.press("Take")
                wait_until(lambda: len(told) == 2, "both are answered", 30)
        self.assertEqual(told[0].payload, b"\x03\x00Ulm" + b"\x01\x007" * 4)
        self.assertEqual([(each.choice, each.item) for each in told], [(0, 0), (0, 11)])

    def test_which_finger(self):
        """a person chooses one of ten, of which one says that it is enrolled already"""
        asked = []

        def enrol(daemon, request):
            asked.append(request.finger)
            daemon.done("enrolled")

        with clilab.Lab() as lab:
            for request, name, fields in (
                    ("stores", "storeList", {"stores": [
                        {"store": bytes([7] * 16), "name": "default", "owner.name": "alice", "owner.uid": 1000,
                         "lock": "unlocked"}]}),
                    ("status", "state", {"lock": "unlocked", "passcode": "passcode", "store": bytes([7] * 16)}),
                    ("actions", "actionList", {"actions": []}),
                    ("fingerprintList", "fingerprintState", clilab.FINGERS)):
                lab.answer(request, lambda daemon, _, name=name, fields=fields: daemon.reply(name, **fields))
            lab.answer("fingerprintEnroll", enrol)
            with display.window("--socket", lab.path) as window:
                window.press("Enrol a finger")
                window.wait("right index finger, enrolled already")
                self.assertEqual(len(names(window.nodes(), ITEM)), 10)
                window.choose("left thumb")
                window.press("Continue")
                # What was done is said for a moment, which a busy machine may not see.
                wait_until(lambda: asked, "it is enrolled", 30)
                window.wait("Lock default")
        self.assertEqual(asked, ["leftThumb"])

    def test_finger(self):
        """it shows how far a finger's enrolment has come, and Escape goes on without one"""
        aborted = []

        def create(daemon, _):
            daemon.reply("scan", question=7, event="place", stage=0, stages=5, line="Place a finger.")
            daemon.reply("scan", question=7, event="stage", stage=2, stages=5, line="Once more.")
            aborted.append(daemon.receive())
            daemon.done("without")

        with clilab.Lab() as lab:
            lab.answer("create", create)
            with display.window("--socket", lab.path) as window:
                window.press("Make a store")
                window.wait("Once more.")
                window.wait("2 of 5")
                window.until(lambda nodes: display.key("Escape") or "without" in [node[1] for node in nodes])
        self.assertEqual([(each.name, each.question) for each in aborted], [("abort", 7)])

    def test_theme(self):
        """style sheets reach the parts by their names, and a broken one stops nothing"""
        theme = os.path.join(display.folder, "theme.css")
        plain, themed = (os.path.join(display.folder, name) for name in ("plain.png", "themed.png"))
        with open(theme, "w") as file:
            file.write("#welcome-heading-1 { font-size: 40px; }\nnonsense {{{\n")
        for picture, more in ((plain, []), (themed, ["--theme", theme])):
            done = subprocess.run(
                [PROGRAM, "--gallery", "welcome", "--light", "--screenshot", picture, *more], env=display.environment,
                capture_output=True, timeout=30)
            self.assertEqual(done.returncode, 0, done)
        with open(plain, "rb") as one, open(themed, "rb") as other:
            first, second = one.read(), other.read()
        self.assertTrue(first.startswith(b"\x89PNG"))
        self.assertNotEqual(first, second)

    def test_command_line(self):
        """it says what it can do, what it does not know, and that it needs a display"""
        def run(*arguments, **environment):
            return subprocess.run(
                [PROGRAM, *arguments], env={**display.environment, **environment}, capture_output=True, timeout=30)
        self.assertIn(b"--gallery", run("--help").stdout)
        wrong = run("--nonsense")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, b""))
        self.assertIn(b"--nonsense is no option", wrong.stderr)
        for two in (("appvault:join?a", "appvault:join?b"), ("--unlock", "a", "--recover", "a"), ("--unlock",)):
            self.assertEqual(run(*two).returncode, 2, two)
        dark = run(DISPLAY="")
        self.assertEqual(dark.returncode, 1)
        self.assertIn(b"there is no display", dark.stderr)
        none = run("--gallery", "nonsense")
        self.assertEqual(none.returncode, 2)


if __name__ == "__main__":
    unittest.main()
