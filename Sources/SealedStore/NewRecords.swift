internal import Secrets

/// An empty records file: the tables, 64 nodes of zeroes, and the first head.
enum NewRecords {
    static func fill(
        path: String, store: [UInt8], key: borrowing SecretBytes, keyGeneration: UInt32
    ) throws(RecordsError) {
        try fill(path: path, try RecordKeys(store: store, key: key, generation: keyGeneration))
    }

    static func fill(path: String, _ keys: borrowing RecordKeys) throws(RecordsError) {
        let database = try Database(path: path)
        try database.run(Schema.settingsOfNew)
        try database.run(Schema.settings)
        try database.run("BEGIN")
        try database.run(Schema.make)
        for table in Schema.tables { try database.run(table) }
        // All 64 at once and in order: so SQLite puts three into a page. In random order it would
        // be about two.
        let insertNode = try database.prepare("INSERT INTO nodes VALUES(?1, ?2)")
        let block = Scratch(capacity: 4096)
        for index in 0..<Node.number {
            block.resize(to: Node.size + RecordKeys.overhead)
            try block.withMutableBytes { (bytes) throws(RecordsError) in
                var text = bytes._mutatingExtracting(RecordKeys.overhead...)
                Node().encode(into: &text)
                try keys.seal(block: &bytes, .node, index, generation: 1)
            }
            insertNode.bind(1, Int64(index))
            try insertNode.bind(2, inPlace: block)
            try insertNode.run()
        }
        let insertHead = try database.prepare("INSERT INTO head VALUES(0, ?1)")
        block.resize(to: Head.size + RecordKeys.overhead)
        try block.withMutableBytes { (bytes) throws(RecordsError) in
            var text = bytes._mutatingExtracting(RecordKeys.overhead...)
            Head(nodeGenerations: Array(repeating: 1, count: Node.number)).encode(into: &text)
            try keys.seal(block: &bytes, .head, 0, generation: 0)
        }
        try insertHead.bind(1, inPlace: block)
        try insertHead.run()
        try database.run("COMMIT")
        database.checkpoint()
    }
}
