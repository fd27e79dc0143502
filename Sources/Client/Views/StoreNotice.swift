import Posix
import ToolTexts
import Wire

/// What the person is told of a store although they did not ask: where `status` says something
/// that should not wait until they look.
package struct StoreNotice: Equatable, Sendable {
    package enum Kind: Sendable {
        case erased, retryLocked, barred, due, trouble
    }

    package var kind: Kind
    package var summary: [UInt8]
    package var body: [UInt8]

    /// Nil where there is nothing that they would have to know.
    package static func of(_ state: State, _ texts: TextList) -> StoreNotice? {
        let words = OwnWords { OwnWords.texts(texts) }
        let name = state.name.isEmpty ? Array("default".utf8) : Printable.escaped(state.name)
        func notice(_ kind: Kind, _ summary: ToolText, _ body: [UInt8]?) -> StoreNotice {
            StoreNotice(kind: kind, summary: words(summary, name), body: body ?? [])
        }
        let advice = StatusView.advice(state, words)
        switch state.lock {
        case .erased: return notice(.erased, .noticeErased, words(.nextCreate))
        case .retryLocked: return notice(.retryLocked, .noticeRetryLocked, advice)
        case .barred:
            let why = Printable.escaped(state.trouble)
            return notice(.barred, .noticeBarred, advice.map { why + [0x0A] + $0 } ?? why)
        case .absent: return nil
        case .locked, .unlocked, .damaged, .ownerChanged: break
        }
        if !state.trouble.isEmpty {
            let what = Printable.escaped(state.trouble)
            return notice(.trouble, .noticeTrouble, advice.map { what + [0x0A] + $0 } ?? what)
        }
        return state.pending.isEmpty ? nil : notice(.due, .noticeDue, words(.nextDue))
    }
}

/// The agent's own lines, in the person's language.
package struct AgentWords {
    private let words: OwnWords

    package init(_ texts: TextList?) {
        words = OwnWords { texts.map { OwnWords.texts($0) } ?? [:] }
    }

    package func fingerAdded(_ store: [UInt8]) -> (summary: [UInt8], body: [UInt8]) {
        (words(.noticeFinger, Printable.escaped(store)), words(.noticeFingerBody))
    }

    package func stillLocked(_ stores: [[UInt8]]) -> (summary: [UInt8], body: [UInt8]) {
        let names = stores.map { Printable.escaped($0) }.joined(separator: Array(", ".utf8))
        return (words(.noticeStillLocked, Array(names)), words(.noticeStillLockedBody))
    }

    package var window: [UInt8] { words(.noticeWindow) }

    package func appLocked(_ id: String) -> (summary: [UInt8], body: [UInt8], open: [UInt8]) {
        (words(.noticeApp, id), words(.noticeAppBody), words(.noticeAppOpen))
    }
}
