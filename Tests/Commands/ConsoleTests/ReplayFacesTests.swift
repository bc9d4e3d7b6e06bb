@testable import OperatorAPI
@testable import GatewayAPI
@testable import Replays
import PushModel
import Replay
import TestSupport
import Testing

@testable import Console

/// A replay as a command and the gateway show it.
@Suite struct ReplayFacesTests {
    private static let now: Int64 = 1_764_000_000_000
    private static let pace = ReplayPace(rate: 500, callsAtOnce: 64, callTime: .milliseconds(100))

    /// A job in a state, whose runner was heard so many milliseconds ago.
    private static func job(_ state: JobRecord.State, ago: Int64 = 0, wish: JobCommand.Kind? = nil) -> JobLog.Job {
        var record = JobRecord(jobID: "j", state: state)
        (record.source, record.filter, record.reason, record.actor) = (.deadletter, "since:1h", "again", "shop (key k1)")
        (record.tenant, record.requests, record.rate) = ("acme", 9, 20)
        var job = JobLog.Job(record: record)
        (job.seenAt, job.next, job.skippedCounts) = (now - ago, 5, [.gone: 1, .expired: 2])
        job.command = wish.map { (JobCommand(jobID: "j", kind: $0, actor: "ann"), 7) }
        return job
    }

    private static var header: ReplayPlanHeader {
        var header = ReplayPlanHeader(
            jobID: "j", createdAt: Timestamp(milliseconds: now), filter: "since:1h", actor: "ann")
        (header.source, header.reason, header.tenant, header.rate) = (.deadletter, "outage", "acme", 500)
        (header.includesAmbiguous, header.edits) = (true, ["hub=b"])
        (header.counts.matched, header.counts.eligible, header.counts.safe, header.counts.ambiguous) = (12, 9, 8, 1)
        (header.counts.requests, header.counts.calls, header.counts.left) = (9, 20, [.pointless: 3])
        (header.counts.repairs, header.counts.unknownHubs) = ([.hubNotFound: 2], ["nroth": 1])
        return header
    }

    /// Jobs, with the state and the runner that both faces show.
    static let states: [(job: JobLog.Job?, state: String, hasRunner: Bool)] = [
        (nil, "planned", false), (job(.running), "running", true), (job(.running, ago: 60_000), "interrupted", false),
        (job(.paused), "paused", true), (job(.interrupted), "interrupted", false), (job(.stopped), "stopped", false),
        (job(.running, ago: 60_000, wish: .stop), "stopped", false), (job(.done), "done", false),
    ]

    @Test(arguments: states) func bothHaveTheSameMembersBesideFormerOnes(job: JobLog.Job?, state: String, hasRunner: Bool) throws
    {
        let item = ReplayItem(number: 0, requestID: "r", place: RecordPlace(topic: "t", partition: 0, offset: 7), sends: .all)
        let command = ReplayReport(Self.header, job: job, now: Self.now).line(at: Self.pace, samples: [item], path: "f")
        let gateway = ReplayJSON(ReplayReport(Self.header, job: job, now: Self.now), standing: nil)
        let shown = try Self.members(gateway.whole(samples: [item], rate: 500, callsAtOnce: 64))
        try Self.compare(try Self.members(command), former: ["job_id", "file", "counts"], with: shown)
        #expect(shown["state"] == "\"\(state)\"" && shown["has_runner"] == "\(hasRunner)")
        #expect(shown["replayed"] == (job == nil ? "0" : "2") && shown["rate"] == (job == nil ? "500" : "20"))
        #expect(shown["left"] == #"{"pointless":3}"# && shown["repairs"] == #"{"hub_not_found":2}"#)
        #expect(shown["eligible_by_safety"] == #"{"safe":8,"ambiguous":1}"# && shown["estimated_ms"] == "100")
        guard let job else { return }
        let listed = try Self.members(ReplayReport(job, now: Self.now).line)
        let alone = ReplayJSON(ReplayReport(job, now: Self.now), standing: nil)
        try Self.compare(listed, former: ["job_id", "skipped"], with: try Self.members(alone.summary))
        #expect(listed["source"] == #""deadletter""# && listed["left_by_run"] == #"{"expired":2,"gone":1}"#)
    }

    @Test(arguments: states) func theDescriptionHasEachMemberOfTheGateway(job: JobLog.Job?, state: String, hasRunner: Bool) throws
    {
        let gateway = ReplayJSON(ReplayReport(Self.header, job: job, now: Self.now), standing: nil)
        let whole = gateway.whole(samples: [], rate: nil, callsAtOnce: 64).bytes
        let schema = try #require(APIOperation.Operate.showReplay.row.answers.first?.content?.schema)
        #expect(SchemaCheck.violations(of: whole, by: schema, isClosed: true).isEmpty)
        var list = JSONObject()
        list.add("items", array: [gateway.summary.bytes])
        let page = try #require(APIOperation.Operate.listReplays.row.answers.first?.content?.schema)
        #expect(SchemaCheck.violations(of: list.bytes, by: page, isClosed: true).isEmpty)
    }

    /// Compares all members but those by the names of earlier versions.
    private static func compare(_ command: [String: String], former: Set<String>, with gateway: [String: String]) throws {
        let common = gateway.filter { !["skipped", "eligible", "seconds"].contains($0.key) }
        #expect(command.filter { !former.contains($0.key) } == common)
        #expect(former.isSubset(of: command.keys))
    }

    /// The members of an object, none of which stands there twice.
    private static func members(_ object: JSONObject) throws -> [String: String] {
        var document = JSONDocument()
        try document.read(object.bytes.span)
        var members: [(String, String)] = []
        document.forEachMember(of: document.root) { key, value in
            members.append(
                (
                    document.string(key),
                    document.kind(of: value) == .string
                        ? "\"\(document.string(document.text(of: value)))\"" : document.string(document.text(of: value))
                ))
        }
        #expect(Set(members.map(\.0)).count == members.count)
        return Dictionary(members) { $1 }
    }
}
