/// Written by `make build-date`, from CHANGELOG.md.
package enum BuildDate {
    /// 2026-11-21: no passcode can have been set before this program existed.
    package static let seconds: UInt64 = 1_795_219_200
}
