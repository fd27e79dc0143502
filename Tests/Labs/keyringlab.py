"""A login by finger with `set_authtok`: the store keeps the login password, and a module after
ours looks at it."""

import touchlab
from daemonlab import answers
from pamlab import PAM_SUCCESS
from touchlab import Touching
from wayslab import LOGIN, PASSCODE

OPTIONS = "or_password set_authtok fingerprint=on-empty"
NONE = "(none)"
SEALED = 13


class Case(touchlab.Case):
    """Way (b): a passcode of its own, before pam_unix; a module after ours looks at the token."""

    def setUp(self):
        super().setUp()
        self.person = self.machine.daemon.person
        self.profile()

    def profile(self, service="login", options=OPTIONS, password=LOGIN, behind=()):
        """Our profile, as pam-auth-update writes it, with a keyring module after it."""
        self.machine.stack(
            service, f"auth [success=2 default=ignore] {{ours}} {options}",
            f"auth [success=1 default=ignore] {{lab}} want={password}", "auth requisite pam_deny.so",
            "auth required pam_permit.so", "auth optional {ours} unlock", "auth optional {lab} look=TOKEN", *behind)

    def enter(self, typed, *fingers, service="login", confirm=True, **items):
        """A login with the locked store; returns the token that the module after ours found,
        None if the login failed."""
        self.machine.lock()
        talk = Touching(self.worker, typed, fingers)
        with self.machine.login(service, talk, tty=":0", **items) as login:
            if login.authenticate() != PAM_SUCCESS:
                return None
            if confirm:
                self.assertEqual(login.setcred(), PAM_SUCCESS)
            return login.getenv("TOKEN")

    def by_finger(self, **more):
        return self.enter([""], "alice", **more)

    def teach(self, password=LOGIN, **more):
        self.assertEqual(self.enter([password], **more), password)

    def passcode(self):
        """Types the passcode; from here on fingers open the store."""
        self.assertEqual(self.machine.daemon.unlock(PASSCODE).name, "done")
        self.machine.lock()

    def root(self, request, *script, **fields):
        with self.machine.daemon.client(frontEnd="terminal") as client:
            return client.run(request, answers(*script), subject=self.person, **fields)

    def assertKept(self, kept):
        """Checks what the daemon says, and what is on the disk."""
        block = self.machine.daemon.blocks()[SEALED]
        self.assertEqual((self.root("fingerprintList").keepsPassword, any(block)), (kept, kept))

    def passwd(self, former, new):
        self.machine.stack("passwd", f"password required {{lab}} setold={former} set={new}", "password optional {ours}")
        with self.machine.login("passwd") as login:
            self.assertEqual(login.chauthtok(), PAM_SUCCESS)
