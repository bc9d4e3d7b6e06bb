/// The notifications that a hub has accepted, and their way to devices.
///
/// Any thread may call. A store that cannot answer refuses with 503.
package protocol MessageStore: Sendable {
    /// Takes a notification with its id. From when this returns it is sent, whatever happens to the process.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - call: The call that sends it.
    ///   - due: The time to send it, in milliseconds since 1970. Nil for now.
    /// - Returns: What is known by then.
    /// - Throws: 503, or 429 with `Retry-After`.
    func accept(_ notification: Notification, of call: HubCall, due: Int64?) throws(RefusedCall) -> Acceptance

    /// Takes a scheduled notification back.
    ///
    /// - Returns: False if there is none that waits for its time.
    func cancel(_ id: String, now: Int64) throws(RefusedCall) -> Bool

    /// Sends a notification to at most 10 devices that are chosen at random, and waits for their outcomes.
    ///
    /// - Returns: The outcomes, or nil if there were too many test sends in the last minute.
    func test(_ notification: Notification, of call: HubCall) throws(RefusedCall) -> Reach?

    /// The telemetry of a notification, or nil while its id is unknown.
    func telemetry(of id: String, now: Int64) throws(RefusedCall) -> MessageTelemetry?

    /// The devices that a push service refused a notification for, or nil if its id is unknown.
    func refused(by id: String) throws(RefusedCall) -> [PNSFeedback]?

    /// The blobs of the feedback container by their names, without their bytes, from the one named on.
    func feedbackBlobs(from name: String, limit: Int) throws(RefusedCall) -> [FeedbackBlob.Head]

    /// The bytes of a blob of the feedback container.
    func feedbackBlob(_ name: String) throws(RefusedCall) -> [UInt8]?
}

/// The facts that are known of a notification when it is accepted.
package struct Acceptance: Sendable {
    /// The number of devices that it has reached already.
    package var rungCount = 0
    /// The rule of a push service that it breaks.
    package var brokenRule: String?

    package init() {}
}

/// The telemetry of one notification at one moment.
package struct MessageTelemetry: Sendable {
    /// The facts that change over time.
    package struct Shown: Sendable, Equatable {
        package let state: String
        /// The start of the work, in milliseconds since 1970, or `nil` before it.
        package var startedAt: Int64?
        /// The time at which the state became final.
        package var endedAt: Int64?
        package var counts: OutcomeCounts

        package init(state: String, startedAt: Int64? = nil, endedAt: Int64? = nil, counts: OutcomeCounts = OutcomeCounts()) {
            (self.state, self.startedAt, self.endedAt, self.counts) = (state, startedAt, endedAt, counts)
        }
    }

    package let id: String
    /// Nil where the body is not kept any more.
    package let body: [UInt8]?
    /// The tags header of a send to tags.
    package let tags: String?
    /// The platform of a native notification, or `nil` for a template's.
    package let platform: HubPlatform?
    package let apiVersion: APIVersion
    /// The time of delivery, which is later than that of the answer for a scheduled notification. Milliseconds since 1970.
    package let queuedAt: Int64
    package let shown: Shown

    package init(
        id: String, body: [UInt8]?, tags: String?, platform: HubPlatform?, apiVersion: APIVersion, queuedAt: Int64, shown: Shown
    ) {
        (self.id, self.body, self.tags, self.platform) = (id, body, tags, platform)
        (self.apiVersion, self.queuedAt, self.shown) = (apiVersion, queuedAt, shown)
    }

    /// The platform of a native notification, or the templates that were filled in, in the words of `TargetPlatforms`.
    var targetPlatforms: String {
        if let platform { return platform.format }
        let templates = HubPlatform.allCases.filter { platform in shown.counts.entries.contains { $0.platform == platform } }
        return templates.isEmpty ? "template" : templates.map { $0.format + "template" }.joined(separator: ",")
    }
}
