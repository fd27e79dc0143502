"""A person at a terminal of their own, at which our module watches the keys."""

import json
import os
import pty
import select
import signal
import termios
import time
import traceback

RAW = termios.ICANON | termios.ECHO | termios.ISIG


class Person:
    """A person at a terminal: `work()` runs there, in a process of its own with that controlling
    terminal."""

    def __init__(self, work, ready=lambda person: None):
        read, write = os.pipe()
        go_read, go_write = os.pipe()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            answer = {}
            try:
                os.read(go_read, 1)
                answer = {"value": work()}
            except BaseException:
                answer = {"fault": traceback.format_exc()}
            finally:
                os.write(write, json.dumps(answer).encode())
                os._exit(0)
        os.close(write)
        os.close(go_read)
        self.answers = read
        self.before = self.modes()
        ready(self)
        os.write(go_write, b"+")
        os.close(go_write)

    def modes(self):
        return termios.tcgetattr(self.terminal)

    def is_raw(self):
        return self.modes()[3] & RAW == 0

    def wait(self, condition, seconds=10.0):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("that never came")
            time.sleep(0.005)

    def press(self, keys):
        """Presses keys as soon as the module has the terminal."""
        self.wait(self.is_raw)
        os.write(self.terminal, keys)

    def result(self, seconds=20.0):
        ready, _, _ = select.select([self.answers], [], [], seconds)
        if not ready:
            raise AssertionError("it never ended")
        answer = b""
        while part := os.read(self.answers, 65536):
            answer += part
        self.close(end=False)
        answer = json.loads(answer) if answer else {"value": None}
        if "fault" in answer:
            raise AssertionError(answer["fault"])
        return answer["value"]

    def shown(self):
        """What the terminal has echoed and shown so far."""
        seen = b""
        while select.select([self.terminal], [], [], 0.1)[0]:
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        return seen

    def close(self, end=True):
        if self.pid:
            if end:
                try:
                    os.kill(self.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            _, self.status = os.waitpid(self.pid, 0)
            self.pid = 0
