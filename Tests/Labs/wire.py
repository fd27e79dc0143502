"""The protocol a second time, in plain Python and independent of Sources/Wire: for tests on both
sides of the socket.

    encode("authenticate", tag=2, payloads=[b"token"], subject=("alice", 1000), orPassword=True, ...)
    message, rest = decode_some(buffer)      message.name, message.tag, message.fields, message.payloads

Fields that are left out are zero, false or empty.
"""

import socket
import struct
import time

VERSION = 1
FRAME = (1 << 20) + 4096
SMALL_FRAME = 4096
SECRET = 1024
ANSWERS = 3072
PARAGRAPH = 4096
VALUE = 1 << 20
NAME = 255
TEXT = 255
LINE = 800
MESSAGE_ID = 64
PARAMETERS = 8
PAGE = 1024
POLICY_TEXT = 4096
POLICY_KEY = 128
STORE_TEXT = 511
ITEM_TEXT = 16_384
ATTRIBUTES = 128
COLLECTIONS = 256
TEXTS = 4096
COLLECTION_TEXT = 1024
ALIAS_TEXT = 200
FLEET_TEXT = 256
URL_TEXT = 2048
FLOWS = 8
UNKNOWN_UID = 0xFFFFFFFF
NO_HANDLE = bytes(16)

OUTCOMES = ["success", "authError", "maxTries", "userUnknown", "permissionDenied", "unavailable", "ignore"]
STANDINGS = {"usable": 1, "away": 2, "moved": 3, "gone": 4}
PURPOSES = {
    "passcode": 1,
    "newPasscode": 2,
    "confirmPasscode": 3,
    "loginPassword": 4,
    "passphrase": 5,
    "newPassphrase": 6,
    "confirmPassphrase": 7,
    "recoveryKey": 8,
    "former": 9,
    "acknowledge": 10,
    "choice": 11,
}
FRONT_ENDS = {"pamAuth": 1, "pamPassword": 2, "pamSession": 3, "terminal": 4, "program": 5, "dialog": 6,
              "device": 7}
FINGER_USES = {"byService": 0, "first": 1, "onEmpty": 2, "only": 3, "off": 4}
PRESENCES = {"unseen": 0, "aside": 1, "inFront": 2}
FINGERS = {
    "unnamed": 0,
    "leftThumb": 1,
    "leftIndex": 2,
    "leftMiddle": 3,
    "leftRing": 4,
    "leftLittle": 5,
    "rightThumb": 6,
    "rightIndex": 7,
    "rightMiddle": 8,
    "rightRing": 9,
    "rightLittle": 10,
}
SCAN_EVENTS = {"place": 1, "stage": 2, "retry": 3, "ended": 4}
SCANS = {"press": 1, "swipe": 2}
MEMORIES = {"locked": 1, "unlocked": 2}
MACHINE_KEYS = ["untold", "none", "good", "missing", "unreadable"]
CLOCKS = ["believed", "beforeBuild", "jumped"]
WORKERS = {"works": 1, "missing": 2, "fails": 3}
SCREENS = {"page": 1, "form": 2, "document": 3, "list": 4, "scan": 5, "web": 6}
PICTURES = ["none", "logo", "lock", "key", "finger", "person", "people", "paper", "organisation", "warning", "done",
            "code"]
TEXT_ROLES = {"heading": 1, "paragraph": 2, "item": 3, "link": 4, "hint": 5, "error": 6, "page": 7}
FORM_FIELDS = {"secret": 1, "text": 2, "name": 3, "email": 4, "number": 5}
MARKS = ["none", "current"]
CONSENT_KINDS = {"licence": 1, "required": 2, "optional": 3}
CONSENT_ANSWERS = ["open", "yes", "no"]
CHOICE_ROLES = {"primary": 1, "other": 2, "grave": 3, "cancel": 4}
STYLES = {"info": 0, "error": 1}
ABORTS = {"cancelled": 0, "conversationFailed": 1, "answerTooLong": 2}
WAYS = {"followLogin": 1, "ownPasscode": 2, "noPasscode": 3, "usuallyFollowLogin": 4, "usuallyOwnPasscode": 5,
        "followStore": 6, "shared": 7, "configuration": 8, "guidedFollowLogin": 9, "guidedOwnPasscode": 10}
MEMBER_KINDS = {"person": 1, "group": 2, "everybody": 3}
ROLES = ["none", "owner", "writer", "reader"]
DEMANDS = {"open": 1, "finger": 2, "passcode": 3}
ON_LOCK = {"freeze": 1, "quit": 2, "stay": 3}
BACKGROUNDS = {"never": 0, "immediate": 1, "timeout": 2}
HAPPENINGS = {"locked": 1, "opened": 2, "changed": 3, "fingerAdded": 4, "left": 5, "cameBack": 6, "told": 7,
              "members": 8, "records": 9, "removed": 10}
SWITCHES = {"open": 0, "ask": 1, "add": 2, "tell": 3, "agree": 4, "disagree": 5, "agreed": 6}
CHANGES = {"change": 1, "turnOff": 2, "turnOn": 3, "followLogin": 4, "ownPasscode": 5}
KINDS = ["own", "follows", "shared", "configuration"]
LOCKS = ["absent", "locked", "unlocked", "erased", "retryLocked", "damaged", "ownerChanged", "barred"]
SOURCES = ["unknown", "user", "device"]
PASSCODES = ["unknown", "none", "passcode", "passcodeAndFingerprint"]
PENDING = ["none", "policy", "migration", "recovery", "expired"]
MEETS = ["unknown", "yes", "no"]
MODES = {"administrators": 1, "standard": 2, "noPasscodeMode": 3}
RULES = {"match": 1, "reject": 2, "dictionary": 3}
DAMAGES = {"broken": 1, "unproven": 2, "missing": 3}
FINDINGS = ["satisfied", "unmet", "notChecked"]
CERTAINTIES = ["certain", "ifFallsShort"]
ORIGINS = ["builtIn", "catalogue", "administrator"]
CODES = {
    "unknown": 0,
    "alreadyExists": 1,
    "dataType": 2,
    "doesNotExist": 3,
    "invalidArgument": 4,
    "invalidPasscode": 5,
    "locked": 6,
    "outOfMemory": 7,
    "passcodeExpired": 8,
    "passcodeRequired": 9,
    "requiresDigit": 10,
    "requiresLower": 11,
    "requiresSpecial": 12,
    "requiresUpper": 13,
    "underMinLength": 14,
    "underMinUniqueCharacters": 15,
    "deleted": 16,
    "requiresGroups": 17,
    "digitsOnly": 18,
    "sequence": 19,
    "dictionary": 20,
    "reused": 21,
    "ruleFailed": 22,
    "retryLimitReached": 23,
    "throttled": 24,
    "policyDenies": 25,
    "invalidAction": 26,
    "cancelled": 27,
    "fingerprintUnavailable": 28,
    "fingerprintNoMatch": 29,
    "notPermitted": 30,
    "serviceUnavailable": 31,
    "storeDamaged": 32,
    "tooLarge": 33,
    "protocolError": 34,
    "busy": 35,
    "changeRequired": 36,
    "noMatch": 37,
    "sameAsCurrent": 38,
    "resetRequested": 39,
    "skipped": 40,
    "recoveryKeyInvalid": 41,
    "policyBroken": 42,
    "storageFailed": 43,
}


class WireError(Exception):
    """These bytes are not a message."""


def _bytes(value):
    return value.encode() if isinstance(value, str) else bytes(value)


class Writer:
    def __init__(self):
        self.out = bytearray()

    def number(self, size, value):
        self.out += int(value).to_bytes(size, "little", signed=value < 0)

    def text(self, value):
        value = _bytes(value)
        self.number(2, len(value))
        self.out += value

    def payload(self, value):
        value = _bytes(value)
        self.number(4, len(value))
        self.out += value


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise WireError("cut short")
        piece = self.data[self.at : self.at + count]
        self.at += count
        return bytes(piece)

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def text(self, limit):
        count = self.number(2)
        if count > limit:
            raise WireError("field too long")
        return self.take(count)

    def payload(self, limit):
        count = self.number(4)
        if count > limit:
            raise WireError("field too long")
        return self.take(count)

    def end(self):
        if self.at != len(self.data):
            raise WireError("trailing bytes")


class Kind:
    """How one field is written and read, and its value when it is left out."""

    def __init__(self, default, write, read):
        self.default, self.write, self.read = default, write, read


def _integer(size, signed=False):
    return Kind(0, lambda w, v: w.number(size, v), lambda r: r.number(size, signed))


def _read_flag(reader):
    value = reader.number(1)
    if value > 1:
        raise WireError("unknown value")
    return bool(value)


def _read_text(limit):
    def read(reader):
        value = reader.text(limit)
        try:
            text = value.decode()
        except UnicodeDecodeError as error:
            raise WireError("not text") from error
        if "\0" in text:
            raise WireError("not text")
        return text

    return read


def _choice(names):
    """An enum of the protocol: written from its name or its number, read as its name."""
    numbers = dict(names) if isinstance(names, dict) else {name: index for index, name in enumerate(names)}
    back = {number: name for name, number in numbers.items()}

    def read(reader):
        number = reader.number(1)
        if number not in back:
            raise WireError("unknown value")
        return back[number]

    first = next(iter(numbers))
    return Kind(first, lambda w, v: w.number(1, numbers[v] if isinstance(v, str) else v), read)


def _fixed(count):
    def write(writer, value):
        if len(value) != count:
            raise ValueError(f"{count} bytes")
        writer.out += value

    return Kind(bytes(count), write, lambda r: r.take(count))


def _write_subject(writer, value):
    name, uid = value
    writer.text(name)
    writer.number(4, uid)


def _write_line(writer, value):
    if isinstance(value, (str, bytes)):
        value = ("", [], value)
    name, arguments, text = value
    writer.text(name)
    writer.number(1, len(arguments))
    for argument in arguments:
        writer.text(argument)
    writer.text(text)


def _read_line(reader):
    name = _read_text(MESSAGE_ID)(reader)
    count = reader.number(1)
    if count > PARAMETERS:
        raise WireError("field too long")
    arguments = [_read_text(LINE)(reader) for _ in range(count)]
    return (name, arguments, _read_text(LINE)(reader))


def _write_parameters(writer, value):
    pairs = list(value.items()) if isinstance(value, dict) else list(value)
    writer.number(1, len(pairs))
    for name, text in pairs:
        writer.text(name)
        writer.text(text)


def _read_parameters(reader):
    count = reader.number(1)
    if count > PARAMETERS:
        raise WireError("field too long")
    return {_read_text(MESSAGE_ID)(reader): _read_text(LINE)(reader) for _ in range(count)}


def _entries(*fields, most=PAGE):
    """A list of entries, each a dict of these fields."""

    def write(writer, value):
        writer.number(2, len(value))
        for entry in value:
            for name, kind in fields:
                kind.write(writer, entry.get(name, kind.default))

    def read(reader):
        count = reader.number(2)
        if count > most:
            raise WireError("field too long")
        return [{name: kind.read(reader) for name, kind in fields} for _ in range(count)]

    return Kind([], write, read)


def _part(*fields):
    """A dict of these fields."""

    def write(writer, value):
        for name, kind in fields:
            kind.write(writer, value.get(name, kind.default))

    return Kind({}, write, lambda reader: {name: kind.read(reader) for name, kind in fields})


def _write_attributes(writer, value):
    pairs = list(value.items()) if isinstance(value, dict) else list(value)
    writer.number(2, len(pairs))
    for pair in pairs:
        name, text = pair.values() if isinstance(pair, dict) else pair
        writer.text(name)
        writer.text(text)


def _read_attributes(reader):
    count = reader.number(2)
    if count > ATTRIBUTES:
        raise WireError("field too long")
    return {_read_text(ITEM_TEXT)(reader): _read_text(ITEM_TEXT)(reader) for _ in range(count)}


def _write_ids(writer, value):
    writer.number(2, len(value))
    for each in value:
        writer.out += each


def _read_ids(least):
    def read(reader):
        count = reader.number(2)
        if not least <= count <= PAGE:
            raise WireError("field too long")
        return [reader.take(16) for _ in range(count)]

    return read


def _write_names(writer, value):
    writer.number(2, len(value))
    for name in value:
        writer.text(name)


def _read_names(reader):
    count = reader.number(2)
    if count > PAGE:
        raise WireError("field too long")
    return [reader.text(NAME) for _ in range(count)]


U8, U16, U32, U64, I32 = _integer(1), _integer(2), _integer(4), _integer(8), _integer(4, True)
FLAG = Kind(False, lambda w, v: w.number(1, int(v)), _read_flag)
SHORT = Kind("", lambda w, v: w.text(v), _read_text(TEXT))
LONG = Kind("", lambda w, v: w.text(v), _read_text(LINE))
RECORD_NAME = Kind(b"", lambda w, v: w.text(v), lambda r: r.text(NAME))
SUBJECT = Kind(("", UNKNOWN_UID), _write_subject, lambda r: (_read_text(TEXT)(r), r.number(4)))
LINE_KIND = Kind(("", [], ""), _write_line, _read_line)
PARAMETERS_KIND = Kind({}, _write_parameters, _read_parameters)
NAMES_KIND = Kind([], _write_names, _read_names)
ID = Kind("", lambda w, v: w.text(v), _read_text(MESSAGE_ID))
KEY = Kind("", lambda w, v: w.text(v), _read_text(POLICY_KEY))
POLICY_LINE = Kind("", lambda w, v: w.text(v), _read_text(POLICY_TEXT))
FLOW_LIST = Kind(b"", lambda w, v: w.text(v), lambda r: r.text(FLOWS))
HANDLE = _fixed(16)
VERSION_KIND = Kind(VERSION, U16.write, U16.read)
LINES = _choice(STYLES)

STORE = Kind("", lambda w, v: w.text(v), _read_text(STORE_TEXT))
TARGET = [("subject", SUBJECT), ("store", STORE)]
SESSION = [("subject", SUBJECT), ("id", SHORT), ("sessionClass", SHORT)]
RECORD = [("store", STORE), ("name", RECORD_NAME)]
ITEM_LABEL = Kind("", lambda w, v: w.text(v), _read_text(ITEM_TEXT))
COLLECTION_LABEL = Kind("", lambda w, v: w.text(v), _read_text(COLLECTION_TEXT))
ALIAS = Kind("", lambda w, v: w.text(v), _read_text(ALIAS_TEXT))
FLEET = Kind("", lambda w, v: w.text(v), _read_text(FLEET_TEXT))
URL = Kind("", lambda w, v: w.text(v), _read_text(URL_TEXT))
ATTRIBUTES_KIND = Kind({}, _write_attributes, _read_attributes)
ITEM = [
    ("id", _fixed(16)), ("collection", _fixed(16)), ("label", ITEM_LABEL), ("contentType", SHORT),
    ("attributes", ATTRIBUTES_KIND), ("created", U64), ("modified", U64),
]
TAKEN = [("version", U64), ("signed", U64), ("expires", U64), ("url", URL)]
COLLECTION = [("id", _fixed(16)), ("label", COLLECTION_LABEL), ("created", U64), ("modified", U64)]
SCREEN_TEXT = [("role", _choice(TEXT_ROLES)), ("text", Kind("", lambda w, v: w.text(v), _read_text(PARAGRAPH)))]
CHECKED = [("id", SHORT), ("finding", _choice(FINDINGS)), ("wants", LONG), ("reason", LONG)]
CHUNK = [("done", U64), ("total", U64), ("last", FLAG)]


class Shape:
    def __init__(self, number, fields=(), payloads=()):
        self.number, self.fields, self.payloads = number, list(fields), list(payloads)


MESSAGES = {
    # requests
    "hello": Shape(
        0x02,
        [
            ("version", VERSION_KIND),
            ("frontEnd", _choice(FRONT_ENDS)),
            ("oneSecret", FLAG),
            ("silent", FLAG),
            ("realUID", U32),
            ("service", SHORT),
            ("tty", SHORT),
            ("remoteHost", SHORT),
            ("remoteUser", SHORT),
            ("language", SHORT),
        ],
    ),
    "reply": Shape(0x04, [("question", U32)], [SECRET]),
    "abort": Shape(0x06, [("question", U32), ("reason", _choice(ABORTS))]),
    "answer": Shape(0x08, [("question", U32), ("choice", U8), ("item", U8)], [ANSWERS]),
    "draft": Shape(0x0A, [("question", U32), ("field", U8)], [SECRET]),
    "authenticate": Shape(
        0x10,
        [
            ("subject", SUBJECT), ("orPassword", FLAG), ("tokenOnly", FLAG), ("enforce", FLAG),
            ("finger", _choice(FINGER_USES)), ("fingerSeconds", U8), ("presence", _choice(PRESENCES)),
            ("setsToken", FLAG),
        ],
        [SECRET],
    ),
    "unlock": Shape(0x12, [("subject", SUBJECT), ("handle", HANDLE)], [SECRET]),
    "confirm": Shape(0x14, [("handle", HANDLE)]),
    "sessionOpen": Shape(0x16, SESSION),
    "sessionClose": Shape(0x18, SESSION),
    "password": Shape(0x1A, [("subject", SUBJECT)], [SECRET, SECRET]),
    "passwordRules": Shape(0x1C, [("subject", SUBJECT)], [SECRET, SECRET]),
    "status": Shape(0x20, TARGET),
    "create": Shape(
        0x22,
        TARGET + [
            ("way", _choice(WAYS)), ("openExisting", FLAG), ("parent", SHORT), ("id", _fixed(16)), ("policyKey", KEY),
        ],
    ),
    "openStore": Shape(0x24, TARGET),
    "lock": Shape(0x26, TARGET),
    "passcode": Shape(0x28, TARGET + [("change", _choice(CHANGES))]),
    "recoveryNew": Shape(0x2A, TARGET),
    "recover": Shape(0x2C, TARGET),
    "reset": Shape(0x2E, TARGET),
    "resync": Shape(0x30, TARGET),
    "triesClear": Shape(0x32, TARGET),
    "chown": Shape(0x34, [("store", _fixed(16)), ("owner", SUBJECT)]),
    "offerRecovery": Shape(0x36, TARGET),
    "actions": Shape(0x38, TARGET),
    "mend": Shape(0x3A, TARGET),
    "hold": Shape(0x3C, TARGET + [("seconds", U32)]),
    "watch": Shape(0x3E, [("records", FLAG)]),
    "rename": Shape(0x90, TARGET + [("name", SHORT)]),
    "stores": Shape(0x92, [("subject", SUBJECT), ("all", FLAG), ("cursor", U32)]),
    "recoveryDelete": Shape(0x94, TARGET),
    "share": Shape(
        0x96, TARGET + [("kind", _choice(MEMBER_KINDS)), ("name", SHORT), ("role", _choice(ROLES))]),
    "unshare": Shape(0x98, TARGET + [("kind", _choice(MEMBER_KINDS)), ("name", SHORT)]),
    "members": Shape(0x9A, TARGET),
    "get": Shape(0x40, RECORD),
    "set": Shape(0x42, RECORD, [VALUE]),
    "delete": Shape(0x44, RECORD),
    "list": Shape(0x46, [("store", STORE), ("prefix", RECORD_NAME), ("cursor", U64)]),
    "exportBegin": Shape(0x48, TARGET),
    "exportNext": Shape(0x4A),
    "importBegin": Shape(0x4C, TARGET + [("replace", FLAG)], [VALUE]),
    "importChunk": Shape(0x4E, CHUNK, [VALUE]),
    "policyShow": Shape(0x50, TARGET),
    "policyCheck": Shape(0x52, TARGET + [("custom", FLAG)], [SECRET]),
    "policyPreview": Shape(0x54, [("subject", SUBJECT), ("file", LONG)], [VALUE]),
    "texts": Shape(0x56),
    "fingerprintList": Shape(0x60, TARGET),
    "fingerprintEnroll": Shape(0x62, TARGET + [("finger", _choice(FINGERS))]),
    "fingerprintVerify": Shape(0x64, TARGET),
    "fingerprintDelete": Shape(0x66, TARGET + [("finger", _choice(FINGERS))]),
    "fingerprintSwitch": Shape(0x68, TARGET + [("on", FLAG)]),
    "keyringForget": Shape(0x6A, TARGET),
    "fingerprintClear": Shape(0x6C, [("reader", SHORT), ("agreed", FLAG)]),
    "health": Shape(0x70),
    "appRules": Shape(0x80, TARGET + [("id", SHORT), ("demand", _choice(DEMANDS))]),
    "appOpen": Shape(0x82, TARGET + [("id", SHORT), ("demand", _choice(DEMANDS))]),
    "itemPut": Shape(0xA0, [("store", STORE), ("item", _part(*ITEM)), ("replace", FLAG)], [VALUE]),
    "itemFind": Shape(
        0xA2,
        [
            ("store", STORE), ("isOneCollection", FLAG), ("collection", _fixed(16)), ("attributes", ATTRIBUTES_KIND),
            ("cursor", U64),
        ],
    ),
    "itemSecrets": Shape(0xA4, [("store", STORE), ("ids", Kind([], _write_ids, _read_ids(1)))]),
    "itemChange": Shape(
        0xA6,
        [("store", STORE), ("item", _part(*ITEM)), ("label", FLAG), ("attributes", FLAG), ("secret", FLAG)],
        [VALUE],
    ),
    "itemDelete": Shape(0xA8, [("store", STORE), ("id", _fixed(16))]),
    "itemChanges": Shape(0xAA, [("store", STORE), ("opening", U64), ("since", U64), ("cursor", U64)]),
    "collectionPut": Shape(0xAC, [("store", STORE), ("isNew", FLAG), ("collection", _part(*COLLECTION))]),
    "collectionDelete": Shape(0xAE, [("store", STORE), ("id", _fixed(16))]),
    "aliasSet": Shape(0xB0, [("store", STORE), ("name", ALIAS), ("isNone", FLAG), ("collection", _fixed(16))]),
    "fleetStatus": Shape(0xC0),
    "fleetJoin": Shape(0xC2, (), [VALUE]),
    "fleetImport": Shape(0xC4, (), [VALUE]),
    "fleetLeave": Shape(0xC6),
    "fleetFetch": Shape(0xC8),
    "consentAsk": Shape(0xCA, [("again", FLAG)]),
    "consents": Shape(0xCC),
    "switchStore": Shape(0xCE, [("store", STORE), ("act", _choice(SWITCHES))]),
    "joinAsk": Shape(0xD6, [("invitation", URL)]),
    # answers
    "consentList": Shape(
        0xCD,
        [
            ("organisation", FLEET),
            (
                "items",
                _entries(
                    ("id", ID), ("kind", _choice(CONSENT_KINDS)), ("title", LONG), ("version", U32),
                    ("answer", _choice(CONSENT_ANSWERS)), ("answeredAt", U64), most=16),
            ),
        ],
    ),
    "fleetState": Shape(
        0xC1,
        [("organisation", FLEET), ("contact", FLEET), ("policy", _part(*TAKEN)), ("orders", _part(*TAKEN)),
         ("isFinal", FLAG), ("offlineDays", U32), ("lockAfter", U32), ("wipeAfter", U32), ("problem", LONG),
         ("reportURL", URL), ("fetchedAt", U64), ("fetchProblem", LONG)],
    ),
    "item": Shape(0xA1, ITEM),
    "itemList": Shape(0xA3, [("cursor", U64), ("items", _entries(*ITEM))]),
    "secrets": Shape(
        0xA5,
        [("done", U16), ("entries", _entries(("id", _fixed(16)), ("contentType", SHORT), ("length", U32)))],
        [VALUE],
    ),
    "itemNews": Shape(
        0xAB,
        [
            ("opening", U64), ("now", U64), ("isAnew", FLAG), ("cursor", U64),
            ("collections", _entries(*COLLECTION, most=COLLECTIONS)),
            ("aliases", _entries(("name", ALIAS), ("collection", _fixed(16)), most=COLLECTIONS)),
            ("items", _entries(*ITEM)),
            ("gone", Kind([], _write_ids, _read_ids(0))),
        ],
    ),
    "collection": Shape(0xAD, COLLECTION),
    "welcome": Shape(0x03, [("version", VERSION_KIND), ("software", SHORT)]),
    "show": Shape(0x05, [("style", LINES), ("line", LINE_KIND)]),
    "ask": Shape(
        0x07, [("question", U32), ("purpose", _choice(PURPOSES)), ("echo", FLAG), ("line", LINE_KIND)]
    ),
    "working": Shape(0x09),
    "refused": Shape(0x0B, [("code", U16), ("parameters", PARAMETERS_KIND), ("message", LONG), ("hint", LONG)]),
    "done": Shape(0x0D, [("line", LINE_KIND)]),
    "reveal": Shape(0x0F, [("line", LINE_KIND)], [SECRET]),
    "verdict": Shape(0x11, [("outcome", _choice(OUTCOMES)), ("code", U16), ("handle", HANDLE)]),
    "scan": Shape(
        0x13, [("question", U32), ("event", _choice(SCAN_EVENTS)), ("stage", U8), ("stages", U8), ("line", LINE_KIND)]
    ),
    "screen": Shape(
        0x15,
        [
            ("question", U32),
            ("kind", _choice(SCREENS)),
            ("id", ID),
            ("picture", _choice(PICTURES)),
            ("step", U8),
            ("steps", U8),
            ("lines", _entries(*SCREEN_TEXT, most=8)),
            (
                "formFields",
                _entries(
                    ("kind", _choice(FORM_FIELDS)), ("id", ID), ("label", LONG), ("prefill", SHORT),
                    ("purpose", _choice(PURPOSES)), ("isJudged", FLAG),
                    most=12),
            ),
            ("rules", _entries(*CHECKED, most=64)),
            ("items", _entries(("id", ID), ("title", LONG), ("subtitle", LONG), ("mark", _choice(MARKS)), most=255)),
            (
                "choices",
                _entries(
                    ("id", ID), ("role", _choice(CHOICE_ROLES)), ("label", LONG), ("needs", U16), ("needsItem", FLAG),
                    most=8),
            ),
            ("document", _entries(*SCREEN_TEXT, most=4096)),
        ],
    ),
    "findings": Shape(0x17, [("question", U32), ("entries", _entries(*CHECKED, most=64))]),
    "state": Shape(
        0x21,
        [
            ("lock", _choice(LOCKS)),
            ("passcode", _choice(PASSCODES)),
            ("followsLogin", FLAG),
            ("hasRecoveryKey", FLAG),
            ("store", _fixed(16)),
            ("name", SHORT),
            ("owner", SUBJECT),
            ("kind", _choice(KINDS)),
            ("parent", SHORT),
            ("role", _choice(ROLES)),
            ("members", U16),
            ("policyKey", KEY),
            ("ownTriesLeft", I32),
            ("apartTriesLeft", I32),
            ("throttledSeconds", U32),
            ("apartThrottledSeconds", U32),
            ("records", U64),
            ("used", U64),
            ("quota", U64),
            ("passcodeSetAt", U64),
            ("passcodeSource", _choice(SOURCES)),
            ("expiresAt", U64),
            ("idleTimeout", U32),
            ("heldUntil", U64),
            ("fingerOpens", FLAG),
            ("pending", FLOW_LIST),
            ("pendingReason", _choice(PENDING)),
            ("meetsRules", _choice(MEETS)),
            ("recoveryOffer", FLAG),
            ("sessions", U32),
            ("trouble", LONG),
            ("advice", LONG),
        ],
    ),
    "event": Shape(0x3F, [("what", _choice(HAPPENINGS)), ("store", _fixed(16)), ("name", STORE)]),
    "actionList": Shape(
        0x39,
        [
            (
                "actions",
                _entries(("name", ID), ("allowed", FLAG), ("code", U16), ("reason", LONG), ("verb", SHORT)),
            )
        ],
    ),
    "policyValues": Shape(
        0x51,
        [
            ("mode", _choice(MODES)),
            ("problem", POLICY_LINE),
            (
                "values",
                _entries(("key", SHORT), ("value", POLICY_LINE), ("file", LONG), ("line", U32), ("actedOn", FLAG)),
            ),
            (
                "rules",
                _entries(("name", ID), ("display", LONG), ("kind", _choice(RULES)), ("file", LONG), ("line", U32)),
            ),
        ],
    ),
    "checklist": Shape(
        0x53,
        [("entries", _entries(*CHECKED))],
    ),
    "preview": Shape(
        0x55,
        [
            ("total", U32),
            (
                "stores",
                _entries(
                    ("store", _fixed(16)),
                    ("owner", SHORT),
                    ("name", SHORT),
                    ("flows", FLOW_LIST),
                    ("certainty", _choice(CERTAINTIES)),
                    ("reason", LONG),
                ),
            ),
        ],
    ),
    "textList": Shape(
        0x57, [("texts", _entries(("id", ID), ("text", LONG), ("origin", _choice(ORIGINS)), most=TEXTS))]),
    "fingerprintState": Shape(
        0x61,
        [
            ("on", FLAG),
            ("ready", FLAG),
            ("failuresLeft", U8),
            ("unavailable", LONG),
            ("advice", LONG),
            (
                "readers",
                _entries(
                    ("name", SHORT),
                    ("driver", SHORT),
                    ("scan", _choice(SCANS)),
                    ("stages", U8),
                    ("identifies", FLAG),
                    ("stores", FLAG),
                    ("isInternal", FLAG),
                    ("port", SHORT),
                ),
            ),
            (
                "fingers",
                _entries(
                    ("finger", _choice(FINGERS)), ("reader", SHORT), ("at", U64), ("standing", _choice(STANDINGS))),
            ),
            ("foreign", U16),
            ("keepsPassword", FLAG),
        ],
    ),
    "token": Shape(0x6B, [], [SECRET]),
    "storeList": Shape(
        0x93,
        [
            ("cursor", U32),
            (
                "stores",
                _entries(
                    ("store", _fixed(16)), ("name", SHORT), ("owner.name", SHORT), ("owner.uid", U32),
                    ("kind", _choice(KINDS)),
                    ("parent", SHORT), ("lock", _choice(LOCKS)), ("passcode", _choice(PASSCODES)), ("policyKey", KEY),
                    ("createdAt", U64), ("records", U64), ("bytes", U64), ("role", _choice(ROLES)),
                    ("members", U16),
                ),
            ),
        ],
    ),
    "memberList": Shape(
        0x9B,
        [
            (
                "members",
                _entries(
                    ("kind", _choice(MEMBER_KINDS)), ("name", SHORT), ("number", U32), ("role", _choice(ROLES)),
                    ("isPending", FLAG), ("isByGroup", FLAG), ("addedAt", U64),
                ),
            ),
            ("newKeyIsDue", FLAG),
        ],
    ),
    "appPolicy": Shape(
        0x81,
        [
            ("demand", _choice(DEMANDS)),
            ("onLock", _choice(ON_LOCK)),
            ("onLockIsWritten", FLAG),
            ("background", _choice(BACKGROUNDS)),
            ("timeout", U32),
            ("store", SHORT),
        ],
    ),
    "healthReport": Shape(
        0x71,
        [
            ("pid", U32),
            ("uid", U32),
            ("stateFolder", LONG),
            ("configFolder", LONG),
            ("memory", _choice(MEMORIES)),
            ("machineKey", _choice(MACHINE_KEYS)),
            ("clock", _choice(CLOCKS)),
            ("stores", U32),
            ("damaged", U32),
            ("rules", _choice(WORKERS)),
            ("rulesReason", LONG),
            ("fingerprints", _choice(WORKERS)),
            ("fingerprintsReason", LONG),
            ("readers", _entries(("name", SHORT), ("driver", SHORT), ("isInternal", FLAG))),
            ("ownerless", _entries(("store", _fixed(16)))),
        ],
    ),
    "value": Shape(0x41, [], [VALUE]),
    "names": Shape(0x47, [("cursor", U64), ("names", NAMES_KIND)]),
    "damaged": Shape(
        0x49, [("records", _entries(("kind", _choice(DAMAGES)), ("id", U64), ("name", RECORD_NAME)))]),
    "chunk": Shape(0x4B, CHUNK, [VALUE]),
    "progress": Shape(0x4F, CHUNK),
}
BY_NUMBER = {shape.number: name for name, shape in MESSAGES.items()}


class Message:
    """One decoded frame. Its fields are attributes as well; a field `name` is only in `fields`."""

    def __init__(self, name, tag, fields, payloads=()):
        self.name, self.tag, self.fields, self.payloads = name, tag, fields, list(payloads)

    def __getattr__(self, name):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name):
        return self.fields[name]

    @property
    def payload(self):
        return self.payloads[0]

    def __repr__(self):
        return f"<{self.name} tag={self.tag} {self.fields} payloads={len(self.payloads)}>"


def raw_frame(number, tag, body):
    return struct.pack("<IHI", len(body), number, tag) + body


def encode(name, /, tag=2, payloads=(), **fields):
    shape = MESSAGES[name]
    writer = Writer()
    for field, kind in shape.fields:
        kind.write(writer, fields.pop(field) if field in fields else kind.default)
    if fields:
        raise TypeError(f"{name} has no {', '.join(fields)}")
    payloads = list(payloads) + [b""] * (len(shape.payloads) - len(payloads))
    if len(payloads) != len(shape.payloads):
        raise TypeError(f"{name} has {len(shape.payloads)} payloads")
    for payload in payloads:
        writer.payload(payload)
    return raw_frame(shape.number, tag, bytes(writer.out))


def decode(number, tag, body):
    name = BY_NUMBER.get(number)
    if name is None:
        raise WireError(f"unknown type {number:#x}")
    shape, reader = MESSAGES[name], Reader(body)
    fields = {field: kind.read(reader) for field, kind in shape.fields}
    payloads = [reader.payload(limit) for limit in shape.payloads]
    reader.end()
    return Message(name, tag, fields, payloads)


def decode_some(buffer, limit=FRAME):
    """The first message of a buffer and the bytes after it; (None, buffer) until it is complete."""
    if len(buffer) < 10:
        return None, buffer
    length, number, tag = struct.unpack("<IHI", buffer[:10])
    if length > limit:
        raise WireError("too long")
    if len(buffer) < 10 + length:
        return None, buffer
    return decode(number, tag, buffer[10 : 10 + length]), buffer[10 + length :]


class Channel:
    """A connected socket that sends and receives messages."""

    def __init__(self, connected):
        self.socket, self.buffer = connected, b""

    def send(self, name, /, tag=2, payloads=(), **fields):
        self.socket.sendall(encode(name, tag, payloads, **fields))

    def send_raw(self, data):
        self.socket.sendall(data)

    def receive(self, timeout=10.0):
        """The next message; None if the other side hung up between two messages."""
        end = time.monotonic() + timeout
        while True:
            message, self.buffer = decode_some(self.buffer)
            if message is not None:
                return message
            self.socket.settimeout(max(0.001, end - time.monotonic()))
            data = self.socket.recv(65536)
            if not data:
                if self.buffer:
                    raise WireError("hung up within a frame")
                return None
            self.buffer += data

    def close(self):
        self.socket.close()


class Client(Channel):
    """A front end for tests of the real daemon.

        with Client(path) as client:
            client.hello(frontEnd="program")
            client.run("unlock", payloads=[b"..."], subject=("alice", 1000))

    `answers` is a list of replies, or a function from the ask to one; None aborts.
    """

    def __init__(self, path, timeout=10.0):
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.settimeout(timeout)
        end = time.monotonic() + timeout
        while True:
            try:
                connected.connect(path)
                break
            except BlockingIOError:
                # The listener's queue is full.
                if time.monotonic() > end:
                    connected.close()
                    raise
                time.sleep(0.001)
            except OSError:
                connected.close()
                raise
        super().__init__(connected)
        self.timeout, self.tag, self.shown, self.asked, self.revealed, self.tokens = timeout, 0, [], [], [], []
        self.damaged, self.screens = [], []
        # From a screen to the place of a choice, and what is typed into each field; None aborts. A front end that
        # draws greets with version 2.
        self.draws = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def hello(self, frontEnd="program", realUID=None, **fields):
        """Sends the greeting and returns the welcome (or the refusal)."""
        import os

        self.tag += 1
        uid = os.getuid() if realUID is None else realUID
        self.send("hello", self.tag, frontEnd=frontEnd, realUID=uid, **fields)
        return self.receive(self.timeout)

    def run(self, request, /, answers=(), payloads=(), **fields):
        """Runs one request to its last answer: done, refused, verdict, state, value, names,
        chunk or progress."""
        self.tag += 1
        self.send(request, self.tag, payloads, **fields)
        return self.follow(answers)

    def answer(self, screen, choice=0, values=(), item=0):
        typed = b"".join(len(_bytes(value)).to_bytes(2, "little") + _bytes(value) for value in values)
        self.send("answer", self.tag, [typed], question=screen.question, choice=choice, item=item)

    def draft(self, screen, field, typed):
        """What the rules say of it, by their ids."""
        self.send("draft", self.tag, [_bytes(typed)], question=screen.question, field=field)
        found = self.receive(self.timeout)
        if found is None or found.name != "findings":
            return found
        return {entry["id"]: entry["finding"] for entry in found.entries}

    def follow(self, answers=()):
        left = None if callable(answers) else list(answers)
        while True:
            message = self.receive(self.timeout)
            if message is None:
                return None
            if message.tag != self.tag:
                raise WireError(f"{message} is no answer to {self.tag}")
            if message.name == "show":
                self.shown.append(message.line[2])
            elif message.name == "reveal":
                self.revealed.append(message.payload)
            elif message.name == "damaged":
                self.damaged += message.records
            elif message.name == "token":
                self.tokens.append(message.payload)
            elif message.name == "ask":
                if message.purpose == "acknowledge" and self.revealed:
                    # The front end says that it has shown the secret.
                    self.send("reply", self.tag, [b""], question=message.question)
                    continue
                self.asked.append(message)
                answer = answers(message) if left is None else (left.pop(0) if left else None)
                if answer is None:
                    self.send("abort", self.tag, question=message.question)
                else:
                    self.send("reply", self.tag, [_bytes(answer)], question=message.question)
            elif message.name == "screen":
                self.screens.append(message)
                answer = self.draws(message) if self.draws else None
                if answer is None:
                    self.send("abort", self.tag, question=message.question)
                else:
                    self.answer(message, *answer)
            elif message.name != "working":
                return message
