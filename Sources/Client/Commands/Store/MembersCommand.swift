import Posix
import ToolTexts
import Wire

struct MembersCommand: Command {
    static let entry = VerbEntry(
        words: ["members"], group: .store, operands: ["STORE"], options: [.user],
        summary: "list whom a store is shared with",
        text: [
            "Who waits gets access once they have a store with a passcode, and another member is logged in at the same time.",
            "Into a pipe: name (a group with an @), role, and `waiting` or `has-access`, with tabs between them.",
        ],
        json: [
            .init("members[].kind", "`person`, `group` or `everybody`"),
            .init("members[].name", "the account's or the group's; empty where it is everybody"),
            .init("members[].number", "its number"),
            .init("members[].role", "`owner`, `writer` or `reader`"),
            .init("members[].waiting", "whether they have no access yet"),
            .init("members[].byGroup", "whether they have it by a group"),
            .init("members[].addedAt", "seconds since 1970"),
            .init(
                "newKeyIsDue",
                "whether somebody was removed and the store has not got its new key yet"),
        ])
    static let offer = RecoveryOffer.never

    var store: [UInt8]

    static func parse(_ arguments: Arguments) throws(UsageError) -> MembersCommand {
        MembersCommand(store: try Arguments.shared(arguments.operands[0], "members"))
    }

    func run(_ run: Run) throws(ClientError) -> ExitStatus {
        var target = try run.target()
        target.store = store
        let list = try run.connect().ask(.members, target, for: .memberList, MemberList.self)
        switch (run.settings.form, run.environment.output.isTerminal) {
        case (.json, _): run.voice.print(Self.json(list))
        case (.plain, true): run.voice.print(Self.table(list, run.words))
        case (.plain, false):
            run.voice.print(
                list.members.flatMap { member in
                    Layout.fields([
                        Self.name(member), Array(StoreListView.name(member.role).utf8),
                        Array((member.isPending ? "waiting" : "has-access").utf8),
                    ])
                })
        }
        if list.newKeyIsDue, run.settings.form == .plain { run.voice.hint(run.words(.newKeyDue)) }
        return .success
    }

    private static func table(_ list: MemberList, _ words: OwnWords) -> [UInt8] {
        let names = list.members.map { text($0, words) }
        let roles = list.members.map { words(StoreListView.text($0.role)) }
        let widest = names.map(Layout.width).max() ?? 0
        let second = roles.map(Layout.width).max() ?? 0
        var lines: [UInt8] = []
        for (index, member) in list.members.enumerated() {
            var line = Layout.padded(names[index], widest + 2)
            if let note = note(member) {
                line += Layout.padded(roles[index], second + 2) + words(note)
            } else {
                line += roles[index]
            }
            lines += line + [0x0A]
        }
        return lines
    }

    /// As a person reads it.
    static func text(_ member: MemberList.Entry, _ words: OwnWords) -> [UInt8] {
        SharedWith(member).text(words)
    }

    /// What there is to say besides the role.
    static func note(_ member: MemberList.Entry) -> ToolText? {
        member.isPending ? .memberWaits : member.isByGroup ? .memberByGroup : nil
    }

    private static func json(_ list: MemberList) -> SecretBuffer {
        var json = JSON()
        json.objects("members", list.members) { json, member in
            json.field("kind", name(member.kind))
            json.field("name", member.name)
            json.field("number", Int(member.number))
            json.field("role", StoreListView.name(member.role))
            json.field("waiting", member.isPending)
            json.field("byGroup", member.isByGroup)
            json.field("addedAt", member.addedAt)
        }
        json.field("newKeyIsDue", list.newKeyIsDue)
        return json.finish()
    }

    private static func name(_ member: MemberList.Entry) -> [UInt8] {
        switch member.kind {
        case .person: member.name
        case .group: [UInt8(ascii: "@")] + member.name
        case .everybody: Array("*".utf8)
        }
    }

    private static func name(_ kind: MemberKind) -> String {
        switch kind {
        case .person: "person"
        case .group: "group"
        case .everybody: "everybody"
        }
    }
}

extension Connection {
    /// Whom a store of this person's list is shared with.
    func members(
        of store: StoreList.Entry, _ subject: Subject
    ) throws(ClientError) -> MemberList {
        try ask(
            .members, Target(subject: subject, store: store.typedName), for: .memberList,
            MemberList.self)
    }
}
