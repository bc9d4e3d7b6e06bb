import Basics
import Dispatch
import EventLoop
import Kafka

/// Follows the topic from shortly before its end on, and fills the memory. It runs in a thread of its own, until the feed is closed.
struct LiveReader: Sendable {
    /// The longest wait for a record, after which the end is seen.
    private static let step: Int64 = 100_000_000
    /// The longest time in which records are gathered before they can be read.
    private static let gathering: Int64 = 10_000_000
    private static let maximumBatchCount = 1000
    private static let openTimeout: Duration = .seconds(5)
    private static let refreshTimeout: Duration = .seconds(1)
    private static let pollInterval: Int64 = 1_000_000_000
    private static let readAhead = 32 << 20
    /// The time after a look at a gap in which further ones are taken for marks of transactions, unless they are wide.
    private static let gapInterval: Int64 = 5_000_000_000
    private static let wideGap: Int64 = 1000

    let configuration: ResultFeed.Configuration
    let memory: FeedMemory
    let onNews: @Sendable () -> Void

    /// Reads until the feed is closed.
    func run() {
        while !memory.isClosed {
            do throws(KafkaError) {
                let reader = try open()
                begin(reader)
                follow(reader)
                reader.close()
            } catch {
                memory.note(error)
                memory.pause(.milliseconds(500))
            }
        }
    }

    /// Opens the topic where memory ends, or so far before its end that readers who were there before need not ask Kafka.
    private func open() throws(KafkaError) -> TopicReader {
        let starts: [Int32: Int64]
        if let end = memory.end { starts = end.offsets } else { starts = try findStarts() }
        return try TopicReader(
            configuration.kafka, topic: configuration.topic, start: .offsets(starts), timeout: Self.openTimeout,
            readAhead: Self.readAhead)
    }

    private func findStarts() throws(KafkaError) -> [Int32: Int64] {
        let bounds = try RangeReader(configuration.kafka).bounds(of: configuration.topic, timeout: Self.openTimeout)
        let share = configuration.earlierCount / Int64(max(1, bounds.count))
        let starts = bounds.map { max($0.lowerBound, $0.upperBound - share) }
        return Dictionary(uniqueKeysWithValues: starts.enumerated().map { (Int32($0), $1) })
    }

    private func begin(_ reader: TopicReader) {
        let positions = reader.positions
        memory.begin(at: (0..<Int32(clamping: reader.partitionCount)).map { positions[$0] ?? 0 })
    }

    /// Reads until the feed is closed, the client is broken, or the topic is another one.
    private func follow(_ reader: TopicReader) {
        var nextLook = MonotonicTime.now()
        var nextRefresh = nextLook.advanced(by: configuration.refreshInterval)
        var nextNews = nextLook
        var nextGap = nextLook
        var (hasNews, isAtEnd) = (false, false)
        while !memory.isClosed {
            if !isAtEnd, reader.hasReachedEnd {
                memory.open()
                (hasNews, isAtEnd) = (true, true)
            }
            let wait = hasNews ? min(Self.step, max(0, nextNews - .now())) : Self.step
            let batch = gather(from: reader, within: .nanoseconds(wait))
            if batch.isChanged {
                let positions = reader.positions
                // A single offset that is left out is the mark of a transaction.
                let width = MonotonicTime.now() >= nextGap ? 2 : Self.wideGap
                if memory.hasGap(of: width, before: batch.records, upTo: positions) {
                    // Opened again, the reader begins where the topic does, and memory as well.
                    if isOvertaken() { return }
                    nextGap = .now() + Self.gapInterval
                }
                guard memory.take(batch.records, upTo: positions) else { return }
                // Also without a record: who has read to the end stands before the mark of its transaction, and may go on.
                hasNews = true
            }
            if batch.isBroken { return }
            let now = MonotonicTime.now()
            if hasNews, now >= nextNews {
                hasNews = false
                nextNews = now.advanced(by: configuration.newsInterval)
                onNews()
            }
            if now >= nextLook {
                if isBroken(byEventsOf: reader) { return }
                nextLook = now + Self.pollInterval
            }
            if memory.takeMorePartitions() || now >= nextRefresh {
                if isBroken(byRefreshing: reader) { return }
                nextRefresh = MonotonicTime.now().advanced(by: configuration.refreshInterval)
            }
        }
    }

    private struct Batch {
        var records: [FeedRecord] = []
        /// True if positions have changed, also where no record has come.
        var isChanged = false
        var isBroken = false
    }

    /// Waits for a record, and takes all that are there.
    private func gather(from reader: TopicReader, within wait: Duration) -> Batch {
        var batch = Batch()
        var timeout = wait
        var end = MonotonicTime.never
        while batch.records.count < Self.maximumBatchCount {
            let found = reader.read(timeout: timeout) { record in
                if let record = FeedRecord(record) { batch.records.append(record) }
            }
            switch found {
            case .record, .endOfPartition:
                batch.isChanged = true
            case .error(let error):
                memory.note(error)
                batch.isBroken = error.isFatal
                return batch
            case .empty:
                return batch
            }
            let now = MonotonicTime.now()
            if timeout > .zero { (timeout, end) = (.zero, now + Self.gathering) }
            if now >= end { return batch }
        }
        return batch
    }

    private func isBroken(byEventsOf reader: TopicReader) -> Bool {
        while let event = reader.nextEvent() {
            guard case .error(let error) = event else { continue }
            memory.note(error)
            if error.isFatal { return true }
        }
        return false
    }

    /// True if retention has passed what was read, or that cannot be known.
    private func isOvertaken() -> Bool {
        do throws(KafkaError) {
            let bounds = try RangeReader(configuration.kafka).bounds(of: configuration.topic, timeout: Self.openTimeout)
            return memory.isOvertaken(by: bounds)
        } catch {
            memory.note(error)
            return true
        }
    }

    private func isBroken(byRefreshing reader: TopicReader) -> Bool {
        do throws(KafkaError) {
            if try reader.refreshPartitions(timeout: Self.refreshTimeout) > 0 { begin(reader) } else { memory.note(nil) }
            return false
        } catch {
            memory.note(error)
            return error.isFatal
        }
    }
}
