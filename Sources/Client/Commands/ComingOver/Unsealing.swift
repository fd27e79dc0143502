import ForeignStores
import Posix
import ToolTexts
import Wire

/// Opens keyrings and wallets with the passwords that the person types.
final class Unsealing {
    private let run: Run
    /// What has opened the last one: most people have one password for all.
    private var last = SecretBuffer()
    private static let tries = 3

    init(_ run: Run) { self.run = run }

    typealias OpenWith = (borrowing SecretBuffer) throws(ForeignProblem) -> ForeignStore

    /// `guess` is a password that another keyring holds for this one.
    func store(
        _ name: [UInt8], guess: borrowing SecretBuffer, _ open: OpenWith
    ) throws(ClientError) -> Result {
        do throws(ForeignProblem) {
            if let store = try attempt(SecretBuffer(), open) { return .opened(store) }
            if !guess.isEmpty, let store = try attempt(guess, open) { return .opened(store) }
            if !last.isEmpty, let store = try attempt(last, open) { return .opened(store) }
        } catch {
            return .shut(Self.reason(error))
        }
        for attempt in 1...Self.tries {
            var password = SecretBuffer()
            switch run.answers.next(run.words(.comingPrompt, Printable.escaped(name)), &password) {
            case .answered: break
            case .nobody, .notShown:
                throw .refused(
                    Refused(
                        .passcodeRequired, run.words(.comingNobody, Printable.escaped(name)),
                        hint: run.words(.comingNobodyHint)))
            case .cancelled: throw .refused(Refused(.cancelled, run.words(.cancelled)))
            case .busy:
                throw .refused(
                    Refused(.busy, run.words(.dialogBusy), hint: run.words(.dialogBusyHint)))
            case .exhausted, .tooLong, .notTaken, .overtaken: return .shut(.comingWrong)
            }
            if password.isEmpty { return .shut(.comingSkipped) }
            do throws(ForeignProblem) {
                if let store = try self.attempt(password, open) {
                    last.removeAll()
                    last.append(password)
                    return .opened(store)
                }
            } catch {
                return .shut(Self.reason(error))
            }
            guard run.answers.isPerson else { break }
            if attempt < Self.tries { run.voice.error(run.words(.comingWrong)) }
        }
        return .shut(.comingWrong)
    }

    enum Result: ~Copyable {
        case opened(ForeignStore)
        case shut(ToolText)
    }

    /// Nil if it is another password.
    private func attempt(
        _ password: borrowing SecretBuffer, _ open: OpenWith
    ) throws(ForeignProblem) -> ForeignStore? {
        do throws(ForeignProblem) {
            return try open(password)
        } catch {
            if error == .wrongPassword { return nil }
            throw error
        }
    }

    static func reason(_ problem: ForeignProblem) -> ToolText {
        switch problem {
        case .otherKind, .otherVersion: .comingOtherVersion
        case .sealedByGnuPG: .comingSealedByGnuPG
        case .noSalt: .comingNoSalt
        case .wrongPassword: .comingWrong
        case .damaged: .comingDamaged
        case .tooLarge: .comingTooLarge
        case .library: .comingLibrary
        }
    }
}
