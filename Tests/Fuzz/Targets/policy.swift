@testable import Policy

/// A policy file is taken as a whole, or refused with the line of the mistake. What was taken holds
/// for everybody whom it names, also when it is read from the file of the last good policy. Lint
/// never misses what the parser refuses.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = unsafe input(data, count)
    // The second half is laid over the first, as a drop-in is.
    let half = text.firstIndex(of: 0) ?? text.count
    var files = PolicyFiles(administrators: PolicyFile(name: "fuzz", text: Array(text[..<half])))
    if half < text.count {
        files.dropIns = [PolicyFile(name: "drop-in", text: Array(text[(half + 1)...]))]
    }
    let all = [files.administrators].compactMap(\.self) + files.dropIns
    let problems = PolicyLint.problems(in: all)
    for problem in problems { check(problem, all) }
    do throws(PolicyProblem) {
        let book = try PolicyBook(files)
        must(!problems.contains { $0.severity == .error }, "lint refuses what the daemon takes")
        check(book, PolicyLayer(all.map(PolicyParser.parse)))
    } catch {
        must(problems.contains(error), "lint misses what the daemon refuses")
    }
    readBack(text)
    return 0
}

private func check(_ book: PolicyBook, _ layer: PolicyLayer) {
    let again = try? PolicyBook(lastGood: PolicyFile(name: "last", text: book.render()))
    must(again == book, "a policy is not read as it was written")
    for subject in layer.subjects.prefix(8) {
        let policy = book.inForce(for: subject).policy
        let values = book.values(for: subject)
        must(values.count == PolicyKey.all.count, "a key without a value")
        must(again?.values(for: subject) == values, "a value changes on its way")
        let lines = values.map { "\($0.key)=\($0.value)" }.joined(separator: "\n")
        let file = PolicyParser.parse(
            PolicyFile(name: "again", text: Array("[Passcode]\n\(lines)".utf8)))
        must(file.problems.isEmpty, "a value that is shown cannot be written")
        must(!policy.ruleText.isEmpty, "a policy without rules")
    }
}

private func check(_ problem: PolicyProblem, _ files: [PolicyFile]) {
    guard let file = files.first(where: { $0.name == problem.file }) else {
        return must(false, "a problem of no file")
    }
    let lines = file.text.count { $0 == 0x0A } + 1
    must(1...lines ~= problem.line, "a problem outside the file")
    must(!problem.wrong.isEmpty && !problem.right.isEmpty, "a problem without a reason")
    must(
        problem.description.utf8.allSatisfy { (0x20...0x7E).contains($0) },
        "a problem that does not print as one line")
}

// Whatever the file of the last good policy contains, the daemon can still start.
private func readBack(_ text: [UInt8]) {
    let head = Array("appvault policy 2\n".utf8)
    _ = try? PolicyBook(lastGood: PolicyFile(name: "last", text: head + text))
}
