"""A program that opens sessions over many connections, as many as it is asked for, for secretslab.py. It says how many
it has got, and stays until it is ended."""

import sys

from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection

SERVICE = DBusAddress("/org/freedesktop/secrets", "org.freedesktop.secrets", "org.freedesktop.Secret.Service")


def main(address, connections, sessions):
    opened = 0
    kept = [open_dbus_connection(address) for _ in range(connections)]
    for connection in kept:
        for _ in range(sessions):
            connection.send(
                new_method_call(SERVICE, "OpenSession", "sv", ("plain", ("s", ""))),
                serial=next(connection.outgoing_serial))
        left = sessions
        while left:
            message = connection.receive(timeout=60)
            left -= message.header.message_type != MessageType.signal
            opened += message.header.message_type == MessageType.method_return
    print("opened", opened, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
