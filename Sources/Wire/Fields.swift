/// What a body gets for the fields that it names: reading and writing.
extension Fields {
    public init(_ reader: inout Reader, _ body: Span<UInt8>) throws(WireError) {
        self.init()
        try Reading.fill(&self, &reader, body)
    }

    public func write<S: Sink & ~Copyable>(to sink: inout S) {
        var given = self
        given.fields(&sink)
    }
}
