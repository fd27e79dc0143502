"""Questions that the agent asks for programs which cannot ask themselves: `Unlock`, with a pinentry and a daemon that
a test writes."""

import os
import subprocess
import time
import unittest

from agentlab import NAME, PATH, Session
from clilab import Lab
from daemonlab import wait_until
from dbus.lowlevel import MethodCallMessage
from pinentrylab import Pinentry

TIMEOUT = 120
NEEDS_ROOT = True


def unlocking(daemon, request):
    if daemon.ask("passcode", "Passcode: ") == b"right":
        return daemon.done("the store is open")
    return daemon.refuse(5, "that is not the passcode", "")


class Questions(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.lab = Lab()
        self.addCleanup(self.finish)
        self.lab.answer("openStore", unlocking)
        self.pinentry = Pinentry(self.lab.folder)

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    def agent(self):
        tool = os.path.join(self.session.folder, "tool")
        with open(tool, "w") as file:
            words = " ".join(f"'{word}'" for word in self.lab.command())
            file.write(f'#!/bin/sh\nexec {words} "$@"\n')
        os.chmod(tool, 0o755)
        return self.session.agent("--tool", tool, **self.pinentry.environment)

    def asks(self, store=""):
        """A program that calls `Unlock`."""
        process = subprocess.Popen(
            ["busctl", "--timeout=60", f"--address={self.session.bus.address}", "call", NAME, PATH, NAME,
             "Unlock", "s", store],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def put_away():
            process.kill()
            process.communicate()

        self.addCleanup(put_away)
        return process

    def calls(self, store):
        """The same, and the agent has got it: the program's connection, and what its answer comes to."""
        connection = self.session.bus.connect()
        self.addCleanup(connection.close)
        call = MethodCallMessage(NAME, PATH, NAME, "Unlock")
        call.append(store, signature="s")
        answers = []
        waiting = connection.send_message_with_reply(call, lambda reply: answers.append(reply.get_args_list()), 60)
        # It is answered after what was sent before it.
        self.session.call("Ping", "org.freedesktop.DBus.Peer", connection=connection)

        def answer():
            waiting.block()
            return answers[0]

        return connection, answer

    def ended(self, process):
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def test_answers(self):
        """whoever calls hears how it ended, and no secret"""
        self.agent()
        for answer, status, text in (
                ("right", 0, "the store is open"), ("wrong", 1, "that is not the passcode"), (["cancel"], 130, "")):
            with self.subTest(answer=answer):
                shown = len(self.pinentry.dialogs)
                self.pinentry.answers(*[["cancel"]] * shown, answer)
                code, out, err = self.ended(self.asks())
                self.assertEqual((code, err), (0, ""))
                self.assertRegex(out, rf'^is {status} ".*{text}')
                self.assertNotIn("right", out)
                self.assertEqual(len(self.pinentry.dialogs), shown + 1)

    def test_caller_leaves(self):
        """whoever called has left: the dialog goes, no try is counted, and the agent asks the next one"""
        self.agent()
        self.pinentry.answers(["wait"], "right")
        asking = self.asks()
        dialog = self.pinentry.wait(1)
        asking.kill()
        asking.wait()
        wait_until(lambda: not dialog.lives, "the dialog is gone", 20)
        wait_until(lambda: self.lab.aborts == ["hung up"], "the daemon has heard", 20)
        self.assertRegex(self.ended(self.asks())[1], "^is 0 ")

    def test_withdrawn(self):
        """who waits no more says so and stays: the dialog goes with the last of them, and no try is counted"""
        self.agent()
        self.pinentry.answers(["wait"], "right")
        asking = [self.calls("") for _ in range(2)]
        dialog = self.pinentry.wait(1)
        for (connection, answer), others in zip(asking, (1, 0)):
            # Another store is not theirs, and a second time is none.
            for store in ("other", "", ""):
                connection.call_blocking(NAME, PATH, NAME, "Withdraw", "s", (store,))
            self.assertIsInstance(answer()[0], str, "refused")
            if others:
                self.assertTrue(dialog.lives)
        wait_until(lambda: not dialog.lives, "the dialog is gone", 20)
        wait_until(lambda: self.lab.aborts == ["hung up"], "the daemon has heard", 20)
        self.assertEqual(self.calls("")[1]()[0], 0)

    def test_several_callers(self):
        """several who wait for one store have one dialog; it stays as long as one of them does"""
        self.agent()
        self.pinentry.answers(["wait"])
        asking = [self.calls(store) for store in ("", "default", "")]
        dialog = self.pinentry.wait(1)
        asking[0][0].close()
        time.sleep(0.5)
        self.assertTrue(dialog.lives)
        dialog.go("right")
        for _, answer in asking[1:]:
            self.assertEqual(answer()[0], 0)
        self.assertEqual(len(self.pinentry.dialogs), 1)

    def test_long_name(self):
        """no store has a name that long: nobody is asked"""
        self.agent()
        code, _, err = self.ended(self.asks("x" * 512))
        self.assertEqual((code, self.pinentry.dialogs), (1, []))
        self.assertIn("not understood", err)

    def test_long_answer(self):
        """a tool that says more than anybody reads is waited for, and not for ever"""
        tool = os.path.join(self.session.folder, "long")
        with open(tool, "w") as file:
            file.write("#!/bin/sh\nyes | head -c 500000\nexit 7\n")
        os.chmod(tool, 0o755)
        self.session.agent("--tool", tool)
        code, out, err = self.ended(self.asks())
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, "^is 7 ")

    def test_no_logind(self):
        """without a logind it asks as well"""
        self.session.logind.close()
        self.agent()
        self.pinentry.answers("right")
        self.assertRegex(self.ended(self.asks())[1], "^is 0 ")

    def test_agent_dies(self):
        """the agent dies under a dialog: the dialog goes, no try is counted, and the caller hears of it"""
        for dies in ("dies", "terminate"):
            with self.subTest(dies):
                shown = len(self.pinentry.dialogs)
                self.pinentry.answers(*[["wait"]] * (shown + 1))
                agent = self.agent()
                asking = self.asks()
                dialog = self.pinentry.wait(shown + 1)
                getattr(agent, dies)()
                wait_until(lambda: not dialog.lives, "the dialog is gone", 20)
                code, out, _ = self.ended(asking)
                self.assertEqual((code, out), (1, ""))
                wait_until(lambda: len(self.lab.aborts) == shown + 1, "the daemon has heard", 20)
                wait_until(lambda: not self.session.has_agent(), "the name is free", 20)
        self.assertEqual(self.lab.aborts, ["hung up"] * 2)
