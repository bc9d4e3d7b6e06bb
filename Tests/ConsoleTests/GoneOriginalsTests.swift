import Foundation
import PushModel
import Replay
import Testing

@testable import Console
@testable import Jobs

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
        let gone = try GoneOriginals(try plan(5..<25), from: 0) { _ in [0: 17, 1: 5] }
        #expect(gone.count == 12)
        let lines = gone.text.split(separator: "\n")
        try #require(lines.count == 1 + 10 + 2)
        #expect(lines[0].hasPrefix("12 of the original requests are no longer kept"))
        #expect(lines[1] == "  r0  t:0:5")
        #expect(lines[11] == "  and 2 more")
        #expect(lines[12] == "partition 0 of t begins at offset 17 now")
    }

    @Test func whatWasDealtWithIsNotMissed() throws {
        #expect(try GoneOriginals(try plan(5..<25), from: 12) { _ in [0: 17, 1: 5] }.count == 0)
    }

    @Test func aTopicThatIsNoMoreHoldsNothing() throws {
        let gone = try GoneOriginals(try plan(0..<2), from: 0) { _ in [:] }
        #expect(gone.count == 4)
        #expect(gone.text.contains("partition 1 of t is no more"))
    }

    @Test func eachTopicIsAskedForOnce() throws {
        var asked: [String] = []
        let gone = try GoneOriginals(try plan(0..<9), from: 0) {
            asked.append($0)
            return [0: 0, 1: 0]
        }
        #expect(gone.count == 0 && asked == ["t"])
    }
}
