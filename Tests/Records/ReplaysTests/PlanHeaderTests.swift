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

    private static let now = "1970-01-01T00:00:00.000Z"
    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func aPlanIsShownWithItsPriceAndSamples() {
        var header = ReplayPlanHeader(jobID: "job", createdAt: Timestamp(milliseconds: 0), filter: "", actor: "ann")
        header.reason = "outage"
        header.counts.calls = 2000
        let place = RecordPlace(topic: "t", partition: 0, offset: 7)
        let item = ReplayItem(number: 0, requestID: "r", place: place, sends: .all)
        let pace = ReplayPace(rate: 500, callsAtOnce: 10, callTime: .milliseconds(100))
        let report = ReplayReport(header, job: nil, now: 0)
        let plan =
            #"{"id":"job","state":"planned","has_runner":false,"requests":0,"next":0,"replayed":0,"source":"results","filter":"","#
            + #""reason":"outage","actor":"ann","rate":500,"created_at":"\#(Self.now)","mode":"safe","matched":0,"calls":2000,"#
            + #""estimated_ms":20000,"eligible_by_safety":{"safe":0,"ambiguous":0},"left":{},"repairs":{},"unknown_hubs":{}"#
        #expect(
            Self.text(report.whole(at: pace, samples: [item]).bytes) == #"\#(plan),"samples":[\#(Self.text(item.json))]}"#)
        #expect(Self.text(report.whole(at: pace, samples: nil).bytes) == plan + "}")
    }

    @Test func aJobIsShownWithWhatBecameOfIt() {
        var job = JobLog.Job(record: JobRecord(jobID: "job", state: .done))
        job.record.requests = 3
        job.record.rate = 20
        job.next = 3
        job.skippedCounts = [.gone: 1, .expired: 1]
        #expect(
            Self.text(ReplayReport(job, now: 0).summary.bytes)
                == #"{"id":"job","state":"done","has_runner":false,"requests":3,"next":3,"replayed":1,"source":"results","#
                + #""filter":"","reason":"","actor":"","rate":20,"created_at":"\#(Self.now)","started_at":"\#(Self.now)","#
                + #""updated_at":"\#(Self.now)","left_by_run":{"expired":1,"gone":1}}"#)
    }

    @Test(arguments: [ReplayPlanHeader.Source.results, .deadletter])
    func aJobsRecordSaysWhatItReplays(source: ReplayPlanHeader.Source) throws {
        var record = JobRecord(jobID: "job", state: .done)
        record.source = source
        var document = JSONDocument()
        try document.read(record.json.span)
        #expect(JobRecord(document) == record)
    }

    @Test func aPlanKeepsFewNamesOfUnknownHubsAndAllTheirRequests() {
        var counts = ReplayCounts()
        for number in 0..<40 { counts.addUnknown(hub: "h\(number % 20)") }
        #expect(counts.unknownHubs.count == 10 && counts.unknownHubs.values.allSatisfy { $0 == 2 })
    }
}
