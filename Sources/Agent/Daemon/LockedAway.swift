import Wire

/// The stores that were locked while the person was away, and that nothing has opened since: a
/// screen may be unlocked without AppVault, by another module or in a locker's time of grace.
struct LockedAway {
    private(set) var isAway = false
    /// What the daemon has not said to be open before was not locked by leaving.
    private var open: Set<[UInt8]> = []
    /// Their names, by their ids.
    private var locked: [[UInt8]: [UInt8]] = [:]

    /// What the person should know now. While they are away, nobody would read it.
    var stores: [[UInt8]: [UInt8]] { isAway ? [:] : locked }

    mutating func hear(_ event: Event) {
        switch event.what {
        case .left:
            // The next daemon says it once more.
            if !isAway { locked = [:] }
            isAway = true
        case .cameBack: isAway = false
        case .opened:
            open.insert(event.store)
            locked[event.store] = nil
        case .locked:
            let wasOpen = open.remove(event.store) != nil
            if wasOpen, isAway { locked[event.store] = event.name }
        case .removed:
            open.remove(event.store)
            locked[event.store] = nil
        case .changed, .fingerAdded, .told, .members, .records: break
        }
    }
}
