import Basics
import PushModel
import Testing

@testable import Delivery

/// Which state follows which, whatever happens.
struct MembershipStateTests {
    typealias Event = (name: String, happen: @Sendable (inout Membership) -> Void)

    /// The successors that the comments of `Membership.State` name.
    private static let successors: [String: Set<String>] = [
        "nothing": ["asked", "stopping", "stopped"],
        "asked": ["begun", "nothing", "stopping", "stopped"],
        "begun": ["revoking", "nothing", "asked", "stopping", "stopped"],
        "revoking": ["nothing", "asked", "stopping", "stopped"],
        "stopping": ["stopped"],
        "stopped": [],
    ]

    private static let start = MonotonicTime(nanoseconds: 0)
    private static let later = start.advanced(byNanoseconds: 60 * MembershipDesk.second)

    private static func work(isIdle: Bool, isCommitted: Bool, isOutOfGroup: Bool, canClose: Bool) -> Event {
        let work = Membership.Work(isIdle: isIdle, isCommitted: isCommitted, isOutOfGroup: isOutOfGroup, canClose: canClose)
        return ("\(work)", { _ = $0.noteWork(work, now: start) })
    }

    /// All that can be said to a membership, each way of saying it.
    private static let events: [Event] =
        [
            ("nothing is assigned", { _ = $0.assigned([], now: start) }),
            ("assigned", { _ = $0.assigned(MembershipDesk.partitions(2), now: start) }),
            ("revoked", { _ = $0.revoked(isLost: false, now: start) }),
            ("lost", { _ = $0.revoked(isLost: true, now: start) }),
            ("positions known", { _ = $0.positionsKnown(epoch: $0.epoch) }),
            ("other positions known", { _ = $0.positionsKnown(epoch: $0.epoch - 1) }),
            ("positions failed", { _ = $0.positionsFailed(epoch: $0.epoch, isTimeout: true, now: start) }),
            ("other positions failed", { _ = $0.positionsFailed(epoch: $0.epoch - 1, isTimeout: true, now: start) }),
            ("started", { $0.noteStart(isOpening: false, now: start, at: Timestamp(milliseconds: 0)) }),
            ("started closed", { $0.noteStart(isOpening: true, awaitsLeader: true, now: start, at: Timestamp(milliseconds: 0)) }),
            ("one began later", { $0.beganLater(isOpening: true) }),
            ("committed", { $0.noteCommit(hasClosed: false) }),
            ("committed in part", { $0.noteCommit(hasClosed: true) }),
            ("behind the commit", { $0.foundBehindCommit(MembershipDesk.partitions(1)[0]) }),
            ("positions moved", { _ = $0.positionsMoved(now: start) }),
            ("surveyed", { _ = $0.surveyed(MembershipDesk.partitions(1), now: start) }),
            ("joins", { _ = $0.joins(isWanted: true) }),
            ("producer prepared", { $0.producerPrepared() }),
            ("producer failed", { $0.producerFailed(now: start) }),
            ("probed", { $0.probed() }),
            ("committer replaced", { _ = $0.committerReplaced(now: start) }),
            ("turn", { $0.noteTurn(now: start, isOffering: false, hasRead: true) }),
            ("late turn", { $0.noteTurn(now: later, isOffering: true, hasRead: true) }),
            ("tick", { _ = $0.tick(isOutOfGroup: false, now: start) }),
            ("late tick", { _ = $0.tick(isOutOfGroup: true, now: later) }),
            ("second", { _ = $0.secondPassed(isBrokerDoubtful: true, now: later) }),
            ("stop asked", { _ = $0.stopAsked(isUrgent: false, now: start) }),
            ("urgent stop asked", { _ = $0.stopAsked(isUrgent: true, now: start) }),
            ("stop", { $0.stop() }),
            work(isIdle: false, isCommitted: false, isOutOfGroup: true, canClose: true),
            work(isIdle: true, isCommitted: false, isOutOfGroup: false, canClose: true),
            work(isIdle: true, isCommitted: false, isOutOfGroup: true, canClose: true),
            work(isIdle: true, isCommitted: true, isOutOfGroup: false, canClose: true),
            work(isIdle: true, isCommitted: true, isOutOfGroup: false, canClose: false),
        ]

    private static func name(of state: Membership.State) -> String {
        switch state {
        case .nothing: "nothing"
        case .asked: "asked"
        case .begun: "begun"
        case .revoking: "revoking"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }

    /// From a new membership on, each event happens in each state that is reached, with all that the state can hold.
    @Test func eachStateBecomesTheOnesThatAreNamedAndNoOther() {
        let membership = MembershipDesk().membership
        var found = Self.successors.mapValues { _ in Set<String>() }
        var seen: Set = ["\(membership.state)"]
        var next = [membership]
        while let membership = next.popLast() {
            let before = Self.name(of: membership.state)
            for event in Self.events {
                var membership = membership
                event.happen(&membership)
                let after = Self.name(of: membership.state)
                if after != before {
                    #expect(Self.successors[before]?.contains(after) == true, "\(before) becomes \(after): \(event.name)")
                    found[before]?.insert(after)
                }
                if seen.insert("\(membership.state)").inserted { next.append(membership) }
            }
        }
        #expect(found == Self.successors)
        // Each share is empty, open or closed, each question waits or does not, and each drain has its time, or none, and is over or not.
        #expect(seen.count >= 20, "\(seen)")
    }
}
