import Policy
import Wire
import Words

/// Shows why a flow begins, before it does. The person reads it and presses Enter.
extension Settling {
    func notify(of step: DueStep, _ exchange: any Conversation) async throws(Interruption) {
        guard let notice = step.notice else { return }
        for part in notice.parts { try await exchange.show(.notice(notice, part)) }
        _ = try await exchange.ask(.noticeEnd(notice), .acknowledge)
    }
}
