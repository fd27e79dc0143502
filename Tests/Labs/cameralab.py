"""A camera that is played: the kernel's words for one are answered by a library in the program that looks through it.

    with Camera(Frames.grey([Picture.of(LINK).within(640, 480)])) as camera:
        camera.run("--camera")
"""

import os
import shlex
import shutil
import struct
import subprocess
import tempfile

import clilab
import pamlab

PROGRAM = os.path.join(clilab.BUILD, "appvault-scan")


def grey(pictures, pad=0):
    return "GREY", pictures[0].size, pictures[0].size[0] + pad, [
        b"".join(bytes(row) + b"\0" * pad for row in picture.rows) for picture in pictures]


def yuyv(pictures):
    return "YUYV", pictures[0].size, 2 * pictures[0].size[0], [
        b"".join(bytes(byte for value in row for byte in (value, 128)) for row in picture.rows) for picture in pictures]


def nv12(pictures):
    width, height = pictures[0].size
    colour = b"\x80" * (width * height // 2)
    return "NV12", (width, height), width, [
        b"".join(bytes(row) for row in picture.rows) + colour for picture in pictures]


def mjpg(pictures):
    return "MJPG", pictures[0].size, 0, [picture.jpeg() for picture in pictures]


class Camera:
    def __init__(self, frames, **lies):
        fourcc, (width, height), stride, data = frames
        self.folder = tempfile.mkdtemp(prefix="appvault-camera-")
        os.chmod(self.folder, 0o755)
        path = os.path.join(self.folder, "frames")
        with open(path, "wb") as file:
            file.write(f"{fourcc} {width} {height} {stride} {len(data)}\n".encode())
            for frame in data:
                file.write(struct.pack("<I", len(frame)) + frame)
        self.environment = {
            "LD_PRELOAD": pamlab.compiled("playedcamera.c", "playedcamera.so", "-shared", "-fPIC"),
            "CAMERA_FRAMES": path, "CAMERA_LIES": ",".join(f"{name}={value}" for name, value in lies.items())}
        # The program is started with an empty environment.
        self.program = os.path.join(self.folder, "scan")
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in self.environment.items())
        with open(self.program, "w") as file:
            file.write(f"#!/bin/sh\n{settings} exec {shlex.quote(PROGRAM)} \"$@\"\n")
        os.chmod(self.program, 0o755)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, option="--camera", preview=None):
        """With a device that is no camera at its standard input: what is asked of it is answered by the library."""
        command, kept = [self.program, option], []
        if preview is not None:
            command, kept = ["bash", "-c", f'exec "$0" "$@" 3>&{preview}', *command], [preview]
        with open("/dev/null", "r+b") as device:
            return subprocess.Popen(
                command, stdin=device, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=kept)


class Said:
    """What it says, one thing after the other."""

    def __init__(self, process):
        self.process = process

    def next(self):
        """`looking`, or the bytes of a code, or how it ends; None at the end."""
        line = self.process.stdout.readline()
        if not line:
            return None
        if line.startswith(b"code "):
            return self.process.stdout.read(int(line.split()[1]))
        return line.decode().strip()
