"""A program with a window on X11, and perhaps a menu: a process of its own, which `windowslab` starts."""

import time

COLOURS = {"red": 0xFF0000, "green": 0x00FF00, "blue": 0x0000FF, "menu": 0xFFFF00}
SIZE = 120


def play(colour, x, y, menu, pid, state):
    """The program itself: a window, and a menu that holds the pointer if it is asked for one. It prints their ids."""
    from Xlib import X, Xatom, Xutil, display

    server = display.Display()
    screen = server.screen()

    def window(colour, x, y, **more):
        return screen.root.create_window(
            x, y, SIZE, SIZE, 0, screen.root_depth, background_pixel=COLOURS[colour], event_mask=X.ExposureMask, **more)

    own = window(colour, x, y)
    own.set_wm_name(colour)
    own.set_wm_normal_hints(flags=Xutil.PPosition | Xutil.PSize)
    if pid:
        own.change_property(server.intern_atom("_NET_WM_PID"), Xatom.CARDINAL, 32, [pid])
    if state:
        own.change_property(
            server.intern_atom("_NET_WM_STATE"), Xatom.ATOM, 32,
            [server.intern_atom(f"_NET_WM_STATE_{each}") for each in state])
    own.map()
    shown = [own.id]
    if menu:
        popup = window("menu", x + 200, y, override_redirect=True)
        popup.map()
        server.sync()
        while popup.grab_pointer(False, X.ButtonPressMask, X.GrabModeAsync, X.GrabModeAsync, 0, 0, 0) != X.GrabSuccess:
            time.sleep(0.01)
        while popup.grab_keyboard(False, X.GrabModeAsync, X.GrabModeAsync, 0) != X.GrabSuccess:
            time.sleep(0.01)
        shown.append(popup.id)
    server.sync()
    print(*shown, flush=True)
    while True:
        server.next_event()
