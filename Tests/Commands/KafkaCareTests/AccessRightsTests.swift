import Delivery
import TestSupport
import Testing

@testable import KafkaCare

@Suite struct AccessRightsTests {
    private static func terms(transactions: Bool = true, replays: Bool = false, _ topics: Topics = Topics()) -> AccessTerms {
        AccessTerms(topics: topics, group: "g", workersWriteTransactions: transactions, gatewayReplays: replays)
    }

    @Test func pageOperationsHasTheRightsOfTheRoles() throws {
        let page = try GeneratedPage("Operations")
        #expect(page.parts(of: "access") == ["roles"])
        var rows = AccessRole.allCases.map { ("`\($0.rawValue)`: \($0.programs)", AccessRights(of: $0, by: Self.terms())) }
        let gateway = AccessRights(of: .gateway, by: Self.terms(replays: true))
        rows.insert(("`gateway` with `gateway.state_dir`: the same, and", gateway.without(rows[1].1)), at: 2)
        for (index, word) in ["cancel", "wait"].enumerated() {
            var terms = Self.terms()
            if word == "wait" { terms.publisherWaits = true } else { terms.publisherCancels = true }
            let rights = AccessRights(of: .publisher, by: terms).without(rows[3].1)
            rows.insert(("`publisher` with `--with \(word)`: the same, and", rights), at: 4 + index)
        }
        let difference = try page.difference("access") { _ in
            GeneratedPage.table(["Role", "Reads", "Writes", "Group", "Transactional ids"], rows.map { [$0] + Self.cells($1) })
        }
        #expect(difference == nil)
    }

    private static func cells(_ rights: AccessRights) -> [String] {
        let topics = Topics()
        let groups = [
            ("all lanes", [topics.requestsHigh, topics.requests, topics.requestsBulk, topics.requestsOwn]),
            ("publishers' lanes", [topics.requestsHigh, topics.requests, topics.requestsBulk]), ("delay lanes", topics.delays),
        ]
        func names(_ operation: AccessRights.Operation) -> String {
            var left = rights.entries.filter { $0.resource == .topic && $0.operations.contains(operation) }.map(\.name)
            var words: [String] = []
            for (word, members) in groups where Set(members).isSubset(of: left) {
                words.append(word)
                left.removeAll(where: members.contains)
            }
            return (words + left.map { "`\($0)`" }).joined(separator: ", ")
        }
        return [
            names(.read), names(.write),
            rights.entries.filter { $0.resource == .group }.map { entry in
                (entry.operations.first?.rawValue ?? "")
                    + (entry.name == "g" ? "" : " on `\(entry.name)\(entry.isPrefix ? "…" : "")`")
            }.joined(separator: ", "),
            rights.transactionalPrefixes.map { "`\($0.hasPrefix("g:") ? "GROUP:" : $0)…`" }.joined(separator: ", "),
        ]
    }

    /// Whoever could write there could make requests that look replayed, or finished.
    @Test func publishersWriteToNothingThatWorkersBelieve() {
        var terms = Self.terms()
        terms.publisherCancels = true
        terms.publisherWaits = true
        let rights = AccessRights(of: .publisher, by: terms)
        let believed = TopicRole.all(Topics()).filter { $0.isWritten && $0.role != "control" }.map(\.name)
        #expect(believed.allSatisfy { !rights.operations(onTopic: $0).contains(.write) })
        #expect(rights.operation(onGroup: "g") == nil && rights.transactionalPrefixes.isEmpty)
        let readers = AccessRole.allCases.filter {
            AccessRights(of: $0, by: Self.terms()).operations(onTopic: Topics().secure).contains(.read)
        }
        #expect(readers == [.gateway])
    }

    /// Who stops others can publish nothing and lose nothing by it.
    @Test func anOperatorWritesOrdersAndNothingElse() {
        let rights = AccessRights(of: .operator, by: Self.terms())
        let reader = AccessRights(of: .reader, by: Self.terms())
        let more = rights.without(reader).entries
        let topics = Topics()
        #expect(
            more.filter { $0.operations.contains(.write) }.map(\.name) == [
                topics.control, topics.callbacks, topics.callbackReplays,
            ])
        #expect(reader.without(rights).entries.isEmpty && rights.operation(onGroup: "g") == .describe)
    }

    @Test func ordersAreReadByWhoeverObeysOrShowsThem() {
        func roles(_ operation: AccessRights.Operation) -> [AccessRole] {
            AccessRole.allCases.filter {
                AccessRights(of: $0, by: Self.terms()).operations(onTopic: Topics().control).contains(operation)
            }
        }
        #expect(roles(.read) == [.worker, .gateway, .replayer, .operator, .reader])
        #expect(roles(.write) == [.gateway, .operator])
    }

    @Test func aWorkerReadsWhatItsExaminationReads() {
        let rights = AccessRights(of: .worker, by: Self.terms())
        for role in TopicRole.all(Topics()) {
            #expect(rights.operations(onTopic: role.name).contains(.read) == role.isRead, "\(role.name)")
        }
        #expect(rights.transactionalPrefixes == ["g:"])
        #expect(AccessRights(of: .worker, by: Self.terms(transactions: false)).transactionalPrefixes.isEmpty)
    }

    @Test func theServiceOfCallbacksKeepsThePlacesOfReceiversAndNoOthers() {
        let rights = AccessRights(of: .callbacks, by: Self.terms())
        let topics = Topics()
        #expect(rights.operation(onGroup: "g") == nil && rights.operation(onGroup: "pushfan-callbacks") == .read)
        let receivers = rights.entries.filter { $0.isPrefix && $0.resource == .group }
        #expect(receivers == [.init(resource: .group, name: "pushfan-callback-", isPrefix: true, operations: [.read])])
        let writers = AccessRole.allCases.filter {
            AccessRights(of: $0, by: Self.terms()).operations(onTopic: topics.callbackReplays).contains(.write)
        }
        #expect(writers == [.operator])
    }

    @Test func onlyWorkersAndCallbacksReadSettingsAndDoWithout() {
        for role in AccessRole.allCases {
            let rights = AccessRights(of: role, by: Self.terms())
            let watched = rights.entries.filter { $0.operations.contains(.describeConfigs) }.map(\.name)
            let (topics, isWorker) = (Topics(), role == .worker)
            let wanted =
                [topics.requestsHigh, topics.requests, topics.requestsBulk, topics.requestsOwn] + topics.delays + [topics.held]
            #expect(Set(watched) == (isWorker ? Set(wanted) : role == .callbacks ? [topics.results] : []), "\(role)")
            #expect(wanted.allSatisfy { !rights.operations(onTopic: $0).contains(.describeConfigs) })
        }
    }

    @Test func commandsAreTheFewestAndQuotedForAShell() {
        let rights = AccessRights(of: .collector, by: Self.terms(Topics(requests: "shop.requests.v1")))
        #expect(
            rights.commands(brokers: "b:9092", principal: "User:CN=it's me") == [
                #"kafka-acls.sh --bootstrap-server b:9092 --add --allow-principal 'User:CN=it'\''s me' --operation Read --topic shop.replays.v1"#,
                #"kafka-acls.sh --bootstrap-server b:9092 --add --allow-principal 'User:CN=it'\''s me' --operation Write"#
                    + " --topic shop.handles.v1 --topic shop.replays.v1",
                #"kafka-acls.sh --bootstrap-server b:9092 --add --allow-principal 'User:CN=it'\''s me' --operation Write"#
                    + " --transactional-id pushfan-handles- --resource-pattern-type prefixed",
            ])
    }
}

extension AccessRights {
    /// The rights that others do not have.
    fileprivate func without(_ others: AccessRights) -> AccessRights {
        AccessRights(
            entries: entries.compactMap { entry in
                let known = others.entries.first { $0.resource == entry.resource && $0.name == entry.name }?.operations ?? []
                let more = entry.operations.filter { !known.contains($0) }
                return more.isEmpty
                    ? nil : Entry(resource: entry.resource, name: entry.name, isPrefix: entry.isPrefix, operations: more)
            })
    }
}
