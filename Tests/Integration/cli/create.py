"""create: which way suits the machine, and the proof of the login password."""

import os
import time
import unittest

import wire
from clilab import Lab


class Create(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("create", self.create)
        self.pam = os.path.join(self.lab.folder, "pam.d")
        os.mkdir(self.pam)
        self.way, self.secrets = None, []

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def create(self, daemon, request):
        self.way = request["way"]
        if self.way in ("followLogin", "usuallyFollowLogin"):
            self.secrets.append(daemon.ask("loginPassword", "Your login password"))
        elif self.way in ("ownPasscode", "usuallyOwnPasscode"):
            self.secrets.append(daemon.ask("newPasscode", "New passcode"))
            self.secrets.append(daemon.ask("confirmPasscode", "New passcode, once more"))
        daemon.done("passcode successfully created")

    def service(self, name, *lines):
        with open(os.path.join(self.pam, name), "w") as file:
            file.write("\n".join(lines) + "\n")

    def proving(self, password):
        """A PAM service of the test's own that knows one password."""
        script = os.path.join(self.lab.folder, "check")
        with open(script, "w") as file:
            file.write(f'#!/bin/sh\nread -r given || test -n "$given"\ntest "$given" = "{password}"\n')
        os.chmod(script, 0o755)
        self.service(
            "appvault", f"auth [success=1 default=ignore] pam_exec.so quiet expose_authtok {script}",
            "auth requisite pam_deny.so", "auth required pam_permit.so")

    def arguments(self, *more):
        return ["create", "--pam-dir", self.pam, *more]

    def test_the_wiring_of_the_machine_decides(self):
        table = [
            ("auth optional pam_appvault.so unlock", "usuallyFollowLogin"),
            ("auth [default=ignore] /lib/security/pam_appvault.so unlock debug # ours", "usuallyFollowLogin"),
            ("-auth optional pam_appvault.so unlock", "usuallyFollowLogin"),
            ("auth sufficient pam_appvault.so or_password", "usuallyOwnPasscode"),
            ("auth required pam_appvault.so", "usuallyOwnPasscode"),
            ("auth required pam_unix.so", "usuallyOwnPasscode"),
            ("# auth optional pam_appvault.so unlock", "usuallyOwnPasscode"),
            ("session optional pam_appvault.so unlock", "usuallyOwnPasscode"),
        ]
        for line, way in table:
            self.service("common-auth", line)
            self.lab.run(*self.arguments(), passcodes=[b"long enough"])
            self.assertEqual(self.way, way, line)

    def test_what_is_included_counts(self):
        for including in ["@include deeper", "auth include deeper", "auth substack deeper"]:
            self.service("login", including, "@include login")
            self.service("deeper", "auth optional pam_appvault.so unlock")
            self.lab.run(*self.arguments(), passcodes=[b"long enough"])
            self.assertEqual(self.way, "usuallyFollowLogin", including)

    def test_a_machine_that_asks_for_passcodes_is_not_one_that_follows(self):
        self.service(
            "common-auth", "auth sufficient pam_appvault.so or_password", "auth optional pam_appvault.so unlock")
        result = self.lab.run(*self.arguments(), passcodes=[b"long enough"])
        self.assertEqual(self.way, "usuallyOwnPasscode")
        self.assertIn(b"choose one", result.err)

    def test_what_is_said_on_the_command_line_wins(self):
        self.service("common-auth", "auth optional pam_appvault.so unlock")
        for option, way in [
            ("--own-passcode", "ownPasscode"), ("--no-passcode", "noPasscode"), ("--follow-login", "followLogin"),
        ]:
            self.assertEqual(self.lab.run(*self.arguments(option), passcodes=[b"long enough"]).status, 0)
            self.assertEqual(self.way, way)

    def test_a_login_password_is_proven_before_it_is_sent(self):
        self.proving("right")
        self.assertEqual(self.lab.run(*self.arguments("--follow-login"), passcodes=[b"right"]).status, 0)
        self.assertEqual(self.secrets, [b"right"])

    def test_a_wrong_login_password_never_reaches_the_daemon(self):
        self.proving("right")
        result = self.lab.run(*self.arguments("--follow-login"), passcodes=[b"wrong"])
        self.assertEqual(result.status, 1)
        self.assertIn(b"that is not your login password", result.err)
        # The tool may have ended when its answer is read, and the lab notices that a moment later.
        deadline = time.monotonic() + 5
        while not self.lab.aborts and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual((self.secrets, self.lab.aborts), ([], ["cancelled"]))

    def test_a_person_may_try_three_times(self):
        self.proving("right")
        with self.lab.terminal(*self.arguments("--follow-login")) as screen:
            for typed in ["wrong\n", "wrong\n", "right\n"]:
                screen.expect("Your login password: ")
                screen.type(typed)
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.secrets, [b"right"])
        with self.lab.terminal(*self.arguments("--follow-login")) as screen:
            for _ in range(3):
                screen.expect("Your login password: ")
                screen.type("wrong\n")
            self.assertEqual(screen.end(), 1)
            self.assertIn(b"nothing was changed", screen.seen)
        self.assertEqual(self.secrets, [b"right"])

    def test_without_the_service_a_person_types_it_twice(self):
        with self.lab.terminal(*self.arguments("--follow-login")) as screen:
            screen.expect("Your login password: ")
            screen.type("one\n")
            screen.expect("no PAM service appvault")
            screen.expect("once more: ")
            screen.type("two\n")
            screen.expect("the two do not match")
            screen.expect("Your login password: ")
            screen.type("same\n")
            screen.expect("once more: ")
            screen.type("same\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.secrets, [b"same"])

    def test_a_service_that_is_broken_is_told(self):
        self.service("appvault", "auth required pam_does_not_exist.so")
        result = self.lab.run(*self.arguments("--follow-login"), passcodes=[b"right"])
        self.assertNotEqual(result.status, 0)
        self.assertEqual(self.secrets, [])

    def test_open_existing_is_passed_on(self):
        self.lab.run(*self.arguments("--no-passcode", "--open-existing"))
        self.lab.run(*self.arguments("--no-passcode"))
        self.assertEqual([request["openExisting"] for request in self.lab.requests], [True, False])

    def test_a_refusal_of_the_policy_is_told_with_its_code(self):
        self.lab.answer(
            "create", lambda daemon, request: daemon.refuse(25, "the policy wants a passcode", key="AllowNoPasscode"))
        self.assertEqual(self.lab.run(*self.arguments("--no-passcode")).status, 1)

    @unittest.skipUnless(os.getuid() == 0, "needs root, who acts for others")
    def test_root_resolves_the_person_it_acts_for(self):
        self.lab.run(*self.arguments("--no-passcode", "--user", "daemon"))
        self.assertEqual(self.lab.requests[0]["subject"], ("daemon", 1))
        result = self.lab.run(*self.arguments("--no-passcode", "--user", "nobody-at-all"))
        self.assertEqual(result.status, 3)
        self.assertEqual(len(self.lab.requests), 1)

    def test_without_a_name_it_is_about_the_caller(self):
        self.lab.run(*self.arguments("--no-passcode"))
        self.assertEqual(self.lab.requests[0]["subject"], ("", wire.UNKNOWN_UID))


class Others(unittest.TestCase):
    """Whatever else asks for the login password: a slip of the finger must not become what opens the store."""

    setUp, finish = Create.setUp, Create.finish
    service, proving, create = Create.service, Create.proving, Create.create

    VERBS = (("recover", "recover"), ("resync", "resync"))

    def asked(self, verb):
        """What the daemon asks for where the store follows the login password."""
        def talk(daemon, request):
            self.secrets.append(daemon.ask("loginPassword", "Your login password"))
            daemon.done("done")
        self.lab.answer(verb, talk)

    def test_a_wrong_one_never_reaches_the_daemon(self):
        self.proving("right")
        for verb, request in self.VERBS:
            with self.subTest(verb):
                self.asked(request)
                result = self.lab.run(verb, "--pam-dir", self.pam, passcodes=[b"wrong"])
                self.assertEqual(result.status, 1)
                self.assertIn(b"that is not your login password", result.err)
                self.assertEqual(self.secrets, [])

    def test_a_right_one_does(self):
        self.proving("right")
        for verb, request in self.VERBS:
            with self.subTest(verb):
                self.secrets.clear()
                self.asked(request)
                self.assertEqual(self.lab.run(verb, "--pam-dir", self.pam, passcodes=[b"right"]).status, 0)
                self.assertEqual(self.secrets, [b"right"])

    def test_without_the_service_a_person_types_it_twice(self):
        for verb, request in self.VERBS:
            with self.subTest(verb):
                self.secrets.clear()
                self.asked(request)
                with self.lab.terminal(verb, "--pam-dir", self.pam) as screen:
                    screen.expect("Your login password: ")
                    screen.type("same\n")
                    screen.expect("once more: ")
                    screen.type("same\n")
                    self.assertEqual(screen.end(), 0)
                self.assertEqual(self.secrets, [b"same"])


if __name__ == "__main__":
    unittest.main()
