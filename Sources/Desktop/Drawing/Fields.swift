import Client
import Posix
import Wire

/// What a field is typed into.
struct EntryKind {
    let widget: Widget

    init(_ kind: Screen.Field.Kind) {
        switch kind {
        case .secret: widget = Widget.secretEntry()
        case .text: widget = Widget.entry(.text)
        case .name: widget = Widget.entry(.name)
        case .email: widget = Widget.entry(.email)
        case .number: widget = Widget.entry(.number)
        }
    }
}

extension Typed {
    /// Out of the entry's own buffer, so that there is no String of it.
    @MainActor
    convenience init(copying entry: Widget) {
        self.init(capacity: Limits.secret)
        entry.withText { append($0) }
    }

    /// As an answer has it: behind its 16-bit length.
    @MainActor
    func add(_ entry: Widget) {
        entry.withText { text in
            let count = min(text.count, Limits.secret)
            append([UInt8(count & 0xFF), UInt8(count >> 8)])
            append(text.extracting(0..<count))
        }
    }
}

extension String {
    /// Of a secret that is to be read: shown as itself, as everything is.
    init(copying bytes: Span<UInt8>) {
        self = Shown.text(bytes.indices.map { bytes[$0] })
    }
}
