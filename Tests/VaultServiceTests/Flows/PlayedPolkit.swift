import Posix

@testable import VaultService

/// Answers in polkit's place.
@LoopActor
final class PlayedPolkit {
    var answer = PolkitAnswer.absent
    /// What happens while it asks the person.
    var meanwhile: @LoopActor () async -> Void = {}
    private(set) var subjects: [PolkitSubject] = []

    nonisolated init() {}

    func asked(_ action: PolkitAction, _ subject: PolkitSubject) async -> PolkitAnswer {
        subjects.append(subject)
        await meanwhile()
        return answer
    }
}
