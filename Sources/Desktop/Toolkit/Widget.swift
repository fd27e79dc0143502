internal import CAdw

/// One widget of GTK's, which stays as long as anything of ours refers to it.
@safe
final class Widget {
    let raw: UnsafeMutableRawPointer

    /// Takes a new widget, or one more reference to another.
    init(_ made: UnsafeMutableRawPointer?) {
        // SAFETY: a widget of GTK's, whose first, floating reference becomes ours. All below is GTK's own
        // use of it, with strings that it copies.
        guard let made = unsafe made else { preconditionFailure("GTK made nothing") }
        unsafe raw = made
        unsafe g_object_ref_sink(raw)
    }

    convenience init(_ made: UnsafeMutablePointer<GtkWidget>?) {
        unsafe self.init(made.map { UnsafeMutableRawPointer($0) })
    }

    isolated deinit {
        // SAFETY: the reference that `init` has taken.
        unsafe g_object_unref(raw)
    }

    var widget: UnsafeMutablePointer<GtkWidget> {
        unsafe raw.assumingMemoryBound(to: GtkWidget.self)
    }

    /// For the types of GTK's whose structures are its own business.
    var opaque: OpaquePointer { unsafe OpaquePointer(raw) }

    // MARK: Names and styles

    /// What style sheets call it by, and tests.
    @discardableResult
    func named(_ name: String) -> Widget {
        unsafe gtk_widget_set_name(widget, name)
        return self
    }

    @discardableResult
    func styled(_ classes: String...) -> Widget {
        for each in classes { unsafe gtk_widget_add_css_class(widget, each) }
        return self
    }

    func style(_ name: String, isOn: Bool) {
        if isOn {
            unsafe gtk_widget_add_css_class(widget, name)
        } else {
            unsafe gtk_widget_remove_css_class(widget, name)
        }
    }

    // MARK: Where it is

    @discardableResult
    func margins(_ points: Int32) -> Widget { margins(points, points) }

    @discardableResult
    func margins(_ vertical: Int32, _ horizontal: Int32) -> Widget {
        unsafe gtk_widget_set_margin_top(widget, vertical)
        unsafe gtk_widget_set_margin_bottom(widget, vertical)
        unsafe gtk_widget_set_margin_start(widget, horizontal)
        unsafe gtk_widget_set_margin_end(widget, horizontal)
        return self
    }

    /// Takes what room there is.
    @discardableResult
    func wide() -> Widget {
        unsafe gtk_widget_set_hexpand(widget, 1)
        return self
    }

    @discardableResult
    func tall() -> Widget {
        unsafe gtk_widget_set_vexpand(widget, 1)
        return self
    }

    @discardableResult
    func centred() -> Widget {
        unsafe gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        return self
    }

    /// Where lines of text begin.
    func atStart() -> Widget {
        unsafe gtk_widget_set_halign(widget, GTK_ALIGN_START)
        return self
    }

    @discardableResult
    func middle() -> Widget {
        unsafe gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
        return self
    }

    func append(_ child: Widget) {
        unsafe gtk_box_append(raw.assumingMemoryBound(to: GtkBox.self), child.widget)
    }

    func removeAll() {
        while let child = unsafe gtk_widget_get_first_child(widget) {
            unsafe gtk_box_remove(raw.assumingMemoryBound(to: GtkBox.self), child)
        }
    }

    // MARK: What it does

    var isVisible: Bool {
        get { unsafe gtk_widget_get_visible(widget) != 0 }
        set { unsafe gtk_widget_set_visible(widget, newValue ? 1 : 0) }
    }

    var isSensitive: Bool {
        get { unsafe gtk_widget_get_sensitive(widget) != 0 }
        set { unsafe gtk_widget_set_sensitive(widget, newValue ? 1 : 0) }
    }

    func focus() { unsafe gtk_widget_grab_focus(widget) }

    func on(_ signal: String, _ body: @escaping () -> Void) {
        let box = unsafe Callback(body).kept
        // SAFETY: the callback is kept until GTK drops the connection, which calls `drop`.
        unsafe appvault_on(raw, signal, Callback.call, box, Callback.drop)
    }

    /// Once it has its place in the window: before, nothing can be scrolled to it.
    func oncePlaced(_ body: @escaping () -> Void) {
        let box = unsafe Callback(body).kept
        // SAFETY: as for a signal.
        unsafe appvault_once_placed(raw, Callback.call, box, Callback.drop)
    }

    func onKey(_ trigger: String, _ body: @escaping () -> Void) {
        let box = unsafe Callback(body).kept
        // SAFETY: as for a signal.
        unsafe appvault_on_key(raw, trigger, Callback.call, box, Callback.drop)
    }

    // MARK: What assistive programs hear

    @discardableResult
    func saying(_ text: String) -> Widget {
        unsafe appvault_says(raw, text)
        return self
    }

    @discardableResult
    func labelled(by label: Widget) -> Widget {
        unsafe appvault_labelled_by(raw, label.raw)
        return self
    }

    @discardableResult
    func described(by label: Widget) -> Widget {
        unsafe appvault_described_by(raw, label.raw)
        return self
    }
}

/// A function of ours, for as long as GTK may call it.
final class Callback {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) {
        self.body = body
    }

    var kept: UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(Unmanaged.passRetained(self).toOpaque())
    }

    // SAFETY: GTK calls both on the main thread, with what `kept` has made, and nothing after `drop`.
    static let call: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        guard let pointer = unsafe pointer else { return }
        let callback = unsafe Unmanaged<Callback>.fromOpaque(pointer).takeUnretainedValue()
        callback.body()
    }

    static let drop: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
        guard let pointer = unsafe pointer else { return }
        unsafe Unmanaged<Callback>.fromOpaque(pointer).release()
    }
}
