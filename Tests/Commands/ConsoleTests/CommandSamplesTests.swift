import Kafka
import Publishing
import PushModel
import Replay
import TestSupport
import Testing

@testable import Console
@testable import Audiences
@testable import Feedback
@testable import Groups
@testable import KafkaCare
@testable import Replays

/// What commands write to Kafka, and what they read of workers, as each released version wrote it.
@Suite struct CommandSamplesTests {
    private static func document(_ sample: Sample) throws -> JSONDocument {
        var document = JSONDocument()
        try document.read(sample.bytes.span)
        return document
    }

    @Test func aResult() throws {
        let sample = try Sample("result")
        let result = try #require(ResultRecord(json: sample.bytes, partition: 0, offset: 0, timestamp: 0))
        #expect(result.requestID == "r-1" && result.kind == "final" && result.state == "sent" && result.outcome == "success")
        #expect(result.hub == "shop" && result.totalMilliseconds == 1000 && result.platforms == ["apple"])
    }

    @Test func aJob() throws {
        let sample = try Sample("job")
        let job = try #require(JobRecord(Self.document(sample)))
        #expect(job.jobID == "j-1" && job.state == .running && job.next == 2)
        #expect(job.json == sample.bytes)
        #expect(sample.key == "j-1")
    }

    @Test func aBatchOfAJob() throws {
        let sample = try Sample("job-batch")
        var batch = JobBatch(jobID: "j-1", first: 0)
        batch.addReplayed(SendSet([1]), of: Original(at: RecordPlace(topic: "push.requests.v1", partition: 0, offset: 4711)))
        batch.addSkipped(1, .expired)
        #expect(batch.json == sample.bytes)
        #expect(batch.key == sample.key)
    }

    @Test func aWishForAJob() throws {
        let sample = try Sample("job-wish")
        let wish = JobCommand(jobID: "j-1", kind: .pause, actor: "ops")
        #expect(wish.json == sample.bytes)
        #expect(wish.key == sample.key)
    }

    @Test func howFarFeedbackIsRead() throws {
        let (mark, claim) = (try Sample("feedback"), try Sample("feedback-claim"))
        #expect(FeedbackMarks.value("blob-1", 512) == mark.bytes && FeedbackMarks.claim(of: "x") == claim.bytes)
        let keys = [mark, claim].map { Array(($0.key ?? "").utf8) }
        #expect(keys == [FeedbackMarks.key("ns/shop", "blob-1"), FeedbackMarks.claimKey("ns/shop")])
        var marks = FeedbackMarks(of: "ns/shop")
        for (key, sample) in zip(keys, [mark, claim]) { marks.take(key: key.span, value: sample.bytes.span, at: 7) }
        #expect(marks.marks == ["blob-1": FeedbackMarks.Mark(position: 512, at: 7)] && marks.runner == "x")
    }

    @Test func howFarAFileIsEnqueued() throws {
        let sample = try Sample("progress")
        let parsed = AudienceProgress(sample.bytes.span)
        let progress = try #require(parsed)
        #expect(progress.next == 3 && progress.parts == 9 && progress.partition == 2)
        #expect(progress.json == sample.bytes)
        var key = ByteWriter()
        ParentKey(fileID: "r-1").append(.progress, to: &key)
        #expect(key.text == sample.key)
    }

    @Test func whatANewerVersionWroteIsNamedInStatusAndDoctor() throws {
        let newer = (0..<5).map { TopicPartition(topic: "push.delay-5m.v1", partition: $0) }
        let text = try #require(NewerRecords.text(newer))
        #expect(text.hasPrefix("a newer version wrote what comes next in push.delay-5m.v1[0], push.delay-5m.v1[1]"))
        #expect(text.contains("and 2 more: workers of this version leave it"))
        #expect(NewerRecords.text([]) == nil)
        let group = GroupDescription(state: .stable, members: [.init(name: "w1", host: "h", partitions: newer)])
        let facts = GroupFacts(id: "g", positions: .success([]), description: .success(group), newer: newer)
        let findings = GroupFindings.of(facts, tool: KafkaTool(brokers: "b:9092"))
        #expect(findings.contains { $0.state == .failed && $0.text == text && $0.remedy == NewerRecords.remedy })
        let page =
            #"{"loops":[{"worker":"w1","mode":"running","partitions":[{"topic":"push.held.v1","partition":1,"left":true}]}]}"#
        let worker = StatusReport.Worker(name: "http://w", page: .success(try #require(WorkerPage(Array(page.utf8)))))
        let report = StatusReport(
            now: Timestamp(milliseconds: 0), groupID: "g", group: .success(group), partitions: [], workers: [worker], newer: newer
        )
        let reasons = report.reasons.filter(\.isStuck).map(\.text)
        #expect(reasons.contains { $0.hasPrefix(text) })
        #expect(reasons.contains { $0.hasPrefix("push.held.v1[1]: its worker leaves it as it is") })
    }
}
