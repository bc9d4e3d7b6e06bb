import Basics
import Delivery
import EventLoop
import Foundation
import Kafka
import PushModel

/// Reads partitions until the questions about them have their answers, so many at once as `LookTurns` says.
///
/// Belongs to one thread. Nothing of a record is kept.
struct QuestionReader {
    /// The most that the library may hold of all partitions together, in bytes. A batch of records that is larger comes as a
    /// whole, of 1 MiB by default, so that it is 48 MiB at most.
    private static let budget = 16 << 20
    /// Between two reads while nothing comes: from 2 ms to 20 ms, in seconds.
    private static let pauses = (first: 0.002, longest: 0.02)

    private let configuration: WorkerConfiguration
    private let clock: WorkerClock
    /// Kept from turn to turn, as long as it brings something.
    private var reader: PartitionReader?

    init(_ configuration: WorkerConfiguration, clock: WorkerClock) {
        self.configuration = configuration
        self.clock = clock
    }

    /// Reads for a while.
    ///
    /// - Parameters:
    ///   - questions: The questions; answers and progress are put down in them.
    ///   - limit: How long the brokers may take in all.
    /// - Throws: The library refused.
    mutating func read(_ questions: inout [StartQuestion], within limit: Duration) throws(KafkaError) {
        let open = questions.indices.filter { !questions[$0].isAnswered }
        let deadline = MonotonicTime.now().advanced(by: limit)
        defer { reader = nil }
        var turns = LookTurns(count: open.count)
        while !turns.isDone, MonotonicTime.now() < deadline {
            turns.begin(.now())
            try readTurn(&turns, open, &questions, until: { MonotonicTime.now() >= deadline }) { _ in true }
        }
    }

    /// Reads for one turn.
    ///
    /// - Parameters:
    ///   - turns: Has begun the turn.
    ///   - open: The place in `questions` of each partition that `turns` has.
    ///   - questions: The questions.
    ///   - isStopped: Whether to stop reading; asked again and again.
    ///   - onRead: Takes a question of which more was read; false, of one with its answer, puts it off to the next round.
    /// - Throws: The library refused.
    mutating func readTurn(
        _ turns: inout LookTurns, _ open: [Int], _ questions: inout [StartQuestion], until isStopped: () -> Bool,
        onRead: (StartQuestion) -> Bool
    ) throws(KafkaError) {
        let slots = turns.present
        guard !slots.isEmpty else { return }
        let reader: PartitionReader
        if let kept = self.reader { reader = kept } else { reader = try makeReader(among: questions.count) }
        self.reader = nil
        try reader.start(
            slots.map { (partition: questions[open[$0]].partition, start: .offset(questions[open[$0]].next)) })
        var pause = Self.pauses.first
        var hasRead = false
        while !isStopped(), !turns.isOver(.now()) {
            var hasMore = false
            for (slot, turn) in slots.enumerated() where turns.present.contains(turn) {
                guard try readOn(reader, slot, &questions[open[turn]]) else { continue }
                (hasMore, hasRead) = (true, true)
                turns.read(at: .now())
                let question = questions[open[turn]]
                let isTaken = onRead(question)
                guard question.isAnswered else { continue }
                if isTaken { turns.answered(turn, at: .now()) } else { turns.postponed(turn) }
            }
            pause = hasMore ? Self.pauses.first : min(2 * pause, Self.pauses.longest)
            if !hasMore { Thread.sleep(forTimeInterval: pause) }
        }
        reader.stop()
        if hasRead { self.reader = reader }
    }

    private func makeReader(among count: Int) throws(KafkaError) -> PartitionReader {
        let room = QueueRoom(sharing: Self.budget, among: min(count, LookTurns.mostAtOnce), atMost: .large)
        return try PartitionReader(configuration.kafka, room: room, wakeUpFileDescriptor: -1)
    }

    /// Reads one record of a partition.
    ///
    /// - Returns: Whether there was one, or the partition's end.
    private func readOn(_ reader: PartitionReader, _ slot: Int, _ question: inout StartQuestion) throws(KafkaError) -> Bool {
        var goesBack = false
        let now = Timestamp(milliseconds: clock.millisecondsSince1970)
        switch reader.read(slot: slot, { goesBack = question.take($0, configuration, now: now) }) {
        case .record: break
        case .endOfPartition: goesBack = question.reachedEnd()
        case .empty, .error: return false
        }
        if question.isAnswered { question.end = reader.watermarks(slot: slot)?.high }
        if goesBack { try reader.goBack(slot: slot, to: question.next) }
        return true
    }
}
