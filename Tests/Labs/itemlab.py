"""The desktop's secrets over the wire: a daemon whose person is the user who runs the tests, with an open store named
`secrets`, and a connection that asks for items.

    lab = Lab(policy()); items = Items(lab)
    item = items.put({"user": "ann"}, b"otter", label="Mail")
    items.find({"user": "ann"}); items.secret(item["id"]); items.delete(item["id"])
    mirror = Mirror(items); mirror.follow()        # what a program knows that asks now and then what has changed
"""

from daemonlab import PASSCODE, answers

STORE = "secrets"
LOGIN = bytes(16)


class Refused(AssertionError):
    def __init__(self, answer):
        super().__init__(str(answer))
        self.answer = answer
        self.code = answer.code if answer is not None and answer.name == "refused" else None


def make_store(lab):
    """The person's default store, and the one that follows it."""
    with lab.client(frontEnd="terminal") as client:
        for store, way in (("", "ownPasscode"), (STORE, "followStore")):
            done = client.run("create", answers(PASSCODE), way=way, store=store)
            if done is None or done.name != "done":
                raise AssertionError(f"no store: {done}")


class Items:
    """Asks on one connection. `client` is greeted already; without it, this makes one."""

    def __init__(self, lab, client=None, store=STORE):
        self.client = client or lab.client()
        self.store = store

    def close(self):
        self.client.close()

    def ask(self, request, expected, payloads=(), **fields):
        answer = self.client.run(request, (), payloads, store=self.store, **fields)
        if answer is None:
            raise ConnectionError("hung up")
        if answer.name != expected:
            raise Refused(answer)
        return answer

    def put(self, attributes, secret, replace=False, **fields):
        item = {"attributes": attributes, **fields}
        return self.ask("itemPut", "item", [secret], item=item, replace=replace).fields

    def change(self, identity, secret=None, **fields):
        flags = {name: name in fields for name in ("label", "attributes")}
        return self.ask(
            "itemChange", "item", [secret or b""], item={"id": identity, **fields}, secret=secret is not None,
            **flags).fields

    def delete(self, identity):
        self.ask("itemDelete", "done", id=identity)

    def find(self, attributes=(), collection=None, pages=None):
        """All pages together; `pages` collects how many items each had."""
        found, cursor = [], 0
        where = {} if collection is None else {"isOneCollection": True, "collection": collection}
        while True:
            page = self.ask("itemFind", "itemList", attributes=dict(attributes), cursor=cursor, **where)
            found += page["items"]
            if pages is not None:
                pages.append(len(page["items"]))
            cursor = page.cursor
            if cursor == 0:
                return found

    def secrets(self, identities):
        """By id, those that are there."""
        found, left = {}, list(identities)
        while left:
            answer = self.ask("itemSecrets", "secrets", ids=left[:1024])
            at = 0
            for entry in answer.entries:
                found[entry["id"]] = answer.payload[at : at + entry["length"]]
                at += entry["length"]
            if at != len(answer.payload):
                raise AssertionError(f"{len(answer.payload)} bytes for entries of {at}")
            if not 0 < answer.done <= len(left):
                raise AssertionError(f"{answer.done} of {len(left)} are dealt with")
            left = left[answer.done :]
        return found

    def secret(self, identity):
        return self.secrets([identity]).get(identity)

    def collection(self, label, identity=None):
        fields = {"label": label} if identity is None else {"label": label, "id": identity}
        return self.ask("collectionPut", "collection", isNew=identity is None, collection=fields).fields

    def delete_collection(self, identity):
        self.ask("collectionDelete", "done", id=identity)

    def alias(self, name, collection):
        where = {"isNone": True} if collection is None else {"collection": collection}
        self.ask("aliasSet", "done", name=name, **where)

    def news(self, opening=0, since=0):
        """All pages; a page that begins anew makes those before it void."""
        pages, cursor = [], 0
        while True:
            page = self.ask("itemChanges", "itemNews", opening=opening, since=since, cursor=cursor)
            if page.isAnew:
                pages = []
            pages.append(page)
            cursor = page.cursor
            if cursor == 0:
                return pages


class Mirror:
    """What a program knows that keeps all items but for their secrets."""

    def __init__(self, items):
        self.items = items
        self.opening = self.since = 0
        self.known, self.collections, self.aliases = {}, {}, {}
        self.times_anew = 0

    def follow(self):
        pages = self.items.news(self.opening, self.since)
        first = pages[0]
        if first.isAnew:
            self.known = {}
            self.times_anew += 1
        self.opening, self.since = first.opening, first.now
        self.collections = {each["id"]: each["label"] for each in first.collections}
        self.aliases = {each["name"]: each["collection"] for each in first.aliases}
        for page in pages:
            for identity in page.gone:
                self.known.pop(identity, None)
            for item in page["items"]:
                self.known[item["id"]] = item
        self.known = {
            identity: item for identity, item in self.known.items() if item["collection"] in self.collections}
        return self
