/// Written by `make build-date`, from CHANGELOG.md.
enum BuildDate {
    /// 2026-11-21: nobody could set a passcode before this program was there.
    static let seconds: UInt64 = 1_795_219_200
}
