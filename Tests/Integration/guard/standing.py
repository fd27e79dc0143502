"""Which count a try goes to, and whether a finger may be asked for: with real processes in real
control groups, and with a logind that writes what the test wants. PAM items, names and
environments can only make a try count for less."""

import contextlib
import os
import signal
import socket
import statistics
import time
import unittest

import wire
from daemonlab import PASSCODE, Daemon, add_account, answers, as_uid, remove_account
from loginlab import OTHER, PLACES, Logind, Standby, as_peer, manager, move, place, polkit, session
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 180
POLICY = "RetryLimit=100\nThrottleAfter=0\nOnRetryLimit=lock\n"
LOCAL = "login gdm-password lightdm sddm greetd sudo sudo-i su su-l polkit-1".split()
LOCKERS = (
    "swaylock i3lock xscreensaver kde cinnamon-screensaver mate-screensaver xfce4-screensaver gtklock hyprlock vlock "
    "physlock").split()
OWN, APART, STRANGER = "own", "apart", "stranger"

# A process of root's (real uid 0) in each place that a session's process can have.
SESSIONS = {name: STRANGER for name in PLACES} | {"at the seat": OWN, "user manager, display at the seat": OWN}

# (real uid, PAM_RUSER, PAM_RHOST, service, verdict) at the person's own seat; "person" is the owner
# of the store.
CLAIMS = [
    *[("root", "", "", service, OWN) for service in LOCAL],
    *[("person", "person", "", service, OWN) for service in LOCAL],
    *[("root", "", "", service, APART) for service in LOCKERS],
    *[("person", "", "", service, APART) for service in LOCKERS],
    ("root", "person", "", "login", OWN),
    ("root", "root", "", "login", STRANGER),
    ("root", "other", "", "login", STRANGER),
    ("other", "", "", "login", STRANGER),
    ("person", "other", "", "sudo", STRANGER),
    ("root", "", "198.51.100.7", "login", STRANGER),
    ("root", "", "localhost", "login", STRANGER),
    ("person", "person", "host.example", "sudo", STRANGER),
    ("person", "other", "host.example", "swaylock", STRANGER),
]


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)
        cls.logind = Logind(cls.uid)
        cls.addClassCleanup(cls.logind.close)
        cls.daemon = Daemon(policy=POLICY, before=cls.logind.before, env=cls.logind.env)
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.person = (cls.name, cls.uid)
        cls.daemon.create()

    def setUp(self):
        self.logind.set()
        self.assertEqual(self.daemon.ask("triesClear").name, "done")

    def hello(self, real="root", ruser="", rhost="", service="login"):
        uids = {"root": 0, "person": self.uid, "other": OTHER}
        names = {"person": self.name, "other": "somebody", "root": "root", "": ""}
        return dict(
            frontEnd="pamAuth", service=service, realUID=uids[real], remoteUser=names[ruser], remoteHost=rhost
        )

    def verdict(self, before, after):
        grown = [
            kind for kind in (OWN, APART, STRANGER)
            for _ in range(getattr(after, kind).count - getattr(before, kind).count)
        ]
        self.assertEqual(len(grown), 1, f"one try: {before} -> {after}")
        return grown[0]

    def one_try(self, **hello):
        """Makes one wrong try from this process. Returns which count it went to."""
        before = self.daemon.tally()
        self.assertEqual(self.wrong(**hello), 5)
        return self.verdict(before, self.daemon.tally())

    def wrong(self, **hello):
        greeting = self.hello(**hello)
        return self.daemon.authenticate("wrong", hello=greeting, service=greeting["service"]).code

    def at(self, path, uid=0, **hello):
        """The same for another process, in another place, with root's rights and that real uid."""
        before = self.daemon.tally()
        self.assertEqual(as_peer(lambda: self.wrong(**hello), path, uid), 5)
        return self.verdict(before, self.daemon.tally())

    @contextlib.contextmanager
    def desk(self, seats=(("seat0", None),), sessions=(), logind=True):
        """Sessions of other people than usual: (name, uid, kind, more); and which one is in
        front where."""
        self.logind.clear()
        try:
            for name, uid, kind, more in sessions:
                self.logind.session(name, uid, kind, **more)
            for seat, name in seats:
                owner = next((uid for known, uid, *_ in sessions if known == name), 0)
                self.logind.seat(seat, name, owner)
            if not logind:
                self.logind.no_logind()
            yield
        finally:
            if not logind:
                for kind in ("seats", "sessions"):
                    os.makedirs(os.path.join(self.logind.folder, "run", kind), exist_ok=True)
            self.logind.clear()
            self.logind.people()


class Sessions(Case):
    def test_sessions(self):
        """The person's own active, local session, or a process of their manager with it in front"""
        for name, expected in SESSIONS.items():
            with self.subTest(name):
                place(self.logind, name)
                self.assertEqual(self.one_try(service="sudo"), expected)

    @slow
    def test_claims(self):
        """What the front end says of itself makes a try count for less, and makes none own that is not"""
        for name, raised in (("at the seat", lambda verdict: verdict), ("another's session", lambda _: STRANGER)):
            place(self.logind, name)
            for real, ruser, rhost, service, expected in CLAIMS:
                with self.subTest(name, real=real, ruser=ruser, rhost=rhost, service=service):
                    found = self.one_try(real=real, ruser=ruser, rhost=rhost, service=service)
                    self.assertEqual(found, raised(expected))

    def test_started_by(self):
        """The kernel says who started the process: sudo is run by its person also over ssh, su is not"""
        here, remote = session("here", self.uid), session("remote", self.uid)
        others = session("others", OTHER)
        for path, real, expected in (
            (here, 0, OWN), (here, self.uid, OWN), (here, OTHER, STRANGER),
            (remote, 0, STRANGER), (remote, self.uid, APART), (remote, OTHER, STRANGER),
            (others, OTHER, STRANGER), (others, self.uid, APART),
        ):
            for claimed in ("root", "person"):
                with self.subTest(path, real=real, claimed=claimed):
                    self.assertEqual(self.at(path, real, real=claimed, service="su"), expected)

    def test_person_without_root(self):
        """A peer that is the person without root's rights is apart, wherever it is and whatever it says"""
        for name in ("at the seat", "user manager, display at the seat", "remote", "a service"):
            place(self.logind, name)
            for service in ("login", "sudo", "swaylock", "polkit-1"):
                with self.subTest(name, service=service):
                    before = self.daemon.tally()
                    code = as_uid(self.uid, lambda: self.wrong(real="person", ruser="person", service=service))
                    self.assertEqual(code, 5)
                    self.assertEqual(self.verdict(before, self.daemon.tally()), APART)

    def test_names_that_a_person_may_choose(self):
        """A user's own unit or control group does not count as a unit of the system, whatever its name is"""
        for name in ("gdm.service", "getty@tty1.service", "lightdm.service", "system.slice/gdm.service",
                     "polkit-agent-helper@1-1-0.service", "session-here.scope"):
            with self.subTest(name):
                self.assertEqual(self.at(manager(OTHER, name)), STRANGER)
                self.assertEqual(self.at(f"/user.slice/user-{OTHER}.slice/{name}"), STRANGER)
        for path in ("/machine.slice/x.service/system.slice/gdm.service", "/gdm.service", "/init.scope",
                     "/system.slice/gdm.scope", "/system.slice/some.service/getty@tty1.service"):
            with self.subTest(path):
                self.assertEqual(self.at(path), STRANGER)

    def test_flows_of_the_cli(self):
        """Flows of the CLI are the person's apart tries; root's for a person are where root is"""
        for request, fields in (
            ("openStore", {}), ("passcode", {"change": "change"}), ("passcode", {"change": "turnOff"}), ("reset", {}),
        ):
            attempt = lambda: self.daemon.ask(request, answers("wrong"), **fields).code
            for peer, where, expected in (
                ("person", "a service", APART), ("root", "at the seat", APART), ("root", "a service", STRANGER),
            ):
                if (peer, request) == ("root", "reset"):
                    continue
                with self.subTest(request=request, peer=peer, where=where, **fields):
                    self.daemon.lock()
                    place(self.logind, where)
                    before = self.daemon.tally()
                    self.assertEqual(attempt() if peer == "root" else as_uid(self.uid, attempt), 5)
                    self.assertEqual(self.verdict(before, self.daemon.tally()), expected)

    def test_private_daemon(self):
        """A daemon that an ordinary user runs treats that user as root, wherever they are"""
        place(self.logind, "remote")
        with Daemon(policy=POLICY, uid=self.uid) as daemon:
            daemon.person = (self.name, self.uid)
            self.assertEqual(as_uid(self.uid, lambda: daemon.create().name), "done")
            for service, rhost, expected in (
                ("login", "", OWN), ("swaylock", "", APART), ("login", "host.example", APART)
            ):
                before = daemon.tally()
                hello = dict(frontEnd="pamAuth", service=service, realUID=self.uid, remoteHost=rhost)
                code = as_uid(self.uid, lambda: daemon.authenticate("wrong", service=service, hello=hello).code)
                self.assertEqual(code, 5)
                self.assertEqual(self.verdict(before, daemon.tally()), expected)


class Logins(Case):
    def test_console(self):
        """A console's login, whoever is in front and without logind; only of real uid 0, and no other service"""
        for logind in (True, False):
            with self.desk(logind=logind):
                for unit in ("system-getty.slice/getty@tty3.service", "console-getty.service",
                             "system-serial\\x2dgetty.slice/serial-getty@ttyS0.service",
                             "system-container\\x2dgetty.slice/container-getty@0.service"):
                    with self.subTest(unit, logind=logind):
                        self.assertEqual(self.at("/system.slice/" + unit), OWN)
                        self.assertEqual(self.at("/system.slice/" + unit, OTHER), STRANGER)
                for unit in ("ssh.service", "cron.service", "gettyx@tty1.service", "dovecot.service"):
                    with self.subTest(unit, logind=logind):
                        self.assertEqual(self.at("/system.slice/" + unit), STRANGER)

    def test_login_units(self):
        """LoginUnits lists the units that log people in"""
        self.daemon.policy(POLICY + "LoginUnits=ssh.service my*door@*\n", reload=True)
        try:
            for unit, expected in (
                ("ssh.service", OWN), ("sshd.service", STRANGER), ("myfrontdoor@1.service", OWN),
                ("mydoor.service", STRANGER), ("system-getty.slice/getty@tty1.service", STRANGER),
            ):
                with self.subTest(unit), self.desk():
                    self.assertEqual(self.at("/system.slice/" + unit), expected)
        finally:
            self.daemon.policy(POLICY, reload=True)

    @slow
    def test_display_manager(self):
        """A display manager: a greeter, the person or nobody in front on every seat, and no remote greeter"""
        greeter = ("c1", 117, "greeter", {})
        mine, theirs = ("m", self.uid, "user", {}), ("o", OTHER, "user", {})
        far_away = dict(remote=True, seat=None)
        ssh, own_ssh = ("s1", OTHER, "user", far_away), ("s2", self.uid, "user", far_away)
        far = ("c2", 117, "greeter", far_away)
        seatless = ("c2", 117, "greeter", dict(seat=None))
        cron, daemon = ("k", 0, "background", dict(seat=None)), ("u", OTHER, "manager", dict(seat=None))
        one, two = "seat0", "seat1"
        for what, seats, sessions, lightdm, gdm in (
            ("greeter", [(one, "c1")], [greeter], OWN, OWN),
            ("nobody", [(one, None)], [], OWN, STRANGER),
            ("the person", [(one, "m")], [mine], OWN, OWN),
            ("somebody else", [(one, "o")], [theirs], STRANGER, STRANGER),
            ("a session that is gone", [(one, "x")], [], STRANGER, STRANGER),
            ("greeter, somebody behind", [(one, "c1")], [greeter, theirs], OWN, STRANGER),
            ("greeter, somebody over ssh", [(one, "c1")], [greeter, ssh], OWN, STRANGER),
            ("greeter, the person over ssh", [(one, "c1")], [greeter, own_ssh], OWN, OWN),
            ("nobody, the person over ssh", [(one, None)], [own_ssh], OWN, STRANGER),
            ("greeter, cron of root's", [(one, "c1")], [greeter, cron], OWN, OWN),
            ("greeter, a manager", [(one, "c1")], [greeter, daemon], OWN, OWN),
            ("greeter, one far away", [(one, "c1")], [greeter, far], STRANGER, STRANGER),
            ("greeter, one without a seat", [(one, "c1")], [greeter, seatless], STRANGER, STRANGER),
            ("two greeters", [(one, "c1"), (two, "c3")], [greeter, ("c3", 117, "greeter", dict(seat=two))], OWN, OWN),
            ("greeter and the person", [(one, "c1"), (two, "m")], [greeter, mine], OWN, OWN),
            ("greeter and somebody else", [(one, "c1"), (two, "o")], [greeter, theirs], STRANGER, STRANGER),
            ("somebody else and the person", [(one, "o"), (two, "m")], [theirs, mine], STRANGER, STRANGER),
        ):
            with self.subTest(what), self.desk(seats, sessions):
                for unit in ("lightdm.service", "sddm.service", "greetd.service"):
                    self.assertEqual(self.at("/system.slice/" + unit, service="lightdm"), lightdm, unit)
                for unit in ("gdm.service", "gdm3.service"):
                    self.assertEqual(self.at("/system.slice/" + unit, service="gdm-password"), gdm, unit)
                self.assertEqual(self.at("/system.slice/lightdm.service", OTHER), STRANGER)
        with self.desk(logind=False):
            self.assertEqual(self.at("/system.slice/lightdm.service"), STRANGER)

    def test_who_comes_in_front_meanwhile(self):
        """A try is own only if it was so when the person was asked and still is when they have answered"""
        greeter = ("c1", 117, "greeter", {})
        theirs = ("o", OTHER, "user", {})
        for first, second, expected in (("c1", "o", STRANGER), ("o", "c1", STRANGER), ("c1", "c1", OWN)):
            with self.subTest(first=first, second=second), self.desk([("seat0", first)], [greeter, theirs]):
                self.logind.set(unit="lightdm.service")
                before = self.daemon.tally()

                def answer(ask):
                    self.logind.seat("seat0", second, 117)
                    return "wrong"

                with self.daemon.client(**self.hello(service="lightdm")) as client:
                    code = client.run("authenticate", answer, [b""], subject=self.daemon.person).code
                self.assertEqual(code, 5)
                self.assertEqual(self.verdict(before, self.daemon.tally()), expected)


class Agents(Case):
    def agent(self, instance):
        return self.at(polkit(instance), service="polkit-1", ruser="person")

    def connected(self, path, real, effective=None):
        process = Standby(path, real, real if effective is None else effective)
        self.addCleanup(process.close)
        return process.pid

    def test_instances(self):
        """polkit's helper counts as the person's if systemd says that the person connected, in every form of its
        name"""
        self.logind.set(session="here")
        mine = self.connected(session("here", self.uid), self.uid)
        for instance in (f"7-{mine}-{self.uid}", f"0-99-{mine}-{self.uid}", f"7-99-{mine}_1234-{self.uid}"):
            with self.subTest(instance):
                self.assertEqual(self.agent(instance), OWN)
        for instance in ("7-unknown", "7-99-unknown", f"{mine}-{self.uid}", f"7-{mine}-", f"7--{self.uid}", "",
                         f"7-{mine}-{self.uid}-", f"7-{mine}_x-{self.uid}", f"7-{mine}-+{self.uid}", f"7-0-{self.uid}",
                         f"7-1-2-{mine}-{self.uid}", f"7-{mine}-{OTHER}", f"7-99-{mine}-0x{self.uid:x}",
                         f"7-{mine}-{self.uid + (1 << 32)}"):
            with self.subTest(instance):
                self.assertEqual(self.agent(instance), STRANGER)

    def test_who_connects(self):
        """Another person, the person from elsewhere, root's text agent that the person or another one started"""
        for path, real, effective, uid, expected in (
            (session("here", self.uid), self.uid, None, self.uid, OWN),
            (manager(self.uid, "app.slice/agent.service"), self.uid, None, self.uid, OWN),
            (session("here", self.uid), self.uid, 0, 0, OWN),
            (session("remote", self.uid), self.uid, None, self.uid, APART),
            (session("remote", self.uid), self.uid, 0, 0, APART),
            (session("others", OTHER), OTHER, None, OTHER, STRANGER),
            (session("here", self.uid), OTHER, None, OTHER, STRANGER),
            (session("here", self.uid), OTHER, 0, 0, STRANGER),
            (session("here", self.uid), 0, None, 0, STRANGER),
            ("/system.slice/some.service", self.uid, None, self.uid, APART),
        ):
            with self.subTest(path, real=real, effective=effective):
                pid = self.connected(path, real, effective)
                self.assertEqual(self.agent(f"7-{pid}-{uid}"), expected)

    def test_pid_of_another(self):
        """A process that began after the helper has its pid by chance; one that has ended is unknown"""
        before = self.daemon.tally()
        # The helper is there first: it connects only when it is told the pid that its name should have had.
        ended = self.connected(session("here", self.uid), self.uid)
        os.kill(ended, signal.SIGKILL)
        # Until it really has ended. It keeps its pid until `close` reaps it.
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        self.assertEqual(self.agent(f"7-{ended}-{self.uid}"), STRANGER)
        self.assertEqual(self.verdict(before, self.daemon.tally()), STRANGER)

        def late():
            # Ticks are hundredths of a second: the agent is certainly made after the helper.
            time.sleep(0.05)
            young = Standby(session("here", self.uid), self.uid, self.uid)
            try:
                move(polkit(f"7-{young.pid}-{self.uid}"))
                return self.wrong(service="polkit-1")
            finally:
                young.close()

        before = self.daemon.tally()
        self.assertEqual(as_peer(late), 5)
        self.assertEqual(self.verdict(before, self.daemon.tally()), STRANGER)


class Told(Case):
    """What another person's program, or one far away, is told of somebody who has a store and of somebody who has
    none."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.without = add_account()
        cls.addClassCleanup(remove_account, cls.without[0])

    def frames(self, subject, typed, fields, hello):
        """Every byte that the daemon sends, and how long it took until the first answer to the
        request."""
        with self.daemon.client(frontEnd="pamAuth", **hello) as client:
            began = time.monotonic()
            client.send("authenticate", 2, [b""], subject=subject, **fields)
            heard, first = [], None
            while True:
                message = client.receive()
                first = first or time.monotonic() - began
                if message is None:
                    break
                # A handle is random, and is of use to root alone.
                heard.append((message.name, {k: v for k, v in vars(message).items() if k not in ("handle", "tag")}))
                if message.name == "ask":
                    client.send("reply", 2, [typed], question=message.question)
                if message.name == "verdict":
                    break
            return repr(heard).replace(subject[0], "NAME"), first

    def both(self, path, uid, typed, fields, hello):
        return [
            as_peer(lambda subject=subject: self.frames(subject, typed, fields, hello), path, uid)
            for subject in (self.daemon.person, self.without)
        ]

    def states(self):
        """The states of the store: locked, open, its tries used up, erased."""
        self.daemon.lock()
        yield "locked"
        self.daemon.authenticate()
        yield "open"
        self.daemon.lock()
        self.daemon.policy(POLICY + "RetryLimit=2\n", reload=True)
        for _ in range(2):
            self.daemon.authenticate("wrong")
        yield "locked for recovery"
        self.daemon.ask("triesClear")
        self.daemon.policy("RetryLimit=2\nThrottleAfter=0\n", reload=True)
        for _ in range(2):
            self.daemon.authenticate("wrong")
        self.assertEqual(self.daemon.status().lock, "erased")
        yield "erased"

    def test_every_byte(self):
        """Another person's su and polkit's helper get the same bytes about every store and about none, and try
        nothing"""
        self.addCleanup(self.remake)
        agent = Standby(session("others", OTHER), OTHER, OTHER)
        self.addCleanup(agent.close)
        doors = [
            ("su", session("others", OTHER), OTHER, dict(service="su", realUID=OTHER)),
            ("su that lies", session("others", OTHER), OTHER, dict(service="su", realUID=0)),
            ("su in the owner's session", session("here", self.uid), OTHER, dict(service="su", realUID=OTHER)),
            ("polkit", polkit(f"1-{agent.pid}-{OTHER}"), 0, dict(service="polkit-1", realUID=0)),
            ("polkit, nobody", polkit("1-99-unknown"), 0, dict(service="polkit-1", realUID=0)),
        ]
        for state in self.states():
            before = self.daemon.tally() if state != "erased" else None
            for door, path, uid, hello in doors:
                for typed in (b"wrong", PASSCODE.encode()):
                    for fields in (dict(orPassword=True), dict(orPassword=True, finger="first", presence="inFront")):
                        with self.subTest(state, door=door, typed=typed, **fields):
                            (store, _), (none, _) = self.both(path, uid, typed, fields, hello)
                            self.assertEqual(store, none)
                            self.assertNotIn("'ask'", store)
            if before is not None:
                self.assertEqual(repr(self.daemon.tally()), repr(before), "nobody has tried anything")

    def test_time(self):
        """Nor do the times differ: the answer about a store needs no derivation and no disk"""
        self.daemon.lock()
        hello, fields = dict(service="su", realUID=OTHER), dict(orPassword=True)

        def many():
            took = ([], [])
            for _ in range(150):
                for which, subject in enumerate((self.daemon.person, self.without)):
                    took[which].append(self.frames(subject, b"wrong", fields, hello)[1])
            # The quicker ones: the others show how busy the machine is.
            return [statistics.quantiles(times, n=4)[0] for times in took]

        before = self.daemon.derivations()
        for attempt in range(3):
            store, none = as_peer(many, session("others", OTHER), OTHER)
            if max(store, none) < 1.5 * min(store, none):
                break
        self.assertLess(max(store, none), 1.5 * min(store, none), "quarters of 150 each, three times")
        self.assertEqual(self.daemon.derivations(), before)

    def test_no_more_than_a_wrong_passcode(self):
        """Where a stranger may try, they are told of a wrong passcode, in pam_unix's words, and then of nothing any
        more"""
        self.daemon.policy("RetryLimit=2\nThrottleAfter=0\n", reload=True)
        self.addCleanup(self.daemon.policy, POLICY, True)
        hello, fields = dict(service="login", realUID=0), dict(orPassword=True)
        seen = [self.both("/system.slice/some.service", 0, b"wrong %d" % number, fields, hello) for number in range(3)]
        for (store, _), _ in seen[:2]:
            self.assertIn("Password: ", store)
            self.assertNotIn("show", store)
            self.assertIn("'code': 5", store)
        (store, _), (none, _) = seen[2]
        self.assertEqual(store, none)

    def remake(self):
        self.daemon.policy(POLICY, reload=True)
        self.daemon.ask("reset")
        self.daemon.create()


class Processes(Case):
    def test_peer_that_is_gone(self):
        """A peer whose process is gone cannot be looked at: a stranger"""
        for keep, expected in ((True, OWN), (False, STRANGER)):
            with self.subTest(keep=keep):
                before = self.daemon.tally()
                ours, theirs = socket.socketpair()
                child = os.fork()
                if child == 0:
                    try:
                        client = self.daemon.client(**self.hello(service="login"))
                        socket.send_fds(theirs, [b"+"], [client.socket.fileno()])
                        theirs.recv(1) if keep else None
                    finally:
                        os._exit(0)
                _, fds, _, _ = socket.recv_fds(ours, 1, 1)
                if not keep:
                    os.waitpid(child, 0)
                channel = wire.Channel(socket.socket(fileno=fds[0]))
                channel.send("authenticate", 2, [b""], subject=self.daemon.person)
                channel.send("reply", 2, [b"wrong"], question=channel.receive().question)
                while channel.receive().name != "verdict":
                    pass
                channel.close()
                ours.close()
                theirs.close()
                if keep:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                self.assertEqual(self.verdict(before, self.daemon.tally()), expected)


class Counts(Case):
    def limit(self, policy):
        self.daemon.policy(policy, reload=True)
        self.addCleanup(self.daemon.policy, POLICY, True)
        self.daemon.lock()

    def test_strangers_take_nothing(self):
        """When strangers have used up their tries, neither the person's programs nor the person at the machine have to
        wait"""
        self.limit("RetryLimit=5\nThrottleAfter=0\nPasscodeServices=LocalServices sshd swaylock\n")
        remote = dict(remoteHost="198.51.100.7")
        for number in range(8):
            token = b"wrong%d" % number
            as_peer(
                lambda: self.daemon.authenticate(None, token, service="sshd", hello=remote, tokenOnly=True).code,
                "/system.slice/ssh.service")
            su = dict(realUID=OTHER)
            as_peer(
                lambda: self.daemon.authenticate("wrong", service="su", hello=su).code, session("others", OTHER), OTHER)
        tally = self.daemon.tally()
        self.assertEqual((tally.own.count, tally.apart.count, tally.stranger.count), (0, 0, 5))
        # The right passcode at the same place is now refused, with the same answer as a wrong one.
        self.assertEqual(as_peer(
            lambda: self.daemon.authenticate(service="su", hello=dict(realUID=OTHER)).outcome,
            session("others", OTHER), OTHER), "userUnknown")
        # At a locker, at the terminal, and at the machine it opens.
        locker = lambda: self.daemon.authenticate(service="swaylock", hello=dict(realUID=self.uid)).outcome
        self.assertEqual(as_uid(self.uid, lambda: self.daemon.unlock("wrong").code), 5)
        self.assertEqual(as_uid(self.uid, locker), "success")
        self.assertEqual(self.daemon.tally().stranger.count, 0, "whoever knows the passcode clears every count")

    def too_early(self, ask):
        """The answer to the person's program, if it came within ThrottleMax after the last try."""
        last = self.daemon.tally().apart.at
        answer = as_uid(self.uid, ask)
        return answer if time.clock_gettime(time.CLOCK_BOOTTIME) * 1000 < last + 2000 else None

    def test_full_count_of_the_person(self):
        """The person's own full count slows them down, and never shuts them out for good"""
        self.limit("RetryLimit=3\nThrottleAfter=0\nThrottleMax=2s\n")
        wrong = lambda: as_uid(self.uid, lambda: self.daemon.unlock("wrong").code)
        refused = None
        while refused is None:
            self.assertEqual([wrong() for _ in range(3)], [5] * 3)
            refused = self.too_early(lambda: self.daemon.unlock())
        self.assertEqual(refused.code, 24, "one try per ThrottleMax")
        time.sleep(2.1)
        refused = None
        while refused is None:
            self.assertEqual(wrong(), 5)
            refused = self.too_early(lambda: self.daemon.unlock("wrong"))
            if refused is None:
                time.sleep(2.1)
        self.assertEqual(refused.code, 24)
        self.assertEqual(self.daemon.authenticate("wrong").code, 5, "an own try waits for none of it")
        time.sleep(2.1)
        self.assertEqual(as_uid(self.uid, lambda: self.daemon.unlock().name), "done")
        self.assertEqual(self.daemon.tally().apart.count, 0)


def setUpModule():
    if os.getuid() != 0:
        raise unittest.SkipTest("peers of other uids need root")
    try:
        import dbus  # noqa: F401
        import dbusmock  # noqa: F401
    except ImportError as error:
        raise unittest.SkipTest(f"{error}: make deps") from error


if __name__ == "__main__":
    unittest.main()
