/// An account, by both its names. A store belongs to the pair: uids are given away again.
package struct Person: Equatable, Hashable, Sendable {
    package let uid: UInt32
    package let name: [UInt8]

    package init(uid: UInt32, name: [UInt8]) {
        self.uid = uid
        self.name = name
    }
}
