import Basics
import Delivery
import EventLoop
import Foundation
import GroupPositions
import Kafka
import Synchronization

/// Reads on, on a thread of its own, in partitions whose probes had no answer when their assignment began, until each has one.
///
/// No time without an answer is taken for one. It ends with its last answer, or when it is cancelled, and writes nothing.
final class StartProbe: Sendable {
    /// The finding that a partition's records have led to.
    struct Finding: Sendable {
        let partition: TopicPartition
        /// The place where it begins, or nil if that is the group's position.
        let ruling: AssignmentPlan.Ruling?
        /// The place where it ends now, or nil if that was not asked, or not learnt.
        let end: Int64?
    }

    private struct State {
        var findings = FIFO<Finding>()
        /// Those without an answer, as they stood a short while ago.
        var open: [TopicPartition: PartitionProbe]
        var isCancelled = false
    }

    /// Protects what the threads share, and is held for no longer than a copy.
    private let state: Mutex<State>
    private let wakeUp: WakeUp

    /// A probe whose thread runs. It signals `wakeUp` when a finding is there.
    init(_ probes: [PartitionProbe], configuration: WorkerConfiguration, clock: WorkerClock, wakeUp: WakeUp) {
        state = Mutex(State(open: Dictionary(uniqueKeysWithValues: probes.map { ($0.partition, $0) })))
        self.wakeUp = wakeUp
        let thread = Thread { [self] in work(probes, configuration: configuration, clock: clock) }
        thread.name = "pushfan-probe"
        thread.start()
    }

    /// Takes the oldest finding. Nil if there is none.
    func nextFinding() -> Finding? { state.withLock { $0.findings.popFirst() } }

    /// The probes without an answer, with how far they were read.
    var open: [TopicPartition: PartitionProbe] { state.withLock { $0.open } }

    /// True if each probe has its answer, and all findings were taken.
    var isDone: Bool { state.withLock { $0.open.isEmpty && $0.findings.isEmpty } }

    /// Ends the reading. What it comes to is not said any more.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.findings = FIFO()
        }
    }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    private func work(_ probes: [PartitionProbe], configuration: WorkerConfiguration, clock: WorkerClock) {
        var probes = probes
        var reader = ProbeReader(configuration.groupTerms) { clock.wallTime }
        let places = Array(probes.indices)
        var turns = ProbeTurns(count: probes.count)
        let lateStarts = LateStarts(configuration.groupTerms)
        while !turns.isDone, !isCancelled {
            turns.begin(.now())
            // What is answered, and could not be made a ruling of, is not read again.
            let answered = turns.present.filter { probes[$0].isAnswered }
            for (turn, isTaken) in zip(answered, take(answered.map { probes[$0] }, lateStarts: lateStarts)) {
                if isTaken { turns.answered(turn, at: .now()) } else { turns.postponed(turn) }
            }
            do throws(KafkaError) {
                try reader.readTurn(&turns, of: places, into: &probes, until: { isCancelled }) {
                    take($0, lateStarts: lateStarts)
                }
            } catch {
                for turn in turns.present { turns.postponed(turn) }
            }
            while !turns.isDone, !turns.isOver(.now()), !isCancelled { Thread.sleep(forTimeInterval: Self.pause) }
        }
    }

    /// The pause before going on after a failure: 50 ms in seconds.
    private static let pause = 0.05

    /// Takes in how far probes are, and what their answers lead to. Returns false for each that has an answer of which that could not be
    /// learnt.
    private func take(_ probes: [PartitionProbe], lateStarts: LateStarts) -> [Bool] {
        let answered = probes.filter(\.isAnswered)
        let starts = zip(answered, lateStarts.starts(of: answered)).compactMap { probe, start in
            start.map { Finding(partition: probe.partition, ruling: $0.ruling, end: $0.end) }
        }
        state.withLock { state in
            for probe in probes where !probe.isAnswered { state.open[probe.partition] = probe }
            for finding in starts {
                state.open[finding.partition] = nil
                if !state.isCancelled { state.findings.append(finding) }
            }
        }
        if !starts.isEmpty { wakeUp.signal() }
        let taken = Set(starts.map(\.partition))
        return probes.map { !$0.isAnswered || taken.contains($0.partition) }
    }
}
