import Posix
import Wire

/// Requests about the rules, and about what may be done.
extension Connection {
    func actions(_ target: Target) throws(ClientError) -> ActionList {
        try send(.actions, target)
        return try expect(.actionList, ActionList.self)
    }

    func policy(_ target: Target) throws(ClientError) -> PolicyValues {
        try send(.policyShow, target)
        return try expect(.policyValues, PolicyValues.self)
    }

    func check(
        _ target: Target, custom: Bool, _ candidate: borrowing SecretBuffer
    ) throws(ClientError) -> Checklist {
        try candidate.withSpan { span throws(ClientError) in
            try send(.policyCheck, PolicyCheck(target: target, custom: custom), payload: span)
        }
        return try expect(.checklist, Checklist.self)
    }

    func preview(
        _ subject: Subject, file: [UInt8], _ text: [UInt8]
    ) throws(ClientError) -> Preview {
        try send(.policyPreview, PolicyPreview(subject: subject, file: file), payload: text.span)
        return try expect(.preview, Preview.self)
    }

    func texts() throws(ClientError) -> TextList {
        try send(.texts, Empty())
        return try expect(.textList, TextList.self)
    }
}
