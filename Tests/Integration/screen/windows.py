"""The windows of a control group disappear and come back; a frozen menu does not keep the screen unlocked."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from daemonlab import wait_until
from loginlab import CGROUPS
from windowslab import PROGRAM, Screen

GROUP = f"/appvault-windows-{os.getpid()}"
# Pictures for whoever wants to look: a folder.
PICTURES = os.environ.get("APPVAULT_PICTURES")
NEEDS_ROOT = True


@unittest.skipUnless(CGROUPS, "no control group can be made here")
@unittest.skipUnless(shutil.which("Xvfb"), "needs Xvfb")
class Windows(unittest.TestCase):
    def screen(self, manager="openbox"):
        screen = Screen(manager)
        self.addCleanup(screen.__exit__)
        return screen

    def picture(self, screen, name):
        if PICTURES:
            screen.picture(os.path.join(PICTURES, f"{name}.png"))

    def hide(self, screen, group=GROUP):
        done = screen.windows("hide", group)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [int(line) for line in done.stdout.split()]

    def show(self, screen, *windows):
        done = screen.windows("show", *windows)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_the_windows_of_the_group_vanish_and_come_back_to_their_place(self):
        for manager in (None, "openbox"):
            with self.subTest(manager):
                screen = self.screen(manager)
                red = screen.client("red", 100, 80, GROUP)
                green = screen.client("green", 150, 300, GROUP + "/below")
                blue = screen.client("blue", 400, 300)
                for client in (red, green, blue):
                    wait_until(lambda each=client: screen.colour(*screen.place(each.window)) != 0, "it is drawn")
                self.assertEqual(screen.seen(), {"red", "green", "blue"})
                places = [screen.place(client.window) for client in (red, green, blue)]
                self.picture(screen, f"{manager}-1-before")
                for client in (red, green):
                    client.freeze()
                hidden = self.hide(screen)
                self.assertEqual(set(hidden), {red.window, green.window})
                wait_until(lambda: screen.seen() == {"blue"}, "only the other one is seen")
                self.picture(screen, f"{manager}-2-hidden")
                # Whoever asks anew hears of them again: it may have died before it had heard.
                self.assertEqual(set(self.hide(screen)), set(hidden))
                for client in (red, green):
                    client.thaw()
                self.show(screen, *hidden)
                for client in (red, green):
                    screen.wait_until_shown(client.window)
                wait_until(lambda: screen.seen() == {"red", "green", "blue"}, "all are seen again")
                self.picture(screen, f"{manager}-3-after")
                self.assertEqual([screen.place(client.window) for client in (red, green, blue)], places)

    def test_a_state_that_the_window_manager_forgets_comes_back(self):
        screen = self.screen()
        red = screen.client("red", 100, 80, GROUP, state=["MAXIMIZED_VERT", "MAXIMIZED_HORZ"])
        window = screen.window(red.window)

        def state():
            return (window.get_geometry().width > 700, set(screen.property(window, "_NET_WM_STATE") or []))

        wait_until(lambda: state()[0], "it is large")
        before = state()
        hidden = self.hide(screen)
        wait_until(lambda: not screen.property(window, "_NET_WM_DESKTOP"), "the window manager has let it go")
        self.show(screen, *hidden)
        wait_until(lambda: state() == before, "it is large again")

    def test_a_menu_that_holds_the_pointer_lets_go_of_it(self):
        screen = self.screen()
        red = screen.client("red", 100, 80, GROUP, menu=True)
        wait_until(lambda: screen.seen() == {"red", "menu"}, "the menu is open")
        self.picture(screen, "menu-1-before")
        red.freeze()
        self.assertFalse(screen.can_grab())
        # The menu first: it is what has the grab.
        self.assertEqual(self.hide(screen), [red.menu, red.window])
        wait_until(lambda: screen.seen() == set(), "nothing is seen")
        self.assertTrue(screen.can_grab())
        self.picture(screen, "menu-2-hidden")

    @unittest.skipUnless(shutil.which("i3lock"), "needs i3lock")
    def test_a_locker_can_lock_while_a_menu_is_frozen_only_after_hiding(self):
        screen = self.screen()
        red = screen.client("red", 100, 80, GROUP, menu=True)
        red.freeze()
        # It shows its window before it has the grabs, and goes to the background only when it has them.
        lock = ["i3lock", "-c", "202020"]
        log = os.path.join(screen.folder, "i3lock")

        def status():
            with open(log, "wb") as told:
                return subprocess.run(lock, env=screen.environment, stderr=told, timeout=120, check=False).returncode

        self.assertNotEqual(status(), 0)
        with open(log, "rb") as told:
            self.assertIn(b"grab", told.read().lower())
        self.assertEqual(self.hide(screen), [red.menu, red.window])
        self.assertTrue(screen.can_grab())
        # What stays in the background ends with the X server.
        self.assertEqual(status(), 0)
        self.assertFalse(screen.can_grab())
        wait_until(lambda: screen.colour(400, 300) == 0x202020, "the locker covers the screen")
        self.picture(screen, "menu-3-locked")

    def test_a_program_cannot_say_that_it_is_another(self):
        screen = self.screen()
        red = screen.client("red", 100, 80, GROUP)
        liar = screen.client("green", 150, 300, pid=red.process.pid)
        hider = screen.client("blue", 400, 300, GROUP, pid=os.getpid())
        self.assertEqual(set(self.hide(screen)), {red.window, hider.window})
        self.assertTrue(screen.is_shown(liar.window))

    def test_a_group_of_a_similar_name_is_another_one(self):
        screen = self.screen(None)
        red = screen.client("red", 100, 80, GROUP + "-more")
        self.assertEqual(self.hide(screen), [])
        self.assertEqual(self.hide(screen, GROUP + "-more/"), [red.window])

    def test_only_what_was_hidden_is_shown(self):
        from Xlib import X

        screen = self.screen(None)
        red = screen.client("red", 100, 80, GROUP)
        hidden = self.hide(screen)
        other = screen.root.create_window(0, 0, 10, 10, 0, X.CopyFromParent)
        screen.display.sync()
        red.end()
        screen.clients.remove(red)
        self.show(screen, other.id, *hidden, 1, screen.root.id, 0xFFFFFFFF)
        self.assertFalse(screen.is_shown(other.id))

    def test_it_is_done_when_the_program_ends_however_often(self):
        screen = self.screen(None)
        red = screen.client("red", 100, 80, GROUP)
        for _ in range(20):
            hidden = self.hide(screen)
            self.assertEqual(hidden, [red.window])
            self.assertFalse(screen.is_shown(red.window))
            self.show(screen, *hidden)
            self.assertTrue(screen.is_shown(red.window))

    def test_without_a_server_it_says_so(self):
        for environment in ({"DISPLAY": ":4099"}, {}, {"DISPLAY": "nonsense"}):
            done = subprocess.run(
                [PROGRAM, "hide", GROUP], env=environment, capture_output=True, timeout=30, check=False)
            self.assertEqual(
                (done.returncode, done.stdout, done.stderr),
                (3, b"", b"appvault-windows: no X server can be reached\n"))

    def test_a_server_that_hangs_holds_nobody(self):
        screen = self.screen(None)
        screen.server.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            # Whoever starts it may have the signal blocked.
            done = screen.windows(
                "hide", GROUP, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM}))
            self.assertEqual(done.returncode, -signal.SIGALRM)
            self.assertGreater(time.monotonic() - began, 1.5)
        finally:
            screen.server.send_signal(signal.SIGCONT)
        # The server is as it was: nobody has a grab.
        screen.client("red", 100, 80)

    def test_a_mistake_is_explained(self):
        for words in [(), ("hide",), ("hide", "/"), ("hide", "relative"), ("hide", "/a/../b"), ("hide", "/a", "/b"),
                      ("show",), ("show", "x"), ("show", "0"), ("show", "-1"), ("stop",)]:
            with self.subTest(words):
                done = subprocess.run([PROGRAM, *words], env={}, capture_output=True, timeout=30, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (2, b"", 1))
        done = subprocess.run([PROGRAM, "--help"], env={}, capture_output=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"usage: ", done.stdout)


if __name__ == "__main__":
    unittest.main()
