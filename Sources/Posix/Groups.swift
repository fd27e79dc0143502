internal import CLinux

/// The groups of an account, from the directory service. Blocks: must not be called on the loop.
public enum Groups {
    public enum Answer: Sendable, Equatable {
        /// The names of the groups, sorted by bytes.
        case found([[UInt8]])
        /// The account does not exist.
        case none
        case unknown
    }

    private static let most = 65_536

    public static func of(_ account: [UInt8]) -> Answer {
        let name = account.map { CChar(bitPattern: $0) } + [0]
        let primary: gid_t
        switch primaryGroup(name) {
        case .found(let found): primary = found
        case .none: return .none
        case .unknown: return .unknown
        }
        guard let numbers = numbers(name, primary) else { return .unknown }
        var names: [[UInt8]] = []
        for number in numbers {
            switch groupName(number) {
            case .found(let found): names.append(found)
            // A policy names groups, so a group without a name does not matter.
            case .none: break
            case .unknown: return .unknown
            }
        }
        return .found(names.sorted { $0.lexicographicallyPrecedes($1) })
    }

    public enum Number: Sendable, Equatable {
        case found(UInt32)
        case none
        case unknown
    }

    public static func number(of group: [UInt8]) -> Number {
        let name = group.map { CChar(bitPattern: $0) } + [0]
        // SAFETY: getgrnam_r fills it in before it is read.
        var entry = unsafe CLinux.group()
        var result: UnsafeMutablePointer<CLinux.group>?
        // SAFETY: as in the other questions here.
        let found: Found<gid_t> = unsafe look(
            { unsafe getgrnam_r(name, &entry, $0, $1, &result) },
            { unsafe result == nil ? nil : entry.gr_gid })
        return switch found {
        case .found(let number): .found(number)
        case .none: .none
        case .unknown: .unknown
        }
    }

    private enum Found<Value> {
        case found(Value)
        case none
        case unknown
    }

    private static func numbers(_ name: [CChar], _ primary: gid_t) -> [gid_t]? {
        var room: Int32 = 64
        while Int(room) <= most {
            var count = room
            var numbers = [gid_t](repeating: 0, count: Int(room))
            // SAFETY: getgrouplist writes at most `count` numbers, and `numbers` has room for them.
            let got = unsafe getgrouplist(name, primary, &numbers, &count)
            if got >= 0 { return Array(numbers.prefix(Int(min(count, room)))) }
            room = max(room * 2, count)
        }
        return nil
    }

    private static func primaryGroup(_ name: [CChar]) -> Found<gid_t> {
        var entry = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        return unsafe look(
            { unsafe getpwnam_r(name, &entry, $0, $1, &result) },
            { unsafe result == nil ? nil : entry.pw_gid })
    }

    private static func groupName(_ number: gid_t) -> Found<[UInt8]> {
        var entry = unsafe group()
        var result: UnsafeMutablePointer<group>?
        return unsafe look(
            { unsafe getgrgid_r(number, &entry, $0, $1, &result) },
            {
                guard unsafe result != nil, let name = unsafe entry.gr_name else { return nil }
                var bytes: [UInt8] = []
                while unsafe name[bytes.count] != 0 {
                    bytes.append(UInt8(bitPattern: unsafe name[bytes.count]))
                }
                return bytes
            })
    }

    // SAFETY: the entry points into the buffer, which is freed only after `take` has copied from
    // it.
    private static func look<Value>(
        _ ask: (UnsafeMutablePointer<CChar>, Int) -> Int32, _ take: () -> Value?
    ) -> Found<Value> {
        var size = 4096
        while size <= 1 << 22 {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { unsafe buffer.deallocate() }
            let failed = unsafe ask(buffer, size)
            switch failed {
            case 0:
                guard let value = take() else { return .none }
                return .found(value)
            case ERANGE: size *= 4
            // The answer of a service that does not have the entry, if another configured service
            // is not installed.
            case ENOENT, ESRCH: return .none
            default: return .unknown
            }
        }
        return .unknown
    }
}
