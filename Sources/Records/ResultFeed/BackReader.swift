import Basics
import Dispatch
import EventLoop
import Kafka

/// Serves those who lie further back than memory goes, from Kafka, one slice after another, and finds the places of times.
///
/// The readers take turns. A slice serves every reader whose place it covers, also those who come within the next seconds. Belongs to one thread.
final class BackReader {
    /// A slice of the topic, and the time at which it was read.
    private struct Slice {
        let records: RecentRecords
        let time: MonotonicTime
    }

    /// The time after which slices are forgotten.
    private static let memoryTime: Duration = .seconds(5)
    /// The time after which a client that no reader needs is closed.
    private static let idle: DispatchTimeInterval = .seconds(5)
    /// The time between two tries after a failure.
    private static let pause: DispatchTimeInterval = .seconds(1)
    private static let maximumSliceCount = 4
    /// The most times that are sought in a turn, so that readers have theirs.
    private static let maximumSearchCount = 16
    private static let sliceTime: Int64 = 200_000_000
    /// The bytes that a partition gives at a time.
    private static let portion = 256 << 10

    private let configuration: ResultFeed.Configuration
    private let memory: FeedMemory
    private let onNews: @Sendable () -> Void
    private var reader: RangeReader?
    private var slices: [Slice] = []
    private var waiting: [FeedRequest] = []
    private var searches: [FeedSearch] = []
    /// True from a failure on until Kafka answers again.
    private var hasFailed = false

    init(_ configuration: ResultFeed.Configuration, memory: FeedMemory, onNews: @escaping @Sendable () -> Void) {
        (self.configuration, self.memory, self.onNews) = (configuration, memory, onNews)
    }

    /// Serves until the feed is closed. After a failure it tries by itself, so that readers hear of the end of it.
    func run() {
        while true {
            admit(within: waiting.isEmpty && searches.isEmpty ? (hasFailed ? Self.pause : Self.idle) : .seconds(0))
            if memory.isClosed { return failAll(with: .closed) }
            guard hasFailed || !waiting.isEmpty || !searches.isEmpty else {
                (reader, slices) = (nil, [])
                continue
            }
            do throws(KafkaError) {
                try takeTurn()
                guard hasFailed else { continue }
                hasFailed = false
                memory.note(nil)
                onNews()
            } catch {
                hasFailed = true
                memory.note(error)
                (reader, slices) = (nil, [])
                // Those who came meanwhile need not wait for the next failure.
                admit(within: .seconds(0))
                failAll(with: memory.isClosed ? .closed : .unreachable(error))
            }
        }
    }

    private func admit(within limit: DispatchTimeInterval) {
        let arrived = memory.takeWaiting(within: limit)
        waiting += arrived.requests
        searches += arrived.searches
    }

    private func failAll(with failure: FeedFailure) {
        let (readers, others) = (waiting, searches)
        (waiting, searches) = ([], [])
        for request in readers { answer(request, with: .failure(failure)) }
        for search in others { answer(search, with: .failure(failure)) }
    }

    private func answer(_ request: FeedRequest, with result: Result<FeedReading, FeedFailure>) {
        memory.noteAnswer()
        request.then(result)
    }

    private func answer(_ search: FeedSearch, with result: Result<FeedPlaces, FeedFailure>) {
        memory.noteAnswer()
        search.then(result)
    }

    /// Answers whom it can, and reads one slice for the reader who has waited longest.
    private func takeTurn() throws(KafkaError) {
        forgetSlices()
        dropThoseWhoLeft()
        waiting = waiting.compactMap { serveFromSlices($0) }
        guard hasFailed || !waiting.isEmpty || !searches.isEmpty else { return }
        let reader = try openReader()
        let bounds = try reader.bounds(of: configuration.topic, timeout: configuration.patience)
        forgetSlices(beyond: bounds)
        try answerSearches(in: bounds, by: reader)
        memory.note(partitionCount: bounds.count)
        let windows = memory.windows
        waiting = waiting.compactMap { settle($0, bounds: bounds, windows: windows) }
        guard let first = waiting.first else { return }
        let missing = first.findMissing(in: bounds, besides: windows)
        guard let slice = try read(missing, of: bounds.count, by: reader) else { return }
        waiting.removeFirst()
        if slices.count == Self.maximumSliceCount { slices.removeFirst() }
        slices.append(Slice(records: slice, time: .now()))
        let reading = first.read(slice, by: .partly)
        answer(
            first,
            with: .success(FeedReading(records: reading?.records ?? [], places: reading?.places ?? first.places, isAtEnd: false)))
        waiting = waiting.compactMap { serve($0, from: slice) }
    }

    private func openReader() throws(KafkaError) -> RangeReader {
        if let reader, !reader.isOutdated { return reader }
        let new = try RangeReader(configuration.kafka, portion: Self.portion)
        reader = new
        return new
    }

    private func forgetSlices() {
        let now = MonotonicTime.now()
        slices.removeAll { now >= $0.time.advanced(by: Self.memoryTime) }
    }

    /// Forgets slices of a topic that was made again.
    private func forgetSlices(beyond bounds: [Range<Int64>]) {
        slices.removeAll { slice in
            let windows = slice.records.windows
            return windows.count != bounds.count || zip(windows, bounds).contains { $0.upperBound > $1.upperBound }
        }
    }

    /// Lets go of those whose callers wait no more.
    private func dropThoseWhoLeft() {
        waiting = waiting.filter { request in
            let isWaiting = request.isWaiting()
            if !isWaiting { answer(request, with: .failure(.full)) }
            return isWaiting
        }
        searches = searches.filter { search in
            let isWaiting = search.isWaiting()
            if !isWaiting { answer(search, with: .failure(.full)) }
            return isWaiting
        }
    }

    /// Answers the first who seek a time, each as soon as it is found. The others have the next turns.
    private func answerSearches(in bounds: [Range<Int64>], by reader: RangeReader) throws(KafkaError) {
        let deadline = ContinuousClock.now + configuration.patience
        let ends = bounds.map(\.upperBound)
        for time in FeedSearch.times(of: searches, most: Self.maximumSearchCount) {
            let offsets: [Int64]
            switch time {
            case 0: offsets = bounds.map(\.lowerBound)
            case .max: offsets = ends
            default:
                // Slow answers to many questions are no failure.
                guard .now < deadline else { continue }
                offsets = try reader.offsets(since: time, of: configuration.topic, ends: ends, timeout: configuration.patience)
            }
            let places = FeedPlaces(Dictionary(uniqueKeysWithValues: offsets.enumerated().map { (Int32($0), $1) }))
            let found = searches.filter { $0.time == time }
            searches.removeAll { $0.time == time }
            for search in found { answer(search, with: .success(places)) }
        }
    }

    /// Answers a reader without reading Kafka's records, or returns it as one that waits on.
    private func settle(_ request: FeedRequest, bounds: [Range<Int64>], windows: [Range<Int64>]) -> FeedRequest? {
        var request = request
        if let first = request.findGone(by: bounds) {
            answer(request, with: .failure(.gone(first: first)))
            return nil
        }
        guard let request = serveFromSlices(request) else { return nil }
        guard request.findMissing(in: bounds, besides: windows).isEmpty else { return request }
        // Memory may have moved on meanwhile. The reader asks again then.
        let reading = memory.readChecked(request) ?? FeedReading(records: [], places: request.places, isAtEnd: false)
        answer(request, with: .success(reading))
        return nil
    }

    private func serveFromSlices(_ request: FeedRequest) -> FeedRequest? {
        var request = request
        for slice in slices {
            guard let left = serve(request, from: slice.records) else { return nil }
            request = left
        }
        return request
    }

    /// Answers a reader for whom there is something in a slice. Otherwise it waits on, behind the slice.
    private func serve(_ request: FeedRequest, from slice: RecentRecords) -> FeedRequest? {
        guard let reading = request.read(slice, by: .partly) else { return request }
        guard reading.records.isEmpty else {
            answer(request, with: .success(FeedReading(records: reading.records, places: reading.places, isAtEnd: false)))
            return nil
        }
        var left = request
        left.places = reading.places
        return left
    }

    /// Reads the beginning of ranges, until there is enough of it. At least one record is read, or all of the ranges.
    ///
    /// A gap before the first record of a range may be a mark of a transaction. Returns nil if retention has made one.
    private func read(
        _ ranges: [Int32: Range<Int64>], of partitionCount: Int, by reader: RangeReader
    ) throws(KafkaError) -> RecentRecords? {
        let parts = ranges.sorted { $0.key < $1.key }.map { partition, offsets in
            RangeReader.Part(TopicPartition(topic: configuration.topic, partition: partition), offsets: offsets)
        }
        var records: [(time: Int64, record: FeedRecord)] = []
        var reached = parts.map(\.offsets.lowerBound)
        // Those of one partition keep their order, whatever times their writers gave them.
        var times = parts.map { _ in Int64.min }
        var firsts = parts.map { _ in Int64.max }
        var (byteCount, hasAny, isCut) = (0, false, false)
        let end = MonotonicTime.now() + Self.sliceTime
        let limit = configuration.sliceByteCount
        let isComplete = try reader.read(parts, timeout: configuration.patience) {
            isCut || hasAny && MonotonicTime.now() >= end || memory.isClosed
        } perform: { index, record in
            guard !isCut else { return false }
            firsts[index] = min(firsts[index], record.offset)
            reached[index] = record.offset + 1
            hasAny = true
            times[index] = max(times[index], record.timestamp ?? 0)
            guard let record = FeedRecord(record) else { return true }
            records.append((times[index], record))
            byteCount += record.byteCount
            isCut = byteCount >= limit
            return !isCut
        }
        if isComplete, !isCut { reached = parts.map(\.offsets.upperBound) }
        let gaps = parts.indices.filter {
            let start = parts[$0].offsets.lowerBound
            return reached[$0] > start && firsts[$0] > start
        }
        if !gaps.isEmpty {
            let bounds = try reader.bounds(of: configuration.topic, timeout: configuration.patience)
            for index in gaps {
                let (number, offsets) = (Int(parts[index].partition.partition), parts[index].offsets)
                guard bounds.indices.contains(number), bounds[number].lowerBound <= offsets.lowerBound,
                    bounds[number].upperBound >= offsets.upperBound
                else { return nil }
            }
        }
        records.sort { ($0.time, $0.record.partition, $0.record.offset) < ($1.time, $1.record.partition, $1.record.offset) }
        return fill(records.map(\.record), from: parts, to: reached, of: partitionCount)
    }

    private func fill(
        _ records: [FeedRecord], from parts: [RangeReader.Part], to reached: [Int64], of partitionCount: Int
    ) -> RecentRecords {
        var slice = RecentRecords(byteLimit: .max)
        var starts = [Int64](repeating: -1, count: partitionCount)
        for part in parts { starts[Int(part.partition.partition)] = part.offsets.lowerBound }
        slice.begin(at: starts)
        for record in records { _ = slice.take(record) }
        for (part, offset) in zip(parts, reached) { _ = slice.advance(part.partition.partition, to: offset) }
        return slice
    }
}
