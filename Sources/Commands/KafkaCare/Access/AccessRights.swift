import Delivery

/// The rights in Kafka that one user needs, and no more.
package struct AccessRights: Sendable, Equatable {
    /// A kind of resource, as Kafka's `kafka-acls.sh` spells it.
    package enum Resource: String, Sendable {
        case topic, group
        case transactionalID = "transactional-id"
    }

    /// An operation on a resource. Kafka counts `read` and `write` as `describe`, too.
    package enum Operation: String, Sendable, CaseIterable {
        case read = "Read"
        case write = "Write"
        case describe = "Describe"
        /// Reading of settings. Work goes on without it, and only a warning of a retention that runs out is missing.
        case describeConfigs = "DescribeConfigs"
    }

    /// The operations on one resource, or on all with one prefix.
    package struct Entry: Sendable, Equatable {
        /// The kind of the resource.
        package let resource: Resource
        /// Its name, or the prefix of the names.
        package let name: String
        /// True if `name` is a prefix.
        package let isPrefix: Bool
        /// The operations, at least one.
        package let operations: [Operation]
    }

    /// One entry for each resource: topics, then the group, then transactional ids.
    package let entries: [Entry]

    /// Rights on these resources.
    init(entries: [Entry]) { self.entries = entries }

    /// The rights of a role.
    package init(of role: AccessRole, by terms: AccessTerms) {
        let use = TopicUse(of: role, by: terms)
        entries =
            TopicRole.all(terms.topics).compactMap { topic in
                let operations: [Operation] =
                    (use.reads.contains(topic.name) ? [.read] : []) + (use.writes.contains(topic.name) ? [.write] : [])
                    + (use.watches.contains(topic.name) ? [.describeConfigs] : [])
                return operations.isEmpty
                    ? nil : Entry(resource: .topic, name: topic.name, isPrefix: false, operations: operations)
            }
            + (role.groupOperation.map { [Entry(resource: .group, name: terms.group, isPrefix: false, operations: [$0])] } ?? [])
            + (role == .callbacks
                ? [Entry(resource: .group, name: terms.callbackGroup, isPrefix: false, operations: [.read])] : [])
            + (role.receiversOperation.map {
                [Entry(resource: .group, name: terms.receiverGroups, isPrefix: true, operations: [$0])]
            } ?? [])
            + role.transactionalPrefixes(terms).map {
                Entry(resource: .transactionalID, name: $0, isPrefix: true, operations: [.write])
            }
    }

    /// The operations on a topic that the role cannot do without, none if it does not use it.
    func operations(onTopic name: String) -> [Operation] {
        (entries.first { $0.resource == .topic && $0.name == name }?.operations ?? []).filter { $0 != .describeConfigs }
    }

    /// The operation on a group, such as that of the workers, or nil if the role does not use it.
    func operation(onGroup name: String) -> Operation? {
        entries.first { $0.resource == .group && !$0.isPrefix && $0.name == name }?.operations.first
    }

    /// The prefixes of the transactional ids.
    var transactionalPrefixes: [String] { entries.filter { $0.resource == .transactionalID }.map(\.name) }

    /// The fewest commands that give `principal` these rights, such as `User:worker`: one for each operation, and one for each prefix.
    package func commands(brokers: String, principal: String) -> [String] {
        let tool = KafkaTool(brokers: brokers, principal: principal)
        let plain = Operation.allCases.compactMap { operation in
            let resources = entries.filter { !$0.isPrefix && $0.operations.contains(operation) }
            return resources.isEmpty ? nil : tool.allow(operation, on: resources)
        }
        return plain + entries.filter(\.isPrefix).flatMap { entry in entry.operations.map { tool.allow($0, on: [entry]) } }
    }
}

/// The topics that a role uses, by their names.
private struct TopicUse {
    var reads: Set<String> = []
    var writes: Set<String> = []
    /// Those whose retention it watches.
    var watches: Set<String> = []

    init(of role: AccessRole, by terms: AccessTerms) {
        let topics = terms.topics
        let published: Set = [topics.requestsHigh, topics.requests, topics.requestsBulk]
        let lanes = published.union([topics.requestsOwn])
        let waiting = Set(topics.delays + [topics.held])
        let results: Set = [topics.results, topics.deadLetters]
        let shown = lanes.union(waiting).union(results).union([
            topics.parents, topics.control, topics.replays, topics.status, topics.history,
        ])
        switch role {
        case .worker:
            reads = Set(TopicRole.all(topics).filter(\.isRead).map(\.name))
            writes = waiting.union(results).union([
                topics.requestsOwn, topics.parents, topics.handles, topics.shares, topics.status,
            ])
            watches = lanes.union(waiting)
        case .gateway:
            reads = shown.union([topics.secure])
            writes = published.union([topics.control, topics.secure, topics.history])
            if terms.gatewayReplays { writes.formUnion([topics.requestsOwn, topics.replays]) }
        case .publisher:
            writes = published
            if terms.publisherCancels {
                writes.insert(topics.control)
                // Workers report whether they read cancellations.
                reads.insert(topics.status)
            }
            if terms.publisherWaits { reads.insert(topics.results) }
        case .broadcaster:
            reads = [topics.parents]
            writes = [topics.requestsOwn, topics.parents]
        case .replayer:
            reads = lanes.union(results).union([topics.control, topics.replays])
            // Dead letters go back to the lane that they came from.
            writes = lanes.union([topics.replays])
        case .collector:
            reads = [topics.replays]
            writes = [topics.handles, topics.replays]
        case .operator:
            // Whoever gives orders counts what they concern, and moves or publishes nothing.
            reads = shown.union([topics.callbacks, topics.callbackDeadLetters, topics.callbackReplays])
            writes = [topics.control, topics.callbacks, topics.callbackReplays]
        case .mover:
            reads = lanes.union(waiting).union(results).union([topics.parents])
            writes = waiting
        case .reader:
            reads = shown
        case .callbacks:
            reads = [topics.results, topics.callbacks, topics.callbackReplays]
            // A receiver that answers 410 is noted as disabled.
            writes = [topics.callbacks, topics.callbackDeadLetters]
            watches = [topics.results]
        }
    }
}
