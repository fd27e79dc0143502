"""The daemon's own memory, searched from outside: a secret is in it while the daemon needs it,
and gone afterwards."""

import contextlib
import os
import random
import re
import select
import socket
import subprocess
import unittest

import slotfile
import wire
from daemonlab import answers, build, wait_until
from faultlab import ME, Lab, code, policy
from memorylab import Needles, gone, needles, scan, word
from places import LABS
from slow import slow

NEEDS_ROOT = True
TIMEOUT = 300
LOGIN = {"frontEnd": "pamAuth", "service": "login", "tty": "tty1"}


class Memory(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(policy())
        self.addCleanup(self.lab.close)
        self.passcode = word()
        self.recovery = self.lab.make(self.passcode)
        self.told = needles(passcode=self.passcode, recovery=self.recovery)

    @property
    def pid(self):
        return self.lab.pid

    def sees(self, needles, *names):
        found = scan(self.pid, needles)
        for name in names:
            self.assertIn(name, found, "the scan does not see what must be there")

    def nothing(self, needles, when):
        found = gone(self.pid, needles)
        self.assertEqual(found, {}, f"in memory {when}")

    def slots(self):
        with open(os.path.join(self.lab.store(), "slots"), "rb") as file:
            return file.read()

    def machine_key(self):
        with open(os.path.join(self.lab.state, "machine.key"), "rb") as file:
            return file.read()

    def store_key(self):
        return slotfile.open_recovery(self.slots(), self.recovery)

    # the scan itself

    def test_scan_sees(self):
        """the scan finds a text, its scalars and a piece of a key in a process that holds them"""
        text = word()
        held = [text.encode("utf-32-le"), os.urandom(32)]
        wanted = needles(text=text)
        wanted.add("key", held[1])
        found = scan(os.getpid(), wanted)
        self.assertIn("text, as scalars", found)
        self.assertIn("key", found)

    # exchanges

    def held(self, ask, wanted, *names):
        """Runs the exchange in a thread, stops it in its derivation, searches, and lets it go
        on; returns its answer."""
        import threading

        result = []
        before = self.lab.derivations()
        self.lab.hold()
        thread = threading.Thread(target=lambda: result.append(ask()))
        thread.start()
        try:
            wait_until(lambda: self.lab.derivations() > before, "a derivation began")
            self.sees(wanted, *names)
        finally:
            self.lab.release()
            thread.join(30)
        return result[0]

    def test_right(self):
        """a passcode is in memory while its key is derived, and gone after the login and after the lock"""
        self.nothing(self.told, "after create")
        verdict = self.held(lambda: self.lab.authenticate(self.passcode), self.told, "passcode")
        self.assertEqual(verdict.outcome, "success")
        self.nothing(self.told, "after a login, with the store open")
        self.lab.lock()
        self.nothing(self.told, "after the lock")

    def test_wrong(self):
        """a wrong passcode is gone after its refusal"""
        typed = word()
        told = needles(wrong=typed)
        verdict = self.held(lambda: self.lab.authenticate(typed), told, "wrong")
        self.assertEqual(verdict.code, 5)
        self.nothing(told, "after a wrong passcode")
        answer = self.held(lambda: self.change(typed, "unused"), told, "wrong")
        self.assertEqual(code(answer), 5)
        self.nothing(told, "after a wrong passcode in a change")

    def test_token(self):
        """a token of the stack is in memory while its key is derived, and gone after success, failure and setcred"""
        token = word()
        told = needles(token=token)

        def given(secret, request, **fields):
            return self.lab.ask(request, [], [secret], hello=LOGIN, subject=ME, **fields)

        verdict = self.held(lambda: given(token, "authenticate", tokenOnly=True), told, "token")
        self.assertEqual(verdict.code, 5)
        self.nothing(told, "after a wrong token")
        verdict = given(self.passcode, "authenticate", tokenOnly=True)
        self.assertEqual(verdict.outcome, "success")
        verdict = self.lab.ask("confirm", hello=LOGIN, handle=verdict.handle)
        self.nothing(self.told, "after setcred")
        given(token, "unlock")
        self.nothing(told, "after an unlock that did not open")

    def change(self, old, new, change="change"):
        return self.lab.ask("passcode", answers(old, newPasscode=new), store="", change=change)

    def test_change(self):
        """old and new passcode are gone after a change, and after one that was refused"""
        new = word()
        told = needles(old=self.passcode, new=new)
        answer = self.held(lambda: self.change(self.passcode, new), told, "old")
        self.assertEqual(answer.name, "done")
        self.nothing(told, "after a change")
        other = word()
        told = needles(now=new, other=other)
        with self.lab.client() as client:
            answer = client.run(
                "passcode", answers(new, newPasscode=other, confirmPasscode="something else"), change="change"
            )
        self.assertEqual(code(answer), wire.CODES["noMatch"])
        self.nothing(told, "after a change whose confirmation differed")

    def test_questions(self):
        """a passcode is in memory while the daemon waits for the next answer, and gone when the person cancels or
        disconnects"""
        new = word()
        told = needles(old=self.passcode, new=new)
        for leaves in ("cancels", "hangs up"):
            client = self.lab.client()
            self.asked(client, "passcode", {"passcode": self.passcode, "newPasscode": new}, change="change")
            self.sees(told, "old", "new")
            if leaves == "cancels":
                ask = client.asked[-1]
                client.send("abort", client.tag, question=ask.question)
                self.assertEqual(code(client.receive()), 27)
                self.nothing(told, "after a cancelled change")
            client.close()
            self.nothing(told, f"after a change whose person {leaves}")

    def test_waiting(self):
        """what was wrong or has done its work is gone while the next question waits, however long the person takes"""
        typed, new = word(), word()
        told = needles(wrong=typed, new=new)
        key = Needles(**{"store key": self.store_key()})
        self.lab.lock()
        with self.lab.client(**LOGIN) as client:
            ask = self.asked(client, "authenticate", {}, [typed.encode()], subject=ME)
            self.assertEqual(ask.purpose, "passcode")
            self.nothing(told, "while the prompt waits behind a wrong token")
        with self.lab.client(frontEnd="terminal") as client:
            first = self.asked(client, "openStore", {})
            client.send("reply", client.tag, [typed.encode()], question=first.question)
            self.assertEqual(self.until_asked(client, {}).purpose, "passcode")
            self.nothing(told, "while the second question waits behind a wrong passcode")
        with self.lab.client(frontEnd="terminal") as client:
            ask = self.asked(client, "recoveryNew", {"passcode": self.passcode})
            self.assertEqual(ask.purpose, "acknowledge")
            self.nothing(self.told, "while the new recovery key is shown")
            self.nothing(key, "while the new recovery key is shown")
        with self.lab.client(frontEnd="terminal") as client:
            typed = {"newPasscode": new, "confirmPasscode": new}
            ask = self.asked(client, "create", typed, store="another", way="ownPasscode")
            self.assertEqual(ask.purpose, "acknowledge")
            self.nothing(told, "while the new store's recovery key is shown")

    def asked(self, client, request, typed, payloads=(), **fields):
        """Answers questions as long as there are answers; stops at the first without one."""
        client.tag += 1
        client.send(request, client.tag, payloads, **fields)
        return self.until_asked(client, typed)

    def until_asked(self, client, typed):
        while True:
            message = client.receive(30)
            if message.name == "ask":
                client.asked.append(message)
                if message.purpose not in typed:
                    return message
                client.send("reply", client.tag, [typed[message.purpose].encode()], question=message.question)
            elif message.name not in ("show", "working", "reveal"):
                raise AssertionError(f"{message} and no question")

    def test_gone(self):
        """a client that disconnects in the middle of its derivation leaves nothing behind"""
        typed = word()
        told = needles(wrong=typed, passcode=self.passcode)
        for secret in (typed, self.passcode):
            before = self.lab.derivations()
            self.lab.hold()
            client = self.lab.client(**LOGIN)
            self.asked(client, "authenticate", {}, subject=ME)
            ask = client.asked[-1]
            client.send("reply", client.tag, [secret.encode()], question=ask.question)
            wait_until(lambda: self.lab.derivations() > before, "a derivation began")
            client.close()
            self.assertTrue(scan(self.pid, told))
            self.lab.release()
            wait_until(lambda: self.lab.derivations_ended() == self.lab.derivations(), "it ended")
            self.nothing(told, "after its client was gone")

    def test_killed(self):
        """a client that is killed while it types leaves nothing behind"""
        typed = word()
        told = needles(wrong=typed)
        script = (
            "import sys; sys.path.insert(0, sys.argv[1]); import wire\n"
            "client = wire.Client(sys.argv[2]); client.hello(frontEnd='terminal')\n"
            "answers = lambda ask: sys.argv[3] if ask.purpose == 'newPasscode' else"
            " (print('there', flush=True), sys.stdin.read())\n"
            "client.run('create', answers, store='another', way='ownPasscode')\n"
        )
        command = ["/usr/bin/python3", "-c", script, LABS, self.lab.socket, typed]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            self.assertEqual(child.stdout.readline(), b"there\n")
            self.sees(told, "wrong")
            child.kill()
        self.nothing(told, "after its client was killed")

    @slow
    def test_half_a_frame(self):
        """half a frame is in memory while the rest is missing, and gone when the client is"""
        value, token = os.urandom(3000), word()
        frames = {
            "value": (wire.encode("set", 7, [value], name=b"name"), {"value": value}),
            "token": (wire.encode("authenticate", 7, [token.encode()], subject=ME), {"token": token}),
        }
        for name, (frame, secrets) in frames.items():
            told = Needles(**secrets)

            def seen():
                # The daemon waits ten seconds for the rest, and a busy machine may need longer to look: then again.
                with self.lab.client(**LOGIN) as client:
                    client.send_raw(frame[:-1])
                    try:
                        wait_until(lambda: scan(self.pid, told), f"half a {name} is seen", 5)
                    except AssertionError:
                        return False
                return True

            wait_until(seen, f"half a {name} is seen", 60)
            self.nothing(told, f"after half a frame with a {name}")

    # recovery

    def test_recovery_key(self):
        """the recovery key's text is in memory while it arrives, and gone when it has been used"""
        client = self.lab.client()
        ask = self.asked(client, "recover", {})
        frame = wire.encode("reply", client.tag, [self.recovery.encode()], question=ask.question)
        client.send_raw(frame[:-1])
        wait_until(lambda: "recovery" in scan(self.pid, self.told), "the key is seen")
        client.send_raw(frame[-1:])
        new = word()
        self.told.add_text("new", new)
        key = Needles(**{"store key": self.store_key()})
        while client.receive(30).name != "ask":
            pass
        self.sees(key, "store key")
        client.close()
        self.nothing(self.told, "after a recovery that was broken off")
        self.nothing(key, "after a recovery that was broken off")
        answer = self.lab.ask("recover", answers("", recoveryKey=self.recovery, newPasscode=new))
        self.assertEqual(answer.name, "done")
        self.nothing(self.told, "after a recovery")
        with self.lab.client(frontEnd="terminal") as client:
            client.run("recoveryNew", answers(new))
            self.told.add_text("new key", client.revealed[0].decode())
        self.nothing(self.told, "after a new recovery key")

    # keys

    def keys(self):
        """The store key, and the keys of its records, as FORMAT.md derives them."""
        store, key = self.slots()[16:32], self.store_key()
        subkeys = {
            name: slotfile.h(f"AV record {name}", store, 32, key) for name in ("names", "seals")
        }
        return Needles(**{"store key": key}), Needles(**subkeys)

    def test_store_key(self):
        """the store key is in memory while a flow needs it, the records' keys while the store is open, neither
        afterwards"""
        key, subkeys = self.keys()
        self.sees(subkeys, "names", "seals")
        self.nothing(key, "while the store is open")
        client = self.lab.client()
        self.asked(client, "passcode", {"passcode": self.passcode}, change="change")
        self.sees(key, "store key")
        client.close()
        self.nothing(key, "after a change that was broken off")
        self.lab.set(b"a", b"b" * 100)
        self.lab.lock()
        self.nothing(key, "after the lock")
        self.nothing(subkeys, "after the lock")
        for open_ in (self.lab.authenticate, self.lab.unlock):
            open_(self.passcode)
            self.sees(subkeys, "names", "seals")
            self.nothing(key, "while the store is open again")
            self.lab.lock()
            self.nothing(key, "after another lock")
            self.nothing(subkeys, "after another lock")

    def test_derived(self):
        """the result of the derivation, and the key made from it, are gone when the exchange is"""
        import struct

        import nacl.bindings as sodium

        store, blocks = slotfile.read(self.slots(), slotfile.Machine(self.machine_key()))
        (slot,) = [blocks[number] for number in slotfile.PASSCODE_BLOCKS if number in blocks]
        _, memory, passes, _, _, salt = struct.unpack_from("<IIIIQ16s", slot.payload)
        derived = sodium.crypto_pwhash_alg(
            32, self.passcode.encode(), salt, passes, memory * 1024, sodium.crypto_pwhash_ALG_ARGON2ID13
        )
        machine = slotfile.Machine(self.machine_key())
        kek = slotfile.h(
            "AV kek passcode", derived + slotfile.here(store, slot.number), 32, machine.slot_key
        )
        told = Needles(derived=derived, **{"slot's key": kek})
        self.nothing(told, "after create")
        self.lab.lock()
        self.assertEqual(self.lab.authenticate(self.passcode).outcome, "success")
        self.nothing(told, "after a login")

    def test_turned_off(self):
        """after the passcode was turned off and on again, and after a reset, nothing is left"""
        new = word()
        told = needles(passcode=self.passcode, new=new)
        self.assertEqual(self.change(self.passcode, "", "turnOff").name, "done")
        self.nothing(told, "after turning the passcode off")
        self.assertEqual(self.change("", new, "turnOn").name, "done")
        self.nothing(told, "after turning it on")
        key, subkeys = self.keys()
        self.lab.ask("reset", answers(new))
        for one in (told, key, subkeys):
            self.nothing(one, "after a reset")

    # values

    @slow
    def test_value(self):
        """a value is gone after it was stored, read, passed over in a list and locked"""
        values = {size: os.urandom(size) for size in (40, 3000, 100_000, 1 << 20)}
        # The first and the last bytes of a copy go through vector registers, which libc may save
        # anywhere.
        middle = {size: value[size // 3 : size // 3 + 200] for size, value in values.items() if size > 100}
        told = Needles(**{f"{size} bytes": piece for size, piece in middle.items()})
        for size, value in values.items():
            name = f"value {size}".encode()
            self.assertEqual(self.lab.set(name, value).name, "done")
            self.nothing(told, f"after {size} bytes were stored")
            self.assertEqual(self.lab.get(name).payload, value)
            self.nothing(told, f"after {size} bytes were read")
        client = self.lab.client()
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.send("get", 9, name=b"value 1048576")
        wait_until(lambda: scan(self.pid, told), "a value waits for a reader")
        client.close()
        # The daemon may wait for a slow reader for ten seconds.
        self.assertEqual(gone(self.pid, told, 15), {}, "in memory after a reader that did not read")
        self.lab.lock()
        self.nothing(told, "after the lock")

    def test_locked_unread(self):
        """an answer that nobody has read goes with the lock, and its connection ends"""
        value = os.urandom(1 << 20)
        told = Needles(value=value[1_000_000:1_000_200])
        self.assertEqual(self.lab.set(b"large", value).name, "done")
        with self.lab.client() as client:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.send("get", 9, name=b"large")
            # The answer's first bytes are here, so the lock comes after the reading, not into it:
            # there the answer would be "locked", and the connection would go on.
            client.socket.settimeout(30)
            client.socket.recv(1, socket.MSG_PEEK)
            self.assertTrue(scan(self.pid, told), "no value waits for its reader")
            self.lab.lock()
            self.assertEqual(scan(self.pid, told), {}, "after the lock")
            read = 0
            while data := client.socket.recv(65536):
                read += len(data)
            self.assertLess(read, 1 << 20)
        # The others go on.
        self.assertEqual(self.lab.open(self.passcode).name, "done")
        self.assertEqual(self.lab.get(b"large").payload, value)

    @slow
    def test_locked_export(self):
        """what an export has read and not written yet goes with the lock, and the next piece is refused"""
        values = [os.urandom(1 << 20) for _ in range(4)]
        told = Needles(**{str(number): value[600_000:600_200] for number, value in enumerate(values)})
        for number, value in enumerate(values):
            self.assertEqual(self.lab.set(b"name %d" % number, value).name, "done")
        script = answers(self.passcode, newPassphrase=word())
        with self.lab.client() as client:
            self.assertEqual(client.run("exportBegin", script).name, "chunk")
            self.assertEqual(client.run("exportNext").name, "chunk")
            self.assertTrue(scan(self.pid, told), "the scan does not see what must be there")
            self.lab.lock()
            self.assertEqual(scan(self.pid, told), {}, "after the lock")
            self.assertEqual(code(client.run("exportNext")), wire.CODES["locked"])

    @slow
    def test_export(self):
        """a passphrase, and the values of an export and an import, are gone when they end"""
        value, passphrase = os.urandom(500), word()
        told = needles(passphrase=passphrase)
        told.add("value", value)
        self.lab.set(b"name", value)
        script = answers(self.passcode, newPassphrase=passphrase, passphrase=passphrase)
        with self.lab.client() as client:
            piece = client.run("exportBegin", script)
            pieces = [piece]
            while piece.name == "chunk" and not piece.last:
                piece = client.run("exportNext")
                pieces.append(piece)
        self.assertEqual([piece.name for piece in pieces], ["chunk"] * len(pieces))
        self.nothing(told, "after an export")
        file = b"".join(piece.payload for piece in pieces)
        header = pieces[0].payload
        with self.lab.client() as client:
            answer = client.run("importBegin", script, [header], replace=True)
            while answer.name == "progress":
                done, body = answer.done, file[len(header):]
                piece = body[done : done + 65536] if done < len(body) else body
                at = done if done < len(body) else 0
                end = min(at + 65536, len(body))
                answer = client.run(
                    "importChunk", (), [body[at:end]], done=end, total=len(body), last=end == len(body)
                )
                if answer.name == "progress" and answer.done == 0:
                    continue
        self.nothing(told, f"after an import that ended with {answer}")


class Crowd(unittest.TestCase):
    """What sixty slow readers leave behind."""

    MIB = 1 << 20

    def setUp(self):
        self.lab = Lab(policy(StoreQuota="0"))
        self.addCleanup(self.lab.close)
        self.lab.make("correct horse")

    def held(self):
        """The daemon's own memory, in bytes."""
        with open(f"/proc/{self.lab.pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Anonymous:"))

    def crowd(self, request):
        """Sixty clients do this at the same time, read slowly and leave one after the other."""
        before = self.held()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(self.lab.client()) for _ in range(60)]
            for number, client in enumerate(clients):
                client.socket.setblocking(False)
                request(client, number)
            wait_until(lambda: self.held() > before + 30 * self.MIB, "the answers wait for their readers", 60)
            order = random.Random(3)
            while clients:
                for _ in range(4):
                    for client in select.select([client.socket for client in clients], [], [], 0.1)[0]:
                        client.recv(65536)
                gone = clients.pop(order.randrange(len(clients)))
                gone.close()

    @slow
    def test_slow_readers(self):
        """what large answers took is given back when their readers have left, though the store stays open"""
        for number in range(4):
            self.assertEqual(self.lab.set(b"large %d" % number, os.urandom(self.MIB - number * 99_999)).name, "done")
        before = self.held()

        def gets(client, number):
            for of in range(8):
                client.send("get", 9 + of, name=b"large %d" % ((number + of) % 4))

        for _ in range(2):
            self.crowd(gets)
            wait_until(lambda: self.held() < before + 8 * self.MIB, "the memory is given back", 60)


class Hardened(unittest.TestCase):
    def test_process(self):
        """the daemon cannot be dumped, leaves no core and gains no privilege"""
        with Lab(policy()) as lab:
            with open(f"/proc/{lab.pid}/status") as file:
                status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            self.assertEqual(status["NoNewPrivs"].strip(), "1")
            with open(f"/proc/{lab.pid}/limits") as file:
                (core,) = [line for line in file if line.startswith("Max core file size")]
            self.assertEqual(core.split()[4:6], ["0", "0"])
            self.assertEqual(os.stat(f"/proc/{lab.pid}/mem").st_uid, 0)

    def test_not_dumpable(self):
        """a daemon of an ordinary user belongs to root in /proc, and its user cannot look into it"""
        uid = 65432
        with Lab(policy(), uid=uid) as lab:
            self.assertEqual(os.stat(f"/proc/{lab.pid}/mem").st_uid, 0)

            def look():
                try:
                    with open(f"/proc/{lab.pid}/mem", "rb"):
                        return "open"
                except PermissionError:
                    return "refused"

            from daemonlab import as_uid

            self.assertEqual(as_uid(uid, look), "refused")


class Binary(unittest.TestCase):
    """The optimiser might remove a wipe: checks what the release binary still calls, and from
    where."""

    @classmethod
    def setUpClass(cls):
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", build("appvaultd")], capture_output=True, text=True, check=True
        ).stdout
        cls.callers = {}
        for function in re.split(r"\n(?=[0-9a-f]{8,} <)", listing):
            head = re.match(r"[0-9a-f]+ <(.*)>:", function)
            if not head:
                continue
            for target in re.findall(r"(?:call|jmp)\s+[0-9a-f]+ <([^>+]+?)(?:@plt)?>", function):
                cls.callers.setdefault(target, set()).add(head.group(1))

    def called(self, *names):
        return {caller for name in names for caller in self.callers.get(name, ())}

    @slow
    def test_wipes(self):
        """the release binary wipes memory where its types promise it"""
        wipes = {
            "sodium_free": ["GuardedBlocksO8giveBack"],
            "explicit_bzero": ["WipedBuffer"],
            "sodium_memzero": ["Blake2b", "7Secrets4wipe", "GuardedBlocksO8giveBack"],
            "$s7Secrets4wipeyys11MutableSpanVys5UInt8VGzF": ["Scratch"],
            "sodium_stackzero": ["KeyDerivationO6derive", "SealingO4open", "SealingO11sealInPlace", "Blake2b"],
        }
        # At the end of a secret's life its block is freed, which wipes it, under whatever name the
        # optimiser left the function.
        back = [name for name in self.callers if "GuardedBlocksO8giveBack" in name]
        self.assertTrue(any("SecretBytesVfD" in caller for caller in self.called(*back)), back)
        for name, places in wipes.items():
            callers = self.called(name)
            self.assertTrue(callers, f"nothing calls {name}")
            for place in places:
                self.assertTrue(
                    any(place in caller for caller in callers), f"{place} does not call {name}: {sorted(callers)}"
                )


if __name__ == "__main__":
    unittest.main()
