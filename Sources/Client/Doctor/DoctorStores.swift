import Wire

/// Stores that another store or other people open. A person is told of their own and of those that
/// are shared with them, root of everybody's, without what is in them.
extension Doctor {
    struct KnownStore {
        var entry: StoreList.Entry
        /// Nil where it is not shared, or nobody has told.
        var members: MemberList?
    }

    /// Until then it is usual that somebody waits: they come when they log in.
    private static let usualWait: UInt64 = 7 * 86_400

    func sharedFindings() -> [Finding] {
        guard let stores = daemon.stores else {
            return [Finding(.stores, .unseen, "only the daemon can tell")]
        }
        guard !stores.isEmpty else { return [Finding(.stores, .unseen, "there are none yet")] }
        let found =
            orphans(stores) + shut(stores) + keysDue(stores) + waiting(stores)
            + notYetMember(stores)
        guard found.isEmpty else { return found }
        let shared = stores.count { $0.entry.members > 0 }
        return [Finding(.stores, .ok, "\(stores.count), of which \(shared) are shared")]
    }

    private func orphans(_ stores: [KnownStore]) -> [Finding] {
        finding(
            stores.filter { $0.entry.kind == .follows && $0.entry.parent.isEmpty },
            "the store that it followed is gone, and only a recovery key of its own opens it",
            mend: "`appvault recover --store NAME`, or `appvault reset --store NAME` removes it")
    }

    /// Its owner has reset their own store, and there was no other member.
    private func shut(_ stores: [KnownStore]) -> [Finding] {
        finding(
            stores.filter { store in
                let people = (store.members?.members ?? []).filter { $0.kind == .person }
                return store.entry.kind == .shared && !people.isEmpty
                    && people.allSatisfy(\.isPending)
            },
            "none of its members has access any more, and only a recovery key of its own opens it",
            mend: "`appvault recover --store NAME`, or `appvault reset --store NAME` removes it")
    }

    private func keysDue(_ stores: [KnownStore]) -> [Finding] {
        let due = stores.filter { $0.members?.newKeyIsDue == true }
        return finding(
            due.filter { $0.entry.lock != .unlocked },
            "somebody was removed, and it has no new key yet: it gets one when a member opens it",
            mend: "`appvault unlock --store NAME`")
            + finding(
                due.filter { $0.entry.lock == .unlocked },
                "somebody was removed, and it has no new key yet although it is open",
                mend:
                    "`journalctl -u appvaultd` says why; the next `appvault unlock --store NAME` tries it again"
            )
    }

    private func waiting(_ stores: [KnownStore]) -> [Finding] {
        let long = stores.filter { store in
            store.entry.role != .writer && store.entry.role != .reader
                && (store.members?.members ?? []).contains {
                    $0.isPending && $0.role != .owner
                        && $0.addedAt + Self.usualWait < machine.now
                }
        }
        return finding(
            long, "for more than a week it has been shared with somebody who has no access yet",
            mend:
                "`appvault members NAME` says who: they need a store with a passcode, and have to log in while a member is; if they have made theirs anew, `appvault share` lets them in again"
        )
    }

    /// The person is the one who waits.
    private func notYetMember(_ stores: [KnownStore]) -> [Finding] {
        let names = stores.filter { store in
            let people = (store.members?.members ?? []).filter { $0.kind == .person }
            return people.contains { $0.isPending && $0.number == machine.uid }
                && !people.allSatisfy(\.isPending)
        }
        return finding(
            names, "you have no access yet", state: .unseen,
            mend:
                "`appvault unlock` while another member is logged in; if you have made your own store anew, a member has to share it with you again"
        )
    }

    private func finding(
        _ stores: [KnownStore], _ text: String, state: Finding.State = .warning, mend: String
    ) -> [Finding] {
        guard !stores.isEmpty else { return [] }
        let most = 5
        var names = stores.prefix(most).map { store in
            let name = String(decoding: store.entry.name, as: UTF8.self)
            let isOwn = store.entry.owner.uid == machine.uid
            return isOwn
                ? name : String(decoding: store.entry.owner.name, as: UTF8.self) + "/" + name
        }
        if stores.count > most { names.append("and \(stores.count - most) more") }
        return [Finding(.stores, state, names.joined(separator: ", ") + ": " + text, mend: mend)]
    }
}
