"""An organisation's orders, obeyed by the real daemon: what is locked is locked for everything, a wipe is done once,
and nobody's clock or file of yesterday changes that."""

import os
import random
import shutil
import subprocess
import threading
import unittest

import wire
from daemonlab import PASSCODE, answers, as_uid_connection, wait_until
from fleetlab import CONTACT, NAME, Organisation
from orderslab import MACHINE, NO_ONE, Lab
from pamlab import compiled
from slow import slow
from stepslab import Steps

NEEDS_ROOT = True
TIMEOUT = 240
# One step of so many is tried, from the first one of a random place on.
STRIDE = 1 if os.environ.get("APPVAULT_TESTS") == "soak" else 9
LOCKED, WIPED = 46, 47
ITEM = b"i" * 16


class Orders(unittest.TestCase):
    def lab(self, *arguments, **more):
        lab = Lab(*arguments, **more)
        self.addCleanup(lab.close)
        return lab

    def refused(self, answer, code):
        self.assertEqual((answer.name, getattr(answer, "code", None)), ("refused", code), answer)
        self.assertEqual(answer.asked, [], "somebody was asked in vain")
        return answer

    def test_lock_and_unlock(self):
        """closed at once, whatever is asked; the person reads why and whom to ask; a newer bundle opens it again"""
        lab = self.lab(people=2)
        for person in (0, 1):
            lab.create(person)
            lab.done("set", payloads=[b"value"], name="a", person=person)
        lab.join()
        lab.order(f"lock {lab.target()}")
        self.assertEqual([lab.state(person).lock for person in (0, 1)], ["barred", "unlocked"])
        told = self.refused(lab.ask("openStore"), LOCKED)
        self.assertEqual(told.message, f"{NAME} has locked this store")
        self.assertEqual(told.hint, f"ask {CONTACT}")
        self.assertEqual(told.parameters, {"reason": "ordered"})
        self.assertEqual(lab.state().trouble, f"{NAME} has locked this store")
        self.assertEqual(lab.done("get", name="a", person=1).payload, b"value")
        lab.server.restart()
        self.refused(lab.ask("openStore"), LOCKED)
        lab.server.kill()
        lab.server.start()
        self.refused(lab.ask("get", name="a"), LOCKED)
        lab.order()
        self.assertEqual(lab.state().lock, "locked")
        lab.done("openStore", answers(PASSCODE))
        self.assertEqual(lab.done("get", name="a").payload, b"value")

    # What a person who is locked out may still ask for. Everything else is refused before anybody is asked.
    ALLOWED = {"status", "lock", "actions", "policyShow", "policyCheck", "offerRecovery", "appRules"}
    # Of a store that somebody else owns, its owner alone may ask these, and everybody else hears the same.
    OWNERS = {"lock", "passcode", "recoveryNew", "recover", "reset", "resync", "hold", "rename", "recoveryDelete",
              "fingerprintList", "fingerprintEnroll", "fingerprintVerify", "fingerprintDelete", "fingerprintSwitch",
              "keyringForget"}
    SHARING = {"share", "unshare", "members"}

    def answer(self, store, request):
        """The code that is right; nil where it is answered."""
        if request == "triesClear":
            return 30
        if "/" in store and request == "status":
            return LOCKED
        if "/" in store and request in self.OWNERS:
            return 3
        if store in ("", "notes") and request in self.SHARING:
            return 26
        return None if request in self.ALLOWED else LOCKED

    def test_every_request(self):
        """each request that names a store is refused with 46, for each kind of store, and counts no try"""
        lab = self.lab(people=2)
        lab.create()
        lab.create(1)
        lab.done("recoveryNew", answers(PASSCODE))
        lab.create(store="notes", way="followStore")
        lab.create(store="team", way="shared")
        lab.create(store="conf", way="configuration")
        lab.done("openStore", answers(PASSCODE), person=1)
        for store in ("team", "conf"):
            lab.done("share", answers(PASSCODE), store=store, kind="person", name=lab.people[1][0], role="writer")
        lab.create(1, store="theirs", way="shared")
        lab.done("share", answers(PASSCODE), store="theirs", kind="person", name=lab.people[0][0], role="writer",
                 person=1)
        with lab.client() as client:
            begun = client.run("exportBegin", answers(PASSCODE, newPassphrase="a phrase of its own"), subject=NO_ONE)
            header = begun.payload
            lab.join()
            lab.order(f"lock {lab.target()}")
            next_piece = client.run("exportNext")
            self.assertEqual((next_piece.name, next_piece.code), ("refused", LOCKED))
        before = lab.slots()
        requests = [name for name, shape in wire.MESSAGES.items()
                    if any(field == "store" and kind is wire.STORE for field, kind in shape.fields)
                    and shape.number % 2 == 0]
        more = {
            "create": {"way": "ownPasscode"}, "share": {"role": "reader", "kind": "person", "name": lab.people[1][0]},
            "unshare": {"kind": "person", "name": lab.people[1][0]}, "passcode": {"change": "change"},
            "rename": {"name": "renamed"}, "hold": {"seconds": 60}, "appRules": {"id": "mail", "demand": "open"},
            "appOpen": {"id": "mail", "demand": "open"}, "fingerprintEnroll": {"finger": "leftThumb"},
            "fingerprintDelete": {"finger": "leftThumb"}, "get": {"name": "a"}, "set": {"name": "a"},
            "delete": {"name": "a"}, "itemPut": {"item": {"id": ITEM}}, "itemSecrets": {"ids": [ITEM]},
            "itemChange": {"item": {"id": ITEM}}, "itemDelete": {"id": ITEM}, "collectionPut": {"isNew": True},
            "aliasSet": {"name": "default"},
        }
        for store in ("", "notes", "team", "conf", f"{lab.people[1][0]}/theirs"):
            for request in requests:
                fields = {"store": store, **more.get(request, {})}
                payloads = {"importBegin": [header], "policyCheck": [PASSCODE]}.get(request, [])
                with self.subTest(store=store, request=request):
                    answer = lab.ask(request, payloads=payloads, **fields)
                    self.assertEqual(answer.asked, [], answer)
                    code = answer.code if answer.name == "refused" else None
                    self.assertEqual(code, self.answer(store, request), answer)
        self.assertEqual(lab.slots(), before, "something was written")
        self.refused(lab.ask("create", store="another", way="ownPasscode"), LOCKED)
        # The other members go on.
        for store in ("conf", "team"):
            self.assertEqual(lab.done("status", store=f"{lab.people[0][0]}/{store}", person=1).name, "state")
        lab.order()
        lab.done("openStore", answers(PASSCODE))

    def test_recovery_key(self):
        """it opens nothing that is locked, and is not counted; afterwards it does"""
        lab = self.lab()
        lab.create()
        key = lab.done("recoveryNew", answers(PASSCODE)).revealed[0]
        lab.join()
        lab.order(f"lock {lab.organisation.machine(MACHINE)}")
        before = lab.slots()
        self.refused(lab.ask("recover", answers(recoveryKey=key)), LOCKED)
        self.assertEqual(lab.slots(), before)
        lab.order()
        self.assertEqual(lab.ask("recover", answers(recoveryKey=key, newPasscode=b"another passcode")).name, "done")

    def test_targets(self):
        """a person, a person here, a person elsewhere, this machine, another one, everybody of another organisation"""
        lab = self.lab(people=2)
        organisation, (name, _) = lab.organisation, lab.people[0]
        for person in (0, 1):
            lab.create(person)
        lab.join()
        other = Organisation().person(name)
        for target, expected in [
            (organisation.person(name), [True, False]), (organisation.person(name, MACHINE), [True, False]),
            (organisation.person(name, MACHINE[::-1]), [False, False]), (organisation.machine(MACHINE), [True, True]),
            (organisation.machine(MACHINE[::-1]), [False, False]), (other, [False, False]),
        ]:
            lab.order(f"lock {target}")
            self.assertEqual([lab.state(person).lock == "barred" for person in (0, 1)], expected)

    def test_no_store_yet(self):
        """whoever is locked out gets no store, either"""
        lab = self.lab()
        lab.join()
        lab.order(f"lock {lab.target()}")
        self.refused(lab.ask("create", way="ownPasscode"), LOCKED)
        self.assertEqual(lab.server.stores(), [])
        lab.order()
        lab.create()

    def test_chown_is_no_way_out(self):
        """root's chown gives what is locked to nobody; what somebody who is locked out gets is locked"""
        lab = self.lab(people=2)
        for person in (0, 1):
            lab.create(person)
        lab.join()
        lab.order(f"lock {lab.target()}")
        mine = lab.state().store
        answer = lab.root("chown", owner=lab.people[1], store=mine)
        self.assertEqual((answer.name, answer.code), ("refused", LOCKED))
        lab.done("reset", answers(PASSCODE), person=1)
        lab.order()
        lab.root("chown", owner=lab.people[1], store=mine)
        lab.order(f"lock {lab.target(1)}")
        self.assertEqual(lab.state(1).lock, "barred")

    def test_root_resets(self):
        lab = self.lab()
        lab.create()
        lab.join()
        lab.order(f"lock {lab.target()}")
        self.assertEqual(lab.root("reset", subject=lab.people[0]).name, "done")
        self.assertEqual(lab.server.stores(), [])

    def test_pam(self):
        """sudo and the login go on to their next module, nobody is asked, and one line says why, once"""
        lab = self.lab()
        lab.create()
        lab.join()
        lab.order(f"lock {lab.target()}")
        before = lab.slots()
        with lab.server.client(frontEnd="pamAuth", service="login", realUID=lab.people[0][1]) as client:
            verdict = client.run("authenticate", answers(PASSCODE), [b""], subject=lab.people[0])
            self.assertEqual((verdict.name, verdict.outcome, client.asked), ("verdict", "unavailable", []), verdict)
            self.assertEqual(client.shown, [f"AppVault: {NAME} has locked this store; ask {CONTACT}."])
        with lab.server.client(frontEnd="pamAuth", service="login", realUID=lab.people[0][1]) as client:
            verdict = client.run("unlock", (), [PASSCODE], subject=lab.people[0])
            self.assertEqual((verdict.outcome, client.asked, client.shown), ("ignore", [], []), verdict)
        self.assertEqual(lab.slots(), before)

    # wiped, and reset

    def test_wipe(self):
        """what is older than the order is gone, once; what is made afterwards stays, whatever is read again"""
        lab = self.lab(people=2)
        lab.join()
        lab.order()
        for person in (0, 1):
            lab.create(person)
        lab.create(store="notes", way="followStore")
        lab.create(store="alone", way="shared")
        lab.create(store="team", way="shared")
        lab.done("openStore", answers(PASSCODE), person=1)
        lab.done("share", answers(PASSCODE), store="team", kind="person", name=lab.people[1][0], role="writer")
        lab.done("set", payloads=[b"value"], name="a", store="team")
        wiped = [lab.state(store=store).store for store in ("", "notes", "alone")]
        former = os.path.join(lab.folder, "former")
        shutil.copytree(lab.server.state, former)
        lab.order(f"wipe {lab.target()} 2")
        told = self.refused(lab.ask("openStore"), WIPED)
        self.assertEqual(told.message, f"{NAME} has wiped this store; what it held is gone")
        locks = {store: lab.state(store=store).lock for store in ("", "notes", "alone")}
        self.assertEqual(locks, {"": "erased", "notes": "erased", "alone": "erased"})
        # The others need it, and read it on.
        self.assertEqual(lab.done("get", name="a", store=f"{lab.people[0][0]}/team", person=1).payload, b"value")
        self.assertEqual(lab.state(1).lock, "unlocked")
        lab.server.restart()
        self.refused(lab.ask("openStore"), WIPED)
        # The same again with a new store.
        lab.done("reset")
        lab.create()
        lab.done("set", payloads=[b"new"], name="a")
        new = lab.state().store
        for version in (3, 4):
            lab.order(f"wipe {lab.target()} 2", version=version)
        lab.server.restart()
        lab.done("openStore", answers(PASSCODE))
        self.assertEqual(lab.done("get", name="a").payload, b"new")
        # Yesterday's files come back: what was wiped is wiped again, before anybody opens it.
        lab.server.stop()
        for store in os.listdir(os.path.join(former, "stores")):
            kept = os.path.join(lab.server.state, "stores", store)
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(os.path.join(former, "stores", store), kept)
        lab.server.start()
        wait_until(lambda: {self.locks(lab)[store] for store in wiped} == {"erased"}, "what came back is wiped")
        self.assertEqual(self.locks(lab)[new], "locked")

    def locks(self, lab):
        return {bytes(entry["store"]): entry["lock"] for entry in lab.root("stores", all=True)["stores"]}

    def test_reset(self):
        """a passcode is forgotten: the store goes, and its person makes another one"""
        lab = self.lab()
        lab.create()
        lab.join()
        lab.order(f"reset {lab.target()} 1")
        self.assertEqual((lab.state().lock, lab.server.stores()), ("absent", []))
        lab.create()
        lab.order(f"reset {lab.target()} 1")
        self.assertEqual(lab.state().lock, "unlocked")

    def test_orders_while_a_store_is_made(self):
        """the passcode is being derived when they come: a lock refuses the store, and a wipe means older ones"""
        for orders, expected in (([], "done"), ([f"lock {{}}"], "refused"), ([f"wipe {{}} 2"], "done")):
            with self.subTest(orders=orders):
                lab = self.lab()
                lab.join()
                lab.order()
                lab.server.hold()
                with lab.client() as client:
                    self.addCleanup(client.close)
                    answer = []
                    making = threading.Thread(target=lambda: answer.append(client.run(
                        "create", answers(PASSCODE), subject=NO_ONE, way="ownPasscode")))
                    before = lab.server.derivations()
                    making.start()
                    wait_until(lambda: lab.server.derivations() > before, "the derivation has begun")
                    lab.order(*(order.format(lab.target()) for order in orders))
                    lab.server.release()
                    making.join()
                self.assertEqual((answer[0].name, len(lab.server.stores())), (expected, expected == "done"), answer)
                lab.server.restart()
                if expected == "done":
                    lab.done("openStore", answers(PASSCODE))

    def test_what_fails_is_tried_again(self):
        """a store cannot be removed: it stays shut, and goes when the orders are looked at once more"""
        lab = self.lab()
        lab.create()
        lab.join()
        store = lab.server.store()
        lab.server.stop()
        with open(os.path.join(store, "slots"), "r+b") as file:
            file.write(os.urandom(16 * 4096))
        # What something is mounted on cannot be renamed.
        if subprocess.run(["mount", "--bind", store, store]).returncode != 0:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", store], stderr=subprocess.DEVNULL)
        lab.server.start()
        bundle = lab.organisation.bundle(1, [f"wipe {lab.target()} 1"])
        self.assertEqual(lab.root("fleetImport", [bundle]).name, "done")
        self.refused(lab.ask("openStore"), LOCKED)
        self.assertIn("could not", lab.server.log())
        subprocess.run(["umount", "-l", store], check=True)
        self.assertEqual(lab.root("fleetImport", [bundle]).name, "done")
        self.assertEqual((lab.state().lock, lab.server.stores()), ("absent", []))

    def test_another_organisation(self):
        """what was made under one is older than every order of the next; a tombstone names nobody who did not wipe"""
        lab = self.lab()
        lab.join()
        lab.order(version=50)
        lab.create()
        self.assertEqual(lab.root("fleetLeave").name, "done")
        lab.organisation = Organisation(name="example.net")
        lab.join()
        lab.order(f"wipe {lab.target()} 1", version=1)
        self.assertIn("example.net", self.refused(lab.ask("openStore"), WIPED).message)
        self.assertEqual(lab.root("fleetLeave").name, "done")
        self.assertIn("the organisation of this machine", self.refused(lab.ask("openStore"), WIPED).message)

    def test_damaged(self):
        """what is damaged is wiped with its folder; a damaged file of orders keeps nobody out, and is said"""
        lab = self.lab(people=2)
        for person in (0, 1):
            lab.create(person)
        lab.join()
        lab.order(f"lock {lab.target(1)}")
        (store,) = [path for path in lab.server.stores()
                    if os.path.basename(path).replace("-", "") == lab.state().store.hex()]
        lab.server.stop()
        with open(os.path.join(store, "slots"), "r+b") as file:
            file.write(os.urandom(16 * 4096))
        lab.server.start()
        lab.order(f"wipe {lab.target()} 2", f"lock {lab.target(1)}")
        self.assertEqual([lab.state().lock, lab.state(1).lock], ["absent", "barred"])
        self.assertFalse(os.path.exists(store))
        lab.server.stop()
        with open(os.path.join(lab.server.state, "fleet", "policy.bundle"), "r+b") as file:
            file.seek(200)
            file.write(b"\0" * 8)
        lab.server.start()
        self.assertEqual(lab.state(1).lock, "locked")
        self.assertIn("damaged", lab.root("fleetStatus")["problem"])

    @slow
    def test_killed_at_every_step(self):
        """of a wipe and of a reset: the next start finishes it, and neither before nor after is it open"""
        for order, end in (("wipe", "erased"), ("reset", "absent")):
            step = random.randint(1, STRIDE)
            while True:
                lab = Lab()
                try:
                    if not self.kill(lab, order, end, step):
                        break
                except Exception as error:
                    raise AssertionError(f"{order}, killed at step {step}: {lab.server.log()}") from error
                finally:
                    lab.close()
                self.assertLess(step, 400, "it never ends")
                step += STRIDE
            self.assertGreater(step, 5)

    def kill(self, lab, order, end, step):
        steps = Steps(lab.folder, "daemon")
        lab.server.env = steps.environment(lab.server.state)
        lab.server.restart()
        lab.create()
        lab.done("set", payloads=[b"value"], name="a")
        lab.join()
        bundle = lab.organisation.bundle(1, [f"{order} {lab.target()} 1"])
        steps.arm(step)
        try:
            lab.root("fleetImport", [bundle])
        except (OSError, AssertionError, AttributeError):
            pass
        steps.comes_to_rest(lab.server.process)
        died = lab.server.process.poll() is not None
        steps.disarm()
        lab.server.kill()
        lab.server.env = {}
        lab.server.start()
        if lab.root("fleetStatus")["policy"]["version"] == 0:
            # Nothing was answered, so root takes it once more.
            lab.done("openStore", answers(PASSCODE))
            self.assertEqual(lab.done("get", name="a").payload, b"value")
            lab.root("fleetImport", [bundle])
        answer = lab.ask("openStore")
        self.assertEqual((answer.name, answer.asked), ("refused", []), answer)
        wait_until(lambda: lab.state().lock == end, f"it is {end}")
        return died

    # days without contact

    DAY = 86_400

    def after(self, lab, days):
        """The machine has run for so many days since, in this boot."""
        lab.server.stop()
        lab.server.before = ["unshare", "--time", "--boottime", str(int(days * self.DAY))]
        lab.server.start()

    def offline_lab(self, *orders):
        lab = self.lab()
        lab.create()
        lab.join()
        lab.order(*(orders or ("offline lock 2", "offline wipe 4")))
        return lab

    def test_offline(self):
        """counted while the machine runs: locked after some, wiped some after that was read"""
        lab = self.offline_lab()
        self.after(lab, 1.9)
        lab.done("openStore", answers(PASSCODE))
        status = lab.root("fleetStatus")
        self.assertEqual((status["offlineDays"], status["lockAfter"], status["wipeAfter"]), (1, 2, 4))
        self.after(lab, 2.1)
        told = self.refused(lab.ask("openStore"), LOCKED)
        why = f"this machine has heard nothing from {NAME} for 2 days, so its stores are locked"
        self.assertEqual(told.message, why)
        self.assertEqual(told.hint, f"connect this machine to the network, or ask {CONTACT}")
        self.assertEqual(told.parameters, {"reason": "offline"})
        self.refused(lab.ask("create", store="another", way="ownPasscode"), LOCKED)
        self.after(lab, 3.9)
        self.assertEqual(lab.state().lock, "barred")
        self.after(lab, 4.1)
        wait_until(lambda: lab.state().lock == "erased", "it is wiped")
        self.refused(lab.ask("openStore"), WIPED)

    def test_offline_nobody_knew(self):
        """what nobody has read wipes nothing: the days begin when somebody reads that all is locked"""
        lab = self.offline_lab()
        self.after(lab, 5.1)
        # What a program is answered is nothing that somebody has read.
        with as_uid_connection(lab.people[0][1], lab.server, "program") as client:
            self.assertEqual(client.run("openStore", subject=NO_ONE).code, LOCKED)
        self.after(lab, 10.1)
        self.assertEqual(lab.state().lock, "barred")
        self.refused(lab.ask("openStore"), LOCKED)
        self.after(lab, 11.9)
        self.assertEqual(lab.state().lock, "barred")
        self.after(lab, 12.2)
        wait_until(lambda: lab.state().lock == "erased", "it is wiped")

    def test_offline_ends(self):
        """with a manifest that was signed later, and with nothing else: not with an older one, nor the same again"""
        lab = self.offline_lab()
        first = lab.organisation.bundle(2, ["offline lock 2", "offline wipe 4"])
        lab.root("fleetImport", [first])
        self.after(lab, 2.1)
        self.refused(lab.ask("openStore"), LOCKED)
        self.assertEqual(lab.root("fleetImport", [first]).name, "done")
        self.refused(lab.ask("openStore"), LOCKED)
        older = lab.organisation.bundle(3, ["offline lock 2"], signed=lab.organisation.signed - 3600)
        self.assertEqual(lab.root("fleetImport", [older]).name, "done")
        self.refused(lab.ask("openStore"), LOCKED)
        lab.order("offline lock 2", "offline wipe 4", version=4)
        lab.done("openStore", answers(PASSCODE))
        self.after(lab, 4.0)
        lab.done("openStore", answers(PASSCODE))

    @slow
    def test_offline_while_it_runs(self):
        """a day ends under an open store: it is closed then, without a request"""
        lab = self.offline_lab("offline lock 1")
        self.after(lab, 1 - 6 / self.DAY)
        lab.done("openStore", answers(PASSCODE))
        wait_until(lambda: lab.state().lock == "barred", "the day is over", 60)

    def test_offline_clock(self):
        """a clock a year ahead, or held back, locks and wipes nobody, and a machine that is off counts no day"""
        lab = self.offline_lab()
        for seconds in (365 * self.DAY, -365 * self.DAY):
            lab.server.stop()
            lab.server.env = {"LD_PRELOAD": compiled("wallclock.c", "wallclock.so", "-shared", "-fPIC"),
                              "WALL_SHIFT": str(seconds)}
            lab.server.start()
            lab.done("openStore", answers(PASSCODE))
            self.assertEqual(lab.root("fleetStatus")["offlineDays"], 0)

    def test_offline_file(self):
        """where what was counted is lost, the days begin anew; nobody is kept out for a damaged file"""
        lab = self.offline_lab()
        self.after(lab, 2.1)
        self.refused(lab.ask("openStore"), LOCKED)
        lab.server.stop()
        contact = os.path.join(lab.server.state, "fleet", "contact")
        with open(contact, "w") as file:
            file.write("[Contact]\nDays=9000\n")
        lab.server.start()
        lab.done("openStore", answers(PASSCODE))
        self.assertEqual(lab.root("fleetLeave").name, "done")
        self.assertFalse(os.path.exists(contact))


if __name__ == "__main__":
    unittest.main()
