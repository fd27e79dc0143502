extension VaultError {
    /// A stable number for each thing that can go wrong. Numbers below 1000 are the daemon's; those
    /// from 1000 on are the library's own. A newer daemon may send numbers that have no name here.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number.
        public var rawValue: Int

        /// The code with that number.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
}

// The daemon's: PROTOCOL.md has the same table, and a test compares the two.
extension VaultError.Code {
    /// Something that has no code of its own.
    public static let unknown = Self(rawValue: 0)
    /// There is one already.
    public static let alreadyExists = Self(rawValue: 1)
    /// The data are of another kind.
    public static let dataType = Self(rawValue: 2)
    /// There is no such store.
    public static let doesNotExist = Self(rawValue: 3)
    /// An argument cannot be what it is.
    public static let invalidArgument = Self(rawValue: 4)
    /// The passcode is wrong. Parameter: `triesRemaining`, -1 where there is no limit.
    public static let invalidPasscode = Self(rawValue: 5)
    /// The store is locked.
    public static let locked = Self(rawValue: 6)
    /// There is not enough memory.
    public static let outOfMemory = Self(rawValue: 7)
    /// The passcode is too old.
    public static let passcodeExpired = Self(rawValue: 8)
    /// The passcode has to be typed, and nothing could ask for it.
    public static let passcodeRequired = Self(rawValue: 9)
    /// A new passcode lacks a digit.
    public static let requiresDigit = Self(rawValue: 10)
    /// A new passcode lacks a small letter.
    public static let requiresLower = Self(rawValue: 11)
    /// A new passcode lacks a special character.
    public static let requiresSpecial = Self(rawValue: 12)
    /// A new passcode lacks a capital letter.
    public static let requiresUpper = Self(rawValue: 13)
    /// A new passcode is too short. Parameter: `minimum`.
    public static let underMinLength = Self(rawValue: 14)
    /// A new passcode has too few different characters. Parameter: `minimum`.
    public static let underMinUniqueCharacters = Self(rawValue: 15)
    /// The store was erased after too many wrong tries.
    public static let deleted = Self(rawValue: 16)
    /// A new passcode has too few kinds of characters. Parameter: `minimum`.
    public static let requiresGroups = Self(rawValue: 17)
    /// A new passcode may have digits alone.
    public static let digitsOnly = Self(rawValue: 18)
    /// A new passcode is a simple sequence of digits.
    public static let sequence = Self(rawValue: 19)
    /// A new passcode is too easily guessed.
    public static let dictionary = Self(rawValue: 20)
    /// A new passcode was used before.
    public static let reused = Self(rawValue: 21)
    /// A new passcode does not meet a rule of the administrator's. Parameter: `rule`.
    public static let ruleFailed = Self(rawValue: 22)
    /// There were too many wrong tries.
    public static let retryLimitReached = Self(rawValue: 23)
    /// The next try has to wait. Parameter: `seconds`.
    public static let throttled = Self(rawValue: 24)
    /// The policy forbids it. Parameter: `key`.
    public static let policyDenies = Self(rawValue: 25)
    /// This cannot be done with this store now. Parameters: `action`, `reason`.
    public static let invalidAction = Self(rawValue: 26)
    /// The person, or the task, has cancelled it.
    public static let cancelled = Self(rawValue: 27)
    /// No finger can be read.
    public static let fingerprintUnavailable = Self(rawValue: 28)
    /// The finger does not match.
    public static let fingerprintNoMatch = Self(rawValue: 29)
    /// The caller may not do this.
    public static let notPermitted = Self(rawValue: 30)
    /// A part of AppVault that this needs does not run.
    public static let serviceUnavailable = Self(rawValue: 31)
    /// A part of the store is damaged. Parameter: `what`.
    public static let storeDamaged = Self(rawValue: 32)
    /// A value, a secret or a store is too large. Parameter: `limit`.
    public static let tooLarge = Self(rawValue: 33)
    /// The daemon has sent what cannot be understood, or has not understood this program.
    public static let protocolError = Self(rawValue: 34)
    /// AppVault has too much to do; try again later.
    public static let busy = Self(rawValue: 35)
    /// A new passcode is due before the store opens. Parameters: `flow`, `reason`.
    public static let changeRequired = Self(rawValue: 36)
    /// A new passcode was typed differently the second time.
    public static let noMatch = Self(rawValue: 37)
    /// The new passcode is the present one.
    public static let sameAsCurrent = Self(rawValue: 38)
    /// The person wants to begin anew.
    public static let resetRequested = Self(rawValue: 39)
    /// The person has skipped it.
    public static let skipped = Self(rawValue: 40)
    /// The recovery key is wrong.
    public static let recoveryKeyInvalid = Self(rawValue: 41)
    /// A file of the policy cannot be read. Parameters: `file`, `line`, `key`.
    public static let policyBroken = Self(rawValue: 42)
    /// The disk could not be read or written. Parameters: `during`, `reason`.
    public static let storageFailed = Self(rawValue: 43)
    /// The person wants somebody to be added, who gets a store of their own.
    public static let addUser = Self(rawValue: 44)
    /// The person is another one, whose store is to be opened. Parameter: `to`, its name.
    public static let switchUser = Self(rawValue: 45)
    /// The organisation that the machine belongs to has locked the store. Parameter: `reason`.
    public static let lockedByAdministrator = Self(rawValue: 46)
    /// The organisation that the machine belongs to has wiped the store.
    public static let wipedByAdministrator = Self(rawValue: 47)
    /// A bundle of an organisation's is no bundle, or not whole. Parameter: `reason`, as of the next three.
    public static let bundleBroken = Self(rawValue: 49)
    /// Not those have signed it who have to.
    public static let bundleUntrusted = Self(rawValue: 50)
    /// A newer one was taken already.
    public static let bundleOlder = Self(rawValue: 51)
    /// It counted only for a time.
    public static let bundleExpired = Self(rawValue: 52)
    /// Nothing could be fetched from an organisation's server. Parameter: `reason`.
    public static let fetchFailed = Self(rawValue: 53)
}

// The library's own.
extension VaultError.Code {
    /// No daemon listens at the socket.
    public static let notRunning = Self(rawValue: 1001)
    /// The connection could not be made, or failed.
    public static let connectionFailed = Self(rawValue: 1002)
    /// The daemon closed the connection before it answered; nothing was changed by this call.
    public static let connectionLost = Self(rawValue: 1003)
    /// The connection was lost after the request was sent: it was carried out, or it was not.
    public static let outcomeUnknown = Self(rawValue: 1004)
    /// The daemon has given no sign of life for too long.
    public static let noAnswer = Self(rawValue: 1005)
    /// Who listens at the socket is neither root, nor AppVault's own user, nor this one.
    public static let notTrusted = Self(rawValue: 1006)
    /// The daemon speaks another version of the protocol.
    public static let otherVersion = Self(rawValue: 1007)
    /// A value could not be encoded. ``VaultError/underlying`` is the coder's error.
    public static let encodingFailed = Self(rawValue: 1010)
    /// A record could not be decoded. ``VaultError/underlying`` is the coder's error.
    public static let decodingFailed = Self(rawValue: 1011)
    /// A file could not be read or written.
    public static let fileFailed = Self(rawValue: 1020)
    /// The session bus, or a service on it, did not do what was asked.
    public static let busFailed = Self(rawValue: 1030)
    /// This kind of storage cannot do this.
    public static let notSupported = Self(rawValue: 1040)
}

extension VaultError.Code: CustomStringConvertible {
    /// The name of the code, or its number where it has none here.
    public var description: String {
        Self.names[rawValue] ?? "code \(rawValue)"
    }

    static let names: [Int: String] = [
        0: "unknown", 1: "alreadyExists", 2: "dataType", 3: "doesNotExist", 4: "invalidArgument",
        5: "invalidPasscode", 6: "locked", 7: "outOfMemory", 8: "passcodeExpired",
        9: "passcodeRequired", 10: "requiresDigit", 11: "requiresLower", 12: "requiresSpecial",
        13: "requiresUpper", 14: "underMinLength", 15: "underMinUniqueCharacters", 16: "deleted",
        17: "requiresGroups", 18: "digitsOnly", 19: "sequence", 20: "dictionary", 21: "reused",
        22: "ruleFailed", 23: "retryLimitReached", 24: "throttled", 25: "policyDenies",
        26: "invalidAction", 27: "cancelled", 28: "fingerprintUnavailable",
        29: "fingerprintNoMatch", 30: "notPermitted", 31: "serviceUnavailable", 32: "storeDamaged",
        33: "tooLarge", 34: "protocolError", 35: "busy", 36: "changeRequired", 37: "noMatch",
        38: "sameAsCurrent", 39: "resetRequested", 40: "skipped", 41: "recoveryKeyInvalid",
        42: "policyBroken", 43: "storageFailed", 44: "addUser",
        45: "switchUser", 46: "lockedByAdministrator",
        47: "wipedByAdministrator", 49: "bundleBroken", 50: "bundleUntrusted", 51: "bundleOlder",
        52: "bundleExpired", 53: "fetchFailed", 1001: "notRunning", 1002: "connectionFailed",
        1003: "connectionLost", 1004: "outcomeUnknown", 1005: "noAnswer", 1006: "notTrusted",
        1007: "otherVersion", 1010: "encodingFailed", 1011: "decodingFailed", 1020: "fileFailed",
        1030: "busFailed", 1040: "notSupported",
    ]
}
