import Secrets

/// What an administrator hands to a machine, so that it believes an organisation: who signs, where
/// its bundles are, and the key of targets. It is not signed: whoever is root here says it.
///
///     [Join]
///     Organisation=example.org
///     URL=https://fleet.example.org/fleet.bundle
///     TargetKey=(32 bytes in base64)
///     Threshold=2
///     [Keys]
///     anna=RW...
public struct Join: Equatable, Sendable {
    public var organisation: String
    public var charter: Charter
    /// Where a bundle is; empty where it comes by other ways alone.
    public var urls: [Manifest.Kind: String]
    /// Where this machine's reports go; nil where nobody wants them.
    public var reportURL: String?
    /// Nobody but machines and administrators has it; 32 bytes.
    public var targetKey: [UInt8]

    public static let mostBytes = 32 * 1024

    public init(
        organisation: String, charter: Charter, urls: [Manifest.Kind: String] = [:],
        reportURL: String? = nil, targetKey: [UInt8]
    ) {
        (self.organisation, self.charter, self.urls) = (organisation, charter, urls)
        (self.reportURL, self.targetKey) = (reportURL, targetKey)
    }

    public init(_ text: [UInt8]) throws(PlainSections.Fault) {
        guard text.count <= Self.mostBytes else {
            throw PlainSections.Fault(line: 1, wrong: "it is longer than 32 KiB")
        }
        var file = try PlainSections(text)
        var main = try file.section("Join")
        organisation = try main.require("Organisation", "a name", Value.text)
        urls = [:]
        urls[.policy] = try main.read("URL", Value.url, Value.url)
        urls[.orders] = try main.read("OrdersURL", Value.url, Value.url)
        reportURL = try main.read("ReportURL", Value.url, Value.url)
        targetKey = try main.require("TargetKey", "32 bytes in base64") { value in
            Base64.decode(value).flatMap { $0.count == TargetKey.size ? $0 : nil }
        }
        charter = try Charter(&main, &file)
        try main.requireEnd()
        try file.requireEnd()
    }

    public func render() -> [UInt8] {
        var lines = ["[Join]", "Organisation=\(organisation)"]
        if let url = urls[.policy] { lines.append("URL=\(url)") }
        if let url = urls[.orders] { lines.append("OrdersURL=\(url)") }
        if let reportURL { lines.append("ReportURL=\(reportURL)") }
        lines.append("TargetKey=\(Base64.encode(targetKey))")
        return Array(((lines + charter.lines).joined(separator: "\n") + "\n").utf8)
    }

    public var trust: Trust { Trust(organisation: organisation, charter: charter) }
}
