/// Bytes for a person, put together from pieces; some of them need not be UTF-8.
package struct Text: Equatable {
    package private(set) var bytes: [UInt8] = []

    init(_ pieces: any TextPiece...) {
        for piece in pieces { piece.append(to: &bytes) }
    }

    static func += (text: inout Text, piece: any TextPiece) {
        piece.append(to: &text.bytes)
    }
}

package protocol TextPiece {
    func append(to bytes: inout [UInt8])
}

extension String: TextPiece {
    package func append(to bytes: inout [UInt8]) { bytes += utf8 }
}

extension Int: TextPiece {
    package func append(to bytes: inout [UInt8]) { bytes += String(self).utf8 }
}

extension UInt64: TextPiece {
    package func append(to bytes: inout [UInt8]) { bytes += String(self).utf8 }
}

extension [UInt8]: TextPiece {
    package func append(to bytes: inout [UInt8]) { bytes += self }
}

extension Text: TextPiece {
    package func append(to bytes: inout [UInt8]) { bytes += self.bytes }
}
