import KeySlots
import Posix
import SealedStore

/// What a store takes on the disk, looked at once; the records' part is followed from then on.
package struct Footprint: Sendable {
    package let records: RecordsSize
    /// Slots and fingers.
    package let besides: Int

    /// Of a store that holds nothing yet.
    package static let ofNew = Records.sizeOfNew + SlotFile.size

    /// `state` is where fingers are looked for; a new store has none.
    package init(of id: StoreID, _ folder: Folder, in state: Folder?) {
        records = Records.size(inFolder: folder.path)
        besides = SlotFile.size + (state.map { FingerFolder.bytes(of: id, in: $0) } ?? 0)
    }
}
