import Posix
import Secrets
import Testing
import Wire
import WorkerLinks

@testable import VaultService

@Suite struct FingerInboxTests {
    private static let nonce = [UInt8](repeating: 7, count: FingerprintLink.nonce)

    private static func frame<B: Body>(
        _ body: B, _ type: UInt16, tag: UInt32 = 0, payload: [UInt8]? = nil
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        if let payload {
            Frame.write(body, type: type, tag: tag, payload: payload.span, to: &bytes)
        } else {
            Frame.write(body, type: type, tag: tag, to: &bytes)
        }
        return bytes
    }

    private static func matched(_ index: UInt8, nonce: [UInt8] = nonce, tag: UInt32 = 0) -> [UInt8]
    {
        frame(FingerprintMatched(nonce: nonce, index: index), FingerprintLink.matched, tag: tag)
    }

    /// What an inbox makes of it, in one word.
    private static func read(
        _ bytes: [UInt8], _ question: FingerInbox.Question = .match(templates: 3)
    ) -> String {
        var inbox = FingerInbox(question, nonce: nonce)
        inbox.take(bytes.span)
        switch inbox.next() {
        case .more: return "more"
        case .scan: return "scan"
        case .nonsense: return "nonsense"
        case .answer(let answer):
            switch answer {
            case .matched(let index): return "matched \(index)"
            case .readers, .enrolled, .noMatch, .done, .stored, .failed: return "answer"
            }
        }
    }

    @Test("a match is one of the templates that were handed over", arguments: 0...255)
    func index(_ index: Int) {
        let expected = index < 3 ? "matched \(index)" : "nonsense"
        #expect(Self.read(Self.matched(UInt8(index))) == expected)
    }

    @Test("a match that is cut short anywhere is none")
    func cutShort() {
        let whole = Self.matched(1)
        for count in 0..<whole.count { #expect(Self.read(Array(whole.prefix(count))) == "more") }
    }

    @Test("a match with any byte changed is no match of another template, and no other answer")
    func changed() {
        let whole = Self.matched(1)
        for place in whole.indices where place != whole.count - 1 {
            for bit in 0..<8 {
                var bytes = whole
                bytes[place] ^= 1 << UInt8(bit)
                // An answer with another nonce belongs to another request and is skipped.
                #expect(["nonsense", "more"].contains(Self.read(bytes)), "\(place), \(bit)")
            }
        }
    }

    @Test("what belongs to another request is passed over, and what comes behind it is read")
    func otherRequest() {
        let other = [UInt8](repeating: 8, count: FingerprintLink.nonce)
        #expect(Self.read(Self.matched(0, nonce: other)) == "more")
        #expect(Self.read(Self.matched(0, nonce: other) + Self.matched(2)) == "matched 2")
    }

    @Test("an answer fits its question, or it is nonsense")
    func fits() {
        let none = FingerprintNonce(nonce: Self.nonce)
        let frames: [(UInt16, [UInt8])] = [
            (
                FingerprintLink.readers,
                Self.frame(
                    FingerprintReaders(nonce: Self.nonce, readers: []), FingerprintLink.readers)
            ),
            (FingerprintLink.enrolled, Self.frame(none, FingerprintLink.enrolled, payload: [1])),
            (FingerprintLink.matched, Self.matched(0)),
            (FingerprintLink.noMatch, Self.frame(none, FingerprintLink.noMatch)),
            (FingerprintLink.done, Self.frame(none, FingerprintLink.done)),
            (
                FingerprintLink.storedPrints,
                Self.frame(
                    FingerprintStored(nonce: Self.nonce, prints: []), FingerprintLink.storedPrints)
            ),
        ]
        let questions: [(FingerInbox.Question, Set<UInt16>)] = [
            (.list, [FingerprintLink.readers]), (.enroll, [FingerprintLink.enrolled]),
            (.match(templates: 1), [FingerprintLink.matched, FingerprintLink.noMatch]),
            (.delete, [FingerprintLink.done]), (.stored, [FingerprintLink.storedPrints]),
        ]
        for (question, good) in questions {
            for (type, frame) in frames {
                let isNonsense = Self.read(frame, question) == "nonsense"
                #expect(isNonsense == !good.contains(type), "\(question), \(type)")
            }
            let failed = Self.frame(
                FingerprintFailed(nonce: Self.nonce, fault: .busy), FingerprintLink.failed)
            #expect(Self.read(failed, question) == "answer")
        }
    }

    @Test("a flood ends, with this request's nonce or with another")
    func flood() {
        for nonce in [Self.nonce, [UInt8](repeating: 9, count: FingerprintLink.nonce)] {
            let scan = Self.frame(
                FingerprintScan(nonce: nonce, event: .place, stage: 0, stages: 0, retry: .none),
                FingerprintLink.scan)
            var inbox = FingerInbox(.match(templates: 1), nonce: Self.nonce)
            var ended = false
            for _ in 0..<2000 where !ended {
                inbox.take(scan.span)
                if case .nonsense = inbox.next() { ended = true }
            }
            #expect(ended)
        }
    }

    @Test("a request that is stopped has the time that ending it takes")
    @LoopActor
    func stopped() {
        let match = FingerInbox.Question.match(templates: 1)
        // Nobody was there, and the reader must not count as one that was touched.
        #expect(FingerprintWorker.wait(after: .nobody, match) >= 5_000)
        // A print that the reader may have by now has to go from its chip.
        for stop in [FingerStop.person, .gone, .nobody] {
            #expect(FingerprintWorker.wait(after: stop, .enroll) >= 15_000)
        }
        // Somebody waits for the reader, or the machine sleeps.
        for stop in [FingerStop.preempted, .withdrawn] {
            #expect(FingerprintWorker.wait(after: stop, match) < 2_000)
            #expect(FingerprintWorker.wait(after: stop, .enroll) < 2_000)
        }
    }
}
