"""Whatever happens to the daemon, people log in as without AppVault, in time, and nobody else
does.

Every fault is tested with the module in four places: alone, where its code can be seen; before a
module that stands in for pam_unix; after it as `unlock`; and at setcred and session.
"""

import os
import resource
import signal
import socket
import struct
import threading
import time
import unittest

import wire
from pamlab import (
    PAM_AUTH_ERR,
    PAM_AUTHINFO_UNAVAIL,
    PAM_CONV_ERR,
    PAM_PERM_DENIED,
    PAM_RHOST,
    PAM_SUCCESS,
    PAM_USER_UNKNOWN,
    Footprint,
    Lab,
    Talk,
    as_user,
)
from patience import ADDED_UP, Stopwatch, others_took

ROOT = os.geteuid() == 0
HANDLE = bytes(range(1, 17))
# Builds may run at the same time; the deadlines of 1, 2 and 5 seconds can still be distinguished.
SLACK = 1.2


class Case(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.lab.close)

    def timed(self, work):
        stopwatch = Stopwatch()
        result = work()
        return result, stopwatch.stop()

    def assertTook(self, took, least, most):
        self.assertGreaterEqual(took.seconds, least - 0.05)
        took.assert_within(most + SLACK)

    def in_front(self, answers=("login", "login"), user=None, options="or_password", **more):
        """Our line before pam_unix's stand-in, as one login. Returns its result, the talk and
        the time."""
        self.lab.stack(
            f"auth [success=done default=ignore] {{ours}} {options}",
            "auth required {lab} want=login look=TOKEN",
            name="front",
        )
        return self.login("front", answers, user, **more)

    def alone(self, answers=("login", "login"), user=None, options="or_password", **more):
        self.lab.stack(f"auth required {{ours}} {options}", name="alone")
        return self.login("alone", answers, user, **more)

    def behind(self, user=None, **more):
        self.lab.stack(
            "auth required {lab} set=login", "auth optional {ours} unlock", name="behind"
        )
        return self.login("behind", (), user, **more)

    def login(self, service, answers, user=None, flags=0, **more):
        talk = Talk(answers)
        before = Footprint()
        with self.lab.transaction(service, user, talk, **more) as pam:
            result, took = self.timed(lambda: pam.authenticate(flags))
            self.token = pam.getenv("TOKEN")
        self.assertEqual(before, Footprint())
        return result, talk, took

    def fill(self):
        """Connects until the listener's queue is full."""
        held = []
        self.addCleanup(lambda: [each.close() for each in held])
        while True:
            each = socket.socket(socket.AF_UNIX)
            each.setblocking(False)
            held.append(each)
            try:
                each.connect(self.lab.socket)
            except BlockingIOError:
                break

    def assertFault(self, least, most, everywhere=True):
        """Checks the fault that is set up now: alone and before pam_unix, and with `everywhere`
        after it and at a session, too."""
        result, _, took = self.alone()
        self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
        self.assertTook(took, least, most)

        result, talk, took = self.in_front()
        self.assertEqual(result, PAM_SUCCESS)
        self.assertTook(took, least, most)
        # A person who typed once is not asked again: a `sudo -S` has only one line.
        self.assertEqual(len(talk.prompts), 1)
        if not everywhere:
            return

        result, _, took = self.behind()
        self.assertEqual(result, PAM_SUCCESS)
        self.assertTook(took, 0, most)

        self.lab.stack("session required {ours}", "session required {lab} return=0", name="session")
        before = Footprint()
        with self.lab.transaction("session") as pam:
            for call in (pam.open_session, pam.close_session):
                result, took = self.timed(call)
                self.assertEqual(result, PAM_SUCCESS)
                self.assertTook(took, 0, most)
        self.assertEqual(before, Footprint())


class Faults(Case):
    def test_absent(self):
        """without a socket everything goes on at once and without a line"""
        self.assertFault(0, 0)
        _, talk, _ = self.in_front()
        self.assertEqual(talk.lines, [])

    def test_refused(self):
        """a socket at which nothing listens counts as none"""
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(self.lab.socket)
        self.assertFault(0, 0)

    def test_no_socket(self):
        """a path that is a plain file, a folder, or too long for a socket"""
        open(self.lab.socket, "w").close()
        self.assertFault(0, 0)
        for path in (self.lab.folder, self.lab.folder + "/" + "x" * 200, "", "relative"):
            with self.subTest(path=path):
                self.lab.stack(f"auth required {self.lab.module} socket={path}", name="path")
                result, _, took = self.login("path", ())
                self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
                self.assertTook(took, 0, 0)

    def test_full(self):
        """a full backlog is waited for one second and no longer"""
        self.lab.daemon(None, backlog=0, accepts=False)
        self.fill()
        self.assertFault(1, 1)

    def test_room_again(self):
        """a backlog that gets room within the second is used"""
        daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.verdict("permissionDenied")), backlog=0)
        self.lab.stack("auth required {ours}", name="alone")
        result = None
        while result != PAM_PERM_DENIED:
            daemon.kill(signal.SIGSTOP)
            self.fill()
            stopwatch = Stopwatch()
            timer = threading.Timer(0.4, lambda: daemon.kill(signal.SIGCONT))
            timer.start()
            with self.lab.transaction("alone") as pam:
                result = pam.authenticate()
            timer.join()
            if result != PAM_PERM_DENIED:
                # The room came too late, because others were served. Then once more.
                time.sleep(ADDED_UP)
                self.assertGreater(others_took() - stopwatch.others, 0.3, result)

    def test_silent(self):
        """accepted and silent: two seconds"""
        self.lab.daemon(lambda peer: peer.hang())
        self.assertFault(2, 2)

    def test_stopped(self):
        """a daemon under SIGSTOP: two seconds"""
        self.lab.daemon(lambda peer: peer.hang()).kill(signal.SIGSTOP)
        self.assertFault(2, 2, everywhere=False)

    def test_one_byte(self):
        """one byte and then nothing: two seconds"""
        self.lab.daemon(lambda peer: (peer.send_raw(b"\x01"), peer.hang()))
        self.assertFault(2, 2, everywhere=False)

    def test_drip(self):
        """a byte now and then delays nobody: the deadline is for the whole frame"""

        def drip(peer):
            for byte in wire.encode("welcome", 1, software="x" * 100):
                peer.send_raw(bytes([byte]))
                time.sleep(0.3)

        self.lab.daemon(drip)
        self.assertFault(2, 2, everywhere=False)

    def test_one_byte_and_gone(self):
        """one byte and hung up"""
        self.lab.daemon(lambda peer: (peer.greet(), peer.send_raw(b"\x01")))
        self.assertFault(0, 0)

    def test_silent_later(self):
        """welcomed and then silent: five seconds"""
        self.lab.daemon(lambda peer: (peer.greet(), peer.hang()))
        self.assertFault(5, 5, everywhere=False)

    def test_silent_after_working(self):
        """every sign of life restarts the five seconds, silence ends them"""

        def work(peer):
            peer.greet()
            time.sleep(1)
            peer.send("working")
            peer.hang()

        self.lab.daemon(work)
        result, _, took = self.in_front()
        self.assertEqual(result, PAM_SUCCESS)
        self.assertTook(took, 6, 6)

    def test_killed_while_typing(self):
        """killed while the person types: the next module gets what they typed"""
        for _ in range(2):
            daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.ask(), peer.hang()))

            def typed(daemon=daemon):
                daemon.stop()
                return "login"

            result, talk, took = self.in_front([typed])
            self.assertEqual((result, self.token), (PAM_SUCCESS, "login"))
            self.assertEqual(len(talk.prompts), 1)
            self.assertTook(took, 0, 0)

    def test_stopped_while_typing(self):
        """stopped while the person types: five seconds, then the next module"""
        daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.ask(), peer.hang()))

        def typed():
            daemon.kill(signal.SIGSTOP)
            return "login"

        result, talk, took = self.in_front([typed])
        self.assertEqual((result, self.token), (PAM_SUCCESS, "login"))
        self.assertTook(took, 5, 5)

    def test_nonsense_after_typing(self):
        """nonsense after the question: the next module gets what the person typed"""
        self.lab.daemon(lambda peer: (peer.greet(), peer.ask(), peer.send_raw(b"\xff" * 64)))
        result, talk, took = self.in_front(["login"])
        self.assertEqual((result, self.token), (PAM_SUCCESS, "login"))
        self.assertEqual(len(talk.prompts), 1)

    def test_gave_up_while_typing(self):
        """the module notices that the daemon ended the question meanwhile, and hands the token on"""

        def handler(peer):
            peer.greet()
            peer.send("ask", question=1, purpose="passcode", line="AppVault passcode")
            peer.verdict("authError", code=27)
            peer.hang()

        self.lab.daemon(handler)
        result, _, _ = self.in_front(["login"])
        self.assertEqual((result, self.token), (PAM_SUCCESS, "login"))
        result, _, _ = self.alone(["login"])
        self.assertEqual(result, PAM_AUTH_ERR)


class Once(Case):
    """A whole login has one wait for a daemon that hangs, however many lines of ours it has."""

    def setUp(self):
        super().setUp()
        # The profile for a passcode of its own, and what stands in for pam_unix.
        self.lab.stack(
            "auth [success=2 default=ignore] {ours} or_password",
            "auth requisite {lab} want=login",
            "auth optional {ours} unlock",
            "auth required pam_permit.so",
            "account required pam_permit.so",
            "session optional {ours}",
            "session required pam_permit.so",
        )

    def whole(self, *answers):
        """A login, and how long each of its calls took."""
        took = []
        before = Footprint()
        with self.lab.transaction(talk=Talk(answers or ["login"])) as pam:
            for call in (pam.authenticate, pam.setcred, pam.account, pam.open_session):
                result, stopwatch = self.timed(call)
                self.assertEqual(result, PAM_SUCCESS)
                took.append(stopwatch)
        self.assertEqual(before, Footprint())
        return took

    def assertOneWait(self, took, wait=2):
        """Two waits in `auth` would be twice as long, and a later call would take as long as one."""
        took[0].assert_within(2 * wait)
        for later in took[1:]:
            later.assert_within(took[0].seconds / 2)

    def assertOnce(self, daemon, took):
        self.assertEqual(len(daemon.messages("hello")), 1)
        self.assertOneWait(took)

    def test_silent(self):
        """accepted and never answered: one connection and one wait"""
        daemon = self.lab.daemon(lambda peer: (peer.receive(), peer.hang()))
        self.assertOnce(daemon, self.whole())

    def test_silent_later(self):
        """welcomed and then silent: one connection and one wait"""
        daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.hang()))
        took = self.whole()
        self.assertEqual(len(daemon.messages("hello")), 1)
        self.assertOneWait(took, 5)

    def test_nobody_accepts(self):
        """a socket of systemd's whose daemon cannot start: one connection and one wait"""
        daemon = self.lab.daemon(lambda peer: (peer.receive(), peer.hang()))
        daemon.kill(signal.SIGSTOP)
        took = self.whole()
        # Whoever connected meanwhile stands in the line still.
        daemon.kill(signal.SIGCONT)
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(self.lab.socket)
            last.sendall(wire.encode("hello", 1, service=b"the last one"))
            until = time.monotonic() + 10
            while not any(each.service == "the last one" for each in daemon.messages("hello")):
                self.assertLess(time.monotonic(), until)
                time.sleep(0.01)
        until = time.monotonic() + 10
        while len(daemon.messages("hello")) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(len(daemon.messages("hello")), 2)
        self.assertOneWait(took)

    def test_closed_after_a_wait(self):
        """a daemon that ends without an answer, each time after a while: one wait"""
        daemon = self.lab.daemon(lambda peer: (peer.receive(), time.sleep(1)))
        self.assertOnce(daemon, self.whole())

    def test_three_attempts(self):
        """three attempts on one handle, as login and sudo make them: one wait"""
        daemon = self.lab.daemon(lambda peer: (peer.receive(), peer.hang()))
        with self.lab.transaction(talk=Talk(["wrong", "wrong", "login"])) as pam:
            self.assertEqual([pam.authenticate() for _ in range(3)], [PAM_AUTH_ERR, PAM_AUTH_ERR, PAM_SUCCESS])
        self.assertEqual(len(daemon.messages("hello")), 1)

    def test_another_transaction(self):
        """the next login tries again"""
        daemon = self.lab.daemon(lambda peer: (peer.receive(), peer.hang()))
        self.whole()
        daemon.stop()
        daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.verdict("ignore")))
        self.whole()
        asked = [each.name for each in daemon.messages() if each.name != "hello"]
        self.assertEqual(asked, ["authenticate", "unlock", "sessionOpen"])

    def test_restarted(self):
        """a daemon that was started anew while the person typed is asked by the lines behind"""
        daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.ask(), peer.hang()))
        anew = []

        def typed():
            daemon.stop()
            anew.append(self.lab.daemon(lambda peer: (peer.greet(), peer.verdict("ignore"))))
            return "login"

        self.whole(typed)
        asked = [each.name for each in anew[0].messages() if each.name != "hello"]
        self.assertEqual(asked, ["unlock", "sessionOpen"])


def after(data):
    """A daemon that greets, reads the request and then sends just these bytes."""

    def handler(peer):
        peer.greet()
        peer.send_raw(data)
        peer.hang()

    return handler


def first(data):
    """A daemon whose very first bytes are these."""

    def handler(peer):
        peer.hello = peer.receive()
        peer.receive()
        peer.send_raw(data)
        peer.hang()

    return handler


ASK = dict(question=1, purpose="passcode", line="AppVault passcode")
VERDICT = wire.MESSAGES["verdict"].number
NONSENSE = {
    "a huge length": first(struct.pack("<IHI", 0xFFFFFFFF, 3, 1)),
    "a length over the module's limit": first(struct.pack("<IHI", 4097, 3, 1) + bytes(4097)),
    "a huge length later": after(struct.pack("<IHI", 0x7FFFFFFF, VERDICT, 2)),
    "an empty welcome": first(wire.raw_frame(3, 1, b"")),
    "a welcome of another version": first(wire.encode("welcome", 1, version=2)),
    "a welcome with another tag": first(wire.encode("welcome", 7)),
    "a verdict before the welcome": first(wire.encode("verdict", 2, outcome="success")),
    "two welcomes": after(wire.encode("welcome", 1)),
    "a verdict with another tag": after(wire.encode("verdict", 3, outcome="success")),
    "a verdict with the greeting's tag": after(wire.encode("verdict", 1, outcome="success")),
    "an unknown outcome": after(wire.raw_frame(VERDICT, 2, b"\x09" + bytes(18))),
    "a verdict cut short": after(wire.raw_frame(VERDICT, 2, b"\x00\x00")),
    "a verdict with bytes behind it": after(wire.raw_frame(VERDICT, 2, bytes(20))),
    "an answer of the wrong type": after(wire.encode("state", 2)),
    "a value": after(wire.encode("value", 2, [b"x"])),
    "done": after(wire.encode("done", 2)),
    "a revealed secret": after(wire.encode("reveal", 2, [b"secret"], line="write this down")),
    "a request": after(wire.encode("authenticate", 2)),
    "a reply": after(wire.encode("reply", 2, [b"x"], question=1)),
    "an unknown type": after(wire.raw_frame(0x7FFF, 2, b"")),
    "working with a body": after(wire.raw_frame(9, 2, b"x")),
    "a line that is no UTF-8": after(wire.encode("show", 2, line=b"\xff\xfe")),
    "a line with NUL": after(wire.encode("show", 2, line=b"a\0b")),
    "a line over its limit": after(wire.encode("show", 2, line="x" * 801)),
    "an unknown style": after(wire.encode("show", 2, style=2)),
    "an unknown purpose": after(wire.encode("ask", 2, question=1, purpose=99, line="AppVault")),
    "a flag that is neither": after(wire.raw_frame(7, 2, struct.pack("<IBB", 1, 1, 7) + bytes(5))),
    "nine arguments": after(wire.encode("show", 2, line=("", ["x"] * 9, "line"))),
    "success where nothing was proven": after(wire.encode("verdict", 2, outcome="success", handle=HANDLE)),
    "a hundred lines": after(b"".join(wire.encode("show", 2, line=f"line {n}") for n in range(100))),
    "working without end": after(wire.encode("working", 2) * 5000),
    "nothing but a hang-up": lambda peer: peer.greet(),
    "a hang-up within a frame": lambda peer: (peer.greet(), peer.send_raw(wire.encode("verdict", 2)[:15])),
    "a hang-up before the welcome": lambda peer: None,
}


class Nonsense(Case):
    def test_nonsense(self):
        """a message that makes no sense ends the exchange at once, and is never success"""
        for name, handler in NONSENSE.items():
            with self.subTest(name):
                self.lab.daemon(handler)
                self.assertFault(0, 0)

    def test_question_twice(self):
        """the same question twice, or a verdict of success before anything was answered"""

        def twice(peer):
            peer.greet()
            peer.ask(question=5)
            peer.ask(question=5)
            peer.verdict("success")

        self.lab.daemon(twice)
        result, talk, _ = self.alone(["one", "two"])
        self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
        self.assertEqual(len(talk.prompts), 1)

    def test_success_needs_a_secret(self):
        """success after nothing, an empty answer, an abort, Enter or a new passcode is not accepted"""
        for purpose, answers in (
            ("passcode", [""]),
            ("passcode", [None]),
            ("passcode", [PAM_CONV_ERR]),
            ("acknowledge", ["x"]),
            ("newPasscode", ["x"]),
            ("confirmPasscode", ["x"]),
        ):
            with self.subTest(purpose=purpose, answers=answers):

                def handler(peer, purpose=purpose):
                    peer.greet()
                    peer.ask(purpose=purpose)
                    peer.verdict("success", handle=HANDLE)

                self.lab.daemon(handler)
                self.lab.stack("auth required {ours}", name="alone")
                with self.lab.transaction("alone", talk=Talk(answers)) as pam:
                    self.assertEqual(pam.authenticate(), PAM_AUTHINFO_UNAVAIL)

    def test_endless_questions(self):
        """a daemon that asks without end is given up"""

        def handler(peer):
            peer.greet()
            for question in range(1, 1000):
                peer.ask(question=question)

        self.lab.daemon(handler)
        result, talk, _ = self.alone(["login"] * 1000)
        self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
        self.assertLessEqual(len(talk.prompts), 64)


def listen_and_note(peer):
    peer.socket.settimeout(3)
    try:
        data = peer.socket.recv(65536)
        if data:
            peer.daemon.note_raw(data)
    except TimeoutError:
        pass


@unittest.skipUnless(ROOT, "needs root to listen as somebody else")
class Strangers(Case):
    def test_other_user(self):
        """a socket of another user gets no byte"""
        for uid in (1234, 65534):
            with self.subTest(uid=uid):
                daemon = self.lab.daemon(listen_and_note, uid=uid)
                self.assertFault(0, 0)
                daemon.stop()
                self.assertEqual(daemon.raw(), b"")

    def test_own_user(self):
        """if the module is not root, its own user may be the daemon; root's listener always may"""
        self.lab.stack("auth required {ours}", name="alone")

        def login():
            with self.lab.transaction("alone", "root", Talk(["x"])) as pam:
                return pam.authenticate()

        for daemon_uid, module_uid, expected in (
            (1234, 1234, PAM_PERM_DENIED),
            (None, 1234, PAM_PERM_DENIED),
            (1235, 1234, PAM_AUTHINFO_UNAVAIL),
            (65534, 65534, PAM_AUTHINFO_UNAVAIL),
            (1234, 65534, PAM_AUTHINFO_UNAVAIL),
        ):
            with self.subTest(daemon=daemon_uid, module=module_uid):
                daemon = self.lab.daemon(
                    lambda peer: (peer.greet(), peer.verdict("permissionDenied")), uid=daemon_uid
                )
                self.assertEqual(as_user(module_uid, login), expected)
                self.assertEqual(bool(daemon.messages()), expected == PAM_PERM_DENIED)
                daemon.stop()


class Names(Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.lab.daemon(lambda peer: (peer.greet(), peer.verdict("userUnknown", code=3)))

    def test_no_account(self):
        """no account can have such a name: user unknown, and nothing is sent to the daemon"""
        for name in ("", "x" * 256, "x" * 5000, b"\xff\xfe", b"ab\xc3"):
            with self.subTest(name=name):
                result, _, _ = self.alone(user=name)
                self.assertEqual(result, PAM_USER_UNKNOWN)
                result, _, _ = self.in_front(user=name)
                self.assertEqual(result, PAM_SUCCESS)
                result, _, _ = self.behind(user=name)
                self.assertEqual(result, PAM_SUCCESS)
        self.assertEqual(self.daemon.messages(), [])

    def test_strange(self):
        """strange names are sent as they are, without a uid"""
        for name in ("no-such-user", "../../etc/passwd", "a\nb", "a\x1b[31mb", "x" * 255, "%s%n", "\u00e9"):
            with self.subTest(name=name):
                result, _, _ = self.alone(user=name)
                self.assertEqual(result, PAM_USER_UNKNOWN)
                self.assertEqual(
                    self.daemon.messages("authenticate")[-1].subject, (name, wire.UNKNOWN_UID)
                )
                result, _, _ = self.in_front(user=name)
                self.assertEqual(result, PAM_SUCCESS)
                result, _, _ = self.behind(user=name)
                self.assertEqual(result, PAM_SUCCESS)

    def test_nul(self):
        """a name ends at its first NUL"""
        self.alone(user=b"root\0evil")
        self.assertEqual(self.daemon.messages("authenticate")[-1].subject, ("root", 0))

    def test_asked_for(self):
        """if the application gives no name, our module asks for it, once for all modules"""
        self.lab.stack(
            "auth [success=done default=ignore] {ours}", "auth required {lab} want=login", name="ask"
        )
        talk = Talk(["root", "login"])
        with self.lab.transaction("ask", b"", talk) as pam:
            pass
        import ctypes

        import pamlab

        with self.lab.transaction("ask", "x", talk) as pam:
            pamlab.libpam.pam_set_item(pam.handle, 2, ctypes.c_char_p(None))
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
        self.assertEqual(self.daemon.messages("authenticate")[-1].subject, ("root", 0))
        self.assertEqual(len(talk.prompts), 2)

    def test_no_name_at_all(self):
        """an application that cannot ask for a name either gets its own failure back, and unlock shows nothing"""
        import ctypes

        import pamlab

        for line, expected in (("{ours}", PAM_CONV_ERR), ("{ours} unlock", PAM_PERM_DENIED)):
            with self.subTest(line=line):
                self.lab.stack("auth optional {lab} set=x return=25", f"auth required {line}", name="ask")
                talk = Talk([PAM_CONV_ERR])
                with self.lab.transaction("ask", "x", talk) as pam:
                    pamlab.libpam.pam_set_item(pam.handle, 2, ctypes.c_char_p(None))
                    self.assertEqual(pam.authenticate(), expected)
        self.assertEqual(self.daemon.messages(), [])

    def test_claims(self):
        """a remote host that does not fit into the protocol does not become a local login"""
        self.lab.stack("auth required {ours}", name="alone")
        with self.lab.transaction("alone", items={PAM_RHOST: b"\xff" * 300}) as pam:
            self.assertEqual(pam.authenticate(), PAM_USER_UNKNOWN)
        self.assertEqual(self.daemon.messages("hello")[-1].remoteHost, "?")


class Conversations(Case):
    def setUp(self):
        super().setUp()

        def handler(peer):
            peer.greet()
            if peer.request.name != "authenticate":
                return peer.verdict("ignore")
            peer.show("two tries left")
            answer = peer.ask()
            peer.verdict("authError" if answer.name == "reply" else "unavailable", code=27)

        self.daemon = self.lab.daemon(handler)

    def last(self):
        return self.daemon.messages()[-1]

    def test_null(self):
        """no conversation at all"""
        self.lab.stack("auth required {ours} or_password", name="alone")
        before = Footprint()
        with self.lab.transaction("alone", null_conversation=True) as pam:
            self.assertEqual(pam.authenticate(), PAM_AUTHINFO_UNAVAIL)
        self.assertEqual(before, Footprint())
        self.assertEqual((self.last().name, self.last().reason), ("abort", "conversationFailed"))
        self.lab.stack(
            "auth [success=done default=ignore] {ours} or_password", "auth required pam_permit.so", name="next"
        )
        with self.lab.transaction("next", null_conversation=True) as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
        result, _, _ = self.login("next", (), null_conversation=True)
        self.assertEqual(result, PAM_SUCCESS)

    def test_failing(self):
        """a conversation that fails"""
        for code in (PAM_CONV_ERR, 5, 30):
            with self.subTest(code=code):
                result, _, _ = self.alone([code])
                self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
                self.assertEqual((self.last().name, self.last().reason), ("abort", "conversationFailed"))
                result, _, _ = self.in_front([code, "login"])
                self.assertEqual((result, self.token), (PAM_SUCCESS, "login"))

    def test_null_answer(self):
        """a person whose input ends, as by Ctrl-D: the next module does not ask them again"""
        result, _, _ = self.alone([None])
        self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
        self.assertEqual((self.last().name, self.last().reason), ("abort", "cancelled"))
        result, talk, _ = self.in_front([None, "login"])
        self.assertEqual((result, self.token, len(talk.prompts)), (PAM_AUTH_ERR, "", 1))
        # As a step of its own our line leaves the token as it is.
        self.lab.stack(
            "auth required {lab} set=login", "auth required {ours}", "auth optional {lab} look=TOKEN", name="step")
        self.login("step", [None])
        self.assertEqual(self.token, "login")

    def test_long_answer(self):
        """an answer of 100 KB is reported as too long, and the next module still gets it"""
        long = "x" * 100_000
        result, _, _ = self.alone([long])
        self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
        self.assertEqual((self.last().name, self.last().reason), ("abort", "answerTooLong"))
        result, _, _ = self.in_front([long])
        self.assertEqual((result, self.token), (PAM_AUTH_ERR, long))
        result, _, _ = self.alone(["x" * 1025])
        self.assertEqual(self.last().name, "abort")
        result, _, _ = self.alone(["x" * 1024])
        self.assertEqual(self.last().payload, b"x" * 1024)


class Processes(Case):
    def good(self, peer):
        request = peer.greet()
        if request.name != "authenticate":
            return peer.verdict("ignore")
        name = request.subject[0]
        answer = peer.ask()
        right = answer.name == "reply" and answer.payload == b"passcode of " + name.encode()
        peer.verdict("success" if right else "authError", handle=HANDLE)

    def test_two_at_once(self):
        """two transactions at once in one process do not see each other"""
        daemon = self.lab.daemon(self.good)
        self.lab.stack("auth required {ours} or_password", "session optional {ours}", name="alone")
        failures = []

        def person(name):
            try:
                for _ in range(25):
                    with self.lab.transaction("alone", name, Talk([f"passcode of {name}"])) as pam:
                        if pam.authenticate() != PAM_SUCCESS or pam.setcred() != PAM_SUCCESS:
                            failures.append(name)
                    with self.lab.transaction("alone", name, Talk(["wrong"])) as pam:
                        if pam.authenticate() != PAM_AUTH_ERR:
                            failures.append(name)
            except BaseException as error:
                failures.append(error)

        before = Footprint()
        people = [threading.Thread(target=person, args=(name,)) for name in ("alice", "bob", "root", "carol")]
        for each in people:
            each.start()
        for each in people:
            each.join()
        self.assertEqual(failures, [])
        # A thread that was joined may remain in the kernel's list for a moment.
        end = time.monotonic() + 60
        while before != Footprint() and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(before, Footprint())
        self.assertEqual(len(daemon.messages("confirm")), 100)

    def test_interleaved(self):
        """two handles open at once keep their own transactions"""
        self.lab.daemon(self.good)
        self.lab.stack("auth required {ours}", name="alone")
        with self.lab.transaction("alone", "alice", Talk(["passcode of alice"])) as one:
            with self.lab.transaction("alone", "bob", Talk(["wrong"])) as two:
                self.assertEqual(one.authenticate(), PAM_SUCCESS)
                self.assertEqual(two.authenticate(), PAM_AUTH_ERR)
                self.assertEqual(one.setcred(), PAM_SUCCESS)

    def test_fork(self):
        """auth here, the session in a child, and its end in yet another"""
        daemon = self.lab.daemon(self.good)
        self.lab.stack("auth required {ours}", "session required {ours}", "session required pam_permit.so", name="fork")
        with self.lab.transaction("fork", "root", Talk(["passcode of root"])) as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
            pam.putenv("XDG_SESSION_ID=c7")
            pam.putenv("XDG_SESSION_CLASS=user")
            for work in ("open_session", "close_session"):
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        code = getattr(pam, work)()
                        pam.end()
                    finally:
                        os._exit(code)
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), PAM_SUCCESS)
            self.assertEqual(pam.setcred(), PAM_SUCCESS)
        sessions = daemon.messages("sessionOpen") + daemon.messages("sessionClose")
        self.assertEqual([(each.id, each.sessionClass) for each in sessions], [("c7", "user")] * 2)
        self.assertEqual(len(daemon.messages("confirm")), 1)

    def test_out_of_descriptors(self):
        """no file descriptor left: the next module lets the person in"""
        self.lab.daemon(self.good)
        self.lab.stack(
            "auth [success=done default=ignore] {ours} or_password", "auth required {lab} want=login", name="front"
        )
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        held = []

        def free():
            # libpam's own audit record needs a descriptor, and denies everybody without one.
            while held:
                os.close(held.pop())
            return "login"

        talk = Talk(["login", free, "login"])
        with self.lab.transaction("front", "root", talk) as pam:
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
                try:
                    while True:
                        held.append(os.dup(0))
                except OSError:
                    pass
                result, took = self.timed(pam.authenticate)
            finally:
                free()
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            self.assertEqual(result, PAM_SUCCESS)
            self.assertTook(took, 0, 0)
            # The daemon was not reached: the second prompt is the next module's, the third is ours
            # again.
            self.assertEqual(pam.authenticate(), PAM_SUCCESS)
            self.assertEqual([prompt[:8] for prompt in talk.prompts], ["AppVault", "Password", "AppVault"])

    def test_low_descriptors(self):
        """where 0, 1 and 2 are closed the connection does not take their place"""

        def login():
            os.dup2(0, 40)
            seen = []
            with self.lab.transaction("alone", "root", Talk([lambda: seen.append(low()) or "x"])) as pam:
                for fd in (0, 1, 2):
                    os.close(fd)
                pam.authenticate()
            return seen

        def low():
            found = []
            for fd in (0, 1, 2):
                try:
                    found.append(os.fstat(fd).st_mode)
                except OSError:
                    pass
            return found

        self.lab.daemon(self.good)
        self.lab.stack("auth required {ours}", name="alone")
        if not ROOT:
            self.skipTest("needs root for a child of another kind")
        self.assertEqual(as_user(0, login), [[]])

    def test_signals_while_waiting(self):
        """signals that the application handles neither end the wait nor stretch it"""
        self.lab.daemon(lambda peer: peer.hang())
        self.lab.stack("auth required {ours}", name="alone")
        hits = []
        former = signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
        self.addCleanup(signal.signal, signal.SIGALRM, former)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        with self.lab.transaction("alone", talk=Talk(["x"])) as pam:
            result, took = self.timed(pam.authenticate)
        self.assertEqual(result, PAM_AUTHINFO_UNAVAIL)
        self.assertTook(took, 2, 2)


if __name__ == "__main__":
    unittest.main()
