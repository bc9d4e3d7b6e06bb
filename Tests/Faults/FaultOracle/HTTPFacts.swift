import PushModel

/// One call of `POST /v1/requests`, as its caller saw it.
public struct HTTPCallFact: Sendable, Equatable {
    /// The number of the request; one number has one Idempotency-Key and one body.
    public var number: Int
    /// The gateway's name, with which of its starts it was.
    public var gateway: String
    /// When the call ended, milliseconds since 1970.
    public var at: Int64
    /// The answer's status; 0 where the connection ended without one.
    public var status: Int
    /// The request's id in the answer; nil without one.
    public var id: String?
    /// The record's topic in the answer; nil without one.
    public var topic: String?
    /// The record's partition in the answer; nil without one.
    public var partition: Int32?
    /// The record's offset in the answer; nil without one, which a 202 may be.
    public var offset: Int64?

    /// A call.
    public init(
        _ number: Int, gateway: String = "g1", at: Int64 = 0, status: Int, id: String? = nil, topic: String? = nil,
        partition: Int32? = nil, offset: Int64? = nil
    ) {
        self.number = number
        self.gateway = gateway
        self.at = at
        self.status = status
        self.id = id
        self.topic = topic
        self.partition = partition
        self.offset = offset
    }

    /// Whether the gateway says that Kafka has the request.
    public var isAccepted: Bool { status == 202 }

    /// Whether the request may have been written although it was not accepted: 504, another failure of the server, or no answer. A 503
    /// says that it is not written.
    public var isInDoubt: Bool { status == 0 || (status >= 500 && status != 503) }

    /// Whether the same call may be made again.
    public var mayBeRepeated: Bool { isInDoubt || [409, 429, 503].contains(status) }

    /// The line of the journal for it.
    public var line: String {
        let place = "\(topic ?? "-")/\(partition.map { "\($0)" } ?? "-")/\(offset.map { "\($0)" } ?? "-")"
        return "\(at) \(gateway) key=n\(number) status=\(status) id=\(id ?? "-") at=\(place)"
    }

    /// What a 202 says of its record, comparable: two of them without an offset say the same if one gateway gave both.
    var place: String {
        "\(topic ?? "-")/\(partition.map { "\($0)" } ?? "-")/\(offset.map { "\($0)" } ?? "of \(gateway)")"
    }
}

/// One record that a gateway wrote.
public struct HTTPRecordFact: Sendable, Equatable {
    /// Where it stands on the requests topic.
    public var place: Place
    /// The number of the request.
    public var number: Int
    /// The request's id.
    public var id: String
    /// When it was written, milliseconds since 1970.
    public var at: Int64

    /// A record.
    public init(_ place: Place, number: Int, id: String, at: Int64 = 0) {
        self.place = place
        self.number = number
        self.id = id
        self.at = at
    }
}

extension FactReader {
    /// Reads the body of an answer of `POST /v1/requests` into a call: that of a 202, or a problem.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - call: Gets what the body says; nothing from one that is no JSON.
    public mutating func readAnswer(_ body: Span<UInt8>, into call: inout HTTPCallFact) {
        do { try document.read(body) } catch { return }
        let root = document.root
        call.id = text("id", of: root) ?? text("request_id", of: root)
        call.topic = text("topic", of: root)
        call.partition = document.member("partition", of: root).flatMap { document.integer(at: $0) }
            .map { Int32(truncatingIfNeeded: $0) }
        call.offset = text("offset", of: root).flatMap { Int64($0) }
    }

    /// Reads a request that was published over HTTP.
    ///
    /// - Parameters:
    ///   - value: The record's value.
    ///   - place: Where it stands.
    ///   - time: The record's time, milliseconds since 1970.
    /// - Returns: Nil for every other record.
    public mutating func httpRecord(_ value: Span<UInt8>, at place: Place, time: Int64) -> HTTPRecordFact? {
        do { try document.read(value) } catch { return nil }
        guard let id = text("id", of: document.root),
            let users = document.member("audience", of: document.root).flatMap({ document.member("users", of: $0) }),
            let user = document.firstChild(of: users), document.kind(of: user) == .string,
            let number = Self.number(in: document.string(document.text(of: user)), after: "u")
        else { return nil }
        return HTTPRecordFact(place, number: number, id: id, at: time)
    }
}
