import PushModel
import Replay
import ReplayStage
import Testing

@testable import Replays

/// The first line of a plan's file, and what commands and the gateway show of plans and jobs.
@Suite struct PlanHeaderTests {
    @Test func whatIsWrittenIsRead() throws {
        var header = ReplayBroker.header(.deadletter)
        header.tenant = "acme"
        header.replacement = Array(#"{"message":{"title":"Hi"}}"#.utf8)
        header.counts.addEligible(isAmbiguous: true)
        header.counts.addEligible(isAmbiguous: false)
        header.counts.repairs = [.hubNotFound: 1]
        header.counts.addUnknown(hub: "norrth")
        #expect(try ReplayPlanHeader(header.json, path: "p") == header)
    }

    @Test(arguments: [(false, 3), (true, 0)])
    func aPlanOfBeforeIsSafeIfItLeavesOutWhatIsAmbiguous(ambiguousToo: Bool, safe: Int) throws {
        var header = ReplayBroker.header()
        header.includesAmbiguous = ambiguousToo
        header.counts.eligible = 3
        let added = #","eligible_by_safety":{"safe":0,"ambiguous":0}"#
        let line = String(decoding: header.json, as: UTF8.self)
        try #require(line.contains(added))
        let counts = try ReplayPlanHeader(Array(line.replacing(added, with: "").utf8), path: "p").counts
        #expect(counts.eligible == 3 && counts.safe == safe && counts.ambiguous == 0)
    }

    @Test func withoutATenantNothingIsSaidOfOne() {
        for json in [ReplayBroker.header().json, JobRecord(jobID: "job", state: .done).json] {
            #expect(!String(decoding: json, as: UTF8.self).contains("tenant"))
        }
    }

    @Test func aPlanIsShownWithItsPriceAndSamples() {
        var header = ReplayBroker.header()
        header.reason = "outage"
        header.counts.calls = 2000
        let place = RecordPlace(topic: "t", partition: 0, offset: 7)
        let item = ReplayItem(number: 0, requestID: "r", place: place, sends: .all)
        let pace = ReplayPace(rate: 500, callsAtOnce: 10, callTime: .milliseconds(100))
        let report = PlanReport(header: header, samples: [item], pace: pace)
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let rest =
            #""filter":"","reason":"outage","actor":"ann","counts":\#(text(header.counts.json)),"estimated_ms":20000,"#
            + #""samples":[\#(text(item.json))]}"#
        #expect(text(report.json(path: "f")) == #"{"job_id":"job","file":"f",\#(rest)"#)
        #expect(text(report.json()) == #"{"job_id":"job",\#(rest)"#)
    }

    @Test func aJobIsShownWithWhatBecameOfIt() {
        var job = JobLog.Job(record: JobRecord(jobID: "job", state: .done))
        job.record.requests = 3
        job.next = 3
        job.skippedCounts = [.gone: 1, .expired: 1]
        let text = String(decoding: job.json(now: 0, outcomes: [("sent", 1)]), as: UTF8.self)
        let epoch = "1970-01-01T00:00:00.000Z"
        #expect(
            text
                == #"{"job_id":"job","state":"done","has_runner":false,"filter":"","reason":"","actor":"","requests":3,"next":3,"#
                + #""replayed":1,"skipped":{"expired":1,"gone":1},"rate":0,"started_at":"\#(epoch)","updated_at":"\#(epoch)","#
                + #""results":{"sent":1}}"#)
    }

    @Test func aPlanKeepsFewNamesOfUnknownHubsAndAllTheirRequests() {
        var counts = ReplayCounts()
        for number in 0..<40 { counts.addUnknown(hub: "h\(number % 20)") }
        #expect(counts.unknownHubs.count == 10 && counts.unknownHubs.values.allSatisfy { $0 == 2 })
    }
}
