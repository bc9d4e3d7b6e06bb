import Delivery

/// The demands of our settings on the brokers.
package struct BrokerDemands: Sendable, Equatable {
    /// The time after which the group gives a silent worker up, in milliseconds.
    let sessionTimeout: Int
    /// The time-out of a transaction, in milliseconds.
    let transactionTimeout: Int
    /// The longest text that travels with a committed position.
    static let metadataByteCount = FinishedOffsets.longestText

    /// Demands of the given times.
    package init(sessionTimeout: Int = 10_000, transactionTimeout: Int = 15_000) {
        self.sessionTimeout = sessionTimeout
        self.transactionTimeout = transactionTimeout
    }
}

/// The findings on whether the brokers allow the demands of our settings.
struct BrokerFindings {
    private let settings: [String: String]
    private let tool: KafkaTool
    private var findings: [Finding] = []

    /// The faults of a broker's settings, or one finding that there are none.
    static func of(_ settings: Result<[String: String], QueryFailure>, demands: BrokerDemands, tool: KafkaTool) -> [Finding] {
        switch settings {
        case .success(let settings):
            var judge = BrokerFindings(settings: settings, tool: tool)
            judge.judge(demands)
            return judge.findings
        case .failure(let refusal):
            let remedy = refusal.kind == .rights ? tool.allowDescribingBrokers : nil
            return [
                .unasked("limits", of: tool.brokers, text: "the brokers' settings cannot be read: \(refusal.text)", mend: remedy)
            ]
        }
    }

    private func number(_ key: String) -> Int? { settings[key].flatMap { Int($0) } }

    private mutating func judge(_ demands: BrokerDemands) {
        judgeSession(demands.sessionTimeout)
        if let limit = number("transaction.max.timeout.ms"), limit < demands.transactionTimeout {
            fail(
                "transaction.max.timeout.ms",
                "is \(limit): transactions of \(demands.transactionTimeout) ms are refused, and no worker starts",
                limit >= 10_000
                    ? "pushfan worker --kafka.transaction_timeout \(limit)ms"
                    : "transaction.max.timeout.ms=\(demands.transactionTimeout) in the brokers' server.properties")
        }
        if let limit = number("offset.metadata.max.bytes"), limit < BrokerDemands.metadataByteCount {
            warn(
                "offset.metadata.max.bytes",
                "is \(limit), and positions may need \(BrokerDemands.metadataByteCount): results then are published in offset order",
                "set offset.metadata.max.bytes=4096 in server.properties and restart the brokers")
        }
        if let minutes = number("offsets.retention.minutes"), minutes < 1440 {
            warn(
                "offsets.retention.minutes",
                "is \(minutes): workers that are away for longer begin with the oldest request again, and send it twice",
                "set offsets.retention.minutes=10080 in server.properties and restart the brokers")
        }
        if findings.isEmpty { findings = [.ok("limits", of: tool.brokers, text: "the brokers allow what our settings ask for")] }
    }

    private mutating func judgeSession(_ timeout: Int) {
        if let least = number("group.min.session.timeout.ms"), timeout < least {
            fail(
                "group.min.session.timeout.ms", "is \(least): a session of \(timeout) ms is refused, and no worker can join",
                "pushfan worker --kafka.session_timeout \(least)ms")
        }
        if let most = number("group.max.session.timeout.ms"), timeout > most {
            fail(
                "group.max.session.timeout.ms", "is \(most): a session of \(timeout) ms is refused, and no worker can join",
                "pushfan worker --kafka.session_timeout \(most)ms")
        }
    }

    private mutating func warn(_ key: String, _ text: String, _ remedy: String) {
        findings.append(.warning("limits", of: key, text: text, mend: remedy))
    }

    private mutating func fail(_ key: String, _ text: String, _ remedy: String) {
        findings.append(.failure("limits", of: key, text: text, mend: remedy, cause: .configuration))
    }
}
