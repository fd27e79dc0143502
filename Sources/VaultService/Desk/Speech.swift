import Policy
import Posix
import Wire
import Words

/// Chooses the words for a person: the administrator's texts before the catalogues, those before
/// the built-in English, as they are at this moment.
@LoopActor
final class Speech {
    private let catalogues: [String: Catalogue]
    private let policies: PolicyKeeper
    private let textLists = TextLists()

    init(_ catalogues: [String: Catalogue], _ policies: PolicyKeeper) {
        self.catalogues = catalogues
        self.policies = policies
    }

    private var texts: Texts { Texts(catalogues: catalogues, overrides: policies.texts) }

    func voice(of caller: Caller) -> Voice {
        let texts = texts
        return Voice(texts: texts, language: texts.language(caller.hello.language))
    }

    /// For a peer that has not said which language it reads.
    var voice: Voice { Voice(texts: texts, language: .english) }

    func textList(for caller: Caller) -> SharedBody {
        textLists.list(voice(of: caller), reading: policies.reading)
    }
}
