import Kafka

/// The time that is left until brokers may delete the oldest record of a topic that has no result.
///
/// A broker deletes a segment when its newest record is older than the retention, so the record stays for this time at least. What
/// `retention.bytes` deletes cannot be foreseen.
package struct RetentionOutlook: Sendable, Equatable {
    /// The topic.
    package let topic: String
    /// The time for which the topic keeps a record, milliseconds.
    package let kept: Int64
    /// The time that is left, milliseconds, 0 – `kept`. All of it where nothing waits.
    package let left: Int64

    /// An outlook, or nil for a topic that deletes nothing by age, or whose settings are not known.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - settings: Its settings.
    ///   - oldest: The time of its oldest record without a result, milliseconds since 1970, or nil if none waits.
    ///   - now: The time of the question.
    init?(_ topic: String, settings: [TopicSetting], oldest: Int64?, now: Int64) {
        func value(_ name: String) -> String? { settings.first { $0.name == name }?.value }
        guard value("cleanup.policy")?.contains("delete") == true, let kept = value("retention.ms").flatMap({ Int64($0) }),
            kept >= 0
        else { return nil }
        (self.topic, self.kept) = (topic, kept)
        guard let oldest else {
            left = kept
            return
        }
        let (age, overflow) = now.subtractingReportingOverflow(oldest)
        left = overflow ? 0 : kept - max(0, min(age, kept))
    }

    /// Less than a quarter of the time is left.
    var isShort: Bool { left < kept / 4 }
    /// Less than a twentieth of the time is left: 8 h of 7 days.
    var isUrgent: Bool { left < kept / 20 }
}
