import PushModel

/// A request that was checked and waits to be written.
struct OutgoingRequest: Sendable {
    /// The request as JSON, complete but for an id that is to be made.
    var json: [UInt8]
    /// Its own id; nil when it has none.
    var id: String?
    /// Its own source.
    var source: String?
    /// Requests with one key keep their order.
    var orderingKey: String?
    /// Of requests with one key only the first is sent.
    var dedupeKey: String?

    /// The record's key: what is to be told as a repetition, or kept in order, must be in one partition.
    var recordKey: String? { orderingKey ?? dedupeKey ?? id }

    /// The JSON with `id` as its first member, unless it has one.
    func json(withID id: String) -> [UInt8] {
        guard self.id == nil, let brace = json.firstIndex(of: UInt8(ascii: "{")) else { return json }
        return Array(json[...brace]) + Array("\"id\":\"\(id)\",".utf8) + json[(brace + 1)...]
    }
}

/// Something wrong with a request, and where it was given.
struct InputFault: Sendable, Equatable {
    /// The file, with the line where there are several requests in it; or `the flags`.
    let place: String
    /// What is wrong.
    let message: String

    /// `place: message`.
    var text: String { "\(place): \(message)" }
}

/// Reads requests as strictly as a publisher wants it: everything the contract does not know is a fault.
struct RequestChecker {
    private let reader = RequestReader(.strict)
    private let now: Timestamp
    private var request = PushRequest()
    /// The requests without faults.
    private(set) var valid: [OutgoingRequest] = []
    /// What is wrong with the others.
    private(set) var faults: [InputFault] = []

    init(now: Int64) {
        self.now = Timestamp(milliseconds: now)
    }

    /// Checks one request.
    ///
    /// - Parameters:
    ///   - json: The request.
    ///   - place: Where it was given.
    mutating func check(_ json: [UInt8], at place: String) {
        let origin = RecordOrigin(topic: "input", partition: 0, offset: 0, timestamp: now)
        switch reader.read(json.span, headers: PushModel.RecordHeaders(), origin: origin, into: &request) {
        case .request:
            let hasID = request.document.member("id", of: request.document.root) != nil
            valid.append(
                OutgoingRequest(
                    json: json, id: hasID ? request.document.string(request.id) : nil,
                    source: request.source.map { request.document.string($0) },
                    orderingKey: request.orderingKey.map { request.document.string($0) },
                    dedupeKey: request.dedupeKey.map { request.document.string($0) }))
        case .rejected(let found):
            faults += found.map { fault in
                InputFault(
                    place: place, message: (fault.pointer.isEmpty ? "" : "\(Sanitised.line(fault.pointer)): ") + fault.message)
            }
        case .unreadable(let reason):
            faults.append(InputFault(place: place, message: reason.message))
        }
    }

    /// Notes a fault that was found elsewhere.
    mutating func add(_ fault: InputFault) {
        faults.append(fault)
    }
}
