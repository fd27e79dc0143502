import Bus
import Posix
import Wire

/// Tells all clients what has changed. Clients of a service that has just come back crash where they
/// hear of an item before they have read the collection anew, so that waits for a moment.
@LoopActor
final class Announcer {
    /// Milliseconds from the moment in which the name is ours: clients know this service from then on.
    static let silence: UInt64 = 1_500
    /// More of a collection at once are told by its list alone.
    static let mostAtOnce = 64
    private static let mostHeld = 1_024

    private enum Voice {
        /// Another program has the name, and nobody listens here.
        case unheard
        case silent([@LoopActor () -> Void])
        case speaks
    }

    private let bus: Bus
    private let cabinet: Cabinet
    private var voice = Voice.unheard
    /// Those whose list of items is about to be told.
    private var lists: Set<ObjectPath.Collection> = []

    init(_ bus: Bus, _ cabinet: Cabinet) {
        (self.bus, self.cabinet) = (bus, cabinet)
    }

    /// The name is ours, and nobody can take it away.
    func begin() {
        guard case .unheard = voice else { return }
        voice = .silent([])
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + Self.silence)
            guard case .silent(let held) = self.voice else { return }
            self.voice = .speaks
            for each in held { each() }
        }
    }

    /// A signal that cannot be sent is not made up for: whoever reads finds what is true.
    static func tell(_ body: () throws(BusError) -> Void) {
        do throws(BusError) {
            try body()
        } catch {
            if error != .gone { Complaint.say("a signal could not be sent: \(error)") }
        }
    }

    private func later(_ body: @escaping @LoopActor () -> Void) {
        switch voice {
        case .unheard: break
        case .silent(var held):
            // What is more than that is in the list that clients read.
            guard held.count < Self.mostHeld else { break }
            voice = .unheard
            held.append(body)
            voice = .silent(held)
        case .speaks: body()
        }
    }

    func announce(_ changes: Mirror.Changes, of keeper: any Keeper, isPassing: Bool) {
        func collection(_ id: SecretID) -> ObjectPath.Collection {
            isPassing ? .session : .stored(id)
        }
        if !changes.isFirst {
            for id in changes.newCollections { service("CollectionCreated", collection(id)) }
        }
        for id in changes.changedCollections {
            service("CollectionChanged", collection(id))
            properties(["Label", "Modified"], collection(id), id, keeper)
        }
        let most = changes.isFirst ? 0 : Self.mostAtOnce
        let whole = Dictionary(
            grouping: changes.created + changes.changed + changes.deleted, by: \.collection
        ).filter { $0.value.count > most }
        for id in Set((changes.created + changes.deleted).map(\.collection)) {
            listLater(collection(id), id, keeper)
        }
        for (places, member) in [
            (changes.created, "ItemCreated"), (changes.changed, "ItemChanged"),
            (changes.deleted, "ItemDeleted"),
        ] {
            for place in places where whole[place.collection] == nil {
                let collection = collection(place.collection)
                later { [bus] in
                    Self.tell { () throws(BusError) in
                        try bus.emit(
                            member, of: Interfaces.collection.name, at: collection.path,
                            [.path(collection.path(of: place.id))])
                    }
                }
            }
        }
        for place in changes.changed where whole[place.collection] == nil {
            item(place, collection(place.collection), keeper)
        }
        for id in changes.goneCollections { service("CollectionDeleted", collection(id)) }
        if !changes.newCollections.isEmpty || !changes.goneCollections.isEmpty, !isPassing {
            let paths = cabinet.collections.map { ObjectPath.Collection.stored($0).path }
            Self.tell { () throws(BusError) in
                try bus.emitChanged(
                    ["Collections": .paths(paths + [ObjectPath.Collection.session.path])],
                    of: Interfaces.service.name, at: ObjectPath.root)
            }
        }
    }

    /// Programs with libsecret read which items there are from this list alone. It may be long, so it
    /// is told once for all that changes within a moment, which is longer for a longer list.
    private func listLater(
        _ collection: ObjectPath.Collection, _ id: SecretID, _ keeper: any Keeper
    ) {
        guard lists.insert(collection).inserted else { return }
        let wait = Self.moment + UInt64(keeper.mirror.count) / Self.itemsInMillisecond
        EventLoop.shared.task {
            await EventLoop.sleep(until: Clock.bootMilliseconds() + wait)
            self.lists.remove(collection)
            guard keeper.mirror.collections[id] != nil else { return }
            self.properties(["Items"], collection, id, keeper)
        }
    }

    private static let moment: UInt64 = 20
    private static let itemsInMillisecond: UInt64 = 20

    /// Of the items nothing is told: there may be thousands, and each client asks for the collection.
    func announceLock(of keeper: any Keeper) {
        for id in keeper.mirror.collections.keys {
            properties(["Locked"], .stored(id), id, keeper)
            service("CollectionChanged", .stored(id))
        }
    }

    private func service(_ member: String, _ collection: ObjectPath.Collection) {
        later { [bus] in
            Self.tell { () throws(BusError) in
                try bus.emit(
                    member, of: Interfaces.service.name, at: ObjectPath.root,
                    [.path(collection.path)])
            }
        }
    }

    private func properties(
        _ names: [String], _ collection: ObjectPath.Collection, _ id: SecretID,
        _ keeper: any Keeper
    ) {
        let known = keeper.mirror.collections[id] ?? ItemCollection()
        var values: [String: BusValue] = [:]
        for name in names {
            switch name {
            case "Label": values[name] = .string(String(decoding: known.label, as: UTF8.self))
            case "Modified": values[name] = .uint64(known.modified)
            case "Locked": values[name] = .bool(!keeper.isOpen)
            default:
                values[name] = .paths(
                    keeper.mirror.items(in: id).map { collection.path(of: $0) })
            }
        }
        Self.tell { () throws(BusError) in
            try bus.emitChanged(values, of: Interfaces.collection.name, at: collection.path)
        }
    }

    private func item(
        _ place: Mirror.Place, _ collection: ObjectPath.Collection, _ keeper: any Keeper
    ) {
        guard let item = keeper.mirror.item(place.id) else { return }
        var texts: [String: String] = [:]
        for each in item.attributes {
            texts[String(decoding: each.name, as: UTF8.self)] = String(
                decoding: each.value, as: UTF8.self)
        }
        let values: [String: BusValue] = [
            "Label": .string(String(decoding: item.label, as: UTF8.self)),
            "Attributes": .texts(texts), "Type": .string(Given.type(of: item.attributes)),
            "Modified": .uint64(item.modified),
        ]
        later { [bus] in
            Self.tell { () throws(BusError) in
                try bus.emitChanged(
                    values, of: Interfaces.item.name, at: collection.path(of: place.id))
            }
        }
    }
}
