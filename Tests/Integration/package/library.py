"""The library as others use it: packages of their own that depend on a version of this repository, on a machine that
has none of the C libraries which AppVault's own programs need. The committed state is what is tagged and built."""

import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest

import machine
from daemonlab import PASSCODE, Daemon, wait_until
from places import ROOT

# Several builds from scratch.
IS_SLOW = True
TIMEOUT = 1200
SWIFT = os.environ.get("SWIFT") or "swift"
EXAMPLES = os.path.join(ROOT, "Examples")
# The peer itself.
SELF = ("", 0xFFFFFFFF)
VERSION = "1.0.0"


def git(*words):
    return subprocess.run(["git", "-c", "safe.directory=*", *words], capture_output=True, text=True, check=True).stdout


class Builds:
    """One tagged repository, and each package built from it once. All share one folder for what is built, so the
    library is compiled once."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="appvault-library-")
        self.repository = os.path.join(self.folder, "AppVault")
        git("clone", "-q", "file://" + ROOT, self.repository)
        git("-C", self.repository, "tag", "-f", VERSION)
        self.graphs = os.path.join(self.folder, "graphs")
        self.nothing = os.path.join(self.folder, "nothing")
        self.products = os.path.join(self.folder, "build", "debug")
        os.mkdir(self.graphs)
        os.mkdir(self.nothing)
        self.built = set()
        self.prefix, self.environment = self.somewhere()

    def somewhere(self):
        """A Debian with Swift and without the headers of the C libraries, where one can be had; else this machine, with
        nothing for pkg-config to find."""
        here = {
            "APPVAULT_REPOSITORY": "file://" + self.repository, "PKG_CONFIG_LIBDIR": self.nothing,
            "PKG_CONFIG_PATH": ""}
        swift = os.path.realpath(shutil.which(SWIFT))
        toolchain = os.path.dirname(os.path.dirname(os.path.dirname(swift)))
        if machine.why_not() is not None or toolchain in ("/", "/usr"):
            return [], {**os.environ, **here}
        inside = {"PATH": f"{os.path.dirname(swift)}:{machine.PATH}", "HOME": self.folder, "LC_ALL": "C.UTF-8", **here}
        return [
            "systemd-nspawn", "-q", "--register=no", "--keep-unit", "--as-pid2", "--pipe", "--private-network",
            "--volatile=overlay", "-D", machine.image("swift"), f"--bind-ro={toolchain}", f"--bind={self.folder}",
            *[f"--setenv={key}={value}" for key, value in inside.items()]], machine.environment()

    def run(self, *words):
        return subprocess.run(
            [*self.prefix, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def build(self, name, source=None):
        """Builds an example, or a program of that source."""
        if name in self.built:
            return
        folder = os.path.join(self.folder, name)
        if source is None:
            shutil.copytree(os.path.join(EXAMPLES, name), folder, ignore=shutil.ignore_patterns(".build"))
        else:
            os.makedirs(os.path.join(folder, "Sources", name))
            with open(os.path.join(EXAMPLES, "notebook", "Package.swift")) as manifest:
                text = manifest.read().replace('"notebook"', f'"{name}"')
            with open(os.path.join(folder, "Package.swift"), "w") as manifest:
                manifest.write(text)
            with open(os.path.join(folder, "Sources", name, "main.swift"), "w") as main:
                main.write(source)
        done = self.run(
            SWIFT, "build", "--cache-path", os.path.join(self.folder, "cache"), "--scratch-path",
            os.path.join(self.folder, "build"), "--package-path", folder, "-Xswiftc", "-emit-symbol-graph", "-Xswiftc",
            "-emit-symbol-graph-dir", "-Xswiftc", self.graphs)
        if done.returncode != 0:
            raise AssertionError(f"{name} does not build:\n{done.stdout[-4000:]}")
        self.built.add(name)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            git("-C", ROOT, "rev-parse", "HEAD")
        except (OSError, subprocess.CalledProcessError):
            raise unittest.SkipTest("this is no clone of the repository")
        global builds
        if builds is None:
            builds = Builds()
            unittest.addModuleCleanup(builds.close)

    def program(self, name):
        builds.build(name)
        return os.path.join(builds.products, name)

    def daemon(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        return daemon

    def run_program(self, name, *words, typed="", socket=(), status=0):
        key, path = socket
        done = subprocess.run(
            [self.program(name), *words], env={**os.environ, key: path, "LC_ALL": "C.UTF-8"}, input=typed, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, start_new_session=True)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout


builds = None


class Examples(Case):
    def test_versioned(self):
        """a package that names a version builds, and compiles nothing of AppVault but the library"""
        builds.build("notebook")
        built = glob.glob(os.path.join(builds.products, "Modules", "*.swiftmodule"))
        modules = {os.path.basename(path).split(".")[0] for path in built}
        programs = {name.replace("-", "_") for name in builds.built}
        self.assertEqual(modules - programs, {"Wire", "AppVault", "AppVaultJSON"})

    def test_without_headers(self):
        """where it is built there is no header of the C libraries that AppVault's programs need"""
        if not builds.prefix:
            self.skipTest("no machine can be had here")
        names = "security/pam_appl.h sodium.h sqlite3.h systemd/sd-bus.h libfprint-2/fprint.h pwquality.h".split()
        done = builds.run("sh", "-c", "ls -d " + " ".join(f"/usr/include/{name}" for name in ["stdio.h", *names]))
        self.assertEqual([line for line in done.stdout.split() if line.startswith("/")], ["/usr/include/stdio.h"])

    def test_notebook(self):
        """the notebook writes, reads, lists and removes pages in a store that follows the person's own"""
        daemon = self.daemon()
        where = ("NOTEBOOK_SOCKET", daemon.socket)
        daemon.create(subject=SELF, way="noPasscode")
        self.run_program("notebook", "write", "monday", "call Ann", socket=where)
        self.run_program("notebook", "write", "monday", "call Bob", socket=where)
        self.assertEqual(self.run_program("notebook", "read", "monday", socket=where), "call Bob (written 2 times)\n")
        self.assertEqual(self.run_program("notebook", "list", socket=where), "monday\n")
        self.assertEqual(self.run_program("notebook", "remove", "monday", socket=where), "removed\n")
        self.assertEqual(self.run_program("notebook", "read", "monday", socket=where), "no such page\n")
        self.run_program("notebook", "fly", socket=where, status=2)
        daemon.kill()
        said = self.run_program("notebook", "list", socket=where, status=1)
        self.assertIn("appvaultd does not run", said)

    def test_race(self):
        """eight programs that make the same store at once make one, and each stores what it has"""
        daemon = self.daemon()
        daemon.create(subject=SELF, way="noPasscode")
        environment = {**os.environ, "NOTEBOOK_SOCKET": daemon.socket, "LC_ALL": "C.UTF-8"}
        racers = [
            subprocess.Popen(
                [self.program("notebook"), "write", f"page{each}", "text"], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for each in range(8)]
        for racer in racers:
            said, _ = racer.communicate(timeout=60)
            self.assertEqual(racer.returncode, 0, said)
        self.assertEqual(len(daemon.stores()), 2)
        pages = self.run_program("notebook", "list", socket=("NOTEBOOK_SOCKET", daemon.socket)).split()
        self.assertEqual(sorted(pages), [f"page{each}" for each in range(8)])

    def at_terminal(self, name, *words, socket, script):
        """Runs the program on a terminal of its own, types what each prompt is to get, and returns what was seen and
        its status."""
        program = self.program(name)
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update({socket[0]: socket[1], "LC_ALL": "C.UTF-8"})
            os.execv(program, [program, *words])
        seen = b""
        script = list(script)
        try:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                if script and script[0][0] in seen.decode(errors="replace"):
                    # What is typed before the echo is off is thrown away.
                    if not script[0][1] or not termios.tcgetattr(terminal)[3] & termios.ECHO:
                        os.write(terminal, script.pop(0)[1])
                if select.select([terminal], [], [], 0.1)[0]:
                    try:
                        seen += os.read(terminal, 4096)
                    except OSError:
                        break
            else:
                os.kill(pid, signal.SIGKILL)
        finally:
            os.close(terminal)
        _, status = os.waitpid(pid, 0)
        return seen.decode(), os.waitstatus_to_exitcode(status)

    def test_no_terminal(self):
        """a process without a terminal is told that somebody has to answer, and not that somebody gave up"""
        daemon = self.daemon()
        where = ("NOTEBOOK_SOCKET", daemon.socket)
        daemon.create(subject=SELF)
        self.run_program("notebook", "write", "monday", "call Ann", socket=where)
        daemon.ask("lock", subject=SELF)
        said = self.run_program("notebook", "list", socket=where, status=1)
        self.assertIn("somebody has to answer", said)

    def test_terminal(self):
        """on a terminal a locked store asks for the passcode, shows nothing of it, and Ctrl-C gives up"""
        daemon = self.daemon()
        where = ("NOTEBOOK_SOCKET", daemon.socket)
        daemon.create(subject=SELF)
        self.run_program("notebook", "write", "monday", "call Ann", socket=where)
        daemon.ask("lock", subject=SELF)
        seen, status = self.at_terminal("notebook", "list", socket=where, script=[("asscode", b"\x03")])
        self.assertEqual(status, 130, seen)
        wrong, right = b"wromg\x7f\x7fng\r", PASSCODE.encode() + b"\r"
        seen, status = self.at_terminal(
            "notebook", "list", socket=where, script=[("asscode", wrong), ("Wrong passcode", right), ("monday", b"")])
        self.assertEqual(status, 0, seen)
        self.assertIn("monday", seen)
        self.assertNotIn(PASSCODE, seen)
        self.assertNotIn("wrong\r", seen)

    def test_token_service(self):
        """the service keeps its token in memory first, then in the store, and forgets it when that is locked"""
        daemon = self.daemon()
        daemon.create(subject=SELF)
        process = subprocess.Popen(
            [self.program("token-service")], env={**os.environ, "TOKEN_SOCKET": daemon.socket}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = [process.stdout.readline().strip() for _ in range(3)]
        self.assertEqual(lines, ["in memory: token-0", "in the store: token-0", "renewed: token-3"])

        daemon.ask("lock", subject=SELF)
        wait_until(lambda: process.poll() is not None, "the service has heard of the lock", 30)
        self.assertEqual(process.stdout.read().splitlines(), ["locked: locked", "in memory: none"])
        self.assertEqual(process.returncode, 0)

    def test_own_screens(self):
        """an application asks for passcodes on its own screens, says what a new one lacks, and corrects mistakes"""
        daemon = self.daemon()
        daemon.policy("MinLength=10\nThrottleAfter=0", reload=True)
        where = ("SCREENS_SOCKET", daemon.socket)
        new = "another horse"
        said = self.run_program("own-screens", "onboard", typed=f"short\n{PASSCODE}\n{PASSCODE}\n", socket=where)
        self.assertIn("CHOOSE A PASSCODE FOR screens", said)
        self.assertIn("missing: ", said)
        # It is opened, if it is there.
        self.run_program("own-screens", "onboard", socket=where)
        self.run_program("own-screens", "change", typed=f"{PASSCODE}\n{new}\n{new}\n", socket=where)
        daemon.ask("lock", subject=SELF, store="screens")
        said = self.run_program("own-screens", "open", typed=f"{PASSCODE}\n{new}\n", socket=where)
        self.assertIn("(tried refused: invalidPasscode)\n", said)
        self.assertIn("(tried taken)\nit says: hello\n", said)
        said = self.run_program("own-screens", "open", typed="", socket=where, status=1)
        self.assertIn("(cancel taken)", said)
        self.run_program("own-screens", "reset", typed=f"{new}\n", socket=where)
        self.assertEqual(daemon.stores(), [])


class Pages(Case):
    def test_readme(self):
        """the program in the README, of ten lines at most, compiles and does what it says"""
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            section = file.read().split("\n## For applications\n")[1].split("\n## ")[0]
        (source,) = re.findall(r"```swift\n(import .*?)```", section, re.S)
        self.assertLessEqual(len([line for line in source.splitlines() if line.strip()]), 10)
        builds.build("readme", source)
        daemon = self.daemon()
        daemon.create(subject=SELF, way="noPasscode")
        # It speaks to the machine's own daemon: a private one takes its place in the program's text.
        source = source.replace("Vault.connect()", f'Vault.connect(.init(socket: "{daemon.socket}"))')
        builds.build("readme-run", source)
        done = subprocess.run(
            [os.path.join(builds.products, "readme-run")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("ann", done.stdout)

    def test_prompter(self):
        """the prompter in the article about screens compiles as it stands there"""
        path = os.path.join(builds.repository, "Sources", "AppVault", "AppVault.docc", "OwnScreens.md")
        with open(path, encoding="utf-8") as file:
            (source,) = re.findall(r"```swift\n(import .*?)```", file.read(), re.S)
        builds.build("screens", source)

    def graphs(self):
        """The symbol graphs of the library's two modules."""
        builds.build("notebook")
        return [
            path for path in glob.glob(os.path.join(builds.graphs, "*.symbols.json"))
            if os.path.basename(path).split(".")[0].split("@")[0] in ("AppVault", "AppVaultJSON")]

    def test_documented(self):
        """every public symbol has a comment"""
        bare = []
        for path in self.graphs():
            with open(path) as file:
                graph = json.load(file)
            for symbol in graph["symbols"]:
                name = ".".join(symbol["pathComponents"])
                isOurs = "::SYNTHESIZED::" not in symbol["identifier"]["precise"] and "location" in symbol
                if isOurs and symbol["accessLevel"] in ("public", "open") and not symbol.get("docComment"):
                    bare.append(name)
        self.assertEqual(sorted(bare), [])

    def test_docc(self):
        """docc makes the pages, and has nothing to say about them"""
        docc = shutil.which("docc") or os.path.join(os.path.dirname(os.path.realpath(shutil.which(SWIFT))), "docc")
        if not os.path.exists(docc):
            self.skipTest("this Swift has no docc")
        with tempfile.TemporaryDirectory(prefix="appvault-docc-") as folder:
            graphs = os.path.join(folder, "graphs")
            os.mkdir(graphs)
            for path in self.graphs():
                if os.path.basename(path).startswith("AppVault.") or os.path.basename(path).startswith("AppVault@"):
                    shutil.copy(path, graphs)
            done = subprocess.run(
                [docc, "convert", os.path.join(builds.repository, "Sources", "AppVault", "AppVault.docc"),
                 "--additional-symbol-graph-dir", graphs, "--output-dir", os.path.join(folder, "out"),
                 "--fallback-display-name", "AppVault", "--fallback-bundle-identifier", "org.appvault.AppVault",
                 "--warnings-as-errors"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertNotIn("warning:", done.stdout)


if __name__ == "__main__":
    unittest.main()
