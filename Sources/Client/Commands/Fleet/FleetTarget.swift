import Fleet
import Wire
import Words

/// Whom an order is for, as an administrator types it.
extension TargetName {
    private static let machinePrefix = Array("machine:".utf8)
    private static let digits = 32
    static let right = "NAME, machine:ID or NAME@ID, with ID as in /etc/machine-id"

    init?(typed text: [UInt8]) {
        if text.starts(with: Self.machinePrefix) {
            guard let id = Self.id(text[Self.machinePrefix.count...]) else { return nil }
            self = .machine(id)
            return
        }
        // A directory's names may have an @ of their own.
        if let at = text.lastIndex(of: UInt8(ascii: "@")), let id = Self.id(text[(at + 1)...]) {
            guard Self.isName(text[..<at]) else { return nil }
            self = .personAt(Array(text[..<at]), machine: id)
            return
        }
        guard Self.isName(text[...]) else { return nil }
        self = .person(text)
    }

    private static func id(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count == digits,
            text.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 | 0x20 })
        else { return nil }
        return text.map { $0 | 0x20 }
    }

    /// As passwd(5) can have it: a mistake here would lock nobody, and nobody would notice.
    private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        (1...Limits.text).contains(text.count) && text.first != UInt8(ascii: "-")
            && text.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }
            && String(validating: Array(text), as: UTF8.self) != nil
    }

    var text: [UInt8] {
        switch self {
        case .person(let name): name
        case .machine(let id): Self.machinePrefix + id
        case .personAt(let name, let machine): name + [UInt8(ascii: "@")] + machine
        }
    }
}

/// A target, or more of them at once.
enum FleetOperand: Equatable {
    case target(TargetName)
    case list(FileOperand)

    private static let listPrefix = Array("list:".utf8)

    init(_ text: [UInt8]) throws(UsageError) {
        if text.starts(with: Self.listPrefix) {
            self = .list(FileOperand(Array(text.dropFirst(Self.listPrefix.count))))
        } else if let target = TargetName(typed: text) {
            self = .target(target)
        } else {
            throw UsageError(
                Text(Printable.escaped(text), " is nobody that an order can be for"),
                hint: Text("a target is ", TargetName.right, "; list:FILE has one in each line"))
        }
    }

    static func all(_ texts: ArraySlice<[UInt8]>) throws(UsageError) -> [FleetOperand] {
        var operands: [FleetOperand] = []
        for text in texts { operands.append(try FleetOperand(text)) }
        return operands
    }
}

/// A target of a list, and what the list calls it.
struct ListedTarget: Equatable {
    var target: TargetName
    /// Empty where the list says no more.
    var label: [UInt8] = []
}

extension Run {
    /// Everybody that these name, in their order.
    func targets(_ operands: [FleetOperand]) throws(ClientError) -> [ListedTarget] {
        var targets: [ListedTarget] = []
        for operand in operands {
            switch operand {
            case .target(let target): targets.append(ListedTarget(target: target))
            case .list(let file): targets += try list(file)
            }
        }
        return targets
    }

    /// A target in each line; behind it may stand who or what it is.
    private func list(_ file: FileOperand) throws(ClientError) -> [ListedTarget] {
        let (name, text) = try text(of: file)
        var targets: [ListedTarget] = []
        for (number, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.split { $0 <= 0x20 }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
            guard let target = TargetName(typed: Array(first)) else {
                throw .refused(
                    Refused(
                        .invalidArgument,
                        self.words(.fleetListLine, Printable.escaped(name), number + 1),
                        hint: self.words(.fleetListHint)))
            }
            targets.append(
                ListedTarget(
                    target: target,
                    label: Array(words.dropFirst().joined(separator: [UInt8(ascii: " ")]))))
        }
        return targets
    }

    func join(_ file: FileOperand) throws(ClientError) -> Join {
        let text = try text(of: file).1
        do throws(PlainSections.Fault) {
            return try Join(text)
        } catch {
            throw ClientError(Words.Refusal.bundle(.join(line: error.line, wrong: error.wrong)))
        }
    }
}

extension Join {
    /// What an order calls each of these.
    func orderTargets(_ names: [TargetName]) throws(ClientError) -> [OrderTarget] {
        do {
            return try targets(of: names)
        } catch {
            throw ClientError(Words.Refusal.outOfMemory)
        }
    }
}
