import KeySlots
import Posix
import SealedStore

/// What a store takes on the disk when the daemon first looks. `OpenRecordsQueue` keeps the numbers
/// up to date from then on.
package struct Footprint: Sendable {
    package let records: RecordsSize
    /// The bytes of slots, members and fingers.
    package let besides: Int

    /// What a new, empty store takes.
    package static let ofNew = Records.sizeOfNew + SlotFile.size

    /// `state` is the folder with the fingers; nil for a new store, which has none.
    package init(of id: StoreID, _ folder: Folder, in state: Folder?) {
        records = Records.size(inFolder: folder.path)
        besides =
            SlotFile.size + MemberFolder.bytes(in: folder)
            + (state.map { FingerFolder.bytes(of: id, in: $0) } ?? 0)
    }
}
