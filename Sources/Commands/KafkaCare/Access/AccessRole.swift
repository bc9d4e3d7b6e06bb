package import Delivery

/// A user of Kafka, by what it does for pushfan (page Operations, section Access rights).
package enum AccessRole: String, Sendable, CaseIterable {
    case worker, gateway, publisher, broadcaster, replayer, collector, `operator`, mover, reader, callbacks

    /// The programs of the role, in a few words.
    package var programs: String {
        switch self {
        case .worker: "pushfan worker"
        case .gateway: "pushfan gateway"
        case .publisher: "whoever writes requests, pushfan enqueue and cancel included"
        case .broadcaster: "pushfan enqueue --audience-file"
        case .replayer: "pushfan replay, failed"
        case .collector: "pushfan handles collect"
        case .operator: "pushfan hold, limit, release, holds, cancel, status, callbacks list, pause, resume, replay"
        case .mover: "pushfan group adopt, group start"
        case .reader: "pushfan results, failed, status"
        case .callbacks: "pushfan callbacks"
        }
    }

    /// The operation on the group of the workers, or nil if the role does not use it.
    var groupOperation: AccessRights.Operation? {
        switch self {
        case .worker, .mover: .read
        case .gateway, .replayer, .operator, .reader: .describe
        case .publisher, .broadcaster, .collector, .callbacks: nil
        }
    }

    /// The operation on the groups of receivers, or nil if the role does not use them.
    var receiversOperation: AccessRights.Operation? {
        switch self {
        case .callbacks: .read
        case .operator: .describe
        case .worker, .gateway, .publisher, .broadcaster, .replayer, .collector, .mover, .reader: nil
        }
    }

    /// The prefixes of the transactional ids.
    func transactionalPrefixes(_ terms: AccessTerms) -> [String] {
        switch self {
        case .worker: terms.workersWriteTransactions ? ["\(terms.group):"] : []
        case .gateway: terms.gatewayReplays ? ["pushfan-replay-"] : []
        case .broadcaster: ["pushfan-enqueue-"]
        case .replayer: ["pushfan-replay-"]
        case .collector: ["pushfan-handles-"]
        case .mover: ["pushfan-adopt-", "pushfan-start-"]
        // The positions of all receivers are written in one transaction.
        case .callbacks: ["\(terms.callbackGroup)-"]
        case .publisher, .operator, .reader: []
        }
    }
}

/// The settings on which the rights of roles depend.
package struct AccessTerms: Sendable {
    /// The names of the topics.
    package let topics: Topics
    /// The group of the workers.
    package let group: String
    /// The group of the services that call receivers (`callbacks.group_id`).
    package var callbackGroup = "pushfan-callbacks"
    /// The beginning of the names of receivers' groups.
    package var receiverGroups = "pushfan-callback-"
    /// Workers write results and offsets in transactions (`kafka.delivery_guarantee`).
    package let workersWriteTransactions: Bool
    /// The gateway runs replays (`gateway.state_dir`).
    package let gatewayReplays: Bool
    /// Publishers may cancel any request.
    package var publisherCancels = false
    /// Publishers wait for results.
    package var publisherWaits = false

    /// Terms of the given parts.
    package init(topics: Topics, group: String, workersWriteTransactions: Bool, gatewayReplays: Bool) {
        self.topics = topics
        self.group = group
        self.workersWriteTransactions = workersWriteTransactions
        self.gatewayReplays = gatewayReplays
    }
}
