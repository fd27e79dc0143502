import Posix

@testable import VaultService

/// Answers in polkit's place.
@LoopActor
final class PlayedPolkit {
    var answer = PolkitAnswer.absent
    /// What happens while it asks the person.
    var meanwhile: @LoopActor () async -> Void = {}
    private(set) var subjects: [PolkitSubject] = []
    /// Until when each question may stand, in milliseconds since the machine started.
    private(set) var deadlines: [UInt64] = []

    nonisolated init() {}

    func asked(_ action: PolkitAction, _ subject: PolkitSubject, until deadline: UInt64) async
        -> PolkitAnswer
    {
        subjects.append(subject)
        deadlines.append(deadline)
        await meanwhile()
        return answer
    }
}
