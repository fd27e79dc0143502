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
    /// A store with a record, and its export under the passphrase `right`.
    @LoopActor
    private func exported(_ stage: Stage) async throws -> (header: [UInt8], chunks: [[UInt8]]) {
        await stage.run(
            .create(Create(target: Target(), way: .ownPasscode, openExisting: false)),
            stage.script([
                "create.choose": passcode, "create.confirm": passcode, "recovery.keep": "",
            ]))
        let record = Record(store: [], name: Array("wifi".utf8))
        try await stage.house.records.set(
            record, WipedBuffer(bytes: Array("otter".utf8)), for: stage.script([:]).caller)
        let script = stage.script([
            "match.current": passcode, "export.new": "right", "export.confirm": "right",
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

    @Test("a wrong passphrase is called that, and no damage")
    func wrong() async throws {
        try await Stage.run("") { stage in
            let (header, chunks) = try await exported(stage)
            #expect(await refusal(stage, header, chunks, passphrase: "right") == nil)
            #expect(
                await refusal(stage, header, chunks, passphrase: "wrong")
                    == .exportPassphrase)
        }
    }

    @Test("a file that was cut short is called that")
    func cut() async throws {
        try await Stage.run("") { stage in
            let (header, chunks) = try await exported(stage)
            #expect(
                await refusal(stage, header, [Array(chunks[0].dropLast())], passphrase: "right")
                    == .storeDamaged(.exportCut))
        }
    }
}
