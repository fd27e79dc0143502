import KeySlots
import Policy
import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

/// The same passcode, as two keyboards send it.
private let composed = "\u{FC}ber otter badger 7"
private let decomposed = "u\u{308}ber otter badger 7"
private let other = "correct horse battery"

/// What cannot be a passcode, and how it is refused where it is to become one.
private struct Unfit: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let refusal: Refusal

    static let all = [
        Unfit(
            testDescription: "no text", bytes: [0x61, 0xFF, 0x62],
            refusal: .invalidArgument(.notText)),
        Unfit(
            testDescription: "a control character", bytes: Array("a\u{7}b".utf8),
            refusal: .invalidArgument(.control)),
        Unfit(
            testDescription: "too long",
            bytes: [UInt8](repeating: 0x61, count: PasscodeText.maximum + 1),
            refusal: .tooLarge(limit: PasscodeText.maximum)),
        // Each of these is three bytes, and six of them when it is composed.
        Unfit(
            testDescription: "too long when it is normalised",
            bytes: Array(String(repeating: "\u{FB1F}", count: 341).utf8),
            refusal: .tooLarge(limit: PasscodeText.maximum)),
    ]
}

@Suite("what is typed, on its way through a flow")
struct TypedTests {
    private func onStage<R: Sendable>(
        _ policy: String = "", _ body: @escaping @LoopActor @Sendable (Stage) async throws -> R
    ) async throws -> R {
        try await Stage.run(policy, body)
    }

    /// Own tries that are left of nine.
    @LoopActor
    private func left(_ stage: Stage, _ kind: TryKind = .own) -> Int? {
        var policy = Policy.builtIn
        policy.retryLimit = 9
        return stage.store?.snapshot.tally.triesLeft(kind, policy)
    }

    // MARK: one passcode in two forms

    @Test("a passcode opens the store in whatever form it is typed")
    func forms() async throws {
        try await onStage { stage in
            await stage.create(composed)
            #expect(await stage.opens(with: decomposed))
            #expect(await stage.opens(with: composed))
            await stage.change(from: decomposed, to: other)
            #expect(await stage.opens(with: other))
        }
    }

    @Test("a login with it opens the store in whatever form, as a token and at a prompt")
    func loginForms() async throws {
        try await onStage { stage in
            await stage.create(composed)
            for (token, answer) in [(decomposed, ""), ("", decomposed), (composed, "")] {
                await stage.store?.lock()
                let script = stage.loginScript(["match.prompt": answer])
                let verdict = await stage.authenticate(token, script)
                #expect((try? verdict.get())?.outcome == .success)
                #expect(stage.store?.isOpen == true)
                #expect(script.asked == (token.isEmpty ? ["match.prompt"] : []))
            }
        }
    }

    @Test(
        "the repetition of a new passcode may be in another form, and that of a login password not")
    func repetition() async throws {
        try await onStage { stage in
            let script = stage.script([
                "create.choose": composed, "create.confirm": decomposed, "recovery.keep": "",
            ])
            let end = await stage.run(.create(.own), script)
            #expect(end == .success("create.done"))
            #expect(await stage.opens(with: composed))
        }
        try await onStage { stage in
            await stage.createFollowing(composed)
            let script = stage.loginScript([:], .pamPassword)
            script.answers = [
                "password.choose": other + " u\u{308}", "password.confirm": other + " \u{FC}",
            ]
            let verdict = await stage.run(
                .passwordRules(
                    PasswordRules(subject: Subject()), old: try Stage.box(composed),
                    new: try Stage.box("")), script)
            #expect((try? verdict.get())?.code == Code.noMatch.rawValue)
            #expect(script.asked.count == 6)
        }
    }

    // MARK: what cannot be a passcode

    @Test("what cannot be a passcode is a try where one is tried", arguments: Unfit.all)
    fileprivate func unfitTried(_ unfit: Unfit) async throws {
        try await onStage { stage in
            await stage.create(composed)
            let script = stage.script([:])
            script.typed["match.prompt"] = unfit.bytes
            let end = await stage.run(.openStore(Target()), script)
            // Three questions at a terminal, which is apart.
            #expect(end == .failure(.refused(.invalidPasscode(left: 6, .recover))))
            #expect(left(stage, .apart) == 6)
            #expect(left(stage) == 9)
            let login = stage.loginScript([:])
            login.typed["match.prompt"] = unfit.bytes
            let verdict = await stage.authenticate("", login)
            #expect((try? verdict.get())?.code == Code.invalidPasscode.rawValue)
            #expect(left(stage) == 8)
            let token = await stage.authenticate(
                unfit.bytes, stage.loginScript([:]), tokenOnly: true)
            #expect(token == .failure(.refused(.invalidPasscode(left: 5, .recover))))
            #expect(left(stage, .apart) == 5)
            #expect(left(stage) == 8)
        }
    }

    @Test("a change of the way in changes the way, and is refused where it changes nothing")
    func ways() async throws {
        try await onStage { stage in
            await stage.create(composed)
            let follows = Passcode(target: Target(), change: .followLogin)
            let answers = ["match.current": composed, "create.login-password": other]
            #expect(
                await stage.run(.passcode(follows), stage.script(answers))
                    == .success("follow.done"))
            #expect(stage.store?.followsLogin == true)
            let again = stage.script(answers)
            #expect(
                await stage.run(.passcode(follows), again)
                    == .failure(
                        .refused(.invalidAction(action: .changePasscode, reason: .followsLogin))))
            #expect(again.asked.isEmpty)
            let own = Passcode(target: Target(), change: .ownPasscode)
            let back = stage.script([
                "match.current": other, "create.choose": composed, "create.confirm": composed,
            ])
            #expect(await stage.run(.passcode(own), back) == .success("change.done"))
            #expect(stage.store?.followsLogin == false)
        }
        // A policy that forbids it holds for the way as well.
        try await onStage("MinLength=40\n") { stage in
            await stage.createFollowing(other)
            let script = stage.script([
                "match.current": other, "create.choose": composed, "create.confirm": composed,
            ])
            let own = Passcode(target: Target(), change: .ownPasscode)
            #expect(await stage.run(.passcode(own), script) != .success("change.done"))
            #expect(script.asked.contains("create.choose"))
            #expect(stage.store?.followsLogin == true)
        }
    }

    @Test("an empty answer is no try")
    func empty() async throws {
        try await onStage { stage in
            await stage.create(composed)
            let end = await stage.run(.openStore(Target()), stage.script(["match.prompt": ""]))
            #expect(end == .failure(.refused(.cancelledOpening)))
            let changed = await stage.run(
                .passcode(Passcode(target: Target(), change: .change)),
                stage.script(["match.current": ""]))
            #expect(changed == .failure(.refused(.cancelled)))
            let verdict = await stage.authenticate("", stage.loginScript(["match.prompt": ""]))
            #expect(verdict == .failure(.refused(.cancelled)))
            #expect(left(stage) == 9)
            #expect(left(stage, .apart) == 9)
        }
    }

    @Test("what cannot be a passcode does not become one, and is no try", arguments: Unfit.all)
    fileprivate func unfitSet(_ unfit: Unfit) async throws {
        try await onStage { stage in
            let making = stage.script([:])
            making.typed["create.choose"] = unfit.bytes
            let made = await stage.run(.create(.own), making)
            #expect(made == .failure(.refused(unfit.refusal)))
            #expect(making.asked == ["create.choose"])
            #expect(stage.store == nil)

            await stage.create(composed)
            let changing = stage.script(["match.current": composed])
            changing.typed["create.choose"] = unfit.bytes
            let changed = await stage.run(
                .passcode(Passcode(target: Target(), change: .change)), changing)
            #expect(changed == .failure(.refused(unfit.refusal)))
            // As a repetition it is only another text.
            let repeating = stage.script(["match.current": composed, "create.choose": other])
            repeating.typed["create.confirm"] = unfit.bytes
            let repeated = await stage.run(
                .passcode(Passcode(target: Target(), change: .change)), repeating)
            #expect(repeated == .failure(.refused(.noMatch)))
            #expect(left(stage) == 9)
            #expect(await stage.opens(with: composed))
        }
    }

    @Test("a login password is what it is: a store follows one that could not be a passcode")
    func followsAnything() async throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0x62, 0x0A]
        try await onStage { stage in
            let script = stage.script(["recovery.keep": ""])
            script.typed["create.login-password"] = bytes
            let end = await stage.run(.create(.following), script)
            #expect(end == .success("create.done"))
            await stage.store?.lock()
            let verdict = await stage.unlock(bytes, stage.loginScript([:]))
            #expect((try? verdict.get())?.outcome == .ignore)
            #expect(stage.store?.isOpen == true)
            #expect(left(stage, .apart) == 9)
        }
    }

    // MARK: a login's own ways

    @Test("a wrong answer where it may be the login password is told of in one line, and counted")
    func orPassword() async throws {
        try await onStage { stage in
            await stage.create(composed)
            let script = stage.loginScript(["match.prompt.or-password": other])
            let verdict = await stage.authenticate("", script, orPassword: true)
            #expect((try? verdict.get())?.code == Code.invalidPasscode.rawValue)
            #expect(script.shown == ["match.or-password.left"])
            #expect(left(stage) == 8)
            let right = stage.loginScript(["match.prompt.or-password": decomposed])
            let success = await stage.authenticate("", right, orPassword: true)
            #expect((try? success.get())?.outcome == .success)
            #expect(left(stage) == 9)
        }
    }

    @Test("a wrong token costs one try, also where it comes again, and the prompt decides")
    func token() async throws {
        try await onStage { stage in
            await stage.create(composed)
            for _ in 0..<2 {
                let script = stage.loginScript(["match.prompt": other])
                let verdict = await stage.authenticate(other, script)
                #expect((try? verdict.get())?.code == Code.invalidPasscode.rawValue)
                #expect(script.asked == ["match.prompt"])
            }
            #expect(left(stage, .apart) == 8)
            #expect(left(stage) == 7)
        }
    }

    @Test("a token is known again by its bytes, not by what they mean")
    func tokenBytes() async throws {
        try await onStage { stage in
            await stage.create(other)
            for token in [composed, composed, decomposed, decomposed] {
                _ = await stage.authenticate(token, stage.loginScript([:]), tokenOnly: true)
            }
            #expect(left(stage, .apart) == 7)
        }
    }

    @Test("a store goes on with the new login password, once the login with it is confirmed")
    func drift() async throws {
        try await onStage { stage in
            await stage.createFollowing(other)
            let script = stage.loginScript(["drift.former": other])
            let verdict = await stage.unlock(Array(decomposed.utf8), script)
            #expect(script.asked == ["drift.former"])
            #expect(stage.store?.isOpen == true)
            #expect(await !stage.opens(with: composed))
            let again = stage.loginScript(["drift.former": other])
            let handle = try await stage.unlock(Array(decomposed.utf8), again).get().handle
            #expect((try? verdict.get())?.handle != handle)
            _ = await stage.run(.confirm(Confirm(handle: handle)), stage.loginScript([:]))
            #expect(await stage.opens(with: composed))
            #expect(await !stage.opens(with: other))
        }
    }

    /// What `status` says is wrong with the store.
    @LoopActor
    private func trouble(_ stage: Stage) async throws -> String {
        let state = try await stage.house.statuses.status(Target(), for: stage.script([:]).caller)
        return String(decoding: state.trouble, as: UTF8.self)
    }

    @Test("a slip of the finger is not called a changed login password")
    func slip() async throws {
        try await onStage { stage in
            await stage.createFollowing(composed)
            // A token of another module's, which nothing has proven.
            _ = await stage.authenticate(other, stage.loginScript([:]), tokenOnly: true)
            #expect(left(stage, .apart) == 8)
            let trouble = try await trouble(stage)
            #expect(trouble.isEmpty)
        }
    }

    @Test("a changed login password is told of until one opens the store")
    func driftToldOf() async throws {
        try await onStage { stage in
            await stage.createFollowing(composed)
            let skips = stage.loginScript(["drift.former": ""])
            _ = await stage.unlock(Array(other.utf8), skips)
            #expect(skips.asked == ["drift.former"])
            let told = try await trouble(stage)
            #expect(told == "your login password did not open it")
            // Put back, it opens the store again.
            let script = stage.loginScript([:])
            _ = await stage.unlock(Array(composed.utf8), script)
            #expect(script.asked == [])
            #expect(stage.store?.isOpen == true)
            await stage.store?.lock()
            let mended = try await trouble(stage)
            #expect(mended.isEmpty)
        }
    }

    @Test("the recovery key mends the drift as well")
    func driftRecovered() async throws {
        try await onStage { stage in
            let key = await stage.createFollowing(other)
            let script = stage.loginScript([
                "drift.former": key, "create.login-password": composed,
            ])
            let handle = try await stage.unlock(Array(composed.utf8), script).get().handle
            _ = await stage.run(.confirm(Confirm(handle: handle)), stage.loginScript([:]))
            #expect(await stage.opens(with: decomposed))
        }
    }

    @Test("a change of the login password is followed: both open until one of them was used")
    func passwd() async throws {
        try await onStage { stage in
            await stage.createFollowing(composed)
            let script = stage.loginScript([:], .pamPassword)
            let verdict = await stage.run(
                .password(
                    Password(subject: Subject()), old: try Stage.box(decomposed),
                    new: try Stage.box(other)), script)
            #expect((try? verdict.get())?.outcome == .ignore)
            #expect(stage.store?.snapshot.passcodes.count == 2)
            #expect(await stage.opens(with: other))
            #expect(await !stage.opens(with: composed))
        }
    }

    @Test("a passcode that the policy demands behind a login is made when that is confirmed")
    func createdBehindLogin() async throws {
        try await onStage { stage in
            let end = await stage.run(
                .create(Create(target: Target(), way: .noPasscode, openExisting: false)),
                stage.script([:]))
            #expect(end == .success("create.done.none"))
            await stage.store?.lock()
            await stage.change("AllowNoPasscode=no\n")
            let script = stage.loginScript([
                "notice.enter": "", "create.choose": composed, "create.confirm": decomposed,
            ])
            let handle = try await stage.unlock(Array(other.utf8), script).get().handle
            #expect(stage.store?.hasPasscode == false)
            _ = await stage.run(.confirm(Confirm(handle: handle)), stage.loginScript([:]))
            #expect(stage.store?.hasPasscode == true)
            #expect(await stage.opens(with: decomposed))
        }
    }
}

extension Create {
    fileprivate static var own: Create {
        Create(target: Target(), way: .ownPasscode, openExisting: false)
    }
    fileprivate static var following: Create {
        Create(target: Target(), way: .followLogin, openExisting: false)
    }
}

extension Stage {
    fileprivate static func box(_ text: String) throws -> SecretBox {
        SecretBox(try SecretBytes(copying: Array(text.utf8).span))
    }

    fileprivate func create(_ passcode: String) async {
        await run(
            .create(.own),
            script(["create.choose": passcode, "create.confirm": passcode, "recovery.keep": ""]))
        await store?.lock()
    }

    /// Its recovery key.
    @discardableResult
    fileprivate func createFollowing(_ password: String) async -> String {
        let script = script(["create.login-password": password, "recovery.keep": ""])
        await run(.create(.following), script)
        await store?.lock()
        return script.revealed
    }

    fileprivate func change(from former: String, to new: String) async {
        let end = await run(
            .passcode(Passcode(target: Target(), change: .change)),
            script(["match.current": former, "create.choose": new, "create.confirm": new]))
        #expect(end == .success("change.done"))
    }

    /// At a console's login.
    fileprivate func loginScript(
        _ answers: [String: String], _ frontEnd: FrontEnd = .pamAuth
    ) -> Script {
        var hello = Hello(frontEnd: frontEnd, realUID: alice.uid)
        hello.service = Array("login".utf8)
        hello.tty = Array("tty1".utf8)
        return Script(caller(hello, uid: alice.uid), reader, answers)
    }

    fileprivate func run(_ request: PamRequest, _ script: Script) async
        -> Result<Verdict, Interruption>
    {
        do throws(Interruption) {
            return .success(try await house.pam.run(request, script))
        } catch {
            return .failure(error)
        }
    }

    fileprivate func authenticate(
        _ token: String, _ script: Script, orPassword: Bool = false, tokenOnly: Bool = false
    ) async -> Result<Verdict, Interruption> {
        await authenticate(
            Array(token.utf8), script, orPassword: orPassword, tokenOnly: tokenOnly)
    }

    fileprivate func authenticate(
        _ token: [UInt8], _ script: Script, orPassword: Bool = false, tokenOnly: Bool = false
    ) async -> Result<Verdict, Interruption> {
        var request = Authenticate(subject: Subject())
        request.orPassword = orPassword
        request.tokenOnly = tokenOnly
        guard let secret = try? SecretBytes(copying: token.span) else {
            return .failure(.refused(.outOfMemory))
        }
        return await run(.authenticate(request, token: SecretBox(secret)), script)
    }

    fileprivate func unlock(_ token: [UInt8], _ script: Script) async
        -> Result<Verdict, Interruption>
    {
        guard let secret = try? SecretBytes(copying: token.span) else {
            return .failure(.refused(.outOfMemory))
        }
        return await run(.unlock(Unlock(subject: Subject()), token: SecretBox(secret)), script)
    }
}
