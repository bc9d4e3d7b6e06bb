import PushModel
import Publishing

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
