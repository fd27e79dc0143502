/// Written by `make build-date`, from CHANGELOG.md.
package enum BuildDate {
    /// 2026-11-21: nobody could set a passcode before this program was there.
    package static let seconds: UInt64 = 1_795_219_200
}
