/// A request that was handed to Kafka, and where it was found afterwards.
struct PublishedRequest: Sendable {
    /// The request's identity.
    let id: String
    /// The partition; nil when it could not be read back.
    var partition: Int32?
    /// The offset in it, likewise.
    var offset: Int64?
    /// Its final result, once it was seen.
    var result: ResultRecord?

    /// A request that was not looked for yet.
    init(id: String) {
        self.id = id
    }

    /// The request as a JSON object; offsets are texts, because not every reader of JSON keeps 64 bits.
    func json(topic: String) -> [UInt8] {
        var object = JSONObject()
        object.add("id", id)
        object.add("topic", topic)
        if let partition { object.add("partition", Int(partition)) }
        object.add("offset", offset.map(String.init))
        object.add("state", result?.state)
        object.add("outcome", result?.outcome)
        object.add("error", result?.errorCode)
        return object.bytes
    }
}
