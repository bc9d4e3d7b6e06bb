import Basics
public import Delivery
import EventLoop
import Foundation
public import Kafka
public import PushModel

/// Reads partitions until their probes have their answers, so many at once as `ProbeTurns` says.
///
/// Belongs to one thread. Nothing of a record is kept.
public struct ProbeReader {
    /// The most that the library may hold of all partitions together, in bytes. A batch of records that is larger comes as a
    /// whole, of 1 MiB by default, so that it is 48 MiB at most.
    private static let budget = 16 << 20
    /// The time that a broker may keep a fetch that finds nothing, which is how long the partitions of the next turn wait for theirs. With
    /// 500 ms, the marks of 400 partitions took 6.6 s, 32 at a time.
    private static let fetchWait = Duration.milliseconds(10)
    /// Between two reads while nothing comes: from 2 ms to 20 ms, in seconds.
    private static let pauses = (first: 0.002, longest: 0.02)

    private let terms: GroupTerms
    private let now: () -> Timestamp
    /// Kept from turn to turn, as long as it brings something.
    private var reader: PartitionReader?

    /// A reader that has read nothing yet.
    ///
    /// - Parameters:
    ///   - terms: The group.
    ///   - now: The present.
    public init(_ terms: GroupTerms, now: @escaping () -> Timestamp) {
        self.terms = terms
        self.now = now
    }

    /// Reads for a while, in partitions whose probes have no answers. The brokers may take `limit` in all.
    mutating func read(_ probes: inout [PartitionProbe], within limit: Duration) throws(KafkaError) {
        let open = probes.indices.filter { !probes[$0].isAnswered }
        let deadline = MonotonicTime.now().advanced(by: limit)
        defer { reader = nil }
        var turns = ProbeTurns(count: open.count)
        while !turns.isDone, MonotonicTime.now() < deadline {
            turns.begin(.now())
            try readTurn(&turns, of: open, into: &probes, until: { MonotonicTime.now() >= deadline }) { $0.map { _ in true } }
        }
    }

    /// Reads for one turn.
    ///
    /// - Parameters:
    ///   - turns: Has begun the turn.
    ///   - open: The place in `probes` of each partition that `turns` has.
    ///   - probes: The probes; answers and progress are put down in them.
    ///   - isStopped: Whether to stop reading; asked again and again.
    ///   - onRead: Takes the probes of which more was read. Returns for each if it is taken. One with its answer that is not is asked about
    ///     again in the next round.
    /// - Throws: The library refused.
    public mutating func readTurn(
        _ turns: inout ProbeTurns, of open: [Int], into probes: inout [PartitionProbe], until isStopped: () -> Bool,
        onRead: ([PartitionProbe]) -> [Bool]
    ) throws(KafkaError) {
        let slots = turns.present
        guard !slots.isEmpty else { return }
        let reader: PartitionReader
        if let kept = self.reader { reader = kept } else { reader = try makeReader(among: probes.count) }
        self.reader = nil
        try reader.start(slots.map { (partition: probes[open[$0]].partition, start: .offset(probes[open[$0]].next)) })
        var pause = Self.pauses.first
        var hasRead = false
        while !isStopped(), !turns.isOver(.now()) {
            var read: [Int] = []
            for (slot, turn) in slots.enumerated() where turns.present.contains(turn) {
                if try readOn(reader, slot: slot, into: &probes[open[turn]]) { read.append(turn) }
            }
            guard !read.isEmpty else {
                pause = min(2 * pause, Self.pauses.longest)
                Thread.sleep(forTimeInterval: pause)
                continue
            }
            (pause, hasRead) = (Self.pauses.first, true)
            turns.read(at: .now())
            for (turn, isTaken) in zip(read, onRead(read.map { probes[open[$0]] })) where probes[open[turn]].isAnswered {
                if isTaken { turns.answered(turn, at: .now()) } else { turns.postponed(turn) }
            }
        }
        reader.stop()
        if hasRead { self.reader = reader }
    }

    private func makeReader(among count: Int) throws(KafkaError) -> PartitionReader {
        let room = QueueRoom(sharing: Self.budget, among: min(count, ProbeTurns.mostAtOnce), atMost: .large)
        return try PartitionReader(terms.kafka, room: room, fetchWait: Self.fetchWait, wakeUpFileDescriptor: -1)
    }

    /// Reads one record of a partition. Returns whether there was one, or the partition's end.
    private func readOn(_ reader: PartitionReader, slot: Int, into probe: inout PartitionProbe) throws(KafkaError) -> Bool {
        var goesBack = false
        switch reader.read(slot: slot, perform: { goesBack = probe.take($0, of: terms.group, now: now()) }) {
        case .record: break
        case .endOfPartition: goesBack = probe.reachedEnd()
        case .empty, .error: return false
        }
        if probe.isAnswered, probe.end == nil, !probe.isDoubtful { probe.end = reader.watermarks(slot: slot)?.high }
        if goesBack { try reader.goBack(slot: slot, to: probe.next) }
        return true
    }
}
