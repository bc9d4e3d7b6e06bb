import Foundation
import PushModel
import Replay
import Testing

@testable import Console
@testable import Replays

@Suite struct GoneOriginalsTests {
    /// A plan of one request at each offset of two partitions.
    private func plan(_ offsets: Range<Int64>) throws -> ReplayPlanReader {
        let header = ReplayPlanHeader(
            jobID: "job", createdAt: Timestamp(milliseconds: 1_795_262_400_000), filter: "", actor: "ann")
        var lines = [header.json]
        for partition in Int32(0)...1 {
            for offset in offsets {
                let place = RecordPlace(topic: "t", partition: partition, offset: offset)
                lines.append(
                    ReplayItem(number: lines.count - 1, requestID: "r\(lines.count - 1)", place: place, sends: .all).json)
            }
        }
        let path = NSTemporaryDirectory() + "gone-\(UUID().uuidString).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(lines.joined(separator: [UInt8(ascii: "\n")])).write(to: URL(filePath: path))
        return try ReplayPlanReader(path)
    }

    @Test func whatRetentionHasTakenIsNamedWithItsReason() throws {
        let gone = try GoneOriginals(try plan(5..<25), from: 0, bounds: { _ in [0: 17..<99, 1: 5..<99] })
        #expect(gone.count == 12)
        let lines = gone.text.split(separator: "\n")
        try #require(lines.count == 1 + 10 + 2)
        #expect(lines[0].hasPrefix("12 of the original requests are no longer kept"))
        #expect(lines[1] == "  r0  t:0:5")
        #expect(lines[11] == "  and 2 more")
        #expect(lines[12] == "partition 0 of t begins at offset 17 now")
    }

    @Test func whatWasDealtWithIsNotMissed() throws {
        #expect(try GoneOriginals(try plan(5..<25), from: 12, bounds: { _ in [0: 17..<99, 1: 5..<99] }).count == 0)
    }

    @Test func aTopicThatIsNoMoreHoldsNothing() throws {
        let gone = try GoneOriginals(try plan(0..<2), from: 0, bounds: { _ in [:] })
        #expect(gone.count == 4)
        #expect(gone.text.contains("partition 1 of t is no more"))
    }

    /// The ends of two partitions, of which the second has other records than before, and the requests that are gone.
    @Test(arguments: [(25, 20), (7, 40), (4, 40)] as [(Int64, Int)])
    func ofATopicThatWasMadeAgainNothingIsLeft(end: Int64, count: Int) throws {
        var read: [RecordPlace] = []
        let gone = try GoneOriginals(
            try plan(5..<25), from: 0, bounds: { _ in [0: 0..<(end == 25 ? 25 : end - 3), 1: 0..<end] },
            isReplaced: {
                read.append($0.place)
                return $0.place.partition == 1
            })
        #expect(gone.count == count && read.count <= 2)
        #expect(gone.text.contains("partition 1 of t was made again, with other records"))
        #expect(gone.text.contains("partition 0 of t was made again") == (count == 40))
    }

    @Test func eachTopicIsAskedForOnce() throws {
        var asked: [String] = []
        let gone = try GoneOriginals(
            try plan(0..<9), from: 0,
            bounds: {
                asked.append($0)
                return [0: 0..<9, 1: 0..<9]
            })
        #expect(gone.count == 0 && asked == ["t"])
    }
}
