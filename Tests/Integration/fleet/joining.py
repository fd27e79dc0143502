"""Joining by an invitation: the real tool, daemon and worker, nginx with TLS, and people who leave in between."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
import time
import unittest

import clilab
import wire
from daemonlab import Daemon, add_account, answers, as_uid, remove_account, wait_until
from fetchlab import (
    JOIN_FILE as PLACE, JOIN_TOKEN as TOKEN, NGINX, Authority, Odd, Proxy, Publisher, Web, Worker, free_port,
    invitation as link)
from polkitlab import Polkit, beginning
from realcli import POLICY, SECRET, Real

CONFIRM = "Let this organisation manage this machine?"
CHOICE = "Your choice, 1 to 2: "
CANCELLED = 130
BUSY = 35


@unittest.skipUnless(shutil.which("minisign") and NGINX, "minisign or nginx is not installed")
class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-joining-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.publisher = Publisher(cls.folder)
        cls.authority = Authority(cls.folder, "ca")
        cls.authority.issue("server", hosts=("localhost", "example.org", "fleet.example.org", "other.example.org"))
        cls.ca = {"ca.pem": cls.authority.path + ".pem"}

    def entered(self, manager):
        manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return manager

    def web(self, server=""):
        web = self.entered(Web(self.authority, server=server))
        os.makedirs(os.path.join(web.folder, "www", os.path.dirname(PLACE)))
        return web

    def machine(self, **worker):
        self.worker = self.entered(Worker(worker.pop("credentials", self.ca), **worker))
        self.lab = Real(POLICY, ["--fetch-socket", self.worker.socket])
        self.addCleanup(self.lab.__exit__)

    def file(self, **urls):
        with open(self.publisher.join(urls), "rb") as file:
            return file.read()

    def invited(self, web, **urls):
        """By a join file that lies there, with a bundle."""
        file = self.file(**(urls or {"URL": web.url()}))
        web.publish(file, PLACE)
        web.publish(self.publisher.bundle(1))
        return link(f"localhost:{web.port}", file)

    def status(self):
        result = self.lab.run("fleet", "status", "--json")
        return json.loads(result.out)

    def kept(self):
        """What the state folder has of an organisation."""
        folder = os.path.join(self.lab.state, "fleet")
        return sorted(os.listdir(folder)) if os.path.exists(folder) else []

    def restart(self):
        self.lab.process.kill()
        self.lab.process.wait()
        os.unlink(self.lab.path)
        self.lab.start()

    def join(self, *words):
        return self.lab.terminal("join", *words)

    def fails(self, name, reason, *words):
        result = self.lab.run("--json", "join", *words)
        told = json.loads(result.out)
        self.assertEqual(
            (told["name"], told["parameters"].get("reason")), (name, reason and f"{name}.{reason}"), told)
        self.assertNotEqual(result.status, 0)
        self.assertEqual(self.kept(), [])
        return told


class Link(Case):
    def test_a_life(self):
        """who it is stands on the screen; whoever agrees has joined, and what was signed is in force"""
        web = self.web()
        self.machine()
        invitation = self.invited(web)
        with self.join(invitation) as screen:
            screen.expect(CONFIRM)
            screen.expect(f"It calls itself example.org. The invitation comes from localhost:{web.port}.")
            digits = re.findall("....", hashlib.sha256(self.file(URL=web.url())).hexdigest())
            screen.expect(" ".join(digits[:8]))
            screen.expect(" ".join(digits[8:]))
            screen.expect(CHOICE)
            self.assertEqual(self.kept(), [])
            # No key that somebody presses to go on joins.
            screen.type("\n")
            screen.expect("type a number from 1 to 2")
            self.assertEqual(self.kept(), [])
            screen.type("1\n")
            screen.expect("This machine has joined example.org.")
            self.assertEqual(screen.end(), 0)
        status = self.status()
        self.assertEqual((status["organisation"], status["policyVersion"]), ("example.org", 1))
        wait_until(lambda: web.statuses() == [200, 200], "both answers are in the log")
        told = json.loads(self.lab.run("--json", "join", invitation).out)
        self.assertEqual(told["name"], "AlreadyExists")
        self.assertEqual(self.lab.run("fleet", "leave", "--yes").status, 0)
        self.assertEqual(self.status()["problem"], "")

    def test_left(self):
        """whoever cancels, presses Ctrl-C or goes away at the confirmation has joined nobody"""
        web = self.web()
        self.machine()
        invitation = self.invited(web)
        for typed in ("2\n", "\x03", "\x04", None):
            with self.subTest(typed), self.join(invitation) as screen:
                screen.expect(CHOICE)
                if typed is None:
                    screen.process.kill()
                    screen.process.wait()
                else:
                    screen.type(typed)
                    self.assertEqual(screen.end(), CANCELLED)
                self.assertEqual(self.kept(), [])
        self.assertNotIn("organisation", self.status())

    def test_killed(self):
        """a daemon that dies at the confirmation has joined nobody; one that dies while it fetches has joined"""
        web = self.web()
        self.machine()
        with self.join(self.invited(web)) as screen:
            screen.expect(CHOICE)
            self.restart()
            screen.type("1\n")
            self.assertNotEqual(screen.end(), 0)
        self.assertEqual(self.kept(), [])
        with Odd(self.authority.folder + "/server", lambda connection: connection.recv(1)) as hanging:
            with self.join(self.invited(web, URL=hanging.url())) as screen:
                screen.expect(CHOICE)
                screen.type("1\n")
                wait_until(lambda: hanging.heard, "the bundle is asked for")
                self.restart()
                self.assertNotEqual(screen.end(), 0)
        self.assertEqual(self.status()["organisation"], "example.org")
        self.assertEqual(self.kept(), ["join"])

    def test_meanwhile(self):
        """who has joined by another way meanwhile stays; the answer to the question joins nobody else"""
        web = self.web()
        self.machine()
        with self.join(self.invited(web)) as screen:
            screen.expect(CHOICE)
            other = self.publisher.path("other")
            with open(other, "wb") as file:
                file.write(self.file().replace(b"example.org", b"other.org"))
            self.assertEqual(self.lab.run("fleet", "join", other).status, 0)
            screen.type("1\n")
            self.assertEqual(screen.end(), 1)
        self.assertEqual(self.status()["organisation"], "other.org")

    def test_without_a_bundle(self):
        """where nothing is to be fetched, or nothing comes, it has joined all the same, and says so"""
        web = self.web()
        for urls, says in [({"ReportURL": ""}, False), ({"URL": f"https://localhost:{free_port()}/x"}, True)]:
            self.machine()
            file = self.file(**{key: url for key, url in urls.items() if url})
            web.publish(file, PLACE)
            with self.subTest(urls), self.join(link(f"localhost:{web.port}", file)) as screen:
                screen.expect(CHOICE)
                screen.type("1\n")
                if says:
                    screen.expect("could not be fetched yet")
                    screen.expect("refuses the connection")
                screen.expect("This machine has joined example.org.")
                self.assertEqual(screen.end(), 0)
                self.assertEqual(self.status()["policyVersion"], 0)

    def test_another_file(self):
        """a server hands out what the link means, or nothing is shown and nothing joined"""
        web = self.web()
        self.machine()
        invitation = self.invited(web)
        file = self.file(URL=web.url())
        for data in (file + b"\n", file[:-1], file.replace(b"Threshold=1", b"Threshold=2"), b"", b"<html>"):
            web.publish(data, PLACE)
            self.fails("BundleUntrusted", "join-other", invitation)
        for data in (b"<html>\n", b"[Join]\nOrganisation=x\n"):
            web.publish(data, PLACE)
            self.fails("BundleBroken", "join", link(f"localhost:{web.port}", data))
        large = b"#" * (32 * 1024 + 1)
        web.publish(large, PLACE)
        self.fails("FetchFailed", "no-invitation", link(f"localhost:{web.port}", large))
        self.fails("FetchFailed", "status", link(f"localhost:{web.port}", file, TOKEN[:-1]))
        self.fails("FetchFailed", "refused", link(f"localhost:{free_port()}", file))

    def test_sent_elsewhere(self):
        """not even within the same server"""
        web = self.web("location /.well-known/appvault-join/ { return 301 /other/; }")
        self.machine()
        os.makedirs(os.path.join(web.folder, "www", "other"))
        self.fails("FetchFailed", "elsewhere", self.invited(web))
        wait_until(lambda: web.statuses() == [301], "one answer is in the log")

    def test_no_certificate(self):
        """a server that nobody has agreed to learns nothing of this machine; the organisation's own does"""
        client = self.authority.issue("client", name="machine-1", hosts=())
        asks = f"ssl_client_certificate {self.authority.path}.pem; ssl_verify_client optional;"
        web = self.web(asks + " location /.well-known/ { if ($ssl_client_verify = SUCCESS) { return 418; } }"
                       " location /fleet.bundle { if ($ssl_client_verify != SUCCESS) { return 403; } }")
        self.machine(credentials={**self.ca, "client.pem": client + ".pem", "client.key": client + ".key"})
        with self.join(self.invited(web)) as screen:
            screen.expect(CHOICE)
            screen.type("1\n")
            screen.expect("This machine has joined example.org.")
            self.assertEqual(screen.end(), 0)
        wait_until(lambda: web.statuses() == [200, 200], "both answers are in the log")

    def test_no_link(self):
        """what is none is asked of nobody"""
        self.machine()
        # Whoever asks would find no worker.
        self.worker.process.kill()
        self.worker.process.wait()
        good = link("localhost", b"x")
        for typed, says in [
                ("@example.org", "neither a link"), ("a@1.2.3.4", "neither a link"), ("a b@c.d", "neither a link"),
                (good.replace("v=1", "v=2"), "another release"), (good.replace("localhost", "LOCAL"), "no server"),
                (good.replace("localhost", "ex\u00e4mple.org"), "no server"), (good + "&x=1", "not whole"),
                (good[:-8], "not whole"), (good.replace("SHA256", "SHA1"), "not whole"), ("appvault:", "not whole")]:
            with self.subTest(typed):
                told = json.loads(self.lab.run("--json", "join", typed).out)
                self.assertEqual(told["name"], "InvalidArgument")
                self.assertIn(says, told["message"])
        self.fails("FetchFailed", "no-worker", good)


class Inviting(Case):
    def test_a_link(self):
        """it names the file that it was made of, and where that belongs; each has a token of its own"""
        web = self.entered(Web(self.authority, journal=free_port()))
        self.machine()
        path = self.publisher.join({"URL": web.url()})
        made = self.lab.run("fleet", "invite", path, f"localhost:{web.port}")
        self.assertEqual(made.status, 0, made)
        told = json.loads(self.lab.run("--json", "fleet", "invite", path, f"localhost:{web.port}").out)
        self.assertNotEqual(made.out.decode().strip(), told["link"])
        self.assertEqual(told["fingerprint"], hashlib.sha256(self.file(URL=web.url())).hexdigest())
        place = told["address"].removeprefix(f"https://localhost:{web.port}/")
        self.assertIn(b"localhost", made.err)
        self.fails("FetchFailed", "status", told["link"])
        os.makedirs(os.path.join(web.folder, "www", os.path.dirname(place)))
        web.publish(self.file(URL=web.url()), place)
        web.publish(self.publisher.bundle(1))
        with self.join(told["link"]) as screen:
            screen.expect(CHOICE)
            screen.type("1\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.status()["policyVersion"], 1)

    def test_what_is_none(self):
        self.machine()
        path = self.publisher.path("broken", b"[Join]\n")
        self.assertIn(b"line 1 of the file", self.lab.run("fleet", "invite", path, "localhost").err)
        good = self.publisher.join({})
        for host in ("", "https://localhost", "local/host", "1.2.3.4", "a:b", "UPPER"):
            self.assertEqual(self.lab.run("fleet", "invite", good, host).status, 2, host)


class Typed(Case):
    def test_asked(self):
        """without a link the person is asked, and asked again after what is none"""
        web = self.web()
        self.machine()
        with self.join() as screen:
            screen.expect("Join an organisation")
            screen.expect("Link or e-mail address: ")
            screen.type("nonsense\n")
            screen.expect("neither a link of AppVault's nor an e-mail address")
            screen.expect("Link or e-mail address: ")
            screen.type(link(f"localhost:{free_port()}", b"x") + "\n")
            screen.expect("refuses the connection")
            screen.expect("Link or e-mail address: ")
            screen.type(f"  {self.invited(web)} \n")
            screen.expect("What it means to join")
            screen.expect("Continue [Enter] ")
            screen.type("\n")
            screen.expect(CONFIRM)
            screen.expect(CHOICE)
            screen.type("1\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.status()["organisation"], "example.org")

    def test_left(self):
        self.machine()
        with self.join() as screen:
            screen.expect("Link or e-mail address: ")
            screen.type("\x03")
            self.assertEqual(screen.end(), CANCELLED)
        # Nobody is there who could be asked.
        self.assertNotEqual(self.lab.run("join").status, 0)
        self.assertEqual(self.kept(), [])


class Lines(Case):
    """A front end that draws nothing."""

    def ask(self, script, invitation=""):
        with wire.Client(self.lab.path, 60) as client:
            self.assertEqual(client.hello(frontEnd="terminal").name, "welcome")
            answer = client.run("joinAsk", script, invitation=invitation)
            self.asked = [bytes(ask["line"]).decode() if isinstance(ask["line"], bytes) else str(ask["line"])
                          for ask in client.asked]
            return answer

    def test_yes_and_no(self):
        """the same is said, and yes or no is asked; anything but yes joins nobody"""
        web = self.web()
        self.machine()
        invitation = self.invited(web)
        for typed in ("n", "", "x"):
            answer = self.ask(answers("", choice=typed), invitation)
            self.assertEqual((answer.name, answer.code), ("refused", 27), typed)
            self.assertEqual(self.kept(), [])
        self.assertEqual(len(self.asked), 1)
        self.assertIn("Join? [y/n]", self.asked[0])
        self.assertEqual(self.ask(answers("", choice="y"), invitation).name, "done")
        self.assertEqual(self.status()["policyVersion"], 1)

    def test_asked(self):
        """ten times, and then no more"""
        self.machine()
        answer = self.ask(answers("", choice="nonsense"))
        self.assertEqual((answer.code, len(self.asked)), (27, 10))
        self.assertEqual(self.kept(), [])


@unittest.skipUnless(os.getuid() == 0, "only root can ask as somebody else")
class ByAPerson(Case):
    """Who is not root is let by polkit, once they have agreed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.name, cls.uid = add_account()
        cls.addClassCleanup(remove_account, cls.name)

    def setUp(self):
        self.site = self.web()
        self.worker = self.entered(Worker(self.ca))
        self.polkit = Polkit()
        self.addCleanup(self.polkit.close)
        self.daemon = Daemon(env=self.polkit.env, options=["--fetch-socket", self.worker.socket])
        self.addCleanup(self.daemon.close)
        self.invitation = self.invited(self.site)

    def ask(self, script, invitation=None, frontEnd="terminal"):
        """From the person's own process: how it ends, what was shown and asked, and who asked."""
        def ask():
            with self.daemon.client(frontEnd=frontEnd) as client:
                answer = client.run("joinAsk", script, invitation=invitation or self.invitation)
                return answer.name, getattr(answer, "code", 0), client.shown, [each.purpose for each in client.asked], (
                    os.getpid(), beginning(os.getpid()))

        return as_uid(self.uid, ask)

    def joined(self):
        with self.daemon.client() as client:
            return json.loads(client.run("fleetStatus").json or "{}").get("organisation") == "example.org"

    def has_nothing(self):
        folder = os.path.join(self.daemon.state, "fleet")
        self.assertEqual(os.listdir(folder) if os.path.exists(folder) else [], [])

    def test_allowed(self):
        """polkit is asked who it is by the kernel's word, after the person has agreed, and the journal says so"""
        self.polkit.says(yes=True)
        self.assertEqual(self.ask(answers(choice="n"))[:2], ("refused", 27))
        self.assertEqual(self.polkit.questions(), [])
        self.has_nothing()
        name, _, _, asked, (pid, began) = self.ask(answers(choice="y"))
        self.assertEqual((name, asked), ("done", ["choice"]), self.daemon.log())
        self.assertEqual(self.polkit.questions(), [(pid, began, self.uid, "org.appvault.join")])
        self.assertIn("has joined example.org, as polkit allows", self.daemon.log())
        self.assertIn("version 1 of its policy was taken", self.daemon.log())
        # It belongs to one now: nobody is asked anything.
        self.assertEqual(self.ask(answers(choice="y"))[3], [])
        self.assertEqual(len(self.polkit.questions()), 1)

    def test_not_allowed(self):
        """where polkit says no, or nothing, a sentence says so, and nothing is joined"""
        for answer, line in (
            (lambda: self.polkit.says(), "It was not allowed."),
            (lambda: self.polkit.says(challenge=True), "cannot be asked for here."),
            (self.polkit.refuses, "cannot be asked for here."), (self.polkit.leave, "cannot be asked for here."),
        ):
            answer()
            name, code, shown, asked, _ = self.ask(answers(choice="y"))
            self.assertEqual((name, code, asked), ("refused", 30, ["choice"]))
            self.assertIn(line, shown[-1])
            self.has_nothing()

    def test_killed_while_it_asks(self):
        """a daemon that dies while polkit asks has joined nobody, and joins when it is asked again"""
        self.polkit.says(yes=True)
        self.polkit.pause()

        def begin():
            def ask():
                with contextlib.suppress(AssertionError, OSError), self.daemon.client(frontEnd="terminal") as client:
                    client.run("joinAsk", answers(choice="y"), invitation=self.invitation)

            as_uid(self.uid, ask)

        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
        wait_until(lambda: self.polkit.asking() > 0, "the daemon asks", 30)
        self.daemon.kill()
        thread.join(20)
        self.has_nothing()
        self.polkit.resume()
        self.daemon.start()
        self.assertEqual(self.ask(answers(choice="y"))[0], "done")

    def test_programs(self):
        """a program that is no terminal is refused at once: nothing is fetched for it, and polkit is not asked"""
        self.polkit.says(yes=True)
        answer = self.ask(answers(choice="y"), frontEnd="program")
        self.assertEqual((*answer[:2], answer[3]), ("refused", 30, []))
        self.assertEqual((self.site.lines(), self.polkit.questions()), ([], []))

    def test_several_at_once(self):
        """a person looks for one invitation at a time, each for a second at least; root's own is never held up"""
        began = time.monotonic()
        for _ in range(3):
            self.assertEqual(self.ask((), link(f"localhost:{free_port()}", b"x"))[0], "refused")
        self.assertGreaterEqual(time.monotonic() - began, 3)
        over = threading.Event()
        self.addCleanup(over.set)
        hanging = self.entered(Odd(self.authority.folder + "/server", lambda _: over.wait(60)))
        slow = link(f"localhost:{hanging.port}", b"x")

        def begin():
            def wait():
                with self.daemon.client(frontEnd="terminal") as client:
                    client.send("joinAsk", invitation=slow)
                    os.write(sent[1], b"x")
                    os.read(goes[0], 1)

            as_uid(self.uid, wait)

        sent, goes = os.pipe(), os.pipe()
        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
        os.read(sent[0], 1)
        wait_until(lambda: hanging.heard, "it asks the server")
        self.assertEqual(self.ask(answers(choice="y"))[1], BUSY)
        with self.daemon.client(frontEnd="terminal") as client:
            self.assertEqual(client.run("joinAsk", answers(choice="y"), invitation=self.invitation).name, "done")
        os.write(goes[1], b"x")
        thread.join(20)


class Welcome(Case):
    NEW = [("New passcode: ", SECRET + b"\n"), ("again: ", SECRET + b"\n"), ("You see it only once.", None)]

    def terminal(self, *words):
        return self.lab.terminal("welcome", "--pam-dir", self.lab.folder, *words)

    def play(self, screen, steps):
        for text, typed in steps:
            screen.expect(text)
            if typed:
                screen.type(typed)

    def made(self):
        return json.loads(self.lab.run("--json", "status").out)["state"]

    def test_by_a_link(self):
        """straight to the question; then to the store, by the organisation's rules"""
        web = self.web()
        self.machine()
        invitation = self.invited(web)
        with self.terminal(invitation) as screen:
            self.play(screen, [(CONFIRM, None), (CHOICE, "1\n"), ("has joined example.org", None),
                               ("This machine is managed by example.org.", None), ("Continue [Enter]", "\n"),
                               ("What should open your store?", None), ("Your choice [1] ", "\n"),
                               ("11 or more characters", None), *self.NEW, ("Your store is ready.", None),
                               ("Continue [Enter]", "\n")])
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.status()["policyVersion"], 1)
        # The same once more: nothing is joined a second time, and nothing is left to do.
        again = self.lab.run("welcome", invitation)
        self.assertIn(b"joined an organisation already", again.out + again.err)
        self.assertIn(b"nothing is left to do", again.out + again.err)

    def test_on_the_first_screen(self):
        """who has an invitation says so there, and goes on where they were; who has none is not kept up"""
        web = self.web()
        self.machine()
        with self.terminal() as screen:
            self.play(screen, [("  2  I have an invitation", None), ("Your choice [1] ", "2\n"),
                               ("Link or e-mail address: ", self.invited(web) + "\n"), ("Continue [Enter] ", "\n"),
                               (CONFIRM, None), (CHOICE, "1\n"),
                               ("has joined example.org", None), ("What should open your store?", None),
                               ("Your choice [1] ", "\n"), ("11 or more characters", None), *self.NEW,
                               ("Your store is ready.", None), ("Continue [Enter]", "\n")])
            self.assertEqual(screen.end(), 0)

    def test_left(self):
        """at each screen: whoever leaves before they have agreed has joined nobody, and made no store"""
        web = self.web()
        self.machine()
        steps = [("Your choice [1] ", "2\n"), ("Link or e-mail address: ", self.invited(web) + "\n"),
                 ("Continue [Enter] ", "\n"), (CHOICE, "1\n")]
        for place, (text, _) in enumerate(steps):
            for kills in (False, True):
                with self.subTest(text, kills=kills), self.terminal() as screen:
                    self.play(screen, steps[:place])
                    screen.expect(text)
                    if kills:
                        self.restart()
                        screen.type(steps[place][1])
                        self.assertNotEqual(screen.end(), 0)
                    else:
                        screen.type("\x03")
                        self.assertEqual(screen.end(), CANCELLED)
                    self.assertEqual((self.kept(), self.made()), ([], "absent"))
        # Behind that it has joined, and goes on without being asked again.
        with self.terminal() as screen:
            self.play(screen, [*steps, ("What should open your store?", None), ("Your choice [1] ", "\x03")])
            self.assertEqual(screen.end(), CANCELLED)
        self.assertEqual((self.status()["organisation"], self.made()), ("example.org", "absent"))
        with self.terminal() as screen:
            screen.expect("This machine is managed by example.org.")
            screen.expect("Continue [Enter]")
            self.assertNotIn(b"invitation", screen.seen)
            screen.type("\x03")
            screen.end()


class Strangers(unittest.TestCase):
    def test_who_is_not_root(self):
        """is told what root has to type, as a shell takes it"""
        with clilab.Lab() as lab:
            lab.answer("joinAsk", lambda daemon, request: daemon.refuse(30, "only root may do that"))
            invitation = link("localhost", b"x")
            for words, says in [([invitation], f" '{invitation}'"), ([], ""), (["a'b@c.d"], " 'a'\\''b@c.d'")]:
                result = lab.run("join", *words)
                self.assertEqual(result.status, 1)
                self.assertIn(f"as root: sudo appvault join{says}\n", result.err.decode())
            self.assertEqual([request.invitation for request in lab.requests], [invitation, "", "a'b@c.d"])
            self.assertEqual(lab.faults, [])


class Email(Case):
    def machine_of(self, web):
        """One for which every name is this server."""
        proxy = self.entered(Proxy(self.authority.folder + "/server", to=web.port))
        self.machine(env={"https_proxy": proxy.url(), "no_proxy": "localhost"})
        return proxy

    def publish(self, web, text, host="fleet.example.org"):
        file = self.file(URL=web.url())
        web.publish(file, PLACE)
        web.publish(self.publisher.bundle(1))
        web.publish(text.format(link(host, file)).encode(), ".well-known/appvault")

    def test_a_life(self):
        """the domain says where it is, and the person sees which domain that was; who they are goes nowhere"""
        web = self.web()
        proxy = self.machine_of(web)
        self.publish(web, "# The help desk, telephone 100\r\n{}\r\n")
        with self.join("alice@elsewhere@Example.ORG") as screen:
            screen.expect("Continue [Enter] ")
            screen.type("\n")
            screen.expect(CONFIRM)
            screen.expect("It calls itself example.org. The invitation comes from fleet.example.org.")
            screen.expect("The domain example.org names this server.")
            screen.expect(CHOICE)
            screen.type("1\n")
            self.assertEqual(screen.end(), 0)
        self.assertEqual(self.status()["policyVersion"], 1)
        self.assertEqual(
            [line.split('"')[1].split()[1] for line in web.lines()],
            ["/.well-known/appvault", "/" + PLACE, "/fleet.bundle"])
        self.assertEqual([head.split()[1] for head in proxy.heard], [b"example.org:443", b"fleet.example.org:443"])
        self.assertNotIn("alice", "".join(web.lines()))

    def test_none(self):
        """a page for people, two links, one that is changed, a domain that sends elsewhere or is another's"""
        web = self.web()
        self.machine_of(web)
        for text in ("<html>", "{0}\n{0}\n", "# {}", "", "{}x y", "#" * 40_000):
            with self.subTest(text[:20]):
                self.publish(web, text)
                self.fails("FetchFailed", "no-invitation", "alice@example.org")
        os.unlink(os.path.join(web.folder, "www", ".well-known", "appvault"))
        self.fails("FetchFailed", "status", "alice@example.org")
        self.fails("FetchFailed", "other-name", "alice@elsewhere.org")
        sending = self.web("location = /.well-known/appvault { return 302 https://other.example.org/; }")
        self.machine_of(sending)
        self.fails("FetchFailed", "elsewhere", "alice@example.org")
        wait_until(lambda: sending.statuses() == [302], "one answer is in the log")


if __name__ == "__main__":
    unittest.main(verbosity=2)
