/// One valid send request, as views into the record that it was read from (page Requests).
///
/// Texts and nodes are places in `document`. A request is reused: reading the next record takes the place of the one before.
public struct PushRequest: Sendable {
    /// A piece of text in the request's document.
    public typealias Text = JSONDocument.Text
    /// A JSON value in the request's document.
    public typealias Node = JSONDocument.Node

    /// The record, and texts that came from its headers.
    public var document = JSONDocument()

    /// The request's identity: from the body, else from `ce_id`, else `<topic>:<partition>:<offset>` of the record.
    public var id = Text.none
    /// True if its publisher gave it the id. Otherwise that is the record's place, which no other request has.
    public var hasOwnID = false
    /// The publisher. With `id` it names the request.
    public var source: Text?
    /// Whose request it is, for routing and fair shares.
    public var tenant: Text?
    /// The hub to send through. None means the default hub.
    public var hub: Text?
    /// The moment at which the publisher made it.
    public var createdAt: Timestamp?
    /// The audience that gets it. A request that was read without faults has one.
    public var audience = Audience.none
    /// The platforms named by the request, empty when it names none.
    public var platforms: PlatformSet = []
    /// Content that is formatted natively for every platform.
    public var message: Message?
    /// Content for single platforms, verbatim: an object with a member per platform.
    public var payloads: Node?
    /// Content for the devices' templates: a flat object of strings.
    public var template: Node?
    /// The life asked for, 0 – 2,419,200 s, counted from `createdAt` or the record's time.
    public var timeToLive: Int64?
    /// The moment from which the request is of no more use: from `expires_at`, `ttl_seconds` or `ce_expirytime`, the earliest.
    public var expiresAt: Timestamp?
    /// Not to be sent before this.
    public var notBefore: Timestamp?
    /// The urgency of the request.
    public var priority = Priority.normal
    /// True if `priority` stood in the request.
    public var hasPriority = false
    /// A later push with the same key takes an undelivered one's place. The key has 1–64 bytes.
    public var collapseKey: Text?
    /// A second request with the same key within `dedupeWindow` is not sent.
    public var dedupeKey: Text?
    /// The time for which that counts, 1 – 604,800 s.
    public var dedupeWindow: Int64 = 86_400
    /// Requests with one key are sent in order.
    public var orderingKey: Text?
    /// Switches and limits.
    public var options = Options()
    /// Names and values that are copied into every result: a flat object of strings.
    public var labels: Node?
    /// The origin of a replayed request.
    public var replay: Node?
    /// The larger request that this one is a part of. `PartReference` reads it.
    public var parent: Node?
    /// The parts behind this one that its record carries, an array. None for all but the continuation of a large request.
    public var remaining: Node?
    /// W3C trace context of the hop that brought the record (`traceparent`, else `ce_traceparent`).
    public var traceParent: Text?
    /// W3C trace state of that hop.
    public var traceState: Text?
    /// Fields that the contract does not know, which are ignored and counted.
    public var unknownFieldCount = 0

    /// An empty request, to be read into.
    public init() {}

    /// Forgets everything and keeps the document's room.
    mutating func removeAll() {
        var emptied = PushRequest()
        swap(&emptied.document, &document)
        emptied.document.removeAll()
        self = emptied
    }

    /// The receivers of a push: exactly one kind. That none is named never means everyone.
    public enum Audience: Sendable, Equatable {
        /// Not read yet. No request that is sent has it.
        case none
        /// Every device of the hub.
        case broadcast
        /// An array of user names.
        case users(Node)
        /// An array of installation ids.
        case installations(Node)
        /// An array of tags, any of which matches.
        case categories(Node)
        /// A tag expression.
        case tagExpression(Text)
        /// An array of objects with `platform` and `handle`.
        case devices(Node)
    }

    /// The urgency of a request.
    public enum Priority: UInt8, Sendable, CaseIterable {
        case high, normal, low
    }

    /// The reaction when it is unknown whether the hub took a call.
    public enum AmbiguityPolicy: UInt8, Sendable, CaseIterable {
        /// Try again. The push may ring twice.
        case retry
        /// Stop and say so.
        case stop
    }

    /// The share of a request's history that its result carries.
    public enum ResultDetail: UInt8, Sendable, CaseIterable {
        case none, summary, attempts
    }

    /// The request's `options`.
    public struct Options: Sendable, Equatable {
        /// Plan and format, but make no call.
        public var dryRun = false
        /// Use the hub's test send: at most 10 devices.
        public var testSend = false
        /// Tries of one hub call in all, 1–20. None means the worker's setting.
        public var maxAttempts: Int?
        /// The reaction to an ambiguous answer.
        public var onAmbiguous = AmbiguityPolicy.stop
        /// The detail of the result.
        public var resultDetail = ResultDetail.attempts
        /// True to follow the hub's telemetry. None means the hub's setting.
        public var trackOutcome: Bool?

        /// The defaults of the contract.
        public init() {}
    }

    /// Content that is formatted natively. At least one of title, body and data is there.
    public struct Message: Sendable {
        /// The heading, at most 256 characters.
        public var title: Text?
        /// The line below the heading, at most 256 characters.
        public var subtitle: Text?
        /// The text, at most 2,048 characters.
        public var body: Text?
        /// A picture's address.
        public var imageURL: Text?
        /// The link that a tap opens.
        public var deepLink: Text?
        /// A sound's name, or `default`.
        public var sound: Text?
        /// The app icon's number, 0 – 99,999. 0 clears it.
        public var badge: Int?
        /// The set of buttons that the app shows.
        public var actionCategory: Text?
        /// Notifications of one thread are shown together.
        public var threadID: Text?
        /// Wake the app without showing anything.
        public var isSilent = false
        /// The app's own values: a flat object of strings.
        public var data: Node?

        /// A message without anything.
        public init() {}
    }
}

extension JSONDocument.Text {
    /// No text.
    public static var none: Self { Self(start: 0, length: 0) }
}
