import Kafka
import Synchronization

/// A request that was handed to Kafka, and where it is.
struct PublishedRequest: Sendable {
    /// The request's identity.
    let id: String
    /// The partition; nil until its delivery was reported.
    var partition: Int32?
    /// The offset in it; nil also where the broker did not say it.
    var offset: Int64?
    /// Its final result, once it was seen.
    var result: ResultRecord?

    /// A request of which nothing is known yet.
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

/// The requests of one run, in order, to which the delivery reports add their places.
final class PublishedRequests: Sendable {
    /// Protects the list; nothing else is locked while it is held.
    private let requests: Mutex<[PublishedRequest]>

    /// No requests.
    ///
    /// - Parameter capacity: How many are expected.
    init(capacity: Int) {
        var requests: [PublishedRequest] = []
        requests.reserveCapacity(capacity)
        self.requests = Mutex(requests)
    }

    /// All requests, as far as they are known.
    var all: [PublishedRequest] { requests.withLock { $0 } }

    /// Adds the request with this identity.
    ///
    /// - Returns: What is to be told of its delivery.
    func add(_ id: String) -> @Sendable (Producer.Delivery) -> Void {
        let index = requests.withLock { requests -> Int in
            requests.append(PublishedRequest(id: id))
            return requests.count - 1
        }
        return { [self] delivery in note(delivery, of: index) }
    }

    private func note(_ delivery: Producer.Delivery, of index: Int) {
        guard case .persisted(let partition, let offset) = delivery else { return }
        requests.withLock { requests in
            requests[index].partition = partition
            requests[index].offset = offset
        }
    }
}
