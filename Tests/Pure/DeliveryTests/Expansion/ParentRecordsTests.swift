import Delivery
import PushModel
import TestSupport
import Testing

/// The consequence of each record of the topic of parents.
struct ParentRecordsTests {
    private static let key = ParentKey("t:0:1")
    private static let opening = #"{"schema_version":1,"id":"r","chunks":2,"calls":2}"#

    private static func tally(_ chunk: Int) -> String {
        var writer = ByteWriter()
        OpenParentsTests.tally(chunk).append(to: &writer)
        return writer.text
    }

    /// The consequence of a record, in words.
    private static func take(_ key: String?, value: String?, at offset: Int64, of parents: inout OpenParents) -> String {
        let (key, value) = (key.map { Array($0.utf8) }, value.map { Array($0.utf8) })
        let consequence = parents.take(key: key?.span, value: value?.span, at: offset, timestamp: 99)
        switch consequence {
        case .none: return "none"
        case .finish(let parent): return "finish \(parent.key.text) \(parent.totals.count)"
        case .delete(let key, let chunk): return "delete \(key.text) \(chunk)"
        case .unreadable: return "unreadable"
        }
    }

    @Test func theLastPartFinishesWhatARecordHasOpened() {
        var parents = OpenParents()
        #expect(Self.take("t:0:1", value: Self.opening, at: 10, of: &parents) == "none")
        #expect(parents.count == 1)
        #expect(Self.take("t:0:1/0", value: Self.tally(0), at: 11, of: &parents) == "none")
        #expect(Self.take("t:0:1/0", value: Self.tally(0), at: 12, of: &parents) == "none", "a part counts once")
        #expect(Self.take("t:0:1/1", value: Self.tally(1), at: 13, of: &parents) == "finish t:0:1 2")
        #expect(parents.count == 0 && parents.position == 14)
    }

    /// Each row with its consequence while the request is open, which has two parts.
    @Test(
        arguments: [
            ("t:0:1", nil, "none"), ("t:0:1", "{}", "unreadable"), ("t:0:1", "?", "unreadable"),
            ("t:0:1/0", nil, "none"), ("t:0:1/0", "{}", "unreadable"), ("t:0:1/2", tally(2), "delete t:0:1 2"),
            ("t:0:2/0", tally(0), "delete t:0:2 0"), ("t:0:1/progress", "{}", "none"), ("t:0:1/progress", nil, "none"),
            ("t:0:1/claim", "?", "none"), ("t:0:1/x", "{}", "unreadable"), ("", opening, "unreadable"),
            (nil, opening, "unreadable"),
        ] as [(String?, String?, String)])
    func anyRecordMovesThePosition(_ key: String?, _ value: String?, _ consequence: String) {
        var parents = OpenParents()
        _ = Self.take("t:0:1", value: Self.opening, at: 10, of: &parents)
        #expect(Self.take(key, value: value, at: 20, of: &parents) == consequence)
        #expect(parents.position == 21)
        #expect(parents.count == (key == "t:0:1" && value == nil ? 0 : 1))
    }

    /// Writers' clocks differ, so that it need not be that of the last record. Whoever has the partition next goes on from it.
    @Test func aPositionNamesTheLatestTimeOfWhatWasRead() throws {
        let key = Array("t:0:1/claim".utf8)
        let marks = ReadMarks(RecordMark(offset: 0, time: 1, key: nil, value: nil))
        func take(_ times: [Int64], with parents: inout OpenParents) -> LedgerCommit {
            for (offset, time) in times.enumerated() {
                _ = parents.take(
                    key: key.span, value: nil, at: Int64(offset), timestamp: Timestamp(milliseconds: time))
            }
            return parents.commit(marks: marks)
        }
        var first = OpenParents()
        #expect(OpenParents.latestTime(in: first.commit(marks: marks).metadata) == nil)
        let position = take([500, 900, 700], with: &first)
        #expect(OpenParents.latestTime(in: position.metadata) == Timestamp(milliseconds: 900))
        #expect(OpenParents.isKnown(position.metadata) && OpenParents.marks(in: position.metadata) == marks)
        var second = OpenParents(start: position.offset, metadata: position.metadata)
        #expect(OpenParents.latestTime(in: take([600], with: &second).metadata) == Timestamp(milliseconds: 900))
        #expect(OpenParents.latestTime(in: take([950], with: &second).metadata) == Timestamp(milliseconds: 950))
    }

    @Test func aPartThatWasReadBeforeIsLeftToWhoeverReadIt() {
        var parents = OpenParents(start: 0, position: 0, unknownBefore: 30)
        #expect(Self.take("t:0:2/0", value: Self.tally(0), at: 20, of: &parents) == "none")
        #expect(Self.take("t:0:2/0", value: Self.tally(0), at: 30, of: &parents) == "delete t:0:2 0")
    }
}
