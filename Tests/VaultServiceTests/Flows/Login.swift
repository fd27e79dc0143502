import Posix
import Secrets
import StoreKeeping
import Wire

@testable import VaultService

/// Where AppVault's lines stand in a login's stack.
enum Stack {
    /// `auth required`: without the passcode no login.
    case step
    /// In front of pam_unix with `or_password`, and behind it.
    case inFront
    /// Behind pam_unix alone, for stores that the login password opens.
    case behind
}

/// What a login came to.
struct Entered: Equatable {
    var isIn = false
    /// What each of AppVault's lines says, in their order; nil where its connection was cut.
    var outcomes: [Outcome?] = []
}

extension Stage {
    /// A whole login, in libpam's order: `auth`, `setcred`, the session. pam_unix takes `password`,
    /// which is typed at its own question where AppVault's was answered otherwise.
    /// A module in front of `inFront` may bring a token.
    func enter(
        _ stack: Stack, _ script: Script, password: String, enforce: Bool = false,
        brought: String = "", setsToken: Bool = false, finger: FingerUse = .first,
        session: String? = "1"
    ) async -> Entered {
        var request = Authenticate(subject: subject)
        request.enforce = enforce
        request.setsToken = setsToken
        request.finger = finger
        var entered = Entered()
        var handle = Handle.none
        func take(_ verdict: Verdict?) {
            entered.outcomes.append(verdict?.outcome)
            if let verdict, !verdict.handle.isNone { handle = verdict.handle }
        }
        var token = password
        switch stack {
        case .step:
            take(await pam(.authenticate(request, token: secret("")), script))
            guard entered.outcomes == [.success] else { return entered }
        case .inFront:
            request.orPassword = true
            request.tokenOnly = !brought.isEmpty
            take(await pam(.authenticate(request, token: secret(brought)), script))
            if entered.outcomes == [.success] {
                token = script.given ?? script.token ?? brought
            }
            take(await unlock(token, handle, script))
        case .behind:
            take(await unlock(token, handle, script))
        }
        entered.isIn = true
        take(await pam(.confirm(Confirm(handle: handle)), login([:])))
        if let session { await begin(session) }
        return entered
    }

    /// A session begins, without a login that opened anything.
    func begin(_ id: String = "1", class kind: String = "user") async {
        _ = await pam(.sessionOpen(session(id, kind)), login([:]))
    }

    /// The person logs out.
    func leave() async { _ = await pam(.sessionClose(session()), login([:])) }

    /// `passwd`, behind pam_unix.
    func changePassword(from old: String, to new: String) async -> Outcome? {
        let request = Password(subject: subject)
        return await pam(
            .password(request, old: secret(old), new: secret(new)), login([:]))?.outcome
    }

    /// A locker's `auth` and `setcred`, and the `setcred` of whoever makes a handle up.
    func unlockScreen(_ script: Script) async -> [Outcome?] {
        let verdict = await pam(
            .authenticate(Authenticate(subject: subject), token: secret("")), script)
        let confirmed = await pam(.confirm(Confirm(handle: verdict?.handle ?? .none)), script)
        let invented = Handle(bytes: [UInt8](repeating: 7, count: Handle.size))
        let other = await pam(.confirm(Confirm(handle: invented)), script)
        return [verdict?.outcome, confirmed?.outcome, other?.outcome]
    }

    private func unlock(_ token: String, _ handle: Handle, _ script: Script) async -> Verdict? {
        let request = Unlock(subject: subject, handle: handle)
        return await pam(.unlock(request, token: secret(token)), script)
    }

    /// As a connection answers it; nil where the front end has left.
    private func pam(_ request: PamRequest, _ script: Script) async -> Verdict? {
        do throws(Interruption) {
            return try await house.pam.run(request, script)
        } catch {
            switch error {
            case .refused(let refusal): return Verdict(refusing: refusal, to: script.audience)
            case .gone: return nil
            }
        }
    }

    private var subject: Subject { Subject(name: alice.name, uid: alice.uid) }

    private func session(_ id: String = "1", _ kind: String = "user") -> Session {
        Session(subject: subject, id: Array(id.utf8), sessionClass: Array(kind.utf8))
    }

    private func secret(_ text: String) -> SecretBox {
        guard let secret = try? SecretBytes(copying: Array(text.utf8).span) else {
            preconditionFailure("no guarded memory")
        }
        return SecretBox(secret)
    }
}
