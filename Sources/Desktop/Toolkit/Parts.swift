internal import CAdw

/// The widgets that screens are made of. No text is markup.
extension Widget {
    static func column(_ spacing: Int32 = 0, _ children: [Widget] = []) -> Widget {
        box(GTK_ORIENTATION_VERTICAL, spacing, children)
    }

    static func row(_ spacing: Int32 = 0, _ children: [Widget] = []) -> Widget {
        box(GTK_ORIENTATION_HORIZONTAL, spacing, children)
    }

    private static func box(
        _ orientation: GtkOrientation, _ spacing: Int32, _ children: [Widget]
    ) -> Widget {
        // SAFETY: GTK copies what it is told, and holds the children itself.
        let box = unsafe Widget(gtk_box_new(orientation, spacing))
        for child in children { box.append(child) }
        return box
    }

    /// Lines of text, as wide as there is room.
    static func label(_ text: String) -> Widget {
        wrapped(unsafe Widget(gtk_label_new(text)))
    }

    /// Whose lines end where the text says.
    static func lines(_ text: String) -> Widget { unsafe Widget(gtk_label_new(text)) }

    /// One that is read out as soon as it is there.
    static func alert(_ text: String) -> Widget {
        wrapped(unsafe Widget(appvault_alert(text)))
    }

    static func heading(_ text: String) -> Widget {
        let heading = wrapped(unsafe Widget(appvault_heading(text)))
        unsafe gtk_label_set_justify(heading.opaque, GTK_JUSTIFY_CENTER)
        unsafe gtk_label_set_xalign(heading.opaque, 0.5)
        return heading
    }

    private static func wrapped(_ label: Widget) -> Widget {
        unsafe gtk_label_set_wrap(label.opaque, 1)
        unsafe gtk_label_set_wrap_mode(label.opaque, PANGO_WRAP_WORD_CHAR)
        unsafe gtk_label_set_xalign(label.opaque, 0)
        return label
    }

    /// The text with the ends of its lines, as it stands in this widget's font where each has so many pixels.
    func broken(_ text: String, _ pixels: Int32) -> String {
        // SAFETY: the layout is ours, and its lines are read while it is there.
        guard let layout = unsafe gtk_widget_create_pango_layout(widget, text) else { return text }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) }
        unsafe pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
        unsafe pango_layout_set_width(layout, pixels * PANGO_SCALE)
        let bytes = Array(text.utf8)
        let count = unsafe pango_layout_get_line_count(layout)
        return (0..<count).compactMap { number in
            unsafe pango_layout_get_line_readonly(layout, number).map { line in
                let (start, length) = unsafe (
                    Int(line.pointee.start_index), Int(line.pointee.length)
                )
                return String(decoding: bytes[start..<start + length], as: UTF8.self)
            }
        }.joined(separator: "\n")
    }

    func centredText() -> Widget {
        unsafe gtk_label_set_justify(opaque, GTK_JUSTIFY_CENTER)
        unsafe gtk_label_set_xalign(opaque, 0.5)
        return self
    }

    func selectable() -> Widget {
        unsafe gtk_label_set_selectable(opaque, 1)
        return self
    }

    /// Lines end between words alone: beside other text there is less room than a word may need.
    func keepingWords() -> Widget {
        unsafe gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD)
        return self
    }

    func setText(_ text: String) { unsafe gtk_label_set_text(opaque, text) }

    // MARK: Buttons

    /// With lines of text, so that large ones fit. `says` is for whoever does not see what stands beside it; such a
    /// button leaves the room to that, and keeps its words whole.
    static func button(
        _ text: String, says: String? = nil, _ body: @escaping () -> Void
    ) -> Widget {
        let plain = label(text).centredText()
        let label = says == nil ? plain : plain.keepingWords()
        let button = unsafe Widget(gtk_button_new())
        unsafe gtk_button_set_child(
            button.raw.assumingMemoryBound(to: GtkButton.self), label.widget)
        if let says { button.saying(says) } else { button.labelled(by: label) }
        button.on("clicked", body)
        return button
    }

    /// With more than text in it; what it says is said apart.
    static func button(_ content: Widget, _ body: @escaping () -> Void) -> Widget {
        let button = unsafe Widget(gtk_button_new())
        unsafe gtk_button_set_child(
            button.raw.assumingMemoryBound(to: GtkButton.self), content.widget)
        button.on("clicked", body)
        return button
    }

    /// What its picture means is said to whoever does not see it.
    static func iconButton(_ icon: String, _ text: String, _ body: @escaping () -> Void) -> Widget {
        let button = unsafe Widget(gtk_button_new_from_icon_name(icon))
        unsafe gtk_widget_set_tooltip_text(button.widget, text)
        button.saying(text)
        button.on("clicked", body)
        return button
    }

    func press() { unsafe _ = gtk_widget_activate(widget) }

    /// Opens it in the browser.
    static func link(_ address: String) -> Widget {
        let label = label(address).centredText()
        let link = unsafe Widget(gtk_link_button_new(address))
        unsafe gtk_button_set_child(link.raw.assumingMemoryBound(to: GtkButton.self), label.widget)
        return link
    }

    // MARK: Entries

    enum Purpose { case text, name, email, number }

    /// What is expected there is for keyboards on a screen.
    static func entry(_ purpose: Purpose) -> Widget {
        let entry = unsafe Widget(gtk_entry_new())
        let meant: GtkInputPurpose =
            switch purpose {
            case .text: GTK_INPUT_PURPOSE_FREE_FORM
            case .name: GTK_INPUT_PURPOSE_NAME
            case .email: GTK_INPUT_PURPOSE_EMAIL
            case .number: GTK_INPUT_PURPOSE_DIGITS
            }
        unsafe gtk_entry_set_input_purpose(entry.entryPointer, meant)
        return entry
    }

    /// Its buffer is GTK's for passwords: it is locked in memory, and wiped.
    static func secretEntry() -> Widget {
        let entry = unsafe Widget(gtk_password_entry_new())
        unsafe appvault_forgets(entry.raw)
        unsafe appvault_hushes(entry.raw)
        return entry
    }

    /// Enter does what the window's default button does.
    func entersByDefault(isSecret: Bool) {
        if isSecret {
            unsafe appvault_enters(raw)
        } else {
            unsafe gtk_entry_set_activates_default(entryPointer, 1)
        }
    }

    private var entryPointer: UnsafeMutablePointer<GtkEntry> {
        unsafe raw.assumingMemoryBound(to: GtkEntry.self)
    }

    static func search() -> Widget { unsafe Widget(gtk_search_entry_new()) }

    var text: String {
        get {
            // SAFETY: the entry's own text, which is copied before anything changes it.
            unsafe gtk_editable_get_text(opaque).map { unsafe String(cString: $0) } ?? ""
        }
        set { unsafe gtk_editable_set_text(opaque, newValue) }
    }

    var isEmpty: Bool {
        // SAFETY: as above; only its first byte is looked at.
        unsafe gtk_editable_get_text(opaque).map { unsafe $0.pointee == 0 } ?? true
    }

    /// What stands in the entry, without a String of it.
    func withText<R>(_ body: (Span<UInt8>) -> R) -> R {
        // SAFETY: the entry's own text, to its NUL; the body runs before anything can change it.
        guard let text = unsafe gtk_editable_get_text(opaque) else { return body(Span()) }
        let bytes = unsafe UnsafeRawBufferPointer(start: text, count: strlen(text))
        return unsafe bytes.withMemoryRebound(to: UInt8.self) { body(unsafe $0.span) }
    }

    // MARK: Around others

    /// With bars where it does not fit.
    static func scrolled(_ child: Widget) -> Widget {
        let window = unsafe Widget(gtk_scrolled_window_new())
        unsafe gtk_scrolled_window_set_policy(window.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        unsafe gtk_scrolled_window_set_child(window.opaque, child.widget)
        unsafe gtk_scrolled_window_set_propagate_natural_height(window.opaque, 1)
        return window
    }

    /// No wider than lines can be read.
    static func clamped(_ child: Widget, _ most: Int32) -> Widget {
        let clamp = unsafe Widget(adw_clamp_new())
        unsafe adw_clamp_set_maximum_size(clamp.opaque, most)
        unsafe adw_clamp_set_tightening_threshold(clamp.opaque, most)
        unsafe adw_clamp_set_child(clamp.opaque, child.widget)
        return clamp
    }

    static func progress(_ fraction: Double) -> Widget {
        let bar = unsafe Widget(gtk_progress_bar_new())
        unsafe gtk_progress_bar_set_fraction(bar.opaque, fraction)
        return bar
    }

    func setFraction(_ fraction: Double) { unsafe gtk_progress_bar_set_fraction(opaque, fraction) }

    static func waiting(_ text: String) -> Widget {
        let label = Widget.label(text).centredText().styled("dim-label").named("wait-line")
        let content = Widget.column(18, [Widget.spinner(), label]).middle().tall().wide()
        return Widget.column(0, [content]).named("wait")
    }

    static func spinner() -> Widget {
        let spinner = unsafe Widget(gtk_spinner_new())
        unsafe gtk_spinner_start(spinner.opaque)
        return spinner
    }

    /// What holds one child at a time.
    static func frame() -> Widget { unsafe Widget(adw_bin_new()) }

    func hold(_ child: Widget?) {
        unsafe adw_bin_set_child(raw.assumingMemoryBound(to: AdwBin.self), child?.widget)
    }

    // MARK: Lists

    static func list() -> Widget {
        unsafe Widget(gtk_list_box_new()).styled("boxed-list")
    }

    func choosesOne(_ isOn: Bool) {
        unsafe gtk_list_box_set_selection_mode(
            opaque, isOn ? GTK_SELECTION_SINGLE : GTK_SELECTION_NONE)
    }

    func addRow(_ child: Widget, isPressed: Bool) -> Widget {
        let row = unsafe Widget(gtk_list_box_row_new())
        unsafe gtk_list_box_row_set_child(row.listRow, child.widget)
        unsafe gtk_list_box_row_set_activatable(row.listRow, isPressed ? 1 : 0)
        unsafe gtk_list_box_append(opaque, row.widget)
        return row
    }

    private var listRow: UnsafeMutablePointer<GtkListBoxRow> {
        unsafe raw.assumingMemoryBound(to: GtkListBoxRow.self)
    }

    /// By its place, from 0 on.
    var chosenRow: Int? {
        unsafe gtk_list_box_get_selected_row(opaque).map {
            unsafe Int(gtk_list_box_row_get_index($0))
        }
    }

    func choose(_ row: Widget?) { unsafe gtk_list_box_select_row(opaque, row?.listRow) }
}
