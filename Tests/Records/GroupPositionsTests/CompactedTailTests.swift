import Delivery
import PushModel
import TestSupport
import Testing

@testable import GroupPositions
@testable import Kafka

/// The topic of parents, of which compaction removes records: that is told from a lost end, and from another log.
struct CompactedTailTests {
    /// A record of a partition: its offset, its name, and its time.
    private struct Row {
        var offset: Int64
        var name: String
        var time: Int64

        init(_ offset: Int64, _ name: String, at time: Int64) {
            (self.offset, self.name, self.time) = (offset, name, time)
        }

        var mark: RecordMark {
            let value = Array(name.utf8)
            return RecordMark(offset: offset, time: time, key: nil, value: value.span)
        }
    }

    private static let terms = GroupTerms(
        kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), group: "g", requests: ["requests"], delays: ["delay"],
        held: "held", parents: "parents", start: .safe)

    /// The records that were read, of three workers whose clocks differ. Between them are the ends of transactions.
    private static let old = [
        Row(0, "a", at: 1000), Row(2, "a/0", at: 1200), Row(4, "b", at: 1100), Row(6, "b/0", at: 1190), Row(8, "x", at: 1150),
    ]

    /// The position of whoever has read them.
    private static func position(in topic: String) -> CommittedOffset {
        var marks = ReadMarks(old[0].mark)
        var parents = OpenParents(start: 4, metadata: "4")
        for row in old {
            marks.read(row.mark)
            let key = Array("t:0:1/claim".utf8)
            _ = parents.take(key: key.span, value: nil, at: row.offset, timestamp: Timestamp(milliseconds: row.time))
        }
        var finished = FinishedOffsets()
        finished.marks = marks
        let metadata = topic == "parents" ? parents.commit(marks: marks).metadata : finished.encoded()
        return CommittedOffset(partition: TopicPartition(topic: topic, partition: 0), offset: 4, metadata: metadata)
    }

    /// Where the partition begins now that it holds `rows` and ends at `high`, in words.
    private static func outcome(
        _ rows: [Row], high: Int64, in topic: String = "parents", wasBeyondEnd: Bool = false
    ) -> String {
        var probe = PartitionProbe(position(in: topic), terms: terms, wasBeyondEnd: wasBeyondEnd)
        guard let marks = ReadMarks(metadata: probe.position.metadata) else { return "no marks" }
        var place = probe.next
        for _ in 0..<100 where !probe.isAnswered {
            // Whoever begins behind the end begins anew.
            if place > high { place = 0 }
            if let row = rows.first(where: { $0.offset >= place }) {
                place = row.offset + 1
                if probe.take(row.mark, of: marks) { place = probe.next }
            } else if probe.reachedEnd() {
                place = probe.next
            }
        }
        guard probe.isAnswered else { return "unanswered" }
        (probe.low, probe.end) = (0, high)
        guard let ruling = probe.ruling(.safe) else { return "goes on" }
        return "\(ruling.decision) \(ruling.cause)"
    }

    private static let later = [Row(10, "c", at: 2000), Row(12, "c/0", at: 1180)]

    /// What is removed, and what came later.
    @Test(arguments: [[], [8], [0, 8], [0, 2, 8], [6, 8], [0, 2, 4, 6, 8]] as [Set<Int64>])
    func whatCompactionRemovedIsNoLostEnd(removed: Set<Int64>) {
        let rows = Self.old.filter { !removed.contains($0.offset) } + Self.later
        #expect(Self.outcome(rows, high: 14) == "goes on")
        // Publishers' topics are not compacted, so that it is missing there.
        #expect(Self.outcome(rows, high: 14, in: "requests") == (removed.isEmpty ? "goes on" : "refused lostRecord"))
    }

    /// The end of a transaction has the place of the last record that was read.
    @Test(arguments: [0, 2, 4, 6]) func aLostEndThatIsFilledAgainIsNotTakenForCompaction(kept: Int64) {
        let rows = Self.old.filter { $0.offset < kept } + [Row(7, "new", at: 1300)] + Self.later
        #expect(Self.outcome(rows, high: 14) == "refused lostRecord")
    }

    @Test func anotherRecordInThePlaceOfTheLastOneIsNoCompaction() {
        #expect(Self.outcome(Self.old.dropLast() + [Row(8, "y", at: 1100)] + Self.later, high: 14) == "refused lostRecord")
    }

    /// It ends before what was read, or did when a worker read it.
    @Test func anEndThatHasFallenIsALostEnd() {
        #expect(Self.outcome(Array(Self.old.prefix(4)), high: 8) == "refused lostRecord")
        #expect(Self.outcome(Array(Self.old.prefix(2)), high: 4) == "refused lostRecord")
        #expect(Self.outcome(Self.old.dropLast() + Self.later, high: 14, wasBeyondEnd: true) == "refused lostRecord")
    }

    /// Whether a record or the end of a transaction is in the place of the last one, and whether it is as long.
    @Test(arguments: [[0, 1, 2], [0, 2, 4, 6, 8, 10], [0, 2, 4, 6, 7, 10, 12]] as [[Int64]])
    func aTopicThatIsMadeAnewIsReadFromItsStart(offsets: [Int64]) {
        let rows = offsets.map { Row($0, "new\($0)", at: 5000 + $0) }
        #expect(Self.outcome(rows, high: offsets.count == 3 ? 3 : 14) == "offset(0) recreated")
    }
}
