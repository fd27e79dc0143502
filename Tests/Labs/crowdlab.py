"""Fifty people with an open store each, who set and get without pause while their daemon is restarted.

    with Crowd() as crowd:
        with Traffic(crowd) as traffic:
            crowd.daemon.restart()
            traffic.goes_on()
        traffic.failures                      # what did not succeed at the second attempt
        traffic.longest_gap(since)            # seconds in which nobody had an answer
"""

import bisect
import os
import pickle
import shutil
import tempfile
import time

from daemonlab import PASSCODE, wait_until
from fingerlab import effective
from restartlab import RestartingDesk

PEOPLE, FIRST = 50, 61_000
# Processes: each serves its part of the people in turn.
CALLERS = 4


class Crowd:
    """Only the daemon sees these accounts: other tests change the machine's own meanwhile."""

    def __init__(self, policy="ThrottleAfter=0\nRetryLimit=0\n"):
        self.folder = tempfile.mkdtemp(prefix="appvault-crowd-")
        self.daemon = None
        os.chmod(self.folder, 0o755)
        etc = os.path.join(self.folder, "etc")
        os.mkdir(etc)
        for name in ("group", "ld.so.cache", "machine-id", "nsswitch.conf", "passwd"):
            if os.path.exists(f"/etc/{name}"):
                shutil.copy(f"/etc/{name}", etc)
        self.people = [(f"crowd{number}", FIRST + number) for number in range(PEOPLE)]
        with open(os.path.join(etc, "passwd"), "a", encoding="utf-8") as file:
            file.writelines(f"{name}:x:{uid}:{uid}::/nonexistent:/bin/sh\n" for name, uid in self.people)
        try:
            self.daemon = RestartingDesk(policy=policy, before=[
                "unshare", "-m", "--propagation", "private", "sh", "-c", f'mount --bind {etc} /etc && exec "$@"', "sh"])
            for person in self.people:
                self.daemon.create(PASSCODE, subject=person)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.daemon is not None:
            self.daemon.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Failure(Exception):
    """The daemon has answered, and not with what was asked for."""


class Caller:
    """One of the processes, until the file `ends` is there."""

    def __init__(self, daemon, people, ends):
        self.daemon, self.people, self.ends = daemon, people, ends
        self.moments, self.failures, self.number = [], [], 0

    def run(self):
        while not os.path.exists(self.ends):
            for person in self.people:
                self.number += 1
                self.twice(person, b"value %d" % self.number)
        return self.moments, self.failures

    def twice(self, person, value):
        for attempt in (1, 2):
            try:
                self.once(person, value)
                self.moments.append(time.monotonic())
                return
            except Failure as failure:
                # Locked, or another value: no second attempt makes that good.
                return self.failures.append(f"{person[0]}: {failure}")
            except (OSError, AssertionError) as error:
                if attempt == 2:
                    self.failures.append(f"{person[0]}, twice: {type(error).__name__}: {error}")

    def once(self, person, value):
        with effective(person[1]):
            client = self.daemon.client(realUID=person[1], timeout=60)
        with client:
            for request, payloads in (("set", [value]), ("get", ())):
                answer = client.run(request, payloads=payloads, name="a")
                if answer is None:
                    raise ConnectionError("the daemon hung up")
                if answer.name == "refused":
                    raise Failure(f"{request}: refused with {answer.code}")
            if answer.payload != value:
                raise Failure(f"{answer.payload} and not {value}")


class Traffic:
    def __init__(self, crowd):
        self.crowd, self.failures, self.moments = crowd, [], []
        self.ends = os.path.join(crowd.folder, "ends")

    def __enter__(self):
        self.callers = []
        for number in range(CALLERS):
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    os.close(read)
                    caller = Caller(self.crowd.daemon, self.crowd.people[number::CALLERS], self.ends)
                    with os.fdopen(write, "wb") as file:
                        pickle.dump(caller.run(), file)
                    status = 0
                finally:
                    os._exit(status)
            os.close(write)
            self.callers.append((child, read))
        return self

    def __exit__(self, *_):
        with open(self.ends, "w", encoding="utf-8"):
            pass
        for child, read in self.callers:
            with os.fdopen(read, "rb") as file:
                data = file.read()
            os.waitpid(child, 0)
            if not data:
                self.failures.append("a caller died")
                continue
            moments, failures = pickle.loads(data)
            self.moments += moments
            self.failures += failures
        os.unlink(self.ends)
        self.moments.sort()

    def goes_on(self):
        """Returns when everybody has set a value from now on. Whoever is cut off twice has met two restarts."""
        def written():
            return {folder: max(changed(os.path.join(folder, name))
                                for name in os.listdir(folder) if name.startswith("records"))
                    for folder in self.crowd.daemon.stores()}

        def changed(path):
            try:
                return os.stat(path).st_mtime_ns
            except FileNotFoundError:
                # A log that has gone since the folder was read.
                return 0

        before = written()
        wait_until(
            lambda: all(later > before[folder] for folder, later in written().items()), "everybody is served", 120)

    def longest_gap(self, since, until):
        """In seconds, without an answer to anybody: from the last one before that time on."""
        first, last = bisect.bisect(self.moments, since) - 1, bisect.bisect(self.moments, until)
        moments = self.moments[max(0, first) : last + 1]
        return max(later - earlier for earlier, later in zip(moments, moments[1:]))
