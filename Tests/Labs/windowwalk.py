"""The walk of somebody who has just installed AppVault: the window from their first look at it until something is kept
in their store. Run in their session; prints what it was, in JSON: each thing that they did, and the seconds until the
window was ready for the next.

What a person takes for each is not measured but reckoned, as the keystroke-level model does: 1.35 s to read and decide,
1.3 s to point and press, 0.28 s for each key."""

import json
import time

from windowlab import Seated

DECIDES, PRESSES, TYPES = 1.35, 1.3, 0.28
PASSCODE = "correct horse battery"


class Walk:
    def __init__(self, window):
        self.window, self.steps, self.began = window, [], time.monotonic()

    def step(self, what, own):
        now = time.monotonic()
        self.steps.append({"what": what, "own": round(own, 2), "machine": round(now - self.began, 2)})
        self.began = now

    def sees(self, text):
        self.window.wait(text, 60)
        self.step(f"reads: {text}", DECIDES)

    def press(self, name):
        self.window.press(name)
        self.step(f"presses: {name}", PRESSES)

    def fill(self, name, text):
        self.window.fill(name, text)
        self.step(f"types: {name}", PRESSES + TYPES * len(text))


def main():
    with Seated() as display, display.window() as window:
        walk = Walk(window)
        walk.sees("You have no store yet")
        walk.press("Make a store")
        walk.sees("Welcome to AppVault")
        walk.press("Continue")
        walk.sees("What should open your store?")
        walk.press("A passcode of its own")
        walk.sees("A passcode for your store")
        walk.fill("New passcode", PASSCODE)
        walk.fill("New passcode again", PASSCODE)
        walk.press("Continue")
        walk.sees("Your recovery key: ")
        walk.press("Continue")
        walk.sees("Your store is ready")
        walk.press("Continue")
        walk.sees("Lock default")
        walk.press("Keep a secret")
        walk.fill("Its name", "mail")
        walk.fill("The secret", "rubber duck 42")
        walk.press("Keep")
        walk.sees("More with stores")
    print(json.dumps(walk.steps))


if __name__ == "__main__":
    main()
