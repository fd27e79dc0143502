import Policy
import Wire
import Words

/// Shows why a flow begins, before it does. The person reads it and presses Enter.
extension Settling {
    /// Tells the person once that something in the store's files was damaged, and what of it could
    /// not be brought back. The journal has it too, for logins that show no lines.
    func tellMended(_ visit: Visit) async {
        guard let mended = visit.host.takeMended() else { return }
        desk.audit.note(
            .fault,
            mended.recoveryKeyIsGone
                ? "a damaged slots file was repaired, without the recovery key"
                : "a damaged slots file was repaired",
            store: visit.host.id.description, person: visit.person)
        guard visit.exchange.audience == .person else { return }
        // The store is open, even if no person reads this any more.
        try? await visit.exchange.show(
            .storeMended(withoutRecovery: mended.recoveryKeyIsGone))
    }

    func notify(of step: DueStep, _ exchange: any Conversation) async throws(Interruption) {
        guard let notice = step.notice else { return }
        _ = try await exchange.present(.notice(notice))
    }
}

extension Visit {
    /// After the store was opened: tells the person once what was found of its log. The store is
    /// open, even if no person reads this any more.
    func tellLog() async {
        guard exchange.audience == .person else { return }
        switch host.takeLogNews() {
        case .whole: return
        case .repaired: try? await exchange.show(.logRepaired)
        case .lost: try? await exchange.show(.changesLost, .error)
        }
    }
}
