"""What the module returns, shows and leaves behind, line by line: codes, tokens, confirmation,
sessions, passwords."""

import os
import re
import struct
import unittest

import wire
from pamlab import (
    ECHO_OFF,
    ECHO_ON,
    ERROR_MSG,
    PAM_AUTH_ERR,
    PAM_AUTHINFO_UNAVAIL,
    PAM_DELETE_CRED,
    PAM_ESTABLISH_CRED,
    PAM_MAXTRIES,
    PAM_PERM_DENIED,
    PAM_REFRESH_CRED,
    PAM_REINITIALIZE_CRED,
    PAM_RHOST,
    PAM_RUSER,
    PAM_SILENT,
    PAM_SUCCESS,
    PAM_TTY,
    PAM_USER_UNKNOWN,
    ROOT,
    TEXT_INFO,
    Footprint,
    Lab,
    Talk,
    me,
)

HANDLE = bytes(range(1, 17))
OTHER = bytes(range(17, 33))
CODES = {
    "success": PAM_SUCCESS,
    "authError": PAM_AUTH_ERR,
    "maxTries": PAM_MAXTRIES,
    "userUnknown": PAM_USER_UNKNOWN,
    "permissionDenied": PAM_PERM_DENIED,
    "unavailable": PAM_AUTHINFO_UNAVAIL,
    "ignore": PAM_PERM_DENIED,  # libpam denies where every module was ignored
}


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)
        self.addCleanup(self.no_faults)

    def no_faults(self):
        for daemon in self.lab.daemons:
            self.assertEqual(daemon.faults(), "")

    def daemon(self, right=b"right", handle=HANDLE, outcome="authError", line="AppVault passcode"):
        """Asks once if no token came; `right` gives success, everything else `outcome`."""

        def handler(peer):
            request = peer.greet()
            if request.name == "authenticate":
                secret = request.payload
                if not secret and not request.tokenOnly:
                    answer = peer.ask(line=line)
                    secret = answer.payload if answer.name == "reply" else b""
                peer.verdict("success" if secret == right else outcome, handle=handle)
            elif request.name == "unlock":
                peer.verdict("success", handle=OTHER)
            else:
                peer.verdict("ignore")

        return self.lab.daemon(handler)

    def run_auth(self, *lines, answers=(), user=None, flags=0, **more):
        self.lab.stack(*lines)
        talk = Talk(answers)
        before = Footprint()
        with self.lab.transaction("lab", user, talk, **more) as pam:
            result = pam.authenticate(flags)
            self.token = pam.getenv("TOKEN")
        self.assertEqual(before, Footprint())
        return result, talk


LOOK = "auth required {lab} look=TOKEN"


class Codes(Case):
    def test_verdicts(self):
        """every outcome has its PAM code"""
        for outcome, code in CODES.items():
            with self.subTest(outcome):
                self.daemon(outcome=outcome)
                result, _ = self.run_auth("auth required {ours}", answers=["wrong"])
                self.assertEqual(result, code)

    def test_refusals(self):
        """a refusal by code has the outcome of its code, and none is success"""
        expected = {name: PAM_AUTHINFO_UNAVAIL for name in wire.CODES}
        wrong = ("invalidPasscode", "throttled", "cancelled", "passcodeExpired", "changeRequired", "fingerprintNoMatch")
        expected |= {name: PAM_AUTH_ERR for name in wrong}
        expected |= {"retryLimitReached": PAM_MAXTRIES}
        expected |= {name: PAM_USER_UNKNOWN for name in ("doesNotExist", "deleted")}
        expected |= {name: PAM_PERM_DENIED for name in ("policyDenies", "notPermitted")}
        numbers = {wire.CODES[name]: code for name, code in expected.items()}
        numbers |= {999: PAM_AUTHINFO_UNAVAIL}
        for tag in (0, 1, 2):
            for number, code in numbers.items():
                with self.subTest(tag=tag, number=number):

                    def handler(peer, tag=tag, number=number):
                        if tag < 2:
                            peer.receive()
                            peer.receive()
                        else:
                            peer.greet()
                            peer.ask()
                        peer.send("refused", tag, code=number, message="no", hint="try again")

                    self.lab.daemon(handler)
                    result, talk = self.run_auth("auth required {ours}", answers=["x"])
                    self.assertEqual(result, code)
                    self.assertEqual(talk.lines, [])

    def test_account(self):
        """account is ignored, and nothing is sent to the daemon"""
        daemon = self.daemon()
        self.lab.stack("account required {ours}")
        with self.lab.transaction() as pam:
            self.assertEqual(pam.account(), PAM_PERM_DENIED)
        self.lab.stack("account required {ours}", "account required pam_permit.so")
        with self.lab.transaction() as pam:
            self.assertEqual(pam.account(), PAM_SUCCESS)
        self.assertEqual(daemon.messages(), [])


class Traps(Case):
    """libpam's own traps, into which no module may fall."""

    def test_lone_unlock(self):
        """a lone `optional` or `sufficient` unlock authenticates nobody, whatever the daemon says"""
        self.daemon()
        for control in ("optional", "sufficient", "required", "requisite", "[default=ok]", "[success=ok]"):
            for lines in (
                (f"auth {control} {{ours}} unlock",),
                ("auth optional {lab} set=right return=25", f"auth {control} {{ours}} unlock"),
            ):
                with self.subTest(lines=lines):
                    result, _ = self.run_auth(*lines)
                    self.assertNotEqual(result, PAM_SUCCESS)

    def test_all_ignored(self):
        """a stack in which every module is ignored is denied"""
        self.daemon(outcome="ignore")
        for lines in (
            ("auth required {ours}",),
            ("auth required {ours}", "auth required {ours} unlock"),
            ("auth optional {ours}", "auth optional {ours}"),
        ):
            with self.subTest(lines=lines):
                result, _ = self.run_auth(*lines, answers=["x", "x"])
                self.assertEqual(result, PAM_PERM_DENIED)

    def test_required(self):
        """a required unlock keeps nobody out; a required authenticator does its work"""
        self.daemon()
        for front in ("required", "requisite", "optional", "sufficient"):
            for answer, expected in (("right", PAM_SUCCESS), ("wrong", PAM_AUTH_ERR)):
                with self.subTest(front=front, answer=answer):
                    result, _ = self.run_auth(
                        "auth required {lab} want=right", f"auth {front} {{ours}} unlock", answers=[answer]
                    )
                    self.assertEqual(result, expected)
        # After pam_unix as a step of its own: both must be right.
        for password, passcode, expected in (
            ("login", "right", PAM_SUCCESS),
            ("login", "wrong", PAM_AUTH_ERR),
            ("wrong", "right", PAM_AUTH_ERR),
        ):
            with self.subTest(password=password, passcode=passcode):
                result, talk = self.run_auth(
                    "auth required {lab} want=login", "auth required {ours}", answers=[password, passcode]
                )
                self.assertEqual(result, expected)
                self.assertEqual(len(talk.prompts), 2)


class Tokens(Case):
    def front(self, options, answers, behind=LOOK, control="optional"):
        return self.run_auth(f"auth {control} {{ours}} {options}", behind, answers=answers)

    def test_or_password(self):
        """or_password hands on what was typed if it was wrong, and only then"""
        for outcome in CODES:
            if outcome != "success":
                with self.subTest(outcome):
                    self.daemon(outcome=outcome)
                    self.front("or_password", ["typed"])
                    self.assertEqual(self.token, "typed")
        self.front("or_password", ["right"])
        self.assertEqual(self.token, "(none)")

    def test_without(self):
        """without or_password the stack's token is never touched"""
        daemon = self.daemon()
        for answer in ("wrong", "right"):
            self.front("", [answer])
            self.assertEqual(self.token, "(none)")
        daemon.stop()
        self.run_auth("auth optional {lab} set=before", "auth optional {ours}", LOOK, answers=["x"])
        self.assertEqual(self.token, "before")

    def test_empty_answer(self):
        """only Enter is no token: the next module asks"""
        self.daemon()
        result, talk = self.run_auth(
            "auth [success=done default=ignore] {ours} or_password",
            "auth required {lab} want=login",
            answers=["", "login"],
        )
        self.assertEqual((result, len(talk.prompts)), (PAM_SUCCESS, 2))

    def test_only_the_login(self):
        """answers to other questions never become the token"""
        for purpose in wire.PURPOSES:
            with self.subTest(purpose):

                def handler(peer, purpose=purpose):
                    peer.greet()
                    peer.ask(purpose=purpose)
                    peer.verdict("authError")

                self.lab.daemon(handler)
                self.front("or_password", ["typed"])
                expected = "typed" if purpose in ("passcode", "loginPassword") else "(none)"
                self.assertEqual(self.token, expected)

    def given(self, *tokens, outcome="success", answers=("typed",)):
        """A daemon that gives these tokens before its verdict."""

        def handler(peer):
            request = peer.greet()
            if request.name == "authenticate":
                peer.ask()
                for token in tokens:
                    peer.send("token", 2, [token])
                peer.verdict(outcome)
            else:
                peer.verdict("ignore")

        return self.lab.daemon(handler)

    def test_given(self):
        """with a success, what the daemon gives becomes the token, if the service file wants that"""
        kept, typed, longest = b"kept", b"", b"k" * 1024
        for tokens, options, found in (
            ((kept,), "set_authtok", "kept"), ((longest,), "or_password set_authtok", longest.decode()),
            ((kept,), "", "(none)"), ((kept,), "or_password", "(none)"), ((typed,), "or_password", "typed"),
            ((typed,), "set_authtok", "(none)"), ((), "or_password set_authtok", "(none)"),
        ):
            with self.subTest(tokens=tokens, options=options):
                daemon = self.given(*tokens)
                result, _ = self.front(options, ["typed"], control="required")
                self.assertEqual((result, self.token), (PAM_SUCCESS, found))
                (request,) = daemon.messages("authenticate")
                self.assertEqual(request.setsToken, "set_authtok" in options)

    def test_given_without_success(self):
        """nothing is given with any other verdict"""
        for outcome in CODES:
            if outcome != "success":
                with self.subTest(outcome):
                    self.given(b"kept", outcome=outcome)
                    self.front("set_authtok", ["typed"])
                    self.assertEqual(self.token, "(none)")

    def test_given_nonsense(self):
        """two tokens, a token that is too long, and one at a line that wants none make no sense, and nobody is let
        in"""
        self.given(b"kept", b"kept")
        result, _ = self.front("set_authtok", ["typed"], control="required")
        self.assertEqual((result, self.token), (PAM_AUTHINFO_UNAVAIL, "(none)"))
        self.lab.daemon(lambda peer: (
            peer.greet(), peer.ask(), peer.send_raw(struct.pack("<IHII", 1029, 0x6B, 2, 1025) + b"k" * 1025),
            peer.verdict("success")))
        result, _ = self.front("set_authtok", ["typed"], control="required")
        self.assertEqual((result, self.token), (PAM_AUTHINFO_UNAVAIL, "(none)"))
        self.lab.daemon(lambda peer: (peer.greet(), peer.send("token", 2, [b"kept"]), peer.verdict("success")))
        result, _ = self.run_auth(
            "auth required {lab} set=before", "auth optional {ours} unlock set_authtok", LOOK)
        self.assertEqual((result, self.token), (PAM_SUCCESS, "before"))

    def test_taken_over(self):
        """try_first_pass and use_first_pass send the stack's token, once and as it is"""
        daemon = self.daemon()
        for options, token, answers, expected in (
            ("try_first_pass", "right", [], PAM_SUCCESS),
            ("use_first_pass", "right", [], PAM_SUCCESS),
            ("use_first_pass", "wrong", [], PAM_AUTH_ERR),
            ("use_first_pass try_first_pass", "right", [], PAM_SUCCESS),
            ("", "right", ["wrong"], PAM_AUTH_ERR),
        ):
            with self.subTest(options=options, token=token):
                result, _ = self.run_auth(
                    f"auth optional {{lab}} set={token} return=25", f"auth required {{ours}} {options}", answers=answers
                )
                self.assertEqual(result, expected)
                sent = daemon.messages("authenticate")[-1]
                self.assertEqual(sent.payload, token.encode() if options else b"")
                self.assertEqual(sent.tokenOnly, "use_first_pass" in options)
        # Without a token one option asks and the other does not.
        self.assertEqual(self.run_auth("auth required {ours} try_first_pass", answers=["right"])[0], PAM_SUCCESS)
        self.assertEqual(self.run_auth("auth required {ours} use_first_pass", answers=["right"])[0], PAM_AUTH_ERR)
        # No token that is longer than any passcode.
        self.run_auth(
            "auth optional {lab} setlong=1025", "auth required {ours} try_first_pass", answers=["right"]
        )
        self.assertEqual(daemon.messages("authenticate")[-1].payload, b"")

    def test_brought(self):
        """or_password tries the token of a module in front, asks nothing, and leaves the token to the next module"""
        daemon = self.daemon()
        lines = (
            "auth [success=done default=ignore] {ours} or_password", "auth required {lab} want=login look=TOKEN")
        for token, answers, expected, found in (
            ("right", (), PAM_SUCCESS, None),
            ("login", (), PAM_SUCCESS, "login"),
            ("neither", (), PAM_AUTH_ERR, "neither"),
        ):
            with self.subTest(token):
                result, talk = self.run_auth(f"auth optional {{lab}} set={token} return=7", *lines, answers=answers)
                self.assertEqual((result, talk.prompts, self.token), (expected, [], found))
                sent = daemon.messages("authenticate")[-1]
                self.assertEqual((sent.payload, sent.orPassword, sent.tokenOnly), (token.encode(), True, True))
        # An empty one is none, and who writes try_first_pass wants the question behind it.
        result, talk = self.run_auth(
            "auth optional {lab} set= return=7", "auth required {ours} or_password", answers=["right"])
        self.assertEqual((result, len(talk.prompts)), (PAM_SUCCESS, 1))
        self.run_auth("auth optional {lab} set=wrong return=7", "auth optional {ours} or_password try_first_pass")
        sent = daemon.messages("authenticate")[-1]
        self.assertEqual((sent.payload, sent.tokenOnly), (b"wrong", False))

    def test_flags(self):
        """the options arrive as flags, and unknown ones change nothing"""
        daemon = self.daemon()
        for options, flags in (
            ("", (False, False, False)),
            ("or_password", (True, False, False)),
            ("use_first_pass", (False, True, False)),
            ("enforce", (False, False, True)),
            ("or_password use_first_pass enforce use_authtok debug nonsense unlocked =", (True, True, True)),
        ):
            with self.subTest(options):
                self.run_auth(f"auth required {{ours}} {options}", answers=["right"])
                sent = daemon.messages("authenticate")[-1]
                self.assertEqual((sent.orPassword, sent.tokenOnly, sent.enforce), flags)

    def test_unlock_token(self):
        """unlock sends the token and the handle of an or_password line before it, and nothing without a token"""
        daemon = self.daemon(outcome="authError")
        self.run_auth("auth required {lab} return=0", "auth optional {ours} unlock")
        self.assertEqual(daemon.messages(), [])
        self.run_auth("auth required {lab} set=login", "auth optional {ours} unlock")
        sent = daemon.messages("unlock")[-1]
        self.assertEqual((sent.payload, sent.handle), (b"login", wire.NO_HANDLE))
        self.assertEqual(sent.subject[0], me())
        self.run_auth(
            "auth [success=done default=ignore] {ours} or_password",
            "auth required {lab} want=login",
            "auth optional {ours} unlock",
            answers=["login"],
        )
        sent = daemon.messages("unlock")[-1]
        self.assertEqual((sent.payload, sent.handle), (b"login", HANDLE))
        self.run_auth("auth required {lab} setlong=1025", "auth optional {ours} unlock")
        self.assertEqual(len(daemon.messages("unlock")), 2)


class Face(Case):
    def test_prompts(self):
        """prompts end with a colon and a space, whatever the daemon's line ends with"""
        for line, prompt in (
            ("Passcode", "Passcode: "),
            ("Passcode:", "Passcode: "),
            ("Passcode: ", "Passcode: "),
            ("Really?", "Really? "),
            ("", ": "),
            ("Schl\u00fcssel", "Schl\u00fcssel: "),
            ("%s%n", "%s%n: "),
        ):
            with self.subTest(line):
                self.daemon(line=line)
                _, talk = self.run_auth("auth required {ours}", answers=["x"])
                self.assertEqual(talk.messages, [(ECHO_OFF, prompt)])

    def conversing(self, peer):
        peer.greet()
        peer.show("one", "info")
        peer.show("two", "error")
        peer.send("working")
        self.assertTrue(peer.ask(question=1, echo=True, line="Name").payload == b"visible")
        peer.ask(question=2, purpose="acknowledge", line="Read this")
        peer.ask(question=3, purpose="former", line="Former")
        peer.verdict("success")

    def test_conversation(self):
        """lines, errors, echoed questions and notices keep their order and style"""
        self.lab.daemon(self.conversing)
        result, talk = self.run_auth("auth required {ours}", answers=["visible", "", "secret"])
        self.assertEqual(result, PAM_SUCCESS)
        self.assertEqual(
            talk.messages,
            [
                (TEXT_INFO, "one"),
                (ERROR_MSG, "two"),
                (ECHO_ON, "Name: "),
                (ECHO_ON, "Read this: "),
                (ECHO_OFF, "Former: "),
            ],
        )

    def test_silent(self):
        """PAM_SILENT: the daemon is told about it, and no line is shown but an error"""
        daemon = self.lab.daemon(self.conversing)
        result, talk = self.run_auth("auth required {ours}", answers=["visible", "", "secret"], flags=PAM_SILENT)
        self.assertEqual(result, PAM_SUCCESS)
        self.assertEqual(talk.lines, ["two"])
        self.assertTrue(daemon.messages("hello")[-1].silent)

    def test_unlock_converses(self):
        """unlock shows a conversation, too, and still gives PAM no verdict"""

        def handler(peer):
            peer.greet()
            peer.ask(purpose="former", line="Former login password")
            peer.show("Your store follows the login again.")
            peer.verdict("success")

        self.lab.daemon(handler)
        result, talk = self.run_auth("auth required {lab} set=x", "auth optional {ours} unlock", answers=["old"])
        self.assertEqual((result, len(talk.messages)), (PAM_SUCCESS, 2))
        result, _ = self.run_auth("auth optional {lab} set=x return=25", "auth optional {ours} unlock", answers=["old"])
        self.assertEqual(result, PAM_PERM_DENIED)

    def test_greeting(self):
        """the greeting contains PAM's items"""
        daemon = self.daemon()
        items = {PAM_TTY: "/dev/tty7", PAM_RHOST: "host.example", PAM_RUSER: "remote"}
        self.run_auth("auth required {ours}", answers=["x"], items=items)
        hello = daemon.messages("hello")[-1]
        self.assertEqual(
            (hello.service, hello.tty, hello.remoteHost, hello.remoteUser, hello.frontEnd, hello.silent),
            ("lab", "/dev/tty7", "host.example", "remote", "pamAuth", False),
        )
        self.assertEqual(hello.language, "C")


class Confirmation(Case):
    LINES = ("auth [success=done default=ignore] {ours} or_password", "auth required {lab} want=login")

    def attempt(self, answers, *flags, lines=LINES):
        self.lab.stack(*lines)
        with self.lab.transaction(talk=Talk(answers)) as pam:
            codes = [pam.authenticate()]
            codes += [pam.setcred(flag) for flag in flags]
        return codes

    def test_confirms_once(self):
        """setcred confirms the handle once, whether our module let the person in or the next one"""
        for answer in ("right", "login"):
            for flag in (
                PAM_ESTABLISH_CRED, PAM_REINITIALIZE_CRED, PAM_REFRESH_CRED, 0, PAM_ESTABLISH_CRED | PAM_SILENT):
                with self.subTest(answer=answer, flag=flag):
                    daemon = self.daemon()
                    self.assertEqual(
                        self.attempt([answer], flag, flag, PAM_REFRESH_CRED), [PAM_SUCCESS] * 4
                    )
                    self.assertEqual([each.handle for each in daemon.messages("confirm")], [HANDLE])

    def test_not_at_delete(self):
        """deleting credentials confirms nothing"""
        daemon = self.daemon()
        self.assertEqual(self.attempt(["right"], PAM_DELETE_CRED), [PAM_SUCCESS] * 2)
        self.assertEqual(daemon.messages("confirm"), [])

    def test_codes(self):
        """setcred is success if our module decided, and ignored otherwise"""
        self.daemon()
        self.assertEqual(self.attempt(["right"], PAM_ESTABLISH_CRED, lines=("auth required {ours}",)), [0, 0])
        self.assertEqual(
            self.attempt(["wrong"], PAM_ESTABLISH_CRED, lines=("auth required {ours}",)),
            [PAM_AUTH_ERR, PAM_PERM_DENIED],
        )

    def test_without_authenticate(self):
        """setcred without authenticate, as root's su has it"""
        daemon = self.daemon()
        self.lab.stack("auth required {ours}", "auth required {lab} return=0")
        with self.lab.transaction() as pam:
            self.assertEqual(pam.setcred(), PAM_SUCCESS)
        self.lab.stack("auth required {ours}")
        with self.lab.transaction() as pam:
            self.assertEqual(pam.setcred(), PAM_PERM_DENIED)
        self.assertEqual(daemon.messages(), [])

    def test_three_attempts(self):
        """three attempts on one handle, as sudo makes them: the last one's handle is confirmed"""
        handles = [bytes([n]) * 16 for n in (1, 2, 3)]

        def handler(peer):
            request = peer.greet()
            if request.name != "authenticate":
                return peer.verdict("ignore")
            secret = peer.ask().payload
            peer.verdict("success" if secret == b"three" else "authError", handle=handles[len(secret) - 3])

        daemon = self.lab.daemon(handler)
        self.lab.stack(*self.LINES)
        with self.lab.transaction(talk=Talk(["one", "four", "three"])) as pam:
            self.assertEqual([pam.authenticate() for _ in range(3)], [PAM_AUTH_ERR, PAM_AUTH_ERR, PAM_SUCCESS])
            self.assertEqual(pam.setcred(), PAM_SUCCESS)
        self.assertEqual([each.handle for each in daemon.messages("confirm")], [bytes([3]) * 16])

    def test_success_then_failure(self):
        """a failed attempt leaves nothing of an earlier one that succeeded"""
        daemon = self.daemon(handle=HANDLE)
        self.lab.stack("auth required {ours}")
        with self.lab.transaction(talk=Talk(["right", 19])) as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
            daemon.stop()
            self.assertEqual(pam.authenticate(), PAM_AUTHINFO_UNAVAIL)
            self.assertEqual(pam.setcred(), PAM_PERM_DENIED)

    def test_unlock_handle(self):
        """what unlock opened is confirmed as well"""
        daemon = self.daemon()
        self.attempt([], PAM_ESTABLISH_CRED, lines=("auth required {lab} set=login", "auth optional {ours} unlock"))
        self.assertEqual([each.handle for each in daemon.messages("confirm")], [OTHER])


class Sessions(Case):
    LINES = ("session optional {ours}", "session required pam_permit.so")

    def test_environment(self):
        """a session is logind's, by the name in PAM's own environment"""
        daemon = self.daemon()
        self.lab.stack("session required {lab} env=XDG_SESSION_ID=c1 env=XDG_SESSION_CLASS=user", *self.LINES)
        with self.lab.transaction() as pam:
            self.assertEqual(pam.open_session(), PAM_SUCCESS)
            pam.putenv("XDG_SESSION_ID=other")
            self.assertEqual(pam.close_session(), PAM_SUCCESS)
        opened, closed = daemon.messages("sessionOpen")[-1], daemon.messages("sessionClose")[-1]
        self.assertEqual((opened.id, opened.sessionClass, opened.subject[0]), ("c1", "user", me()))
        self.assertEqual(closed.id, "c1")
        self.assertEqual({each.frontEnd for each in daemon.messages("hello")}, {"pamSession"})

    def test_process_environment(self):
        """the process's own environment is never read"""
        os.environ["XDG_SESSION_ID"] = "ours"
        self.addCleanup(os.environ.pop, "XDG_SESSION_ID")
        daemon = self.daemon()
        self.lab.stack(*self.LINES)
        with self.lab.transaction() as pam:
            pam.open_session()
        self.assertEqual(daemon.messages("sessionOpen")[-1].id, "")

    def test_never_fails(self):
        """refusals and questions at a session do not make it fail"""

        def handler(peer):
            peer.greet()
            if peer.ask().name != "abort":
                raise AssertionError("answered")
            peer.send("refused", 2, code=31)

        self.lab.daemon(handler)
        self.lab.stack(*self.LINES)
        talk = Talk(["x"])
        with self.lab.transaction(talk=talk) as pam:
            self.assertEqual((pam.open_session(), pam.close_session()), (PAM_SUCCESS, PAM_SUCCESS))
        self.assertEqual(talk.messages, [])


class Passwords(Case):
    def change(self, *before):
        self.lab.stack(*before, "password optional {ours} use_authtok", "password required pam_permit.so")
        talk = Talk(["x"])
        with self.lab.transaction(talk=talk) as pam:
            result = pam.chauthtok()
        self.assertEqual(talk.messages, [])
        return result

    def test_both(self):
        """the former and the new password travel once, in the second phase"""
        daemon = self.daemon()
        self.assertEqual(self.change("password required {lab} set=new setold=old"), PAM_SUCCESS)
        self.assertEqual([each.payloads for each in daemon.messages("password")], [[b"old", b"new"]])
        self.assertEqual(daemon.messages("hello")[-1].frontEnd, "pamPassword")

    def test_one(self):
        """unless both are known nothing is sent: root's `passwd alice` knows only the new one"""
        daemon = self.daemon()
        for before in (("password required {lab} set=new",), ("password required {lab} setold=old",), ()):
            self.assertEqual(self.change(*before), PAM_SUCCESS)
        self.assertEqual(daemon.messages(), [])

    def test_alone(self):
        """our line alone never decides about a password"""
        self.daemon()
        self.lab.stack("password required {ours}")
        with self.lab.transaction() as pam:
            self.assertEqual(pam.chauthtok(), PAM_PERM_DENIED)


class Examples(Case):
    """The service files that we ship, with a test module in the place of pam_unix."""

    FOLDER = os.path.join(ROOT, "pam", "pam.d", "examples")

    def service(self, name, password="login"):
        with open(os.path.join(self.FOLDER, name)) as file:
            lines = [line.strip() for line in file if not line.startswith("#")]
        self.lab.stack(
            *(
                re.sub(
                    r"pam_unix\.so.*",
                    "{lab} want=" + password if line.startswith("auth") else "{lab} return=0", line)
                .replace("pam_systemd.so", "{lab} env=XDG_SESSION_ID=c9")
                .replace("pam_appvault.so", "{ours}")
                for line in lines
            )
        )

    def login(self, answers):
        talk = Talk(answers)
        with self.lab.transaction(talk=talk) as pam:
            codes = (pam.authenticate(), pam.setcred(), pam.open_session(), pam.close_session())
        return codes[0], codes[1:] == (PAM_SUCCESS,) * 3, len(talk.prompts)

    def test_follows_login(self):
        """(a): the login's token opens the store; without a daemon the login works as before"""
        self.service("follows-login")
        daemon = self.daemon()
        self.assertEqual(self.login(["login"]), (PAM_SUCCESS, True, 1))
        self.assertEqual([each.payload for each in daemon.messages("unlock")], [b"login"])
        self.assertEqual([each.id for each in daemon.messages("sessionOpen")], ["c9"])
        self.assertEqual(self.login(["wrong"])[0], PAM_AUTH_ERR)
        self.assertEqual(len(daemon.messages("unlock")), 1)
        daemon.stop()
        self.assertEqual(self.login(["login"]), (PAM_SUCCESS, True, 1))

    def test_own_passcode(self):
        """(b): one prompt accepts either; with neither nobody is let in; without a daemon pam_unix asks"""
        self.service("own-passcode")
        daemon = self.daemon()
        self.assertEqual(self.login(["right"]), (PAM_SUCCESS, True, 1))
        self.assertEqual(self.login(["login"]), (PAM_SUCCESS, True, 1))
        code, _, prompts = self.login(["wrong"])
        self.assertEqual((code, prompts), (PAM_AUTH_ERR, 1))
        daemon.stop()
        self.assertEqual(self.login(["login"]), (PAM_SUCCESS, True, 1))
        self.assertEqual(self.login(["right"])[0], PAM_AUTH_ERR)

    def test_required_step(self):
        """after pam_unix: both are asked, both must be right, and without a daemon nobody is let in"""
        self.service("required-step")
        daemon = self.daemon()
        self.assertEqual(self.login(["login", "right"]), (PAM_SUCCESS, True, 2))
        self.assertEqual(self.login(["login", "wrong"])[0], PAM_AUTH_ERR)
        self.assertEqual(self.login(["wrong", "right"])[0], PAM_AUTH_ERR)
        daemon.stop()
        self.assertEqual(self.login(["login", "right"])[0], PAM_AUTHINFO_UNAVAIL)


    def test_password_rules(self):
        """the rules before pam_unix: what the daemon accepts reaches what sets it, and without a daemon nothing is
        asked"""
        self.service("password-rules")

        def handler(peer):
            request = peer.greet()
            if request.name == "passwordRules":
                self.assertEqual(peer.ask(purpose="newPasscode", line="New").payload, b"new one")
                return peer.verdict("success")
            return peer.verdict("ignore")

        daemon = self.lab.daemon(handler)
        with self.lab.transaction(talk=Talk(["new one"])) as pam:
            self.assertEqual(pam.chauthtok(), PAM_SUCCESS)
        self.assertEqual(daemon.faults(), "")
        daemon.stop()
        with self.lab.transaction() as pam:
            self.assertEqual(pam.chauthtok(), PAM_SUCCESS)
            self.assertEqual(pam.talk.messages, [])


class Repeats(Case):
    def test_thousand(self):
        """loaded and unloaded a thousand times: nothing is left"""

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1])

        self.daemon()
        self.lab.stack("auth [success=done default=ignore] {ours} or_password", "auth required {lab} want=login")

        def once(answer):
            with self.lab.transaction(talk=Talk([answer])) as pam:
                self.assertEqual(pam.authenticate(), PAM_SUCCESS)

        for _ in range(50):
            once("right")
        before, pages = Footprint(), resident()
        for index in range(1000):
            once("login" if index % 2 else "right")
        self.assertEqual(before, Footprint())
        # In pages of 4 KiB; Python's own memory varies a little.
        self.assertLess(resident() - pages, 256)
        with open("/proc/self/maps") as file:
            self.assertNotIn("pam_appvault", file.read())


if __name__ == "__main__":
    unittest.main()
