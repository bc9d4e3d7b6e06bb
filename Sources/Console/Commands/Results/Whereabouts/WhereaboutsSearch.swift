import Delivery
import Jobs
import Kafka
import PushModel
import Replay
import Settings

/// Searches for a request that has no result yet in the topics where it may stand, from their ends back and not beyond a limit.
struct WhereaboutsSearch {
    /// The most offsets of a topic that are read: so many as take a second or two.
    static let limit: Int64 = 20_000

    private let id: String
    /// The place of the request, if its id is one.
    private let place: RecordPlace?
    private let scan: TopicScan
    private let settings: Settings
    private let timeout: Duration
    private let now: Timestamp
    private var sightings: [RequestSighting] = []
    private var extents: [WhereaboutsTelling.Extent] = []
    private var troubles: [String] = []

    /// - Parameters:
    ///   - id: The request's id.
    ///   - scan: Reads topics.
    ///   - settings: The topics' names, and the group's.
    ///   - timeout: The time limit of each query.
    ///   - now: The present moment.
    init(for id: String, _ scan: TopicScan, _ settings: Settings, timeout: Duration, now: Timestamp) {
        self.id = id
        place = RecordPlace(id)
        self.scan = scan
        self.settings = settings
        self.timeout = timeout
        self.now = now
    }

    /// Searches.
    ///
    /// - Parameter invocation: Reads what was cancelled.
    /// - Returns: The place of the request, and the searched parts of the topics.
    /// - Throws: `interrupted` alone. Unreadable topics are named.
    mutating func run(_ invocation: Invocation) throws(CommandFailure) -> WhereaboutsTelling {
        var cancellations = Cancellations()
        do throws(CommandFailure) {
            cancellations = try invocation.cancellations(settings, timeout: timeout)
        } catch {
            try note(error, settings.kafka.topics.control)
        }
        var reader = WaitingReader(of: settings.kafka.groupID, cancellations)
        let roles = TopicRole.all(settings.kafka.topics).filter { $0.isShared || $0.kind == .held }
        let positions = positions(of: roles)
        let lanes = Set(roles.filter { $0.kind == .requests }.map(\.name))
        for role in roles {
            let own = positions.filter { $0.partition.topic == role.name }
            // An id that is a place names the lane.
            let isElsewhere = role.kind == .requests && place.map { $0.topic != role.name && lanes.contains($0.topic) } ?? false
            guard !own.isEmpty, !isElsewhere else { continue }
            do throws(CommandFailure) { try search(role, own, &reader, invocation) } catch { try note(error, role.name) }
        }
        return WhereaboutsTelling(
            id: id, whereabouts: RequestWhereabouts(sightings, now: now), now: now, extents: extents, troubles: troubles)
    }

    private mutating func note(_ failure: CommandFailure, _ topic: String) throws(CommandFailure) {
        guard failure.code != .interrupted else { throw failure }
        troubles.append("\(topic): \(failure.message)")
    }

    /// The positions of the group in each partition. Missing topics hold nothing.
    private mutating func positions(of roles: [TopicRole]) -> [GroupPosition] {
        do throws(KafkaError) {
            let configuration = settings.kafkaConfiguration()
            let admin = try TopicAdmin(configuration)
            var topics: [(topic: String, partitionCount: Int)] = []
            for (role, found) in zip(roles, try admin.describe(topics: roles.map(\.name), timeout: timeout).topics) {
                switch found {
                case .existing(let count): topics.append((role.name, count))
                case .missing: continue
                case .failed(let error): troubles.append("\(role.name): \(Refusal(error).text)")
                }
            }
            return try GroupPosition.all(of: settings.kafka.groupID, in: topics, admin, configuration, timeout: timeout)
        } catch {
            troubles.append("where the group stands: \(Refusal(error).text)")
            return []
        }
    }

    private mutating func search(
        _ role: TopicRole, _ positions: [GroupPosition], _ reader: inout WaitingReader, _ invocation: Invocation
    ) throws(CommandFailure) {
        let windows = SearchWindow.all(
            of: positions, keepsDone: role.kind == .requests, place: role.kind == .requests ? place : nil, limit: Self.limit)
        extents.append(
            WhereaboutsTelling.Extent(
                topic: role.name, searched: windows.reduce(0) { $0 + $1.searchedCount },
                total: windows.reduce(0) { $0 + $1.total }))
        guard windows.contains(where: { $0.searchedCount > 0 }) else { return }
        let starts = windows.map { ($0.partition, $0.offsets.lowerBound) }
        let stops = windows.map { ($0.partition, $0.offsets.upperBound) }
        let topic = scan.of(role.name)
        try invocation.perform(settings) { () throws(JobFailure) in
            let records = try topic.open(
                .offsets(Dictionary(uniqueKeysWithValues: starts)), .offsets(Dictionary(uniqueKeysWithValues: stops)))
            defer { records.close() }
            try topic.read(records) { record in
                guard let position = positions.first(where: { $0.partition.partition == record.partition }),
                    let request = reader.read(FetchedRecord(record), of: role.kind, in: position.partition), isWanted(request)
                else { return }
                sightings.append(
                    RequestSighting(
                        kind: role.kind, partition: position.partition, offset: record.offset, request: request,
                        position: position.start, reading: position.reading(of: record.offset)))
            }
        }
    }

    private func isWanted(_ request: WaitingRequest) -> Bool {
        let origin = request.origin
        return request.id == id
            || place == RecordPlace(topic: origin.topic, partition: origin.partition, offset: origin.offset)
    }
}

/// The offsets of a partition that are searched.
struct SearchWindow: Equatable {
    /// The partition's number.
    let partition: Int32
    /// The offsets that are read.
    let offsets: Range<Int64>
    /// The number of offsets that could hold the request.
    let total: Int64

    /// The number of offsets that are read.
    var searchedCount: Int64 { offsets.upperBound - offsets.lowerBound }

    /// The newest offsets of each partition of a topic, the same number of each.
    ///
    /// - Parameters:
    ///   - positions: The positions of the group in the partitions.
    ///   - keepsDone: Whether records that the group is done with are of interest.
    ///   - place: The place of the request, if known.
    ///   - limit: The most offsets of the topic.
    /// - Returns: A window for each partition, some empty.
    static func all(of positions: [GroupPosition], keepsDone: Bool, place: RecordPlace?, limit: Int64) -> [SearchWindow] {
        let share = max(1, limit / Int64(max(1, positions.count)))
        let known = place.flatMap { place in
            positions.contains { $0.partition.topic == place.topic && $0.partition.partition == place.partition } ? place : nil
        }
        return positions.map { position in
            let low = keepsDone ? position.low : position.start
            let kept = low..<max(low, position.high)
            if let known {
                let isThere = position.partition.partition == known.partition && kept.contains(known.offset)
                let window = isThere ? known.offset..<known.offset + 1 : kept.upperBound..<kept.upperBound
                return SearchWindow(partition: position.partition.partition, offsets: window, total: isThere ? 1 : 0)
            }
            let start = max(kept.lowerBound, kept.upperBound - share)
            return SearchWindow(
                partition: position.partition.partition, offsets: start..<kept.upperBound,
                total: kept.upperBound - kept.lowerBound)
        }
    }
}
