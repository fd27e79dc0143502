import Dispatch
import Posix
import Wire

@testable import VaultService

/// A worker that sends anything, and a person who ends the scan at any time. What the daemon
/// believes answers the question; the first end counts, and nothing comes after it. The first byte
/// is the question. Each further byte is a number of bytes that the worker sends as one piece, or
/// an event that ends the scan.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    guard bytes.count > 1 else { return 0 }
    let play = Play(bytes)
    Loop.run { await follow(play) }
    // However the bytes are cut into pieces, they mean the same.
    let pieces = read(play.question, play.pieces)
    must(
        pieces == read(play.question, [play.pieces.flatMap { $0 }]), "the pieces made a difference")
    return 0
}

/// The daemon's loop, on a thread of its own.
enum Loop {
    private static let started: Void = {
        DispatchQueue.global().async { EventLoop.shared.run() }
    }()

    static func run(_ body: @escaping @LoopActor @Sendable () async -> Void) {
        _ = started
        let done = DispatchSemaphore(value: 0)
        EventLoop.shared.task {
            await body()
            done.signal()
        }
        done.wait()
    }
}

let nonce = [UInt8](repeating: 7, count: FingerprintLink.nonce)

struct Play: Sendable {
    enum Step: Sendable {
        case piece([UInt8])
        case stop(FingerStop)
    }

    let question: FingerInbox.Question
    let templates: Int
    var steps: [Step] = []

    var pieces: [[UInt8]] {
        steps.compactMap { if case .piece(let piece) = $0 { piece } else { nil } }
    }

    init(_ bytes: [UInt8]) {
        templates = bytes[0] >= 4 ? Int(bytes[0] - 4) % 11 : 0
        question =
            switch bytes[0] {
            case 0: .list
            case 1: .enroll
            case 2: .delete
            case 3: .stored
            default: .match(templates: templates)
            }
        var rest = bytes.dropFirst()
        while let next = rest.popFirst() {
            switch next {
            case 0...3:
                steps.append(.stop([.person, .gone, .preempted, .withdrawn][Int(next)]))
            default:
                steps.append(.piece(Array(rest.prefix(Int(next)))))
                rest = rest.dropFirst(Int(next))
            }
        }
    }
}

/// What an inbox makes of the pieces, in words.
func read(_ question: FingerInbox.Question, _ pieces: [[UInt8]]) -> [String] {
    var inbox = FingerInbox(question, nonce: nonce)
    var found: [String] = []
    for piece in pieces {
        inbox.take(piece.span)
        while true {
            switch inbox.next() {
            case .more: break
            case .scan(let scan):
                found.append("\(scan)")
                continue
            case .nonsense: return found + ["nonsense"]
            case .answer(let answer):
                switch answer {
                // A secret is not put into words.
                case .enrolled: return found + ["enrolled"]
                case .readers, .matched, .noMatch, .done, .stored, .failed:
                    return found + ["\(answer)"]
                }
            }
            break
        }
    }
    return found
}

/// As in the daemon: what the worker sends goes to a run, which one task follows and others may
/// end.
@LoopActor
func follow(_ play: Play) async {
    var inbox = FingerInbox(play.question, nonce: nonce)
    let run = FingerRun()
    var said = 0
    var first: String?
    var isRead = false
    func end(_ end: FingerEnd) {
        if first == nil { first = word(end) }
        run.finish(end)
        isRead = true
    }
    for step in play.steps {
        switch step {
        case .stop(let why):
            if first == nil { first = word(.stopped(why)) }
            run.stop(why)
            must(run.stop != nil || isRead, "nobody is told to stop")
        case .piece(let piece):
            guard !isRead else { continue }
            inbox.take(piece.span)
            while !isRead {
                switch inbox.next() {
                case .more: break
                case .scan(let scan):
                    if first == nil { said += 1 }
                    run.say(.heard(scan))
                    continue
                case .nonsense: end(.lost(.nonsense))
                case .answer(.matched(let index)):
                    guard case .match = play.question else {
                        fatalError("a match nobody asked for")
                    }
                    must(index < play.templates, "a match of a template that was not given")
                    end(.matched(index))
                case .answer(.noMatch): end(.noMatch)
                case .answer(.enrolled(let print)):
                    guard case .enroll = play.question else {
                        fatalError("a print nobody asked for")
                    }
                    must(!print.isEmpty, "a print of nothing")
                    end(.enrolled(print))
                case .answer(.failed(let fault)): end(.failed(fault))
                case .answer(.readers(let readers)):
                    guard case .list = play.question else { fatalError("readers nobody asked for") }
                    must(readers.count <= FingerprintLink.readersMost, "too many readers")
                    end(.lost(.nonsense))
                case .answer(.stored(let prints)):
                    guard case .stored = play.question else {
                        fatalError("prints nobody asked for")
                    }
                    must(prints.count <= FingerprintLink.storedMost, "too many prints")
                    end(.lost(.nonsense))
                case .answer(.done):
                    guard case .delete = play.question else {
                        fatalError("a word nobody waits for")
                    }
                    end(.lost(.nonsense))
                }
                break
            }
        }
    }
    end(.lost(.ended))
    for _ in 0..<said {
        guard case .heard = await run.next() else {
            fatalError("what was said before the end is lost")
        }
    }
    guard case .ended(let found) = await run.next() else {
        fatalError("something came behind the end")
    }
    must(word(found) == first, "another end than the first")
    must(run.isOver, "an end and no end")
}

func word(_ end: FingerEnd) -> String {
    switch end {
    case .matched(let index): "matched \(index)"
    case .noMatch: "noMatch"
    case .enrolled: "enrolled"
    case .failed(let fault): "failed \(fault)"
    case .lost(let lost): "lost \(lost)"
    case .stopped(let why): "stopped \(why)"
    }
}
