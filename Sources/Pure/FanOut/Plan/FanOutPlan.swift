public import PushModel

/// The hub calls that one request becomes. A plan is reused from request to request.
public struct FanOutPlan: Sendable {
    /// A tag or tag expression as it stands in the header `ServiceBusNotification-Tags`, never empty, made by a planner only.
    public struct Tags: Sendable, Equatable {
        let start: Int
        let count: Int

        /// Refuses to be empty: an empty header would be a broadcast.
        init?(start: Int, end: Int) {
            guard end > start else { return nil }
            self.start = start
            count = end - start
        }

        var range: Range<Int> { start..<start + count }
    }

    /// The target of one call. Only a request that says `broadcast` reaches everybody. Leaving something out cannot.
    public enum Target: Sendable, Equatable {
        /// The devices whose tags match.
        case tags(Tags)
        /// Every device of the hub that has the call's format.
        case broadcast
        /// One device, by its handle.
        case device(JSONDocument.Text)
        /// Up to 1,000 devices, by their handles.
        case devices([JSONDocument.Text])
    }

    /// One hub call.
    public struct Call: Sendable, Equatable {
        /// The platform whose native format is sent, or nil for a template.
        public var platform: Platform?
        /// Whom it reaches.
        public var target: Target
        /// The number of the part of the audience, from 0.
        public var chunk: Int
    }

    /// The calls: by platform, then by part of the audience. The same request always gives the same list.
    public internal(set) var calls: [Call] = []
    /// True if a device could be reached by two calls of one platform, and so ring twice.
    ///
    /// A hub knows a handle again within one call only. Devices that have several of more than 20 names, or that fulfil several parts of
    /// an expression which no split keeps apart, are in two calls. There is no way to say it to a hub that they should not be.
    public internal(set) var mayReachTwice = false
    /// Whom the calls of each platform reach, while the plan is made.
    var targets: [Target] = []
    /// The names of a list that needs several calls, while the plan is made.
    var names = DistinctTexts(ignoringCase: true)
    var bytes = ByteWriter()

    /// A plan without calls.
    public init() {}

    /// Forgets the calls and keeps the room.
    public mutating func removeAll() {
        if !calls.isEmpty { calls.removeAll(keepingCapacity: true) }
        if !targets.isEmpty { targets.removeAll(keepingCapacity: true) }
        bytes.removeAll()
        mayReachTwice = false
        if !names.texts.isEmpty { names.removeAll() }
    }

    /// The bytes that it takes in memory, with the room that it keeps.
    public var byteCount: Int { bytes.room.count + calls.capacity * MemoryLayout<Call>.stride }

    /// The header's value.
    @_lifetime(borrow self)
    public borrowing func span(_ tags: Tags) -> Span<UInt8> { bytes.span.extracting(tags.range) }
}
