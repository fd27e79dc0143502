"""An organisation's web server: nginx with TLS on loopback, servers that behave badly, a proxy, and appvault-fetch.

    with Web(folder) as web, Worker(web.credentials()) as worker:
        web.publish("fleet.bundle", data)
        ...                                 # a daemon with --fetch-socket worker.socket
        web.statuses()                      # [200, 304]
"""

import ctypes
import datetime
import hashlib
import ipaddress
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from daemonlab import build, wait_until
from places import ROOT

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
CONFIG = """
daemon off;
worker_processes 1;
{user}
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/temp;
    proxy_temp_path {folder}/temp;
    fastcgi_temp_path {folder}/temp;
    uwsgi_temp_path {folder}/temp;
    scgi_temp_path {folder}/temp;
    {site}
}}
"""
SITE = """
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/{certificate}.pem;
        ssl_certificate_key {folder}/{certificate}.key;
        root {folder}/www;
        {server}
    }}
"""
REMOTE = "/lib/systemd/systemd-journal-remote"
DRAFT = """[Manifest]
Organisation=example.org
Bundle={kind}
Version={version}
Expires={expires}
{rest}"""
CHARTER = """Threshold=1
OrdersThreshold=1
[Keys]
anna={key}
[OrdersKeys]
anna={key}
"""
_libc = ctypes.CDLL(None, use_errno=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

# What an invitation of a test's names, and where its join file lies on a server.
JOIN_TOKEN = "Zm9vYmFyYmF6cXV4-_"
JOIN_FILE = ".well-known/appvault-join/" + JOIN_TOKEN


def invitation(host, file, token=JOIN_TOKEN):
    return f"appvault:join?v=1&h={host}&k=SHA256:{hashlib.sha256(file).hexdigest()}&t={token}"


class Authority:
    """A CA, and the files of what it signs: NAME.pem and NAME.key."""

    def __init__(self, folder, name):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.path = self._write(name, self._make(self.name, self.key, is_ca=True), self.key)

    def _make(self, name, key, days=(-1, 30), hosts=(), is_ca=False):
        now = datetime.datetime.utcnow()
        made = (
            x509.CertificateBuilder().subject_name(name).issuer_name(self.name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + datetime.timedelta(days=days[0]))
            .not_valid_after(now + datetime.timedelta(days=days[1]))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True))
        if hosts:
            names = [
                x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
                for host in hosts]
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return made.sign(self.key, hashes.SHA256())

    def _write(self, name, certificate, key):
        path = os.path.join(self.folder, name)
        with open(path + ".pem", "wb") as file:
            file.write(certificate.public_bytes(serialization.Encoding.PEM))
        with open(path + ".key", "wb") as file:
            file.write(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        return path

    def issue(self, file, name="localhost", hosts=("localhost", "127.0.0.1"), days=(-1, 30)):
        """The path of both files, without their ends."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._write(file, self._make(subject, key, days, hosts), key)


class Web:
    """nginx with one certificate; `server` is more of its configuration. With `journal` it is configured as the
    documents say, with that port of systemd-journal-remote's."""

    def __init__(self, authority, certificate="server", server="", journal=None):
        self.authority, self.port, self.published = authority, free_port(), 1_000_000
        self.folder = tempfile.mkdtemp(prefix="appvault-web-")
        for end in ("pem", "key"):
            shutil.copy(os.path.join(authority.folder, f"{certificate}.{end}"), self.folder)
        os.makedirs(os.path.join(self.folder, "www"))
        self.config = os.path.join(self.folder, "nginx.conf")
        site = SITE.format(folder=self.folder, port=self.port, certificate=certificate, server=server)
        if journal:
            site = self.documented(certificate, journal)
        with open(self.config, "w") as file:
            file.write(CONFIG.format(
                folder=self.folder, site=site, user="user root;" if os.geteuid() == 0 else ""))
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(
            [NGINX, "-p", self.folder, "-e", os.path.join(self.folder, "error.log"), "-c", self.config],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: _libc.prctl(1, signal.SIGTERM, 0, 0, 0))
        wait_until(self._listens, "nginx listens")

    def documented(self, certificate, journal):
        with open(os.path.join(ROOT, "docs", "fleet", "nginx.conf")) as file:
            text = file.read()
        for there, here in [
                ("    listen [::]:443 ssl;\n", ""), ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
                ("/etc/nginx/fleet/server", f"{self.folder}/{certificate}"),
                ("/etc/nginx/fleet/machines-ca.pem", self.authority.path + ".pem"),
                ("/srv/fleet", f"{self.folder}/www"), ("http://127.0.0.1:19532;", f"http://127.0.0.1:{journal};")]:
            assert there in text, there
            text = text.replace(there, here)
        return text

    def _listens(self):
        assert self.process.poll() is None, self.errors()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name="fleet.bundle", host="localhost"):
        return f"https://{host}:{self.port}/{name}"

    def publish(self, data, name="fleet.bundle"):
        """As one publishes: the whole file at once."""
        path = os.path.join(self.folder, "www", name)
        with open(path + ".new", "wb") as file:
            file.write(data)
        # nginx tells files apart by length and second.
        self.published += 1
        os.utime(path + ".new", (self.published, self.published))
        os.rename(path + ".new", path)

    def lines(self):
        try:
            with open(os.path.join(self.folder, "access.log")) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def statuses(self):
        return [int(line.split('" ')[1].split()[0]) for line in self.lines()]

    def errors(self):
        with open(os.path.join(self.folder, "error.log"), errors="replace") as file:
            return file.read()


class Publisher:
    """One who signs."""

    def __init__(self, folder):
        self.folder = folder
        self.run("minisign", "-G", "-W", "-p", "key.pub", "-s", "key")
        with open(self.path("key.pub")) as file:
            self.key = file.read().split("\n")[1]

    def path(self, name, data=None):
        path = os.path.join(self.folder, name)
        if data is not None:
            with open(path, "wb") as file:
                file.write(data)
        return path

    def run(self, *words):
        return subprocess.run(words, check=True, capture_output=True, cwd=self.folder).stdout

    def charter(self):
        return CHARTER.format(key=self.key)

    def join(self, urls):
        lines = "".join(f"{key}={url}\n" for key, url in urls.items())
        return self.path("join", (
            f"[Join]\nOrganisation=example.org\n{lines}TargetKey={'A' * 43}=\n"
            + self.charter()).encode())

    def bundle(self, version, kind="policy", policy="[Passcode]\nMinLength=11\n",
               expires="2099-01-01T00:00:00Z", **more):
        """Of the policy, with what people are asked to agree to (terms) or to sign in with (signin), or of the orders
        alone."""
        rest, part = {
            "policy": (self.charter(), "policy=" + self.path("policy.conf", policy.encode())),
            "orders": ("", "orders=" + self.path("orders", b"# nothing\n")),
        }[kind]
        parts = [part, *(f"{name}={self.path(name, text.encode())}" for name, text in more.items())]
        draft = DRAFT.format(kind=kind, version=version, expires=expires, rest=rest)
        manifest = self.run(build("appvault"), "fleet", "manifest", self.path("draft", draft.encode()), *parts)
        self.path("manifest", manifest)
        self.run("minisign", "-S", "-s", "key", "-m", "manifest", "-x", "signature")
        return self.run(build("appvault"), "fleet", "pack", self.path("manifest"), *parts, self.path("signature"))


class Journal:
    """systemd-journal-remote, and what it has written."""

    def __init__(self):
        self.folder, self.port = tempfile.mkdtemp(prefix="appvault-journal-"), free_port()
        self.file = os.path.join(self.folder, "remote.journal")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [REMOTE, f"--listen-http=127.0.0.1:{self.port}", "--output=" + self.file, "--split-mode=none"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: _libc.prctl(1, signal.SIGTERM, 0, 0, 0))
        wait_until(self._listens, "systemd-journal-remote listens")

    def _listens(self):
        assert self.process.poll() is None, open(self.log.name).read()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def entries(self, count):
        """So many, when they are there."""
        def read():
            out = subprocess.run(
                ["journalctl", "--file", self.file, "-o", "json", "-q", "--no-pager"], capture_output=True).stdout
            found = [json.loads(line) for line in out.splitlines()]
            return found if len(found) >= count else None
        return wait_until(read, f"{count} entries of the journal")


class Odd:
    """A server with TLS that says to each request what `serve(connection)` says, and nothing else."""

    def __init__(self, certificate, serve, tls=True, listens=True):
        self.serve, self.tls, self.listens = serve, tls, listens
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate + ".pem", certificate + ".key")
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        self.connections, self.heard = 0, []
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Wakes the thread before the descriptor's number can be given to another listener, whose it would take."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.listener.close()

    def url(self, name="fleet.bundle"):
        return f"https://localhost:{self.port}/{name}"

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection):
        try:
            with connection:
                if self.tls:
                    connection = self.context.wrap_socket(connection, server_side=True)
                with connection:
                    data = b""
                    while self.listens and b"\r\n\r\n" not in data:
                        more = connection.recv(4096)
                        if not more:
                            return
                        data += more
                    self.heard.append(data)
                    self.serve(connection)
        except OSError:
            pass


class SignInServer(Odd):
    """Answers a sign-in with the next of `answers` (a status, and what it says as plain text), the last again and
    again; keeps what was handed in."""

    def __init__(self, certificate, *answers):
        self.answers, self.handed, self.before = list(answers) or [(200, "")], [], lambda: None
        super().__init__(certificate, self._sign_in)

    def _sign_in(self, connection):
        head, _, body = self.heard[-1].partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        while len(body) < length:
            body += connection.recv(4096)
        self.handed.append((head.decode(), json.loads(body)))
        self.before()
        status, said, *kind = self.answers[0]
        if len(self.answers) > 1:
            self.answers.pop(0)
        said = said.encode()
        connection.sendall(
            b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n" % (
                status, (kind or ["text/plain; charset=utf-8"])[0].encode(), len(said),
                b"Location: /elsewhere\r\n" if status // 100 == 3 else b"") + said)


class Proxy(Odd):
    """What a network puts between: it connects, or refuses with a status. With `to`, all names and ports are that port
    here, so that a test may play any domain."""

    def __init__(self, certificate, status=200, to=None):
        self.status, self.counted, self.to = status, 0, to
        super().__init__(certificate, self._connect, tls=False)

    def url(self, name=""):
        return f"http://127.0.0.1:{self.port}"

    def _connect(self, connection):
        if self.status != 200:
            connection.sendall(b"HTTP/1.1 %d No\r\nContent-Length: 0\r\n\r\n" % self.status)
            return
        host, port = self.heard[-1].split()[1].decode().split(":")
        if self.to:
            host, port = "127.0.0.1", self.to
        with socket.create_connection((host, int(port))) as server:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            other = threading.Thread(target=self._pass, args=(server, connection), daemon=True)
            other.start()
            self._pass(connection, server)
            other.join(10)

    def _pass(self, one, other):
        while True:
            try:
                data = one.recv(65536)
            except OSError:
                data = b""
            self.counted += len(data)
            try:
                if not data:
                    return other.shutdown(socket.SHUT_WR)
                other.sendall(data)
            except OSError:
                return


class Worker:
    """The real appvault-fetch at a socket of its own. `before` is what it is started by."""

    def __init__(self, credentials=None, env=(), before=(), options=()):
        self.folder = tempfile.mkdtemp(prefix="appvault-fetch-")
        self.socket = os.path.join(self.folder, "socket")
        self.log_path = os.path.join(self.folder, "log")
        self.credentials = os.path.join(self.folder, "credentials")
        os.mkdir(self.credentials)
        for name, path in (credentials or {}).items():
            shutil.copy(path, os.path.join(self.credentials, name))
        environment = {"PATH": os.environ["PATH"], "CREDENTIALS_DIRECTORY": self.credentials, **dict(env)}
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*before, build("appvault-fetch"), "--listen", self.socket, *options],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=lambda: _libc.prctl(1, signal.SIGKILL, 0, 0, 0))
        wait_until(self._listens, "appvault-fetch listens")

    def _listens(self):
        assert self.process.poll() is None, self.log()
        try:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.connect(self.socket)
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return [int(word) for word in file.read().split()]
