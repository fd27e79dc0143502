import ToolTexts
import Wire

@testable import VaultService

/// A compiled catalogue, and a text as an administrator writes it: each is refused, or shown as one
/// clean line with the positions of the built-in text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe input(data, count)
    var texts = Texts()
    if let catalogue = try? Catalogue(decoding: bytes) {
        for (id, text) in catalogue.entries {
            must(
                Positions.of(text) == ListedText(id: id).map { Positions.of($0.english) },
                "a position more or less")
        }
        texts.catalogues["de"] = catalogue
    }
    let claimed = texts.language(bytes)
    must(
        claimed == .english || texts.catalogues[claimed.name ?? ""] != nil,
        "a language that nobody loaded")
    let own = String(decoding: bytes, as: UTF8.self)
    let german = texts.language(Array("de".utf8))
    for overrides in [[:], ["match.retry.left": own]] {
        texts.overrides = overrides
        let voice = Voice(texts: texts, language: german)
        for text in [
            voice.line(.retry(left: 5)).text, voice.line(.prompt).text,
            voice.refused(.policyDenies(key: own)).message,
        ] { check(text) }
    }
    return 0
}

private func check(_ text: [UInt8]) {
    must(text.count <= Limits.line, "longer than a line")
    must(String(validating: text, as: UTF8.self) != nil, "not UTF-8")
    must(!text.contains { $0 < 0x20 || $0 == 0x7F }, "a control character")
}
