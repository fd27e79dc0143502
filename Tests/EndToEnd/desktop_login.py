"""A person logs in at a desktop: the test keeps pictures of what they see, and their store is
open."""

import unittest

import packages
from desktop import LINE, Desktop
from machine import PASSWORDS

NEEDS_ROOT = True
TIMEOUT = 900
ALICE = PASSWORDS["alice"]


class Login(unittest.TestCase):
    def setUp(self):
        self.desktop = Desktop(bind=packages.BIND)
        self.addCleanup(self.desktop.stop)

    def state(self):
        return self.desktop.check("appvault status", user="alice").split("\n")[1].split()[1].rstrip(";")

    def test_a_login_at_the_greeter_opens_the_store_by_password_and_by_finger(self):
        desktop = self.desktop
        packages.install(desktop)

        # A wrong password, and the right one: from that login on alice has a store.
        desktop.greeter()
        desktop.type("wrong-otter-9")
        desktop.greeter(line=True)
        desktop.picture("2-wrong-password")
        self.assertIn("there is none", desktop.check("appvault status", user="alice"))
        desktop.type(ALICE)
        desktop.session()
        desktop.type("appvault set mail")
        desktop.shows("value of mail")
        desktop.type("an otter's secret")
        desktop.shows("recovery new")
        desktop.shows("$ ")

        # After a restart the store is locked until the login, and the login asks no additional
        # question.
        desktop.play_reader()
        desktop.reboot()
        desktop.greeter()
        desktop.picture("1-greeter")
        self.assertEqual(self.state(), "locked")
        desktop.type(ALICE)
        desktop.session()
        desktop.type("clear")
        desktop.type("appvault get mail")
        desktop.shows("an otter's secret")
        desktop.shows("$ ")
        desktop.type("appvault status")
        desktop.shows("records")
        desktop.shows("$ ")
        desktop.picture("3-desktop")

        # A finger is enrolled in the session. After the logout the store is locked; a touch then
        # logs the person in and opens it.
        desktop.check("pam-auth-update --enable appvault")
        desktop.type("clear; appvault fingerprint enroll")
        desktop.shows("passcode: ")
        desktop.type(ALICE)
        for stage in range(1, 5):
            desktop.touch("right")
            desktop.shows(f"{stage} of 5")
        desktop.touch("right")
        desktop.shows("Enrolled")
        desktop.picture("4-enrolled")
        desktop.logout()
        desktop.wait(lambda: self.state() == "locked", "a store that is shut after the logout")
        # From here on the reader waits 8 seconds.
        desktop.greeter(asks=False, line=True)
        desktop.picture("5-finger")
        desktop.touch("right")
        desktop.wait(lambda: self.state() == "open", "a store that a finger opens")
        # The line is short now. After a login without a question this greeter wants Enter.
        desktop.wait(lambda: 4000 < desktop.colours()[LINE] < 14000, "the line that says so")
        desktop.picture("6-finger")
        desktop.key("Return")
        desktop.session()
        desktop.type("appvault get mail")
        desktop.shows("an otter's secret")
