import Posix
import Secrets
import StoreKeeping
import Testing
import Wire
import Words

@testable import VaultService

private let passcode = "correct horse battery"

@Suite("an export, and what an import makes of it")
struct TransferTests {
    @LoopActor
    private func create(_ stage: Stage) async {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
            ]))
    }

    /// A store with a record, and its export under the passphrase `right phrase`.
    @LoopActor
    private func exported(_ stage: Stage) async throws -> (header: [UInt8], chunks: [[UInt8]]) {
        await create(stage)
        let record = Record(store: [], name: Array("wifi".utf8))
        try await stage.house.records.set(
            record, WipedBuffer(bytes: Array("otter".utf8)), for: stage.script([:]).caller)
        let script = stage.script([
            "match.current": passcode, "export.new": "right phrase",
            "export.confirm": "right phrase",
        ])
        let export = try await stage.house.transfers.beginExport(Target(), script)
        var chunks: [[UInt8]] = []
        while true {
            let piece = try await export.next()
            chunks.append(bytes(piece.bytes))
            if piece.chunk.last { break }
        }
        return (bytes(export.header), chunks)
    }

    private func bytes(_ buffer: WipedBuffer) -> [UInt8] {
        buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    /// Why it is refused; nil where the file is good to its end.
    @LoopActor
    private func refusal(
        _ stage: Stage, _ header: [UInt8], _ chunks: [[UInt8]], passphrase: String
    ) async -> Refusal? {
        do throws(Interruption) {
            let coming = try await stage.house.transfers.beginImport(
                ImportBegin(target: Target(), replace: true), WipedBuffer(bytes: header),
                stage.script(["export.passphrase": passphrase]))
            for (index, chunk) in chunks.enumerated() {
                _ = try await coming.take(
                    WipedBuffer(bytes: chunk), last: index == chunks.count - 1)
            }
            return nil
        } catch {
            guard case .refused(let refusal) = error else { return .unknown }
            return refusal
        }
    }

    @Test("a passphrase that can be guessed in an afternoon begins no export")
    func short() async throws {
        try await Stage.run("") { stage in
            await create(stage)
            for (phrase, isShort) in [
                ("1234567", true), ("\u{FC}\u{FC}\u{FC}\u{FC}", true), ("12345678", false),
            ] {
                let script = stage.script([
                    "match.current": passcode, "export.new": phrase, "export.confirm": phrase,
                ])
                var refused: Interruption?
                do throws(Interruption) {
                    _ = try await stage.house.transfers.beginExport(Target(), script)
                } catch {
                    refused = error
                }
                #expect(refused == (isShort ? .refused(.exportPassphrase(.short(least: 8))) : nil))
                #expect(script.asked.contains("export.confirm") == !isShort)
            }
        }
    }

    @Test("a wrong passphrase is called that, and no damage")
    func wrong() async throws {
        try await Stage.run("") { stage in
            let (header, chunks) = try await exported(stage)
            #expect(await refusal(stage, header, chunks, passphrase: "right phrase") == nil)
            #expect(
                await refusal(stage, header, chunks, passphrase: "wrong")
                    == .exportPassphrase(.wrong))
        }
    }

    @Test("a file that was cut short is called that")
    func cut() async throws {
        try await Stage.run("") { stage in
            let (header, chunks) = try await exported(stage)
            #expect(
                await refusal(
                    stage, header, [Array(chunks[0].dropLast())], passphrase: "right phrase")
                    == .storeDamaged(.exportCut))
        }
    }
}
