"""How people say to their organisation who they are: the real daemon and worker, a server with TLS, what it may say."""

import os
import shutil
import tempfile
import threading
import unittest
from types import SimpleNamespace

import wire
from daemonlab import PASSCODE, answers, as_uid_connection, wait_until
from fetchlab import Authority, Odd, SignInServer, Worker, free_port
from memorylab import Needles, scan
from orderslab import MACHINE, NO_ONE, Lab

NEEDS_ROOT = True
CANCELLED = 27
SECRET = "rubber-duck-in-the-harbour"
FIELDS = """[Sign-in]
Version={version}
URL={url}
Title=Staff <b>\u202eaccount</b>

[Field mail]
Label=E-mail
Kind=email
Prefill={{account}}@example.org

[Field word]
Label=Password
Kind=secret

[Sign-in de]
Title=Dienstkonto

[Field word de]
Label=Kennwort
"""
PAGE = """[Sign-in]
Version=1
URL={url}
Title=Staff account
Page=https://id.example.org/device
"""
# The places of what can be done.
FIRST, LATER = 0, 1


class SignIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="appvault-signin-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        authority = Authority(cls.folder, "ca")
        cls.certificate = authority.issue("server")
        cls.machine = authority.issue("machine", "a machine", ())
        cls.ca = authority.path + ".pem"
        cls.files = {"ca.pem": cls.ca, "client.pem": cls.machine + ".pem", "client.key": cls.machine + ".key"}

    def setUp(self):
        self.worker = self.enterContext(Worker(self.files))
        self.lab = Lab(options=["--fetch-socket", self.worker.socket])
        self.addCleanup(self.lab.close)
        self.lab.join()
        self.name = self.lab.people[0][0]
        self.seen = []

    def server(self, *said):
        return self.enterContext(SignInServer(self.certificate, *said))

    def publish(self, server, text=FIELDS, version=1):
        url = server if isinstance(server, str) else server.url("sign-in")
        self.lab.order(signin=text.format(url=url, version=version))

    def ask(self, request, *turns, hello=None, meanwhile=None, **fields):
        """At a front end that draws. Each of `turns` is what is done on a sign-in: the values of its fields, or the
        place of a choice, or None."""
        turns = list(turns)
        with as_uid_connection(
                self.lab.people[0][1], self.lab.server, "terminal", version=2, **(hello or {})) as client:

            def draw(screen):
                if not screen.id.startswith("signin"):
                    return 0, [answers(PASSCODE)(SimpleNamespace(**field)) for field in screen.formFields]
                self.seen.append(screen)
                turn = turns.pop(0)
                if meanwhile:
                    meanwhile()
                if turn is None or isinstance(turn, int):
                    return None if turn is None else (turn, [])
                return FIRST, turn

            client.draws = draw
            if ("subject", wire.SUBJECT) in wire.MESSAGES[request].fields:
                fields["subject"] = NO_ONE
            answer = client.run(request, **fields)
            answer.shown = list(client.shown)
            self.assertEqual(turns, [])
            return answer

    def create(self, *turns, **more):
        return self.ask("create", *turns, way="ownPasscode", **more)

    def kept(self):
        path = os.path.join(self.lab.server.state, "fleet", f"agreed.{self.lab.people[0][1]}")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return [line.split()[:3] for line in file.read().splitlines() if line.startswith("sign-in ")]

    def texts(self, place=-1, role=None):
        return [line["text"] for line in self.seen[place].lines if role in (None, line["role"])]

    def is_absent(self):
        return self.lab.root("status", subject=self.lab.people[0]).lock == "absent"

    TYPED = ["ann@example.org", SECRET]

    def test_a_life(self):
        """it is handed in as JSON, by this machine, once; then the store is made, and it is not asked again"""
        server = self.server((200, "welcome"))
        self.publish(server)
        answer = self.create(self.TYPED)
        self.assertEqual(answer.name, "done", answer)
        self.assertIn(f"Asking localhost:{server.port} ...", answer.shown)
        screen = self.seen[0]
        self.assertEqual((screen.kind, self.texts()[0]), ("form", "Staff <b>?account</b>"))
        self.assertEqual(
            [(field["id"], field["kind"], field["label"], field["prefill"]) for field in screen.formFields],
            [("mail", "email", "E-mail: ", self.name + "@example.org"), ("word", "secret", "Password: ", "")])
        self.assertEqual([choice["id"] for choice in screen.choices], ["continue", "cancel"])
        (head, body), = server.handed
        self.assertTrue(head.startswith("POST /sign-in HTTP/1.1\r\n"), head)
        self.assertIn("content-type: application/json", head.lower())
        target = self.lab.organisation
        self.assertEqual(body, {
            "version": 1, "person": target.person(self.name), "machine": target.machine(MACHINE),
            "fields": {"mail": self.TYPED[0], "word": SECRET}})
        self.assertEqual(self.kept(), [["sign-in", "1", "yes"]])
        self.lab.ask("lock")
        self.assertEqual(self.ask("openStore").name, "done")
        self.lab.server.restart()
        self.assertEqual(self.ask("openStore").name, "done")

    def test_language(self):
        """a person reads their language where there is one"""
        self.publish(self.server())
        self.create(None, hello={"language": "de_AT.UTF-8"})
        self.assertEqual(self.texts()[0], "Dienstkonto")
        self.assertEqual([field["label"] for field in self.seen[0].formFields], ["E-mail: ", "Kennwort: "])

    def test_what_the_server_says(self):
        """a line of plain text is shown as itself; pages, and what is longer, are not"""
        server = self.server(
            (401, "wrong <b>\u202epassword</b>\nsecond"), (403, "<html>no</html>", "text/html"), (422, "x" * 5000),
            (302, ""), (500, "oops"), (200, ""))
        self.publish(server)
        self.assertEqual(self.create(*[self.TYPED] * 6).name, "done")
        refused = "example.org did not accept that."
        self.assertEqual([self.texts(place, "error") for place in range(6)], [
            [], [refused, "It says: wrong <b>?password</b>"], [refused], [refused, "It says: " + "x" * 200],
            [f"localhost:{server.port} answers with the status 302"],
            [f"localhost:{server.port} answers with the status 500"]])
        # What was no secret stands there again, and nothing was sent elsewhere.
        self.assertEqual([field["prefill"] for field in self.seen[1].formFields], [self.TYPED[0], ""])
        self.assertEqual(len(server.handed), 6)

    def test_no_way(self):
        """without the server no store is made, and one that is there opens all the same"""
        self.publish(f"https://localhost:{free_port()}/")
        answer = self.create(self.TYPED, None)
        self.assertEqual((answer.code, self.is_absent()), (CANCELLED, True))
        self.assertEqual(len(self.texts(1, "error")), 1)
        # A login asks nothing.
        self.lab.create()
        self.assertEqual(self.ask("openStore", self.TYPED, LATER).name, "done")
        self.assertEqual([choice["id"] for choice in self.seen[-1].choices], ["continue", "later", "cancel"])
        self.assertEqual(self.kept(), [])
        server = self.server()
        self.publish(server)
        self.lab.ask("lock")
        self.assertEqual(self.ask("openStore", self.TYPED).name, "done")
        self.assertEqual(self.kept(), [["sign-in", "1", "yes"]])

    def test_no_worker(self):
        """nor where the worker has died"""
        self.publish(self.server())
        self.worker.process.kill()
        self.worker.process.wait()
        self.assertEqual(self.create(self.TYPED, None).code, CANCELLED)
        self.assertEqual(len(self.texts(1, "error")), 1)

    def test_cancelled(self):
        """nothing is handed in, and no store is made"""
        server = self.server()
        self.publish(server)
        for turn in (None, 1):
            self.assertEqual((self.create(turn).code, self.is_absent()), (CANCELLED, True))
        self.assertEqual((server.handed, self.kept()), ([], []))

    def test_a_page(self):
        """a code is typed on a page of the organisation's, and asked for when somebody says that they have"""
        server = self.server((202, ""), (200, ""))
        self.publish(server, PAGE)
        self.assertEqual(self.create(FIRST, FIRST).name, "done")
        self.assertEqual(self.seen[0].kind, "web")
        self.assertIn("https://id.example.org/device", self.texts(0, "link"))
        code = self.texts(0, "paragraph")[-1].rsplit(" ", 1)[1]
        self.assertRegex(code, "^[B-Z]{4}-[B-Z]{4}$")
        self.assertEqual([body["code"] for _, body in server.handed], [code, code])
        self.assertEqual(self.texts(1, "error"), ["Nobody has typed this code there yet."])

    def test_another_version(self):
        """is asked for again; another organisation is told nothing of the one before"""
        server = self.server()
        self.publish(server)
        self.create(self.TYPED)
        self.publish(server, version=2)
        self.assertEqual(self.ask("openStore", self.TYPED).name, "done")
        self.assertEqual(self.kept(), [["sign-in", "2", "yes"]])
        self.lab.root("fleetLeave")
        self.assertEqual((self.kept(), self.ask("openStore").name), ([], "done"))

    def test_killed(self):
        """while it is asked, and while the server thinks: nothing is kept, and it is asked again"""
        server = self.server()
        self.publish(server)
        gone = threading.Event()

        def dies():
            # The person's end hears of it earlier, and the next one may start only when this one is gone.
            self.lab.server.kill()
            gone.set()

        for handed, at in enumerate(("screen", "server")):
            gone.clear()
            server.before = dies if at == "server" else lambda: None
            try:
                done = self.create(self.TYPED, meanwhile=dies if at == "screen" else None).name
            except (OSError, AssertionError, AttributeError, wire.WireError):
                done = None
            with self.subTest(at):
                self.assertNotEqual(done, "done")
                self.assertTrue(gone.wait(60))
                self.lab.server.start()
                self.assertEqual((len(server.handed), self.kept(), self.is_absent()), (handed, [], True))
        server.before = lambda: None
        self.assertEqual(self.create(self.TYPED).name, "done")

    def test_left_while_the_server_thinks(self):
        """a server that never answers holds up nobody else, and gets nothing more once the person has gone"""
        server = self.enterContext(Odd(self.certificate, lambda connection: connection.recv(1 << 20)))
        self.publish(server)
        client = as_uid_connection(self.lab.people[0][1], self.lab.server, "terminal", version=2)
        client.tag += 1
        client.send("create", client.tag, way="ownPasscode", subject=NO_ONE)
        screen = client.receive(30)
        client.answer(screen, FIRST, self.TYPED)
        wait_until(lambda: server.connections, "it is asked")
        self.assertEqual(self.lab.root("health").name, "healthReport")
        self.assertTrue(self.is_absent())
        # Another try of the same person does not come beside it.
        self.assertEqual(self.create(self.TYPED, None).code, CANCELLED)
        self.assertEqual((len(self.texts(1, "error")), server.connections), (1, 1))
        client.close()

    def test_nothing_is_left_in_memory(self):
        """nor on the disk"""
        server = self.server()
        self.publish(server)
        told = Needles(word=SECRET)
        found = []
        self.create(self.TYPED, meanwhile=lambda: found.append(scan(self.lab.server.process.pid, told)))
        self.assertEqual(found, [{}])
        wait_until(lambda: not scan(self.lab.server.process.pid, told), "nothing is left")
        for folder, _, names in os.walk(self.lab.server.state):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(SECRET.encode(), file.read(), name)


if __name__ == "__main__":
    unittest.main()
