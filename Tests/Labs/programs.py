"""Every program on a Debian that asks who a person is, or acts for a person without asking. Each
is a function that runs it and returns what a person saw, without what differs from one time to
the next.

    heard = programs.su(case, person, password, meanwhile)

`meanwhile()` is called while the person is logged in: inside the shell, the command or the job.
"""

import re

from machine import Ended

SSH = (
    "ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o NumberOfPasswordPrompts=1 "
    "-o PubkeyAuthentication={key} -o PreferredAuthentications={way}")
# Says that the person is logged in, and waits for Enter.
INSIDE = "echo inside; read end"


def heard(text, person):
    """What was shown, with everything removed that depends on the time or the person."""
    text = text.replace(person.name, "NAME")
    text = re.sub(r"(?m)^Last login: .*\n", "", text)
    text = re.sub(r"(?m)^Linux machine .*\n", "", text)
    text = re.sub(r"/dev/pts/\d+", "TTY", text)
    text = re.sub(r"(?m)^job \d+ at .*", "job", text)
    return re.sub(r"run-u\d+|process \d+|\n+", lambda found: "\n" if found.group()[0] == "\n" else "N", text).strip()


def _talk(case, person, terminal, answers, meanwhile, prompts=r"[Pp]assword[^\n]*: \Z"):
    """Answers prompts one after another until the person is logged in or the program ends;
    returns the text and the exit status."""
    answers = list(answers)
    with terminal:
        try:
            while True:
                found = terminal.expect(r"inside\n|" + prompts, 120)
                if found.group() == "inside\n":
                    meanwhile()
                    terminal.send()
                elif answers:
                    terminal.send(answers.pop(0))
                else:
                    # sudo may drop what is typed in the moment after its prompt.
                    while not terminal.shows_more(after=lambda: terminal.key("c")):
                        pass
        except Ended as end:
            if "before the end" not in str(end):
                raise
        return heard(terminal.text, person), terminal.wait()


def login(case, person, password, meanwhile):
    with case.machine.getty(f"exec login {person.name}") as terminal:
        terminal.expect("assword: ")
        terminal.send(password)
        if "incorrect" in terminal.expect(r"\$ $|Login incorrect\n+machine login: ", 120).group():
            return heard(terminal.text, person), 1
        meanwhile()
        terminal.send("exit")
        return heard(terminal.text, person), terminal.wait()


def su(case, person, password, meanwhile):
    command = f"su - {person.name} -c '{INSIDE}'; echo status $?; sleep 0.1"
    return _talk(case, person, case.machine.terminal(command, user="carol"), [password], meanwhile)


def su_by_root(case, person, _, meanwhile):
    return _talk(case, person, case.machine.terminal(f"su - {person.name} -c \"{INSIDE}\""), [], meanwhile)


def runuser(case, person, _, meanwhile):
    return _talk(case, person, case.machine.terminal(f"runuser -l {person.name} -c \"{INSIDE}\""), [], meanwhile)


def sudo(case, person, password, meanwhile):
    terminal = case.machine.terminal(f"sudo sh -c \"{INSIDE}\"; echo status $?; sleep 0.1", user=person.name)
    return _talk(case, person, terminal, [password], meanwhile)


def sudo_login(case, person, password, meanwhile):
    terminal = case.machine.terminal(f"sudo -i sh -c \"{INSIDE}\"; echo status $?; sleep 0.1", user=person.name)
    return _talk(case, person, terminal, [password], meanwhile)


def sudo_interrupted(case, person, _, meanwhile):
    """Ctrl-C at the prompt."""
    terminal = case.machine.terminal("sudo id; echo status $?; sleep 0.1", user=person.name)
    return _talk(case, person, terminal, [], meanwhile)


def sudo_without_asking(case, person, _, __):
    """sudo -n"""
    code, output = case.machine.run("sudo -n id", user=person.name)
    return heard(output, person), code


def sudo_from_a_pipe(case, person, password, meanwhile):
    """echo password | sudo -S"""
    code, output = case.machine.run("sudo -S -p '' id -un", user=person.name, stdin=password + "\n")
    if code == 0:
        meanwhile()
    return heard(output, person), code


def sudo_with_a_helper(case, person, password, meanwhile):
    """sudo -A"""
    case.machine.write(f"/var/tmp/askpass-{person.name}", f"#!/bin/sh\necho '{password}'\n", "755")
    code, output = case.machine.run(f"SUDO_ASKPASS=/var/tmp/askpass-{person.name} sudo -A id -un", user=person.name)
    if code == 0:
        meanwhile()
    return heard(output, person), code


def _ssh(case, person, answers, meanwhile, key, way):
    command = f"{SSH.format(key=key, way=way)} -t {person.name}@localhost \"{INSIDE}\"; echo status $?; sleep 0.1"
    return _talk(case, person, case.machine.terminal(command, user="carol"), answers, meanwhile)


def ssh_password(case, person, password, meanwhile):
    return _ssh(case, person, [password], meanwhile, "no", "password")


def ssh_keyboard(case, person, password, meanwhile):
    """keyboard-interactive"""
    return _ssh(case, person, [password], meanwhile, "no", "keyboard-interactive")


def ssh_key(case, person, _, meanwhile):
    case.machine.check(
        "mkdir -p ~carol/.ssh;"
        " test -e ~carol/.ssh/id_ed25519 || ssh-keygen -q -t ed25519 -N '' -f ~carol/.ssh/id_ed25519;"
        f"mkdir -p ~{person.name}/.ssh; cp ~carol/.ssh/id_ed25519.pub ~{person.name}/.ssh/authorized_keys;"
        f"chown -R carol: ~carol/.ssh; chown -R {person.name}: ~{person.name}/.ssh")
    return _ssh(case, person, [], meanwhile, "yes", "publickey")


def cron(case, person, _, meanwhile):
    """A job of theirs, run at cron's own start."""
    done = f"/var/tmp/cron-{person.name}"
    case.machine.check(f"rm -f {done} {done}.end /run/crond.reboot")
    case.machine.check(
        f"echo '@reboot id -un > {done}; while ! test -e {done}.end; do sleep 0.1; done' | crontab -u {person.name} -;"
        "systemctl restart cron")
    case.until(lambda: case.machine.run(f"test -s {done}")[0] == 0)
    meanwhile()
    case.machine.check(f"touch {done}.end; crontab -r -u {person.name}")
    return heard(case.machine.read(done), person), 0


def at(case, person, _, meanwhile):
    done = f"/var/tmp/at-{person.name}"
    case.machine.check(f"rm -f {done} {done}.end")
    said = case.machine.check(
        f"echo 'id -un > {done}; while ! test -e {done}.end; do sleep 0.1; done' | at now", user=person.name)
    case.until(lambda: case.machine.run(f"test -s {done}")[0] == 0)
    meanwhile()
    case.machine.check(f"touch {done}.end")
    return heard(said + case.machine.read(done), person), 0


def user_manager(case, person, _, meanwhile):
    """systemd-run --user, in the manager of somebody who lingers"""
    case.machine.check(
        f"loginctl enable-linger {person.name}; until test -S /run/user/$(id -u {person.name})/bus; do sleep 0.1; done")
    code, output = case.machine.run(
        "XDG_RUNTIME_DIR=/run/user/$(id -u) systemd-run --user --quiet --pipe --wait id -un", user=person.name)
    meanwhile()
    case.machine.check(f"loginctl disable-linger {person.name}")
    return heard(output, person), code


def polkit(case, person, password, meanwhile):
    """pkexec, and polkit-agent-helper-1 for an agent on another terminal"""
    with case.machine.getty(f"exec login -f {person.name}") as terminal:
        terminal.expect(r"\$ $")
        terminal.send("mkfifo agent; echo shell=$$=")
        shell = terminal.expect(r"shell=(\d+)=").group(1)
        agent = case.machine.terminal(
            f"cd; tty; exec pkttyagent --process {shell} --notify-fd 9 9>agent", user=person.name)
        terminal.send(f"cat agent; rm agent; pkexec --disable-internal-agent sh -c \"{INSIDE}\"; exit $?")
        with agent:
            tty = agent.expect(r"/dev/pts/\d+").group()
            agent.expect(r"assword: \Z", 120)
            # It turns the echo off after its prompt, and drops what was typed before that.
            case.until(lambda: case.machine.run(f"stty -a -F {tty} | grep -qw -- -echo")[0] == 0)
            agent.send(password)
            if agent.expect("COMPLETE|FAILED", 120).group() == "COMPLETE":
                terminal.expect("\ninside\n")
                meanwhile()
                terminal.send()
            return heard(agent.text, person), terminal.wait()


def dovecot(case, person, password, meanwhile):
    """A service that logs nobody in"""
    code, output = case.machine.run(f"doveadm auth test {person.name} '{password}'")
    if code == 0:
        meanwhile()
    return heard(output, person), code


def passwd(case, person, password, meanwhile):
    """A new password, and back to the old one"""
    told = []
    for former, new in ((password, "heron-in-the-reeds-9"), ("heron-in-the-reeds-9", password)):
        terminal = case.machine.terminal("passwd; echo status $?; sleep 0.1", user=person.name)
        told.append(_talk(case, person, terminal, [former, new, new], meanwhile))
    return told


ASKING = (
    login, su, sudo, sudo_login, sudo_from_a_pipe, sudo_with_a_helper, ssh_password, ssh_keyboard, polkit, dovecot)
SILENT = (su_by_root, runuser, sudo_interrupted, sudo_without_asking, ssh_key, cron, at, user_manager)
