"""An organisation is joined in the window: by a link that somebody opened, or by what they type."""

import json
import os
import shutil
import tempfile
import threading
import unittest

from daemonlab import wait_until
from fetchlab import JOIN_FILE, NGINX, Authority, Odd, Publisher, Web, Worker, invitation
from realcli import POLICY, Real
from windowlab import BUTTON, display_of_suite

NEEDS_ROOT = True
CONFIRM = "Let this organisation manage this machine?"
display = None


def setUpModule():
    global display
    display = display_of_suite()


@unittest.skipUnless(shutil.which("minisign") and NGINX, "minisign or nginx is not installed")
class Joining(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-joining-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.publisher = Publisher(cls.folder)
        cls.authority = Authority(cls.folder, "ca")
        cls.authority.issue("server")

    def setUp(self):
        self.web = self.enterContext(Web(self.authority))
        os.makedirs(os.path.join(self.web.folder, "www", os.path.dirname(JOIN_FILE)))
        worker = self.enterContext(Worker({"ca.pem": self.authority.path + ".pem"}))
        self.lab = self.enterContext(Real(POLICY, ["--fetch-socket", worker.socket]))
        with open(self.publisher.join({"URL": self.web.url()}), "rb") as file:
            content = file.read()
        self.web.publish(content, JOIN_FILE)
        self.web.publish(self.publisher.bundle(1))
        self.link = invitation(f"localhost:{self.web.port}", content)

    def window(self, *more):
        return display.window("--socket", self.lab.path, "--pam-dir", self.lab.folder, *more)

    def organisation(self):
        return json.loads(self.lab.run("--json", "fleet", "status").out).get("organisation")

    def kept(self):
        folder = os.path.join(self.lab.state, "fleet")
        return os.listdir(folder) if os.path.exists(folder) else []

    def test_by_a_link(self):
        """a link that somebody opened shows who it is; no key that goes on joins, and the button does"""
        with self.window(self.link) as window:
            window.wait(CONFIRM)
            window.wait("It calls itself example.org.")
            display.key("Return")
            self.assertEqual(self.kept(), [])
            window.press("Join")
            window.wait("You have no store yet")
            # Nothing is there to be joined any more.
            self.assertNotIn("Join an organisation", [name for role, name, _ in window.nodes() if role == BUTTON])
        self.assertEqual(self.organisation(), "example.org")

    def test_typed(self):
        """from the first page; what joining means comes before the confirmation, and Cancel joins nobody"""
        with self.window() as window:
            window.wait("You have no store yet")
            window.press("Join an organisation")
            window.fill("Link or e-mail address", "nonsense")
            window.press("Continue")
            window.wait("neither a link of AppVault's nor an e-mail address")
            window.fill("Link or e-mail address", self.link)
            window.press("Continue")
            window.wait("What it means to join")
            window.press("Continue")
            window.wait(CONFIRM)
            window.press("Cancel")
            window.wait("You have no store yet")
        self.assertEqual(self.kept(), [])

    def test_no_invitation(self):
        """what somebody opened and is none is said in a sentence, as itself, and the window goes on"""
        for text, said in (("appvault:join?v=1&h=<b>x</b>", "link"), (self.link[:-3], "not whole"),
                           ("/no/such/picture.png", "/no/such/picture.png")):
            with self.subTest(text), self.window(text) as window:
                window.wait("That did not work")
                self.assertTrue([name for _, name, _ in window.nodes() if said in name])
                window.press("Continue")
                window.wait("You have no store yet")
        self.assertEqual(self.kept(), [])

    def test_another_file(self):
        """a file that is not the one that the link names is not joined, whatever it says of itself"""
        with self.window(invitation(f"localhost:{self.web.port}", b"another file")) as window:
            window.wait("That did not work")
            window.press("Continue")
            window.wait("You have no store yet")
        self.assertEqual(self.kept(), [])
        self.assertIn(200, self.web.statuses())

    def test_a_server_that_hangs(self):
        """the window goes on drawing, and is gone once it is closed"""
        over = threading.Event()
        self.addCleanup(over.set)
        hanging = self.enterContext(Odd(self.authority.folder + "/server", lambda _: over.wait(60)))
        with self.window(invitation(f"localhost:{hanging.port}", b"x")) as window:
            wait_until(lambda: hanging.heard, "it asks the server", 30)
            window.wait("One moment")
            window.press("Close")
            self.assertEqual(window.has_gone(), 0)
        self.assertEqual(self.kept(), [])


if __name__ == "__main__":
    unittest.main()
