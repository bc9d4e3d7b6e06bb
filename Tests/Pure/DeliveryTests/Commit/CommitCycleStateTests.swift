import Basics
import TestSupport
import Testing

@testable import Delivery

/// The states of a cycle, walked by all events, beside the drawing on page RequestPath.
struct CommitCycleStateTests {
    /// A case of `CommitCycle.State`, without what belongs to it.
    enum Stage: CaseIterable {
        case empty, inFlight, waiting, outdated

        init(_ state: CommitCycle.State) {
            switch state {
            case .empty: self = .empty
            case .inFlight: self = .inFlight
            case .waiting: self = .waiting
            case .outdated: self = .outdated
            }
        }

        /// The stages that may follow, as the comments of the cases name them.
        var successors: Set<Self> {
            switch self {
            case .empty: [.inFlight]
            case .inFlight: [.empty, .waiting, .outdated]
            case .waiting: [.empty, .inFlight]
            case .outdated: [.empty]
            }
        }
    }

    /// An event with its name.
    struct Event: Sendable {
        let description: String
        let apply: @Sendable (inout CommitDesk) -> Void
    }

    private static let failures = CommitCycle.Cause.allCases.flatMap { cause in
        [CommitCycle.Standing.unpublished, .written, .doubtful].map { standing in
            Event(description: "failed: \(cause), \(standing)") { $0.fail(cause, standing) }
        }
    }

    private static let events =
        failures + [
            Event(description: "due in a second") {
                $0.now += CommitDesk.second
                $0.turn()
            },
            Event(description: "due at once") { $0.turn() },
            Event(description: "found") { $0.perform(.check) },
            Event(description: "found nothing") { $0.cycle.noteNothingPending(waiting: 1, now: .at($0.now)) },
            Event(description: "not handed over") { $0.cycle.notHandedOver(isOutOfGroup: false, now: .at($0.now)) },
            Event(description: "out of the group") { $0.cycle.notHandedOver(isOutOfGroup: true, now: .at($0.now)) },
            Event(description: "confirmed") { $0.confirm() },
            Event(description: "impossible") { $0.perform($0.cycle.impossible(.overtaken)) },
            Event(description: "committer replaced") { $0.perform($0.cycle.committerReplaced(now: .at($0.now))) },
            Event(description: "taken over") { _ = $0.cycle.takenOver() },
            Event(description: "assignment ended") { $0.perform($0.cycle.assignmentEnded()) },
        ]

    /// Desks that wait with two results, with a dead letter that can be cut, and with results in order.
    private static var starts: [CommitDesk] {
        var pair = CommitDesk(patience: 0)
        pair.waiting = [CommitDesk.unit(1), CommitDesk.unit(2)]
        var letter = CommitDesk(patience: 0)
        letter.waiting = [CommitDesk.unit(1, [.deadLetters])]
        letter.waiting[0].canBeCut = true
        var ordered = pair
        ordered.turn()
        ordered.fail(.metadataTooLarge)
        return [pair, letter, ordered]
    }

    /// Walks every history of three events from each start.
    @Test func onlyTheNamedSuccessorsOfAStateAreReachedAndAllOfThemAre() {
        var reached: [Stage: Set<Stage>] = [:]
        func walk(_ desk: CommitDesk, after history: [String]) {
            let before = Stage(desk.cycle.state)
            for event in Self.events {
                var next = desk
                event.apply(&next)
                let after = Stage(next.cycle.state)
                if after != before, reached[before, default: []].insert(after).inserted {
                    #expect(before.successors.contains(after), "\(history + [event.description])")
                }
                #expect(next.cycle.isOffering == (after != .empty))
                if history.count < 2 { walk(next, after: history + [event.description]) }
            }
        }
        for start in Self.starts {
            #expect(Stage(start.cycle.state) == .empty)
            walk(start, after: [])
        }
        for stage in Stage.allCases { #expect(reached[stage] == stage.successors, "\(stage)") }
    }

    /// The clock of a batch that waits is the cycle's only one, and being out of the group ends with the wait.
    @Test func whatBelongsToAWaitingBatchEndsWithItsWait() {
        var desk = Self.starts[0]
        desk.turn()
        desk.cycle.notHandedOver(isOutOfGroup: true, now: .at(desk.now))
        #expect(desk.cycle.isOutOfGroup)
        desk.perform(desk.cycle.assignmentEnded())
        #expect(!desk.cycle.isOutOfGroup && desk.cycle.wakeTime(waiting: 0, partitions: 1, now: .at(desk.now)) == .never)
    }

    /// Otherwise the committer's answer would be taken for one about the next assignment.
    @Test func anOutdatedBatchIsNotOfferedAgain() {
        var desk = Self.starts[0]
        desk.turn()
        desk.perform(desk.cycle.assignmentEnded())
        desk.cycle.notHandedOver(isOutOfGroup: false, now: .at(desk.now))
        desk.now += CommitDesk.second
        desk.turn()
        #expect(desk.lastAction == .wait)
    }

    /// Otherwise two batches would be with the committer.
    @Test func nothingIsOfferedBesideABatch() {
        var desk = Self.starts[0]
        desk.turn()
        desk.waiting = [CommitDesk.unit(3)]
        desk.perform(.check)
        #expect(desk.lastAction == .wait && desk.offerCount == 1)
    }
}
