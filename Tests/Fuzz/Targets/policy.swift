import Policy

/// A policy file: taken whole, or refused with a place in it. What was taken is written and read back as the same policy.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = unsafe input(data, count)
    do throws(PolicyProblem) {
        let policy = try PolicyParser.parse(text, file: "fuzz", onto: .builtIn)
        let again = try? PolicyParser.parse(policy.render(), file: "again", onto: .builtIn)
        must(again == policy, "a policy is not read as it was written")
    } catch {
        let lines = text.count { $0 == 0x0A } + 1
        must(error.line >= 1 && error.line <= lines, "a problem outside the file")
        must(error.file == "fuzz" && !error.wrong.isEmpty, "a problem without a reason")
        let line = error.description.utf8
        must(
            line.allSatisfy { (0x20...0x7E).contains($0) },
            "a problem that does not print as one line")
    }
    return 0
}
