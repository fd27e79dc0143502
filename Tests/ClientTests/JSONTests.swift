import Posix
import Testing
import Wire

@testable import Client

private func text(_ buffer: borrowing SecretBuffer) -> String {
    buffer.withSpan { span in String(decoding: (0..<span.count).map { span[$0] }, as: UTF8.self) }
}

struct JSONTests {
    @Test(
        "what JSON does not allow in a string is escaped",
        arguments: [
            ("plain", #""plain""#),
            ("a\"b\\c", #""a\"b\\c""#),
            ("\n\r\t", #""\n\r\t""#),
            ("\u{0}\u{1}\u{1F}\u{7F}", #""\u0000\u0001\u001f\u007f""#),
            ("/\u{e9}\u{1F511}\u{2028}", "\"/\u{e9}\u{1F511}\u{2028}\""),
        ])
    func escaping(value: String, expected: String) {
        var json = JSON()
        json.field("k", value)
        #expect(text(json.finish()) == "{\"k\":\(expected)}\n")
    }

    @Test(
        "bytes that are not UTF-8 become base64 with a marker",
        arguments: [
            ([0xFF], "/w=="), ([0xFF, 0x00], "/wA="), ([0xFF, 0x00, 0x01], "/wAB"),
            ([0xC3], "ww=="), ([0xED, 0xA0, 0x80], "7aCA"), ([0x61, 0x80], "YYA="),
        ] as [([UInt8], String)])
    func base64(value: [UInt8], expected: String) {
        var json = JSON()
        json.field("value", value)
        #expect(text(json.finish()) == "{\"value\":\"\(expected)\",\"valueEncoding\":\"base64\"}\n")
    }

    @Test("numbers, flags, objects and arrays are put together with their commas")
    func structure() {
        var json = JSON()
        json.field("a", -1)
        json.field("b", true)
        json.null("c")
        json.object("d") { _ in }
        json.object("e") { json in
            json.field("f", UInt64.max)
            json.field("g", "")
        }
        json.objects("h", [1, 2]) { json, number in json.field("i", number) }
        json.objects("j", [Int]()) { _, _ in }
        json.field("k", false)
        #expect(
            text(json.finish())
                == #"{"a":-1,"b":true,"c":null,"d":{},"e":{"f":18446744073709551615,"g":""},"#
                + #""h":[{"i":1},{"i":2}],"j":[],"k":false}"# + "\n")
    }

    @Test("a refusal carries domain, code, name, parameters, message and reason")
    func refusal() {
        var json = JSON()
        let parameter = Refused.Parameter(
            name: Array("triesRemaining".utf8), value: Array("-1".utf8))
        json.refusal(Refused(.invalidPasscode, "no", hint: "try", parameters: [parameter]))
        #expect(
            text(json.finish())
                == #"{"domain":"org.appvault","code":5,"name":"InvalidPasscode","#
                + #""parameters":{"triesRemaining":-1},"message":"no","reason":"no","hint":"try"}"#
                + "\n")
    }
}
