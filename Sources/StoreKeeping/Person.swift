/// An account: its uid and its name. A store belongs to the pair, because a uid, or a name, can be
/// given to another person later.
package struct Person: Equatable, Hashable, Sendable {
    package let uid: UInt32
    package let name: [UInt8]

    package init(uid: UInt32, name: [UInt8]) {
        self.uid = uid
        self.name = name
    }
}
