"""`password_rules`: the module before what sets the login password, with a daemon that answers
what the test wants."""

import unittest

from pamlab import ECHO_OFF, PAM_CONV_ERR, PAM_SUCCESS, Footprint, Lab, Talk, me

PAM_AUTHTOK_ERR = 20

SECRET = "kept-to-ourselves"


def rules(*rounds, outcome="success", code=0):
    """A daemon that asks in these rounds, by default once for the new password and its
    confirmation, and then gives this verdict."""

    def handler(peer):
        request = peer.greet()
        if request.name != "passwordRules":
            return peer.verdict("ignore")
        peer.show("At least 8 characters.")
        for number, purposes in enumerate(rounds or (("newPasscode", "confirmPasscode"),)):
            for place, purpose in enumerate(purposes):
                line = "New password" if purpose == "newPasscode" else "Again"
                answer = peer.ask(question=10 * number + place + 1, purpose=purpose, line=line)
                if answer.name == "abort":
                    return peer.verdict("authError", code=27)
        peer.verdict(outcome, code=code)

    return handler


class Case(unittest.TestCase):
    FRONT = ()

    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)

    def change(self, *answers, options="", front=(), behind=("password required {lab} look=TOKEN",)):
        """Runs passwd. Returns the stack's token at its end."""
        self.lab.stack(*front, f"password requisite {{ours}} password_rules {options}", *behind)
        before = Footprint()
        with self.lab.transaction(talk=Talk(answers)) as pam:
            self.code = pam.chauthtok()
            token = pam.getenv("TOKEN")
            self.talk = pam.talk
        self.assertEqual(before, Footprint())
        return token


class Rules(Case):
    def test_accepted(self):
        """the accepted answer is the stack's token, and the former password goes to the daemon"""
        daemon = self.lab.daemon(rules())
        token = self.change(SECRET, SECRET, front=["password required {lab} setold=former"])
        self.assertEqual((self.code, token), (PAM_SUCCESS, SECRET))
        (request,) = daemon.messages("passwordRules")
        self.assertEqual((request.subject[0], request.payloads), (me(), [b"former", b""]))
        (hello,) = daemon.messages("hello")
        self.assertEqual(hello.frontEnd, "pamPassword")
        self.assertEqual(self.talk.messages[1:], [(ECHO_OFF, "New password: "), (ECHO_OFF, "Again: ")])

    def test_last_accepted(self):
        """of several new passwords the last one becomes the token, never a confirmation or another answer"""
        self.lab.daemon(rules(("newPasscode",), ("newPasscode", "confirmPasscode", "former", "passcode")))
        token = self.change("first one", "second one", "third", "fourth", "fifth")
        self.assertEqual((self.code, token), (PAM_SUCCESS, "second one"))

    def test_refused(self):
        """a refusal is PAM_AUTHTOK_ERR, ends the stack, and leaves no token"""
        self.lab.daemon(rules(outcome="authError", code=14))
        token = self.change("short", "short")
        self.assertEqual((self.code, token), (PAM_AUTHTOK_ERR, "(none)"))

    def test_cancelled(self):
        """the daemon is told of a conversation that fails or gives nothing, and refuses"""
        for answers in ((), (PAM_CONV_ERR,), (None,), (SECRET, PAM_CONV_ERR)):
            with self.subTest(answers=answers):
                daemon = self.lab.daemon(rules())
                token = self.change(*answers)
                self.assertEqual((self.code, token), (PAM_AUTHTOK_ERR, "(none)"))
                self.assertEqual(len(daemon.messages("abort")), 1)

    def test_too_long(self):
        """an answer longer than any passcode is not sent and not handed on"""
        daemon = self.lab.daemon(rules())
        token = self.change("x" * 1025)
        self.assertEqual((self.code, token), (PAM_AUTHTOK_ERR, "(none)"))
        self.assertEqual(daemon.messages("abort")[0].reason, "answerTooLong")

    def test_present(self):
        """a token that the stack already has is judged without a question, and stays"""
        for outcome, code in (("success", PAM_SUCCESS), ("authError", PAM_AUTHTOK_ERR)):
            with self.subTest(outcome=outcome):
                daemon = self.lab.daemon(
                    lambda peer, outcome=outcome: (peer.greet(), peer.show("no", "error"), peer.verdict(outcome)))
                token = self.change(front=["password required {lab} setold=former set=present"])
                self.assertEqual(self.code, code)
                self.assertEqual(daemon.messages("passwordRules")[0].payloads, [b"former", b"present"])
                if code == PAM_SUCCESS:
                    self.assertEqual(token, "present")

    def test_present_too_long(self):
        """a token that cannot be a passcode is left to the other modules"""
        daemon = self.lab.daemon(rules())
        self.change(front=["password required {lab} setlong=2000"], behind=())
        self.assertEqual(daemon.messages("passwordRules"), [])

    def test_not_ours(self):
        """ignored, unavailable, refused, dead or nonsense: nothing is handed on, the next module does its work"""
        ends = [lambda peer, outcome=outcome: peer.verdict(outcome)
                for outcome in ("ignore", "unavailable", "userUnknown", "permissionDenied", "maxTries")]
        ends.append(lambda peer: peer.send("refused", 2, code=35))
        ends.append(lambda peer: peer.send_raw(b"\xff" * 20))
        ends.append(lambda peer: None)
        for end in ends:
            self.lab.daemon(lambda peer, end=end: (
                peer.greet(), peer.ask(purpose="newPasscode", line="New password"), end(peer)))
            token = self.change(SECRET, behind=["password required {lab} look=TOKEN"])
            self.assertEqual((self.code, token), (PAM_SUCCESS, "(none)"))

    def test_success_of_nothing(self):
        """a success without a new password does not count"""
        self.lab.daemon(lambda peer: (peer.greet(), peer.verdict("success")))
        self.assertEqual((self.change(), self.code), ("(none)", PAM_SUCCESS))
        self.lab.stack("password required {ours} password_rules")
        with self.lab.transaction() as pam:
            self.assertNotEqual(pam.chauthtok(), PAM_SUCCESS)

    def test_absent(self):
        """without a daemon nothing is asked"""
        token = self.change()
        self.assertEqual((self.code, token, self.talk.messages), (PAM_SUCCESS, "(none)", []))

    def test_alone(self):
        """a stack of this line alone changes nothing without an answer of the daemon's"""
        self.lab.stack("password required {ours} password_rules")
        with self.lab.transaction() as pam:
            self.assertNotEqual(pam.chauthtok(), PAM_SUCCESS)

    def test_other_kinds(self):
        """in an auth or session stack the option does nothing"""
        daemon = self.lab.daemon(rules())
        self.lab.stack("auth required {ours} password_rules", "auth required pam_permit.so")
        with self.lab.transaction() as pam:
            self.assertEqual((pam.authenticate(), pam.setcred()), (PAM_SUCCESS, PAM_SUCCESS))
        self.assertEqual(daemon.messages(), [])


class AlwaysAsk(Case):
    """`always_ask`, for a line after ours that may not ask itself (use_authtok)."""

    def test_asked(self):
        """if we have no rules libpam asks, and the line after ours gets a token"""
        for daemon in (None, lambda peer: (peer.greet(), peer.verdict("ignore"))):
            if daemon:
                self.lab.daemon(daemon)
            token = self.change("new one", "new one", options="always_ask")
            self.assertEqual((self.code, token), (PAM_SUCCESS, "new one"))
            self.assertEqual(self.talk.prompts, ["New password: ", "Retype new password: "])

    def test_ours(self):
        """if we have rules, libpam does not ask"""
        self.lab.daemon(rules())
        token = self.change(SECRET, SECRET, options="always_ask")
        self.assertEqual((self.code, token, len(self.talk.prompts)), (PAM_SUCCESS, SECRET, 2))

    def test_refused(self):
        """a refusal of ours is final, and so is a person who types nothing"""
        self.lab.daemon(rules(outcome="authError"))
        self.change("short", "short", options="always_ask")
        self.assertEqual((self.code, len(self.talk.prompts)), (PAM_AUTHTOK_ERR, 2))
        self.lab.daemons[-1].stop()
        for answers in (("one", "another"), (PAM_CONV_ERR,)):
            self.change(*answers, options="always_ask")
            self.assertEqual(self.code, PAM_AUTHTOK_ERR)

    def test_present(self):
        """if there is a token already, nothing is asked"""
        token = self.change(options="always_ask", front=["password required {lab} set=present"])
        self.assertEqual((self.code, token, self.talk.messages), (PAM_SUCCESS, "present", []))


if __name__ == "__main__":
    unittest.main()
