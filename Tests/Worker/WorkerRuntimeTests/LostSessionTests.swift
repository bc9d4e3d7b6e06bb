import HubEmulator
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// Workers that live on when the group has ended their session.
@Suite(.serialized, .tags(.threads))
struct LostSessionTests {
    private static func request(_ name: String) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}}"#
    }

    /// Heartbeat in Kafka's protocol, and UNKNOWN_MEMBER_ID.
    private static let (heartbeat, unknownMember): (Int16, Int32) = (12, 25)

    /// What a commit needs, in Kafka's protocol, with an error that refuses it.
    enum Refused: Int16, CaseIterable {
        case produce = 0
        case offsetCommit = 8

        /// TOPIC_AUTHORIZATION_FAILED and GROUP_AUTHORIZATION_FAILED.
        var error: Int32 { self == .produce ? 29 : 30 }
    }

    /// Whether the results are missing or only their positions: without the cure each of the two is called a second time, and where only
    /// positions are missing, has a second result.
    @Test(arguments: Refused.allCases)
    func whatTheHubTookIsNotCalledAgainWhenThePartitionComesBackAsItWas(_ refused: Refused) throws {
        let bench = try Bench(.embedded, partitions: 1)
        try bench.publish(Self.request("before"))
        let worker = try bench.startWorker(change: Bench.takeover)
        try bench.results(1)
        #expect(bench.waitForCommits(of: 1, partitions: 1))
        bench.gate.close()
        try bench.publish(all: [Self.request("sent"), Self.request("sent-too")])
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 2 })
        bench.cluster?.failNext(apiKey: refused.rawValue, codes: [Int32](repeating: refused.error, count: 10_000))
        bench.gate.open()
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 0 && bench.metric("pushfan_commit_failures_total") > 0 })
        bench.cluster?.failNext(apiKey: Self.heartbeat, codes: [Self.unknownMember])
        #expect(eventually { bench.logLines.all.contains { $0.contains("partitions were lost") } })
        bench.cluster?.failNoMore(apiKey: refused.rawValue)
        #expect(bench.waitForCommits(of: 3, partitions: 1))
        try worker.stop()
        #expect(bench.hub.calls().count == 3)
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == ["before", "sent", "sent-too"])
        #expect(results.values.allSatisfy { $0.summary == "sent success - 1" })
        #expect(bench.logLines.all.contains { $0.contains("known results are recorded now") })
    }

    @Test func whatWasInFlightAndWhatIsReadWhileTheOldOwnerMayGoOnIsAmbiguousIfItFails() throws {
        let bench = try Bench(.embedded, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=400")])
        try bench.publish(Self.request("before"))
        let worker = try bench.startWorker(change: Bench.takeover)
        // Its position is there, so that the next owner knows that somebody was at work.
        try bench.results(1)
        #expect(bench.waitForCommits(of: 1, partitions: 1))
        bench.gate.close()
        try bench.publish(Self.request("flying"))
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        bench.cluster?.failNext(apiKey: Self.heartbeat, codes: [Self.unknownMember])
        #expect(eventually { bench.logLines.all.contains { $0.contains("partitions were lost") } })
        bench.gate.open()
        #expect(eventually { bench.logLines.all.count { $0.contains("partitions were assigned") } >= 2 })
        // At once: a session later nobody else goes on.
        try bench.results(2)
        try bench.publish(Self.request("after"))
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["before"]?.summary == "failed payload payload_rejected 1")
        for name in ["flying", "after"] {
            #expect(results[name]?.summary == "failed ambiguous payload_rejected 1", "\(name)")
            #expect(results[name]?["replay_safety"] == "ambiguous", "\(name)")
        }
    }
}
