/// A request that was handed to Kafka, and where it was found afterwards.
struct PublishedRequest: Sendable {
    /// The request's identity.
    let id: String
    /// Where it stands; nil when that could not be read back.
    var partition: Int32?
    var offset: Int64?
    /// Its final result, once it was seen.
    var result: ResultRecord?

    /// The place as JSON and tables show it.
    var offsetText: String { offset.map(String.init) ?? "-" }
}
