import Foundation
import PushModel
import Replay
import ResultQuery
import SQLite
import TestSupport
import Testing

@testable import Results

/// An index of requests in a folder of its own, without a broker.
final class RequestIndexStage {
    static let now: Int64 = 1_795_262_400_000
    static let hour: Int64 = 3_600_000
    static let topics = ["high", "normal", "bulk", "own"]

    let folder: TemporaryFolder
    var settings: RequestIndexSettings
    private(set) var store: RequestStore?
    private var nextOffset: Int64 = 0

    init(_ names: RequestIndexSettings.Names = .plain, keep: Duration = .seconds(604_800)) throws {
        folder = try TemporaryFolder()
        settings = RequestIndexSettings(folder: folder.path("requests"), keep: keep, names: names)
        try open()
        try self.opened.begin(cluster: "c", since: Self.now - keepMilliseconds)
    }

    private var keepMilliseconds: Int64 { settings.keep.components.seconds * 1000 }

    var opened: RequestStore { get throws { try #require(store) } }

    /// Opens the folder, after what was open before is closed.
    func open(topics: [String] = topics) throws {
        store = nil
        store = try RequestStore(settings, topics: topics)
    }

    /// Closes what is open.
    func close() throws { store = nil }

    /// Adds records of a lane, of the given times, each behind the one before. Returns the hours that were damaged.
    @discardableResult
    func add(_ requests: [(json: String, time: Int64)], lane: Int = 1, from offset: Int64? = nil) throws -> [Int64] {
        let store = try opened
        var intake = RequestIntake(store.secrets, names: settings.names, keep: keepMilliseconds)
        var offset = offset ?? nextOffset
        for request in requests {
            let origin = RecordOrigin(
                topic: Self.topics[lane], partition: 2, offset: offset, timestamp: Timestamp(milliseconds: request.time))
            intake.take(
                Array(request.json.utf8).span, headers: PushModel.RecordHeaders(), at: origin, lane: (lane, lane == 3),
                floor: store.floor, now: Self.now)
            offset += 1
        }
        nextOffset = max(nextOffset, offset)
        return try store.add(intake.rows)
    }

    /// The index as queries see it.
    func index(unless isOver: @escaping () -> Bool = { false }) throws -> RequestIndex {
        let store = try opened
        let view = RequestIndex.View(
            folder: settings.folder, epoch: store.epoch, secrets: store.secrets, isOmitting: settings.names == .omitted,
            topics: Self.topics, files: store.files, reach: store.since ?? .max)
        return RequestIndex(view, pool: BucketPool(), unless: isOver)
    }

    /// The ids of what a filter finds, newest first.
    func ids(
        _ filter: ResultFilter = ResultFilter(), since: Int64 = 0, through until: Int64 = .max, isPossible: Bool = false,
        limit: Int = 100
    ) throws -> [String] {
        try index().rows(matching: filter, since: since, through: until, isPossible: isPossible, limit: limit).map(\.facts.id)
    }

    /// All bytes of all files.
    func bytes() throws -> Data {
        try FileManager.default.contentsOfDirectory(atPath: settings.folder).reduce(into: Data()) {
            $0 += try Data(contentsOf: URL(fileURLWithPath: settings.folder + "/" + $1))
        }
    }

    /// A request to a user.
    static func request(_ id: String, to audience: String = #"{"users":["alice"]}"#, _ more: String = "") -> String {
        #"{"id":"\#(id)","audience":\#(audience),"message":{"title":"Order shipped","body":"Soon"}\#(more)}"#
    }

    /// A filter that seeks values.
    static func seeking(
        _ subject: Sought.Subject, _ values: String..., isNegated: Bool = false, and text: String = ""
    ) throws -> ResultFilter {
        var filter = try ResultFilter(text, now: now)
        filter.add(Sought(subject, isNegated: isNegated, values: values.map { Sought.Value($0) }))
        return filter
    }
}
