import Wire

/// Which items have an attribute with a value, by a keyed hash of both: whoever searches compares
/// the attributes themselves after it.
struct AttributeIndex {
    /// Most attributes are one item's alone, or some items'; a few, as the schema's name, are
    /// thousands'.
    private enum Places {
        case one(UInt32)
        case few([UInt32])
        case many(Set<UInt32>)

        static let few = 16
    }

    private var places: [UInt64: Places] = [:]

    /// Swift's own hash, whose key is drawn when the process starts.
    private static func key(_ attribute: Item.Attribute) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(attribute)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    mutating func add(_ attributes: [Item.Attribute], _ place: UInt32) {
        for key in Set(attributes.map(Self.key)) {
            switch places.removeValue(forKey: key) {
            case nil: places[key] = .one(place)
            case .one(let other): places[key] = .few([other, place])
            case .few(var others):
                if others.count < Places.few {
                    others.append(place)
                    places[key] = .few(others)
                } else {
                    places[key] = .many(Set(others).union([place]))
                }
            case .many(var others):
                others.insert(place)
                places[key] = .many(others)
            }
        }
    }

    mutating func remove(_ attributes: [Item.Attribute], _ place: UInt32) {
        for key in Set(attributes.map(Self.key)) {
            switch places.removeValue(forKey: key) {
            case nil, .one: break
            case .few(var others):
                others.removeAll { $0 == place }
                if !others.isEmpty { places[key] = .few(others) }
            case .many(var others):
                others.remove(place)
                if !others.isEmpty { places[key] = .many(others) }
            }
        }
    }

    /// Where all of these may be: the shortest list of the attributes'.
    func candidates(_ attributes: [Item.Attribute]) -> [UInt32] {
        var shortest: Places?
        for attribute in attributes {
            guard let found = places[Self.key(attribute)] else { return [] }
            if shortest.map({ Self.count(found) < Self.count($0) }) ?? true { shortest = found }
        }
        switch shortest {
        case nil: return []
        case .one(let place): return [place]
        case .few(let places): return places
        case .many(let places): return Array(places)
        }
    }

    private static func count(_ places: Places) -> Int {
        switch places {
        case .one: 1
        case .few(let places): places.count
        case .many(let places): places.count
        }
    }
}
