import Basics
import Delivery
import TestSupport

/// What a loop does around a cycle, without records: units wait, are offered, and come back or are taken.
struct CommitDesk {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    var cycle: CommitCycle
    var now: Int64 = 0
    var waiting: [CommitUnit] = []
    var offered: [CommitUnit]?
    /// Of the last offer.
    var selection: CommitSelection?
    var isDrained = false
    var taken: [CommitUnit.ID] = []
    var letters: [CommitUnit.ID] = []
    var cut: [CommitUnit.ID] = []
    /// How often a batch was offered.
    var offerCount = 0
    var lastAction = CommitCycle.Action.wait

    init(patience: Int64? = nil, transactionTimeout: Int64 = 15 * CommitDesk.second) {
        var terms = CommitCycle.Terms(interval: 60 * Self.millisecond, transactionTimeout: transactionTimeout)
        if let patience { terms.refusalPatience = patience }
        cycle = CommitCycle(terms)
    }

    static func unit(
        _ offset: Int64, slot: Int = 0, bytes: Int = 1000, _ topics: Set<CommitTopic> = [.results]
    ) -> CommitUnit {
        var unit = CommitUnit(CommitUnit.ID(slot: slot, offset: offset))
        unit.byteCount = bytes
        unit.topics = topics
        return unit
    }

    /// The units of what waits, as a batch says them.
    private var units: [CommitUnit] {
        let order = waiting.indices.sorted {
            (waiting[$0].id.slot, waiting[$0].id.offset) < (waiting[$1].id.slot, waiting[$1].id.offset)
        }
        return order.map { index in
            var unit = waiting[index]
            unit.places = [index]
            return unit
        }
    }

    /// Asks the cycle whether it is time.
    mutating func turn() {
        perform(cycle.due(waiting: waiting.count, partitions: 1, isHurried: isDrained, now: .at(now)))
    }

    mutating func perform(_ action: CommitCycle.Action) {
        lastAction = action
        let batch = offered ?? []
        switch action {
        case .wait: break
        case .check:
            guard !waiting.isEmpty else { return }
            let holdings = CommitCycle.Holdings(
                recordCount: waiting.count, byteCount: waiting.reduce(0) { $0 + $1.byteCount }, isDrained: isDrained)
            let all = units
            perform(cycle.noteHoldings(holdings, now: .at(now)) { all })
        case .offer(let selection):
            self.selection = selection
            offerCount += 1
            let places = selection.isAll ? Set(waiting.indices) : selection.places
            offered = places.sorted().map { waiting[$0] }
            waiting = waiting.indices.filter { !places.contains($0) }.map { waiting[$0] }
        case .offerAgain: offerCount += 1
        case .settle:
            taken += batch.map(\.id)
            offered = nil
        case .putBack, .putBackInOrder:
            waiting += batch
            offered = nil
        case .cutDeadLetters:
            cut += batch.filter(\.canBeCut).map(\.id)
            offered = batch.map { unit in
                var unit = unit
                if unit.canBeCut { (unit.canBeCut, unit.byteCount) = (false, 100) }
                return unit
            }
        case .writeDeadLetter(let id):
            letters.append(id)
            // What a part came to stays beside the dead letter in the place of its result.
            let topics = batch.first { $0.id == id }?.topics ?? []
            let kept: Set<CommitTopic> = topics.contains(.results) ? topics.intersection([.parents]) : []
            waiting.append(Self.unit(id.offset, slot: id.slot, bytes: 100, kept.union([.deadLetters])))
            offered = nil
        case .forget, .reset, .stop: offered = nil
        }
    }

    mutating func confirm(after duration: Int64 = 5 * CommitDesk.millisecond) {
        now += duration
        let batch = offered ?? []
        perform(cycle.confirmed(byteCount: batch.reduce(0) { $0 + $1.byteCount }, now: .at(now)) { batch })
    }

    mutating func fail(
        _ cause: CommitCycle.Cause, _ standing: CommitCycle.Standing = .unpublished,
        after duration: Int64 = 5 * CommitDesk.millisecond
    ) {
        now += duration
        let batch = offered ?? []
        perform(cycle.noteFailure(cause, standing: standing, now: .at(now)) { batch })
    }

    /// Lets time pass in turns of a quarter of a second, with brokers that reject some units.
    ///
    /// - Parameters:
    ///   - duration: How long.
    ///   - arrival: What is finished before a turn.
    ///   - rejection: Why brokers reject a unit; nil if they take it.
    mutating func run(
        for duration: Int64, _ arrival: (inout CommitDesk) -> Void = { _ in },
        rejecting rejection: (CommitUnit) -> CommitCycle.Cause?
    ) {
        let end = now + duration
        while now < end {
            now += 250 * Self.millisecond
            arrival(&self)
            turn()
            guard let batch = offered else { continue }
            // Waiting to be offered again.
            if case .wait = lastAction { continue }
            if let cause = batch.lazy.compactMap(rejection).first { fail(cause) } else { confirm() }
        }
    }
}
