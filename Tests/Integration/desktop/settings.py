"""What there is in the window, and what somebody does with it: stores, fingers, members, applications, organisation.
The real daemon is behind it, but for the fingers."""

import json
import os
import unittest

import clilab
from daemonlab import add_account, remove_account, wait_until
from fleetlab import Organisation
from realcli import SECRET, Real
from windowlab import BUTTON, LABEL, display_of_suite

TEXT = SECRET.decode()
NEEDS_ROOT = True
display = None
ENTRY = "[Desktop Entry]\nType=Application\nName=Mail <b>&\nExec=/bin/true %u\n"


def setUpModule():
    global display
    display = display_of_suite()


class Settings(unittest.TestCase):
    def setUp(self):
        self.lab = Real()
        self.addCleanup(self.lab.__exit__)
        made = self.lab.run("create", "--own-passcode", passcodes=[SECRET])
        self.assertEqual(made.status, 0, made)

    def window(self, *more, **environment):
        return display.window(
            "--socket", self.lab.path, "--pam-dir", self.lab.folder, *more, environment=environment)

    def told(self, *words):
        return json.loads(self.lab.run("--json", *words).out)

    def someone(self):
        name, _ = add_account()
        self.addCleanup(remove_account, name)
        return name

    def proves(self, window):
        window.wait("asscode")
        window.fill("Current passcode", TEXT)
        window.press("Continue")

    def texts(self, window):
        return [name for role, name, _ in window.nodes() if role == LABEL]

    def test_another_store(self):
        """somebody says how it is called and what opens it, and it is there"""
        with self.window() as window:
            window.press("Another store")
            window.wait("Shared with other people")
            self.assertFalse(window.is_enabled("Continue"))
            window.fill("Name", "mail")
            self.assertFalse(window.is_enabled("Continue"))
            window.choose("Opens with your store")
            window.press("Continue")
            window.wait("Lock mail")
            self.assertEqual({"default", "mail"}, {each["name"] for each in self.told("stores")["stores"]})
            # Whoever changes their mind has made none, also by the name of one that there is.
            window.press("Another store")
            window.wait("Shared with other people")
            window.press("Cancel")
            window.press("Another store")
            window.wait("Shared with other people")
            window.fill("Name", "mail")
            window.choose("Opens with your store")
            window.press("Continue")
            window.wait("That did not work")
            window.press("Continue")
            window.wait("Lock mail")
        self.assertEqual(len(self.told("stores")["stores"]), 2)

    def test_members(self):
        """a store is shared with a person, who can be removed again"""
        self.assertEqual(self.lab.run("create", "team", "--shared", passcodes=[SECRET]).status, 0)
        name = self.someone()
        with self.window() as window:
            window.wait("Who shares team")
            window.press("Share with somebody")
            window.wait("A group has an @ before its name.")
            window.fill("Account", "no such name?")
            window.press("Continue")
            window.wait("That did not work")
            window.press("Continue")
            window.press("Share with somebody")
            window.wait("A group has an @ before its name.")
            window.fill("Account", name)
            window.choose("reads", 1)
            window.press("Continue")
            self.proves(window)
            window.wait(f"Remove {name}")
            members = self.told("members", "team")["members"]
            self.assertEqual([(each["name"], each["role"]) for each in members][1:], [(name, "reader")])
            window.press(f"Remove {name}")
            # Enter removes nobody.
            window.wait("Cancel")
            display.key("Return")
            self.assertEqual(len(self.told("members", "team")["members"]), 2)
            window.press("Remove")
            self.proves(window)
            wait_until(lambda: len(self.told("members", "team")["members"]) == 1, "nobody is left", 30)
            window.wait("Who shares team")
            self.assertNotIn(name, self.texts(window))

    def test_organisation(self):
        """who sets the rules here, and who ends that"""
        organisation = Organisation(name="Example <b>\u202e")
        for verb, data in (("join", organisation.join()), ("import", organisation.bundle(7, policy="[Passcode]\n"))):
            path = os.path.join(self.lab.folder, verb)
            with open(path, "wb") as file:
                file.write(data)
            self.assertEqual(self.lab.run("fleet", verb, path).status, 0)
        with self.window() as window:
            window.wait("Your organisation")
            texts = self.texts(window)
            self.assertIn("Example <b>\\xe2\\x80\\xae", texts)
            self.assertFalse(any("\u202e" in text for text in texts), texts)
            self.assertTrue(any("help@example.org" in text for text in texts), texts)
            self.assertIn("Root ends it at any time: `appvault fleet leave`", texts)
            self.assertNotIn("Join an organisation", texts)

    def test_applications(self):
        """one that asks before it starts is freed, and its entry is as it was"""
        home = os.path.join(self.lab.folder, "home")
        system = os.path.join(self.lab.folder, "system", "applications")
        os.makedirs(system)
        with open(os.path.join(system, "mail.desktop"), "w") as file:
            file.write(ENTRY)
        places = {"HOME": home, "XDG_DATA_HOME": os.path.join(home, "data"),
                  "XDG_DATA_DIRS": os.path.dirname(system), "XDG_CONFIG_HOME": os.path.join(home, "config")}
        os.makedirs(places["XDG_DATA_HOME"])
        added = self.lab.run("app", "add", "mail", env=places)
        self.assertEqual(added.status, 0, added)
        own = os.path.join(places["XDG_DATA_HOME"], "applications", "mail.desktop")
        self.assertTrue(os.path.exists(own))
        # GTK's own data stay where they are.
        places["XDG_DATA_DIRS"] += ":/usr/share"
        with self.window(**places) as window:
            window.wait("Applications that ask before they start")
            self.assertIn("Mail <b>&", self.texts(window))
            window.press("Start Mail <b>& without asking")
            window.wait("Cancel")
            window.press("Cancel")
            window.wait("Applications that ask before they start")
            self.assertTrue(os.path.exists(own))
            window.press("Start Mail <b>& without asking")
            window.wait("Cancel")
            window.press("Ask no more")
            window.wait("Your stores")
            window.until(lambda nodes: not any("Applications that ask" in name for _, name, _ in nodes))
        self.assertFalse(os.path.exists(own))

    def test_keyboard(self):
        """everything that can be pressed is reached by Tab, and has a name"""
        self.assertEqual(self.lab.run("create", "team", "--shared", passcodes=[SECRET]).status, 0)
        with self.window() as window:
            window.wait("Who shares team")
            wanted = {name for role, name, _ in window.nodes() if role == BUTTON} - {"Close", "Minimize", "Maximize"}
            self.assertNotIn("", wanted)
            reached = set()
            for _ in range(3 * len(wanted)):
                display.key("Tab")
                reached |= {
                    name for role, name, node in window.nodes()
                    if role == BUTTON and node.get_state_set().contains(display.atspi.StateType.FOCUSED)}
            self.assertLessEqual(wanted, reached)


class Fingers(unittest.TestCase):
    """A daemon is played: there is no reader here."""

    def test_what_others_share(self):
        """is theirs to lock; a member opens it, and is offered no more"""
        entry = {"name": "team", "owner.name": "bob", "owner.uid": 1001, "role": "writer", "kind": "shared"}
        with clilab.Lab() as lab:
            for request, name, fields in (
                    ("stores", "storeList", {"stores": [
                        {"store": bytes([7] * 16), "name": "default", "owner.name": "alice", "owner.uid": 1000,
                         "role": "owner", "lock": "unlocked"},
                        {"store": bytes([8] * 16), **entry, "lock": "unlocked"},
                        {"store": bytes([9] * 16), **entry, "name": "club", "lock": "locked"}]}),
                    ("status", "state", {"lock": "unlocked", "passcode": "passcode", "store": bytes([7] * 16)}),
                    ("actions", "actionList", {"actions": []})):
                lab.answer(request, lambda daemon, _, name=name, fields=fields: daemon.reply(name, **fields))
            with display.window("--socket", lab.path) as window:
                window.wait("Lock default")
                window.wait("Unlock bob/club")
                buttons = [name for role, name, _ in window.nodes() if role == BUTTON]
                self.assertNotIn("Lock bob/team", buttons)

    def test_delete(self):
        """the finger that stands there is deleted, and no other; whoever cancels deletes none"""
        asked = []

        def delete(daemon, request):
            asked.append(request.finger)
            daemon.done("deleted")

        with clilab.Lab() as lab:
            for request, name, fields in (
                    ("stores", "storeList", {"stores": [
                        {"store": bytes([7] * 16), "name": "default", "owner.name": "alice", "owner.uid": 1000,
                         "role": "owner", "lock": "unlocked"}]}),
                    ("status", "state", {"lock": "unlocked", "passcode": "passcode", "store": bytes([7] * 16)}),
                    ("actions", "actionList", {"actions": []}),
                    ("fingerprintList", "fingerprintState", clilab.FINGERS)):
                lab.answer(request, lambda daemon, _, name=name, fields=fields: daemon.reply(name, **fields))
            lab.answer("fingerprintDelete", delete)
            with display.window("--socket", lab.path) as window:
                window.press("Delete left thumb")
                window.wait("Delete this finger")
                display.key("Return")
                window.press("Cancel")
                window.press("Delete left thumb")
                window.wait("Delete this finger")
                window.press("Delete this finger")
                # What was done is said for a moment, which a busy machine may not see.
                wait_until(lambda: asked, "it is deleted", 30)
                window.wait("Lock default")
        self.assertEqual(asked, ["leftThumb"])


if __name__ == "__main__":
    unittest.main()
