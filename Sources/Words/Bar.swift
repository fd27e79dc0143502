import Wire

extension Refusal {
    /// The organisation whose machine this is.
    package struct Orderer: Equatable, Sendable {
        package let name: String
        /// Whom its people ask; empty where it names nobody.
        package let contact: String

        package init(name: String, contact: String) {
            self.name = Text.clean(Array(name.utf8))
            self.contact = Text.clean(Array(contact.utf8))
        }

        /// What comes of an order that cannot be obeyed any other way: ask.
        fileprivate var hint: Phrase {
            contact.isEmpty ? Phrase(.hintBarredUnnamed) : Phrase(.hintBarred, .text(contact))
        }
    }

    /// Why an organisation keeps a store shut. No try counts meanwhile, and nothing in it changes.
    package enum Bar: Equatable, Sendable {
        case ordered(Orderer)
        /// The machine has heard nothing of it for so many days in which it ran.
        case offline(days: UInt32, Orderer)
        /// The person has not agreed to what it requires: its title.
        case denied([UInt8], Orderer)

        /// For programs.
        var name: String {
            switch self {
            case .ordered: "ordered"
            case .offline: "offline"
            case .denied: "denied"
            }
        }

        var phrase: Phrase {
            switch self {
            case .ordered(let orderer): Phrase(.refusedBarred, .text(orderer.name))
            case .offline(1, let orderer): Phrase(.refusedBarredOfflineOne, .text(orderer.name))
            case .offline(let days, let orderer):
                Phrase(.refusedBarredOffline, .text(orderer.name), .count(days))
            case .denied(let title, let orderer):
                Phrase(.refusedBarredDenied, .text(orderer.name), .text(Text.clean(title)))
            }
        }

        var hint: Phrase {
            switch self {
            case .ordered(let orderer): orderer.hint
            case .offline(_, let orderer) where orderer.contact.isEmpty:
                Phrase(.hintBarredOfflineUnnamed)
            case .offline(_, let orderer):
                Phrase(.hintBarredOffline, .text(orderer.contact))
            case .denied: Phrase(.hintBarredDenied)
            }
        }
    }
}
