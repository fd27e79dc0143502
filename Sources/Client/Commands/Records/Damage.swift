import ToolTexts
import Wire

extension Run {
    /// Says which records are damaged, and what to do. Into a pipe goes what was given, and nothing
    /// of this.
    func tell(_ damaged: [DamagedRecords.Entry], hint: [UInt8]) -> ExitStatus {
        if damaged.isEmpty { return .success }
        for line in DamageView.lines(damaged, words) { voice.error(line) }
        voice.hint(hint)
        return .damaged
    }
}
