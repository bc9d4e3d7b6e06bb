public import Publishing
public import PushModel

extension OutgoingRequest {
    /// A request that was read without faults, with the parts of its record.
    ///
    /// - Parameters:
    ///   - json: The bytes of the record.
    ///   - request: The request that they contain.
    ///   - isEvent: Whether it is a CloudEvent in structured mode, which contains its own id.
    public init(_ json: [UInt8], saying request: borrowing PushRequest, isEvent: Bool) {
        self.init(
            json: json, id: request.hasOwnID ? request.document.string(request.id) : nil,
            source: request.text(request.source), orderingKey: request.text(request.orderingKey),
            dedupeKey: request.text(request.dedupeKey), priority: request.priority, isEvent: isEvent)
    }
}

extension PushRequest {
    /// The bytes of a request, without the members that are null, so that none stands twice when it gets an id.
    ///
    /// - Parameters:
    ///   - json: The bytes that were read.
    ///   - isEvent: Whether they are a CloudEvent in structured mode, which contains its own id.
    /// - Returns: `json` itself where nothing is null.
    public borrowing func withoutNulls(_ json: [UInt8], isEvent: Bool) -> [UInt8] {
        isEvent || !document.hasNull ? json : Array(document.string(document.text(of: document.root)).utf8)
    }

    fileprivate borrowing func text(_ text: Text?) -> String? { text.map { document.string($0) } }
}
