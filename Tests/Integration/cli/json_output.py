"""What --json prints is what the manual says: every field of every verb, and no other."""

import json
import os
import unittest

from clilab import FINGERS, Lab

STORE = bytes(range(16))
DONE = {"action", "result", "message"}
ORDERED = {"targets[].target", "targets[].locked", "targets[].wipesBefore", "targets[].resetsBefore", "offlineLock",
           "offlineWipe"}
REPORTED = ["machine", "state", "at", "policyVersion", "ordersVersion", "signed", "stores", "due", "retryLocked",
            "locked", "wiped", "offlineDays", "consentsDue", "release", "problem"]


def names(value, prefix=""):
    """The fields of an object, those inside of lists as list[].name."""
    found = set()
    for name, inner in value.items():
        if isinstance(inner, list):
            found |= {each for element in inner for each in names(element, f"{prefix}{name}[].")}
        else:
            found.add(prefix + name)
    return found


class Shapes(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.addCleanup(self.finish)
        reply = {
            "status": ("state", {"lock": "locked", "passcode": "passcode", "store": STORE, "owner": ("alice", 1000),
                                 "pending": [3], "pendingReason": "policy", "meetsRules": "yes"}),
            "actions": ("actionList", {"actions": [
                {"name": "lock", "allowed": True, "code": 0, "reason": "", "verb": "appvault lock"}]}),
            "policyShow": ("policyValues", {
                "mode": "standard", "problem": "x",
                "values": [{"key": "K", "value": "v", "file": "f", "line": 1, "actedOn": True}],
                "rules": [{"name": "r", "display": "d", "kind": "match", "file": "f", "line": 2}]}),
            "policyCheck": ("checklist", {"entries": [
                {"id": "digit", "finding": "satisfied", "wants": "a digit", "reason": ""}]}),
            "policyPreview": ("preview", {"total": 1, "stores": [
                {"store": STORE, "owner": "alice", "name": "default", "flows": [3], "certainty": "certain",
                 "reason": ""}]}),
            "texts": ("textList", {"texts": [{"id": "a", "text": "b", "origin": "builtIn"}]}),
            "names": ("names", {}),
            "fleetStatus": ("fleetState", {"organisation": "example.org", "contact": "help"}),
            "consents": ("consentList", {"organisation": "example.org", "items": [
                {"id": "licence", "kind": "licence", "title": "Terms", "version": 1, "answer": "yes"}]}),
            "members": ("memberList", {"members": [{"kind": "person", "name": "alice"}]}),
            "stores": ("storeList", {"stores": [
                {"store": STORE, "name": "default", "owner.name": "alice", "owner.uid": 1000, "role": "owner"}]}),
            "fingerprintList": ("fingerprintState", FINGERS),
            "health": ("healthReport", {"memory": "locked", "rules": "works", "fingerprints": "works"}),
        }
        for request, (answer, fields) in reply.items():
            self.lab.answer(
                request, lambda daemon, request, answer=answer, fields=fields: daemon.reply(answer, **fields))
        # What is copied goes to another store.
        state = reply["status"][1]
        self.lab.answer("status", lambda daemon, request: daemon.reply(
            "state", **{**state, "store": bytes(16) if request.store == "mail" else STORE}))
        applications = os.path.join(self.lab.folder, "applications")
        os.mkdir(applications)
        with open(os.path.join(applications, "a.desktop"), "w") as file:
            file.write("[Desktop Entry]\nX-AppVault=1\n")
        running = os.path.join(self.lab.folder, "appvault", "apps")
        os.makedirs(running)
        with open(os.path.join(running, "app-appvault-a-1.scope"), "w") as file:
            file.write("id=a\nstore=\ndemand=1\nonLock=1\nbackground=0\ntimeout=0\nlocked=1\n")
        self.lab.answer("get", lambda daemon, request: daemon.reply("value", [b"\xff"]))
        self.lab.answer("list", self.list)
        self.lab.answer("itemChanges", lambda daemon, request: daemon.reply(
            "itemNews", opening=7, now=3, isAnew=True, collections=[{"id": bytes(16), "label": "Login"}],
            items=[{"id": STORE, "collection": bytes(16), "label": "Mail", "attributes": {"server": "mail"}}]))
        for request in ["create", "openStore", "lock", "passcode", "recoveryNew", "recover", "set", "delete", "reset",
                        "resync", "triesClear", "chown", "fingerprintEnroll", "fingerprintVerify", "fingerprintDelete",
                        "fingerprintSwitch", "fingerprintClear", "keyringForget",
                        "mend", "hold", "rename", "recoveryDelete",
                        "share", "unshare", "fleetJoin", "fleetImport", "fleetLeave", "fleetFetch",
                        "consentAsk", "switchStore", "joinAsk"]:
            self.lab.answer(request, lambda daemon, request: daemon.done("done"))

    def finish(self):
        self.lab.__exit__()
        self.assertEqual(self.lab.faults, [])

    @staticmethod
    def list(daemon, request):
        daemon.reply("damaged", records=[{"kind": "broken", "id": 7, "name": "c"}])
        daemon.reply("names", cursor=0, names=["a", "b"])

    def documented(self):
        verbs = json.loads(self.lab.run("help", "--json").out)["verbs"]
        return {verb["name"]: {field["name"] for field in verb["fields"]} for verb in verbs}

    LINES = {
        "create": ["--own-passcode"], "chown": ["--yes", "00010203-0405-0607-0809-0a0b0c0d0e0f", "root"],
        "fingerprint clear": ["--yes", "synaptics"], "fingerprint delete": ["--yes"], "fingerprint off": ["--yes"],
        "reset": ["--yes"], "tries clear": ["--yes"], "mend": ["--yes"],
        "share": ["team", "bob"], "unshare": ["team", "bob"], "members": ["team"],
        "rename": ["mail", "post"], "copy": ["name", "--to", "mail", "--replace", "--yes"],
        "move": ["name", "--to", "mail", "--replace", "--yes"],
        "set": ["name", "value"], "get": ["name"], "delete": ["name"],
        "policy lint": ["-"], "policy preview": ["-"], "fleet join": ["-"], "fleet import": ["-"],
        "fleet leave": ["--yes"], "people add": ["Ben"], "people remove": ["--yes", "Ben"], "fingerprint who": ["on"],
        "people picture": ["default", "key"],
    }
    # In another form it prints other fields.
    ALSO = {"list": ["--secrets"]}
    # Shown in suites of their own: files that belong together, a conversation over files, a verb whose output is its
    # command's, and applications.
    ELSEWHERE = {
        "fleet check": {"organisation", "version", "signed[].name", "needed", "locks", "wipes", "resets"}
        | {f"problems[].{name}" for name in ("severity", "file", "line", "key", "wrong", "right")} | ORDERED,
        "fleet lock": DONE - {"message"} | ORDERED, "fleet unlock": DONE - {"message"} | ORDERED,
        "fleet wipe": DONE - {"message"} | ORDERED, "fleet reset": DONE - {"message"} | ORDERED,
        "fleet report": {"strays", "tooMany"} | {f"machines[].{name}" for name in REPORTED},
        "fleet manifest": {"manifest"}, "fleet invite": {"link", "address", "fingerprint"},
        "fleet pack": {"bundle"},
        "watch": {"event", "name", "store", "at"},
        "export": DONE | {"dryRun", "to", "collections[].name", "collections[].went", "collections[].present",
                          "collections[].different", "collections[].left", "different[].collection", "different[].item",
                          "left[].collection", "left[].item", "left[].why"},
        "import": DONE | {"dryRun", "from[].name", "from[].came", "from[].present", "from[].different", "from[].left",
                          "different[].from", "different[].item", "left[].from", "left[].item", "left[].why"},
        "people choose": {"action", "result", "code", "to"},
        "screen": set(), "run": set(), "app add": DONE, "app remove": DONE,
        "app open": DONE}

    def test_every_verb_prints_the_fields_that_are_documented(self):
        documented = self.documented()
        self.assertGreater(len(documented), 20)
        for verb, fields in documented.items():
            if verb in self.ELSEWHERE:
                self.assertEqual(fields, self.ELSEWHERE[verb])
                continue
            with self.subTest(verb=verb):
                printed = self.printed(*verb.split(), *self.LINES.get(verb, []))
                if verb in self.ALSO:
                    printed |= self.printed(*verb.split(), *self.ALSO[verb])
                self.assertEqual(printed, fields)

    def printed(self, *words):
        folders = {name: self.lab.folder for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")}
        result = self.lab.run(*words, "--json", input=b"[Passcode]\nX=1\n",
                              env=folders)
        told = [line for line in result.err.split(b"\n") if line and b"is damaged" not in line]
        self.assertEqual(b"".join(told).split(b"hint:")[0], b"", result)
        return names(json.loads(result.out))

    def test_a_refusal_has_its_own_shape(self):
        self.lab.answer("lock", lambda daemon, request: daemon.refuse(24, "wait", "later", seconds="7"))
        told = json.loads(self.lab.run("lock", "--json").out)
        self.assertEqual(told, {
            "domain": "org.appvault", "code": 24, "name": "Throttled", "parameters": {"seconds": 7}, "message": "wait",
            "reason": "wait", "hint": "later"})


if __name__ == "__main__":
    unittest.main()
