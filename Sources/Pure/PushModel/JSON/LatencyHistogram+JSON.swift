public import Basics

extension LatencyHistogram {
    /// Reads an object as ``json`` writes it. Anything else in it is passed over.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - node: The object in it, or nil for none.
    public init(_ document: JSONDocument, at node: JSONDocument.Node?) {
        self.init()
        guard let node else { return }
        document.forEachMember(of: node) { name, value in
            guard let bound = Int64(document.string(name)), let count = document.integer(at: value) else { return }
            add(count, upTo: bound)
        }
    }

    /// The buckets that have any, as an object: the end of each in milliseconds, and its count, such as `{"45":12,"64":3}`.
    public var json: [UInt8] {
        var writer = ByteWriter(capacity: 512)
        writer.append("{")
        for (index, bucket) in buckets.enumerated() {
            writer.append(index == 0 ? "\"" : ",\"")
            writer.append(decimal: bucket.bound)
            writer.append("\":", decimal: bucket.count)
        }
        writer.append("}")
        return writer.bytes
    }
}
