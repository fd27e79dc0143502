"""An organisation is joined in the window: by a link that somebody opened, or by what they type."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest

from cameralab import Camera, grey
from clilab import BUILD
from daemonlab import wait_until
from fetchlab import JOIN_FILE, NGINX, Authority, Odd, Publisher, Web, Worker, invitation
from picturelab import Picture
from realcli import POLICY, Real
from slow import slow
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

    @slow
    def test_typed(self):
        """from the first page; what joining means comes before the confirmation, and Cancel joins nobody"""
        with self.window() as window:
            window.wait("You have no store yet")
            window.press("Join an organisation")
            window.press("I have a link or an address")
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

    @slow
    @unittest.skipUnless(shutil.which("qrencode"), "qrencode is not installed")
    def test_by_a_picture(self):
        """somebody chooses the picture of a code; what is none is said, and who chooses no file has begun nothing"""
        for name, data, said in (
                ("code", Picture.of(self.link).png(), CONFIRM), ("none", b"text", "is no PNG or JPEG")):
            path = f"/tmp/{name}{os.getpid()}.png"
            self.addCleanup(os.remove, path)
            with open(path, "wb") as file:
                file.write(data)
            with self.subTest(name), self.window("--scanner", os.path.join(BUILD, "appvault-scan")) as window:
                window.press("Join an organisation")
                window.press("Choose a picture of the code")
                window.wait("GtkFileChooserWidget")
                display.key("Escape")
                window.press("Join an organisation")
                window.press("Choose a picture of the code")
                window.wait("GtkFileChooserWidget")
                names = {"/": "slash", ".": "period"}
                display.key(*[names.get(letter, letter) for letter in path])
                display.key("Return")
                window.wait(said)
        self.assertEqual(self.kept(), [])

    def camera(self, *codes):
        """Some pictures without a code, and then these; then again."""
        def frame(text):
            return Picture.of(text, scale=4).within(640, 480)
        blank = Picture([bytearray(b"\x80" * 640) for _ in range(480)])
        frames = [blank] * 10
        for text in codes:
            frames += [frame(text)] * 10
        return ["--scanner", self.enterContext(Camera(grey(frames))).program, "--camera", "/dev/null"]

    @unittest.skipUnless(shutil.which("qrencode"), "qrencode is not installed")
    def test_by_the_camera(self):
        """the code that somebody holds up is confirmed, as a link is"""
        with self.window(*self.camera(self.link)) as window:
            window.press("Join an organisation")
            window.press("Hold the code up to the camera")
            window.wait(CONFIRM)
            window.wait("It calls itself example.org.")
            window.press("Cancel")
            window.wait("You have no store yet")
        self.assertEqual(self.kept(), [])

    @unittest.skipUnless(shutil.which("qrencode"), "qrencode is not installed")
    def test_camera_left(self):
        """somebody sees what the camera sees, and hears that a code is no invitation; once they leave, nothing
        looks through it any more"""
        with self.window(*self.camera("https://example.org")) as window:
            window.press("Join an organisation")
            window.press("Hold the code up to the camera")
            window.wait("This code is no invitation to join an organisation. Show another one.")
            window.wait("Hold the code of your organisation in front of the camera.")
            window.wait("What the camera sees")
            self.assertTrue(self.looking(window))
            window.press("Cancel")
            window.wait("You have no store yet")
            self.assertFalse(self.looking(window))
        self.assertEqual(self.kept(), [])

    def looking(self, window):
        return subprocess.run(["pgrep", "-P", str(window.process.pid)], capture_output=True).returncode == 0

    def test_no_camera(self):
        """where there is none it is said in a sentence"""
        with self.window("--scanner", os.path.join(BUILD, "appvault-scan"), "--camera", "/nonexistent") as window:
            window.press("Join an organisation")
            window.press("Hold the code up to the camera")
            window.wait("there is no /nonexistent")
            window.press("Continue")
            window.wait("You have no store yet")

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
