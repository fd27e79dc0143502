import Posix

/// Edits a line key by key, without the terminal's own line editing.
struct LineEditor {
    enum Effect: Equatable {
        case nothing
        case changed
        case enter
        /// Ctrl-D on an empty line.
        case end
        /// There is no room for more.
        case full
    }

    private enum Escape { case none, began, sequence }

    private let limit: Int
    private var escape = Escape.none

    init(limit: Int) {
        self.limit = limit
    }

    mutating func take(_ byte: UInt8, into line: inout SecretBuffer) -> Effect {
        switch escape {
        case .none: break
        case .began:
            escape = byte == 0x5B || byte == 0x4F ? .sequence : .none
            return .nothing
        case .sequence:
            if (0x40...0x7E).contains(byte) { escape = .none }
            return .nothing
        }
        switch byte {
        case 0x0A, 0x0D: return .enter
        case 0x04: return line.isEmpty ? .end : .nothing
        case 0x08, 0x7F:
            guard !line.isEmpty else { return .nothing }
            line.truncate(to: LineEditor.lastCharacter(line))
            return .changed
        case 0x15:
            line.removeAll()
            return .changed
        case 0x17:
            var end = line.count
            while end > 0, line[end - 1] == 0x20 { end -= 1 }
            while end > 0, line[end - 1] != 0x20 { end -= 1 }
            line.truncate(to: end)
            return .changed
        case 0x1B:
            escape = .began
            return .nothing
        case 0..<0x20:
            // A passcode holds no control characters.
            return .nothing
        default:
            guard line.count < limit else { return .full }
            line.append(byte)
            return .changed
        }
    }

    private static func lastCharacter(_ line: borrowing SecretBuffer) -> Int {
        var index = line.count - 1
        while index > 0, line.count - index < 4, line[index] & 0xC0 == 0x80 { index -= 1 }
        return index
    }

    /// The number of characters, as far as UTF-8 bytes show it.
    static func characters(_ line: borrowing SecretBuffer) -> Int {
        var count = 0
        for index in 0..<line.count where line[index] & 0xC0 != 0x80 { count += 1 }
        return count
    }

    /// Whether the last character has all its bytes.
    static func isWhole(_ line: borrowing SecretBuffer) -> Bool {
        guard !line.isEmpty else { return true }
        let first = lastCharacter(line)
        let wanted =
            switch line[first] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        return line.count - first >= wanted
    }
}
