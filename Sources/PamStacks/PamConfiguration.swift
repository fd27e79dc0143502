/// PAM's folder, read as libpam reads it: @include, include, substack, continued lines, `other`.
package struct PamConfiguration {
    package struct File {
        var path: String
        var text: [UInt8]

        package init(path: String, text: [UInt8]) {
            self.path = path
            self.text = text
        }
    }

    /// Gives a file, or nil if it does not exist. A name without a slash is looked up in PAM's
    /// folders.
    let file: (String) -> File?

    package init(file: @escaping (String) -> File?) {
        self.file = file
    }

    private static let deepest = 16
    /// A limit for files that include each other, which could make millions of steps.
    private static let most = 4096

    /// The service's own stack, or that of `other` if it has no lines; nil if libpam would refuse
    /// to start.
    func stack(_ service: String, _ kind: PamLine.Kind) -> PamStack? {
        let other = file("other") == nil ? PamStack() : own("other", kind)
        guard let other, let own = file(service) == nil ? other : own(service, kind) else {
            return nil
        }
        return own.steps.isEmpty ? other : own
    }

    /// The lines that can be read, even if libpam would refuse to start the service.
    func readable(_ service: String, _ kind: PamLine.Kind) -> [PamLine] {
        var stack = PamStack()
        _ = load(service, kind, level: 0, depth: 0, false, into: &stack)
        return stack.lines
    }

    private func own(_ service: String, _ kind: PamLine.Kind) -> PamStack? {
        var stack = PamStack()
        return load(service, kind, level: 0, depth: 0, false, into: &stack) == .broken ? nil : stack
    }

    /// The names that this file itself includes with @include, include or substack.
    func included(by service: String) -> Set<String> {
        guard let file = file(service), let lines = PamText.lines(file.text) else { return [] }
        return Set(
            lines.compactMap { _, words in
                if words[0] == "@include" { return words.count > 1 ? words[1] : nil }
                guard words.count > 2, ["include", "substack"].contains(words[1]) else {
                    return nil
                }
                return words[2]
            })
    }

    private enum Loaded { case whole, missing, broken }

    private func load(
        _ name: String, _ wanted: PamLine.Kind, level: Int, depth: Int, _ isNested: Bool,
        into stack: inout PamStack
    ) -> Loaded {
        guard depth < Self.deepest, stack.steps.count < Self.most, let file = file(name) else {
            return .missing
        }
        guard let lines = PamText.lines(file.text) else { return .broken }
        for (number, words) in lines {
            if words[0] == "@include" {
                guard words.count > 1 else { return .broken }
                let loaded = load(
                    words[1], wanted, level: level, depth: depth + 1, isNested, into: &stack)
                if loaded == .whole { continue }
                // In an included file, libpam's result here depends on the control of the line
                // before. Take it for a failure.
                guard isNested else { return .broken }
                stack.steps.append(.init(act: .mustFail, level: level))
                continue
            }
            let type = words[0].hasPrefix("-") ? String(words[0].dropFirst()) : words[0]
            guard let kind = PamLine.Kind(rawValue: type.lowercased()) else {
                // libpam takes a line of an unknown type for one of the kind that it is reading.
                stack.steps.append(.init(act: .mustFail, level: level))
                continue
            }
            guard kind == wanted else { continue }
            guard words.count > 2 else {
                stack.steps.append(.init(act: .mustFail, level: level))
                continue
            }
            switch words[1] {
            case "include":
                include(words[2], wanted, level, below: level, depth, into: &stack)
            case "substack":
                stack.steps.append(.init(act: .substack, level: level))
                include(words[2], wanted, level + 1, below: level, depth, into: &stack)
            default:
                let line = PamLine(
                    kind: kind, control: PamControl(words[1]), module: words[2],
                    arguments: Array(words.dropFirst(3)), file: file.path, number: number)
                stack.steps.append(.init(act: .module(line), level: level))
            }
        }
        return .whole
    }

    /// If the file is missing, the stack that includes it fails.
    private func include(
        _ name: String, _ wanted: PamLine.Kind, _ inner: Int, below level: Int, _ depth: Int,
        into stack: inout PamStack
    ) {
        if load(name, wanted, level: inner, depth: depth + 1, true, into: &stack) == .missing {
            stack.steps.append(.init(act: .mustFail, level: level))
        }
    }
}
