"""A program that keeps libsecret's objects, for secretslab.py, as a viewer of secrets does: it says `labels A,B` when
the items of the first collection are others than before."""

import gi

gi.require_version("Secret", "1")
from gi.repository import GLib, Secret  # noqa: E402


def main():
    service = Secret.Service.get_sync(Secret.ServiceFlags.LOAD_COLLECTIONS | Secret.ServiceFlags.OPEN_SESSION, None)
    collection = Secret.Collection.for_alias_sync(service, "default", Secret.CollectionFlags.LOAD_ITEMS, None)
    said = []

    def look():
        labels = sorted(item.get_label() or "" for item in collection.get_items() or [])
        if said[-1:] != [labels]:
            said.append(labels)
            print("labels", ",".join(labels), flush=True)
        return True

    look()
    GLib.timeout_add(20, look)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
