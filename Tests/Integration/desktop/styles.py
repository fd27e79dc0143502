"""Each name that the window gives a part of itself stands in docs/decisions/styles.md, and the other way round."""

import glob
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
STATES = {"normal", "highlighted", "disabled"}
# A part of a name that is made while it runs, as the document writes it. What is left is a number.
PARTS = [(r"\(Shown.name(choice.id))", "CHOICE"), (r"\(line.role)", "ROLE"), (r"\(part)", "SECTION")]

# One that is made outside the daemon.
SCREEN = r'\bScreen\([^)]*id: Array\("([a-z]+)"'


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def sources():
    return {path: read(path) for path in glob.glob("Sources/Desktop/**/*.swift", root_dir=ROOT, recursive=True)}


def rows():
    """Of all tables of names: the name, what it is, its states, its group, its test."""
    for line in read("docs", "decisions", "styles.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 5:
            yield [cells[0].strip("| `"), *cells[1:4], cells[4].strip("| ")]


def literals(text, call):
    """The strings that stand in a call, also where one of them has calls in it."""
    for found in re.finditer(rf"\b{call}\(\s*", text):
        place = found.end()
        while text[place] == '"':
            end, depth = place + 1, 0
            while text[end] != '"' or depth:
                if text[end:end + 2] == "\\(":
                    depth += 1
                elif depth and text[end] == "(" and text[end - 1] != "\\":
                    depth += 1
                elif depth and text[end] == ")":
                    depth -= 1
                end += 1
            yield text[place + 1:end]
            after = re.match(r",\s*", text[end + 1:])
            if not after:
                break
            place = end + 1 + after.end()


def drawn():
    """What the sources name, as the document writes it."""
    names = set()
    for path, text in sources().items():
        for name in literals(text, "named"):
            for part, stands in PARTS:
                name = name.replace(part, stands)
            own = "ACTION" if path.endswith("HomePage.swift") else "NAME"
            name = name.replace("\\(name)", own)
            names.add("#" + re.sub(r"\\\([^)]*\)", "N", name))
        names |= {"." + name for name in literals(text, "styled")}
        names |= {"." + name for name in literals(text, "style")}
        names |= {"#" + name for name in re.findall(r'\btell\("([a-z]+)"', text)}
        names |= {"#" + name for name in re.findall(SCREEN, text)}
    # What the window asks by itself.
    for path in glob.glob("Sources/Client/Window/*.swift", root_dir=ROOT):
        text = read(path)
        names |= {"#" + name for name in re.findall(SCREEN, text)}
        names |= {"#" + name for name in re.findall(r'\bscreen\(\s*"([a-z]+)"', text)}
        names |= {"#" + name for name in re.findall(r'\bscreen\.id = Array\("([a-z]+)"', text)}
    # The screens that the daemon has.
    block = re.search(r"enum Name: .*?\n    }", read("Sources", "Words", "Sheet.swift"), re.S).group()
    for name, raw in re.findall(r"case (\w+)(?: = \"([^\"]+)\")?", block):
        names.add("#" + (raw or name).replace(".", "-"))
    return names


class Styles(unittest.TestCase):
    def test_both_ways(self):
        """no name is missing, and none stands there that nothing has"""
        listed = [row[0] for row in rows()]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual(set(listed) ^ drawn(), set())
        self.assertGreater(len(listed), 90)

    def test_states(self):
        """each has its states, in words that the document explains; what can be pressed has more than one"""
        for name, _, states, group, _ in rows():
            with self.subTest(name):
                self.assertLessEqual(set(re.findall(r"[a-z]+", states)) - {"a", "link"}, STATES)
                self.assertTrue(states.startswith("normal"))
                self.assertTrue(group)
                if re.search("-choice-|-button$|-next$|-back$|-field-|-action$|pill$", name):
                    self.assertIn("highlighted", states)

    def test_shown(self):
        """the test that is named is there"""
        named = {row[4] for row in rows()}
        text = read("docs", "decisions", "styles.md")
        named |= set(re.findall(r"\| ([A-Za-z]+Tests/[A-Za-z/]+) \|$", text, re.M))
        self.assertGreater(len(named), 4)
        for test in named:
            places = [f"Tests/Integration/{test}.py", f"Tests/{test}.swift"]
            self.assertTrue(any(os.path.exists(os.path.join(ROOT, place)) for place in places), test)

    def test_callbacks(self):
        """what an application is told stands there, whatever it is"""
        text = read("docs", "decisions", "styles.md")
        kinds = re.findall(r"static let (\w+) = Kind\(", read("Sources", "AppVault", "Prompting", "Hooks.swift"))
        self.assertGreater(len(kinds), 5)
        for kind in kinds:
            self.assertIn(f"`PromptEvent.Kind.{kind}`" if kind != "fingerOff" else "`fingerOff`", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
