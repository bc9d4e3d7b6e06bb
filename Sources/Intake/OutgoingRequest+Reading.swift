public import Publishing
public import PushModel

extension OutgoingRequest {
    /// A request that was read without faults, with the parts of its record.
    ///
    /// - Parameters:
    ///   - json: The bytes that were read.
    ///   - request: The request that they contain.
    ///   - isEvent: Whether it is a CloudEvent in structured mode, which contains its own id.
    public init(_ json: [UInt8], saying request: borrowing PushRequest, isEvent: Bool) {
        let document = request.document
        // Without the members that are null, so that none stands twice when it gets an id.
        let isWithoutNulls = isEvent || !document.hasNull
        self.init(
            json: isWithoutNulls ? json : Array(document.string(document.text(of: document.root)).utf8),
            id: request.hasOwnID ? request.document.string(request.id) : nil,
            source: request.text(request.source), orderingKey: request.text(request.orderingKey),
            dedupeKey: request.text(request.dedupeKey), priority: request.priority, isEvent: isEvent)
    }
}

extension PushRequest {
    fileprivate borrowing func text(_ text: Text?) -> String? { text.map { document.string($0) } }
}
