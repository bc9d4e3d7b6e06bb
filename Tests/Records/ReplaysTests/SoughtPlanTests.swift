import Delivery
import FanOut
import PushModel
import Replay
import ResultQuery
import ReplayStage
import Testing

@testable import JobSupport
@testable import Replays

/// Plans by what requests say and results do not, on a broker inside the process.
@Suite struct SoughtPlanTests {
    private static let requests = [
        #"{"id":"a","audience":{"users":["Alice"]},"platforms":["apple"],"message":{"title":"Lunch today"}}"#,
        #"{"id":"b","audience":{"users":["bob","carol"]},"platforms":["apple"],"message":{"title":"Dinner"}}"#,
        #"{"id":"t","audience":{"categories":["News"]},"platforms":["apple"],"message":{"title":"Lunch for all"}}"#,
        // It may have reached its devices, and is left.
        #"{"id":"m","audience":{"users":["alice"]},"platforms":["apple"],"message":{"title":"Late"}}"#,
    ]

    private static func broker() throws -> ReplayBroker {
        let broker = try ReplayBroker()
        for (offset, request) in requests.enumerated() {
            try broker.write(request, to: broker.topics.requests)
            let id = ["a", "b", "t", "m"][offset]
            let outcome = id == "m" ? "ambiguous" : "transient"
            try broker.write(
                """
                {"schema_version":1,"request_id":"\(id)","kind":"final","state":"failed","outcome":"\(outcome)",\
                "sends":[{"index":0,"platform":"apple","outcome":"\(outcome)"}],"targets":{"planned":1},\
                "origin":{"topic":"\(broker.topics.requests)","partition":0,"offset":"\(offset)"}}
                """, to: broker.topics.results)
        }
        return broker
    }

    /// What is sought, what is replayed of it, how many results match, and how many are left because they may have arrived.
    @Test(
        arguments: [
            ("", ["a", "b", "t"], 4, 1), ("user:alice", ["a"], 2, 1), ("alice", ["a"], 2, 1), ("user:carol", ["b"], 1, 0),
            ("-user:alice", ["b", "t"], 2, 0), ("title:lunch", ["a", "t"], 2, 0), ("to:tags", ["t"], 1, 0),
            ("user:alice title:late", [], 1, 1), ("user:nobody", [], 0, 0), ("user:bob request:b", ["b"], 1, 0),
        ] as [(String, [String], Int, Int)])
    func aPlanHasWhatIsSoughtAndCountsNothingElse(line: String, ids: [String], matched: Int, left: Int) throws {
        let broker = try Self.broker()
        let counts = try broker.plan(
            ReplayBroker.header(), broker.context(), ResultFilter(line, now: ReplayBroker.now)
        ).counts
        #expect(counts.matched == matched && counts.requests == ids.count, "\(line): \(counts)")
        #expect(counts.left.values.reduce(0, +) == left, "\(line): \(counts)")
        var plan = try ReplayPlanReader(broker.path)
        var replayed: [String] = []
        while let item = try plan.nextItem() { replayed.append(item.requestID) }
        #expect(replayed == ids)
    }

    @Test func whatIsLeftIsListedForTheRequestsAloneThatAreSought() throws {
        let broker = try Self.broker()
        _ = try broker.plan(
            ReplayBroker.header(), broker.context(), ResultFilter("user:bob", now: ReplayBroker.now))
        var leftovers = Leftovers(of: try ReplayPlanReader(broker.path), job: nil)
        var rows: [String] = []
        while let row = try leftovers.next() { rows.append("\(row.requestID) \(row.word)") }
        #expect(rows == ["b open"])
    }

    /// What is sought, the limit, and the ids of the plan, or nil for one that has no room.
    @Test(
        arguments: [
            ("user:alice", 1, ["a"]), ("user:bob", 1, ["b"]), ("title:lunch", 2, ["a", "t"]), ("-user:alice", 2, ["b", "t"]),
            ("user:nobody", 1, []), ("title:lunch", 1, nil), ("-user:alice", 1, nil), ("", 3, ["a", "b", "t"]), ("", 2, nil),
        ] as [(String, Int, [String]?)])
    func failuresOfOthersTakeNoRoom(line: String, limit: Int, ids: [String]?) throws {
        let broker = try Self.broker()
        var maker = try PlanMaker(
            broker.context(), planning: .init(), header: ReplayBroker.header(), path: broker.path)
        let filter = PlanMaker.narrowed(try ResultFilter(line, now: ReplayBroker.now))
        guard let ids else {
            #expect(throws: JobFailure.self) { try maker.plan(filter, limit: limit) }
            return
        }
        try maker.plan(filter, limit: limit)
        #expect(maker.header.counts.requests == ids.count)
        var plan = try ReplayPlanReader(broker.path)
        var replayed: [String] = []
        while let item = try plan.nextItem() { replayed.append(item.requestID) }
        #expect(replayed == ids)
    }
}
