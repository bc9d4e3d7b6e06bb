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
