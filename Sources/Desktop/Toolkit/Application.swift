internal import CAdw
import Posix

/// GTK's application, its one window, and how it looks.
enum Application {
    static let id = "org.appvault.Desktop"

    /// Which of its renderers GTK takes, until the window is there.
    fileprivate static let renderer = "GSK_RENDERER"

    /// Still pages need no graphics card, and its drivers take half of the memory, and of the time until something is
    /// seen. Programs that are started from here have them.
    static var hasDisplay: Bool {
        // SAFETY: names and values are strings that GLib copies; there is no other thread yet.
        let (name, value) =
            gtk_get_minor_version() < 14
            ? ("GDK_DEBUG", "gl-disable") : ("GDK_DISABLE", "gl,vulkan")
        guard unsafe g_getenv(name) == nil else { return gtk_init_check() != 0 }
        unsafe g_setenv(name, value, 1)
        unsafe g_setenv(renderer, "cairo", 0)
        let hasDisplay = gtk_init_check() != 0
        unsafe g_unsetenv(name)
        return hasDisplay
    }

    /// Until the window is closed.
    static func run(
        _ start: @escaping (Window) -> Void, prepare: @escaping () -> Void
    ) -> Int32 {
        // SAFETY: the application lives until this process ends; each closure is kept by GTK.
        guard let made = unsafe adw_application_new(id, G_APPLICATION_NON_UNIQUE) else { return 1 }
        let application = UnsafeMutableRawPointer(made)
        let box = unsafe Callback {
            prepare()
            unsafe start(Window(application))
        }.kept
        unsafe appvault_on(application, "activate", Callback.call, box, Callback.drop)
        return unsafe g_application_run(
            application.assumingMemoryBound(to: GApplication.self), 0, nil)
    }

    static func prepare(_ look: Look) {
        unsafe g_set_prgname(id)
        if let isDark = look.isDark {
            unsafe adw_style_manager_set_color_scheme(
                adw_style_manager_get_default(),
                isDark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT)
        }
        if look.textScale > 1 { appvault_scale_text(look.textScale) }
        if look.isRightToLeft { gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL) }
        if look.isStill { appvault_still() }
        style(own, Priority.ours)
        file("/etc/appvault/theme.css", Priority.machine)
        // SAFETY: a string of GLib's, which it keeps.
        let folder = unsafe g_get_user_config_dir().map { unsafe String(cString: $0) } ?? ""
        file(
            look.theme ?? "\(folder)/appvault/theme.css",
            Priority.person)
    }

    /// GTK's own are 200 for a theme, 600 for an application, 800 for the person's gtk.css.
    private enum Priority {
        static let ours: guint = 600
        static let machine: guint = 700
        static let person: guint = 810
    }

    private static func style(_ css: String, _ priority: guint) {
        let provider = unsafe gtk_css_provider_new()
        unsafe gtk_css_provider_load_from_data(provider, css, -1)
        unsafe gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), priority)
    }

    private static func file(_ path: String, _ priority: guint) {
        guard unsafe g_file_test(path, G_FILE_TEST_IS_REGULAR) != 0 else { return }
        let provider = unsafe gtk_css_provider_new()
        unsafe gtk_css_provider_load_from_path(provider, path)
        unsafe gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), priority)
    }

    /// Whatever the theme is, these are ours.
    private static let own = """
        .appvault-picture { margin-top: 6px; margin-bottom: 6px; }
        .appvault-secret { font-family: monospace; font-size: 1.25em; padding: 18px; }
        .appvault-screen .appvault-page { padding: 6px; }
        button.pill { padding-left: 20px; padding-right: 20px; }
        """
}

/// How it looks, where that is not the desktop's business.
struct Look {
    var isDark: Bool?
    var textScale = 1.0
    var isRightToLeft = false
    /// Without movement, for pictures.
    var isStill = false
    /// The person's style sheet instead of the usual one.
    var theme: String?
}

/// The window, with one page at a time.
@safe
final class Window {
    private let window: Widget
    private let overlay: Widget
    private let frame = Widget.frame()
    private let back: Widget
    private var toasts: [OpaquePointer] = unsafe []

    init(_ application: UnsafeMutableRawPointer) {
        // SAFETY: a new window of a running application; it holds its contents.
        unsafe window = Widget(
            adw_application_window_new(application.assumingMemoryBound(to: GtkApplication.self)))
        unsafe overlay = Widget(adw_toast_overlay_new())
        let header = unsafe Widget(adw_header_bar_new())
        back = Widget.row(6)
        unsafe adw_header_bar_pack_start(header.opaque, back.widget)
        unsafe adw_toast_overlay_set_child(overlay.opaque, frame.widget)
        let content = Widget.column(0, [header, overlay.tall()])
        unsafe adw_application_window_set_content(
            window.raw.assumingMemoryBound(to: AdwApplicationWindow.self), content.widget)
        unsafe gtk_window_set_title(own, "AppVault")
        unsafe gtk_window_set_default_size(own, 560, 720)
        unsafe gtk_window_set_icon_name(own, Application.id)
        window.named("appvault-window")
    }

    private var own: UnsafeMutablePointer<GtkWindow> {
        unsafe window.raw.assumingMemoryBound(to: GtkWindow.self)
    }

    func present() {
        unsafe gtk_window_present(own)
        unsafe g_unsetenv(Application.renderer)
    }

    func close() { unsafe gtk_window_close(own) }

    /// Until it is presented again.
    func hide() { unsafe gtk_widget_set_visible(window.widget, 0) }

    /// For one question, which needs less room than everything does.
    func shrink() { unsafe gtk_window_set_default_size(own, 460, 540) }

    /// Enter does what this button does.
    func show(_ page: Widget, standard: Widget?) {
        // GTK does not hold the button that Enter presses, and its page goes now.
        setStandard(nil)
        frame.hold(page)
        setStandard(standard)
    }

    func setStandard(_ button: Widget?) {
        unsafe gtk_window_set_default_widget(own, button?.widget)
    }

    func unfocus() { unsafe gtk_window_set_focus(own, nil) }

    func onEscape(_ body: @escaping () -> Void) { window.onKey("Escape", body) }

    func onKey(_ key: String, _ body: @escaping () -> Void) { window.onKey(key, body) }

    func onClose(_ body: @escaping () -> Void) {
        let box = unsafe Callback(body).kept
        unsafe appvault_on_close(window.raw, Callback.call, box, Callback.drop)
    }

    /// It has become the one that has the keyboard.
    func onActive(_ body: @escaping () -> Void) {
        window.on("notify::is-active") { [weak self] in
            guard let self, unsafe gtk_window_is_active(own) != 0 else { return }
            body()
        }
    }

    func inHeader(_ widget: Widget) { back.append(widget) }

    /// One line for a moment, as long as it takes to read it; the next one waits for it. No markup,
    /// whatever is in it.
    func toast(_ text: String) {
        // SAFETY: the toast takes its label, and the overlay one reference to the toast; the other one is ours.
        guard let toast = unsafe adw_toast_new("") else { return }
        // Its own title ends in "..." where there is no room, and its button is beside the label.
        // A window that has no place yet has no width.
        let room = unsafe max(200, gtk_widget_get_width(overlay.widget) - 120)
        withExtendedLifetime(Widget.lines(overlay.broken(text, room))) { label in
            unsafe adw_toast_set_custom_title(toast, label.widget)
        }
        unsafe adw_toast_set_timeout(toast, guint(1 + min(text.count, 200) / 25))
        unsafe g_object_ref(UnsafeMutableRawPointer(toast))
        unsafe adw_toast_overlay_add_toast(overlay.opaque, toast)
        unsafe toasts.append(toast)
    }

    /// A picture's file that somebody chooses; nil where they chose none.
    func chooseFile(_ title: String, then: @escaping ([UInt8]?) -> Void) {
        let box = unsafe UnsafeMutableRawPointer(
            Unmanaged.passRetained(PathCallback(then)).toOpaque())
        // SAFETY: it is called once, on the main thread, and takes the callback back.
        unsafe appvault_choose_picture(
            own, title,
            { pointer, path in
                guard let pointer = unsafe pointer else { return }
                let callback = unsafe Unmanaged<PathCallback>.fromOpaque(pointer)
                    .takeRetainedValue()
                callback.then(unsafe path.map { unsafe Array(String(cString: $0).utf8) })
            }, box)
    }

    /// What it said is over, and must not stand in front of a button.
    func endToasts() {
        while let toast = unsafe toasts.popLast() {
            unsafe adw_toast_dismiss(toast)
            unsafe g_object_unref(UnsafeMutableRawPointer(toast))
        }
    }

    func save(_ path: String) -> Bool { unsafe appvault_save(window.raw, path) != 0 }
}

private final class PathCallback {
    let then: ([UInt8]?) -> Void

    init(_ then: @escaping ([UInt8]?) -> Void) { self.then = then }
}
