import Delivery
package import GroupPositions
import Groups
package import JobSupport
import Kafka
package import PushModel
import Replay
import Replays
import ResultQuery

/// The place of a request that has no result yet, and where it was searched for.
package struct WhereaboutsReport: Sendable {
    /// The searched part of a topic.
    package struct Extent: Sendable, Equatable {
        /// The topic.
        package let topic: String
        /// The number of offsets that were searched, the newest.
        package let searched: Int64
        /// The number of offsets that there are.
        package let total: Int64
    }

    /// The request's id.
    package let id: String
    /// The place of the request.
    package let whereabouts: RequestWhereabouts
    /// The time of the search.
    package let now: Timestamp
    /// The searched parts.
    package let extents: [Extent]
    /// The failed queries.
    package let gaps: [ReportGap]
    /// The addresses of the brokers that were called.
    package var brokers = ""
    /// The dead letter of its record, or nil for none.
    package var deadLetter: Letter?

    /// A record that could not be read.
    package struct Letter: Sendable, Equatable {
        /// The reason in a sentence.
        package let message: String?

        /// A record that could not be read.
        package init(message: String?) { self.message = message }
    }
}

/// Searches for a request that has no result yet in the topics where it may stand, from their ends back and not beyond a limit. One call at
/// a time.
package struct WhereaboutsSearch {
    /// The most offsets of a topic that are read: so many as take a second or two.
    static let limit: Int64 = 20_000
    /// The most offsets of the topic of parents that are read, whose records are small.
    static let partsLimit: Int64 = 200_000
    /// The longest time for which dead letters are read.
    private static let deadLetterPatience = Duration.seconds(2)

    private let id: String
    /// The place of the request, if its id is one.
    private let place: RecordPlace?
    private let terms: GroupTerms
    private let context: JobContext
    private var foundRequests: [FoundRequest] = []
    private var extents: [WhereaboutsReport.Extent] = []
    private var gaps: [ReportGap] = []

    /// Nothing is searched yet.
    package init(for id: String, in terms: GroupTerms, context: JobContext) {
        self.id = id
        place = RecordPlace(id)
        self.terms = terms
        self.context = context
    }

    /// Searches. Unreadable topics are gaps of the report.
    package mutating func run() throws(JobFailure) -> WhereaboutsReport {
        let now = Timestamp(milliseconds: context.now())
        var stopped = StoppedRequests()
        do throws(JobFailure) { stopped = try context.stoppedRequests() } catch {
            try note(error, of: context.topics.control)
        }
        var reader = WaitingReader(of: terms.group, cancelled: stopped)
        let topics = terms.requests + terms.delays + [terms.held]
        let positions = positions(in: topics)
        // Workers write the others in transactions all the time.
        let lanes = terms.requests.filter { $0 != context.topics.requestsOwn }
        noteHidden(positions.map(\.partition).filter { lanes.contains($0.topic) })
        for topic in topics {
            let own = positions.filter { $0.partition.topic == topic }
            // An id that is a place names the lane.
            let isElsewhere =
                terms.requests.contains(topic) && place.map { $0.topic != topic && terms.requests.contains($0.topic) } ?? false
            guard !own.isEmpty, !isElsewhere else { continue }
            do throws(JobFailure) { try search(topic, of: own, with: &reader) } catch { try note(error, of: topic) }
        }
        var whereabouts = RequestWhereabouts(foundRequests, now: now)
        if whereabouts.isUnknown || whereabouts.state == .done {
            do throws(JobFailure) {
                whereabouts = RequestWhereabouts(foundRequests, divided: try searchParts(), now: now)
            } catch { try note(error, of: terms.parents) }
        }
        var letter: WhereaboutsReport.Letter?
        if whereabouts.state == .done, let origin = whereabouts.origin {
            do throws(JobFailure) { letter = try searchDeadLetters(for: origin) } catch {
                try note(error, of: context.topics.deadLetters)
            }
        }
        return WhereaboutsReport(
            id: id, whereabouts: whereabouts, now: now, extents: extents, gaps: gaps,
            brokers: terms.kafka.bootstrapServers, deadLetter: letter)
    }

    private mutating func note(_ failure: JobFailure, of topic: String) throws(JobFailure) {
        if case .cancelled = failure { throw failure }
        gaps.append(.unread(topic: topic, failure))
    }

    /// The positions of the group in each partition. Missing topics hold nothing.
    private mutating func positions(in names: [String]) -> [GroupPosition] {
        do throws(KafkaError) {
            let admin = try TopicAdmin(terms.kafka)
            var topics: [(topic: String, partitionCount: Int)] = []
            for (name, found) in zip(names, try admin.describe(topics: names, timeout: context.timeout).topics) {
                switch found {
                case .existing(let count): topics.append((name, count))
                case .missing: continue
                case .failed(let error): gaps.append(.undescribed(topic: name, error))
                }
            }
            return try GroupExamination(terms, admin: admin, context: context).positions(in: topics)
        } catch {
            gaps.append(.positions(error))
            return []
        }
    }

    /// Notes the partitions whose ends cannot be searched, because a transaction is open there.
    private mutating func noteHidden(_ partitions: [TopicPartition]) {
        do throws(KafkaError) {
            guard !partitions.isEmpty else { return }
            // In this order: what was written first and cannot be read later is hidden.
            let highs = try TopicAdmin(terms.kafka, seesUncommitted: true).ends(of: partitions, timeout: context.timeout)
            let ends = try TopicAdmin(terms.kafka).ends(of: partitions, timeout: context.timeout)
            for (partition, (high, end)) in zip(partitions, zip(highs, ends)) where high > end {
                gaps.append(.hidden(OpenTransaction(partition: partition, offset: end, recordCount: high - end, since: nil)))
            }
        } catch {
            gaps.append(.positions(error))
        }
    }

    /// Searches the topic of parents from where the group would begin to read it, before which everything has ended.
    private mutating func searchParts() throws(JobFailure) -> DividedRequest? {
        let positions = positions(in: [terms.parents])
        let windows = SearchWindow.all(of: positions, keepsDone: false, place: nil, limit: Self.partsLimit)
        guard !windows.isEmpty else { return nil }
        var reader = DividedReader(for: id, place: place, found: foundRequests)
        extents.append(WhereaboutsReport.Extent(of: terms.parents, in: windows))
        try Self.read(TopicScan(context, topic: terms.parents), in: windows) { record in
            reader.take(key: record.key, value: record.value, at: Timestamp(milliseconds: record.timestamp ?? 0))
        }
        return reader.divided
    }

    /// Searches the dead letters that were written since a record was published for it, for a while.
    private func searchDeadLetters(for origin: RecordOrigin) throws(JobFailure) -> WhereaboutsReport.Letter? {
        var since = ResultFilter()
        if origin.isDated { since.add(since: origin.timestamp.milliseconds.addingSaturated(-BackwardScan.disorder)) }
        var backward = BackwardScan(TopicScan(context, topic: context.topics.deadLetters), since, now: context.now())
        var found: WhereaboutsReport.Letter?
        let deadline = Deadline(after: Self.deadLetterPatience)
        do throws(JobFailure) {
            while found == nil, !backward.isDone {
                let step = try backward.readNext(until: deadline) { record in
                    guard record.number(ofHeader: "pushfan-dlq-offset") == origin.offset,
                        let letter = DeadLetter(FetchedRecord(record)), letter.topic == origin.topic,
                        letter.partition == origin.partition, letter.reason != DeadLetter.notTaken
                    else { return }
                    found = WhereaboutsReport.Letter(message: letter.message)
                }
                guard case .read = step else { break }
            }
        } catch {
            guard case .kafka(let fault, _) = error, fault.isUnknownTopicOrPartition else { throw error }
        }
        return found
    }

    private mutating func search(
        _ name: String, of positions: [GroupPosition], with reader: inout WaitingReader
    ) throws(JobFailure) {
        let kind = terms.kind(of: name)
        let windows = SearchWindow.all(
            of: positions, keepsDone: kind == .requests, place: kind == .requests ? place : nil, limit: Self.limit)
        let byNumber = Dictionary(uniqueKeysWithValues: positions.map { ($0.partition.partition, $0) })
        extents.append(WhereaboutsReport.Extent(of: name, in: windows))
        try Self.read(TopicScan(context, topic: name), in: windows) { record in
            guard let position = byNumber[record.partition],
                let request = reader.read(FetchedRecord(record), of: kind, in: position.partition), isWanted(request)
            else { return }
            foundRequests.append(
                FoundRequest(
                    kind: kind, partition: position.partition, offset: record.offset, request: request,
                    position: position.start, reading: position.reading(of: record.offset)))
        }
    }

    private static func read(
        _ topic: TopicScan, in windows: [SearchWindow], perform body: (borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) {
        guard windows.contains(where: { $0.searchedCount > 0 }) else { return }
        let starts = windows.map { ($0.partition, $0.offsets.lowerBound) }
        let stops = windows.map { ($0.partition, $0.offsets.upperBound) }
        let records = try topic.open(
            .offsets(Dictionary(uniqueKeysWithValues: starts)), .offsets(Dictionary(uniqueKeysWithValues: stops)))
        defer { records.close() }
        try topic.read(records, body)
    }

    private func isWanted(_ request: WaitingRequest) -> Bool {
        let origin = request.origin
        return request.id == id
            || place == RecordPlace(topic: origin.topic, partition: origin.partition, offset: origin.offset)
    }
}

extension WhereaboutsReport.Extent {
    /// Windows of a topic, all together.
    fileprivate init(of topic: String, in windows: [SearchWindow]) {
        self.init(
            topic: topic, searched: windows.reduce(0) { $0 + $1.searchedCount }, total: windows.reduce(0) { $0 + $1.total })
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

    /// The newest offsets of each partition of a topic, the same number of each and at most `limit` together. Some are empty.
    /// Records that the group is done with count if `keepsDone`.
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
