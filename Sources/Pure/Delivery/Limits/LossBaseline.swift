/// The share of calls to a hub that is lost however few are made, as far as it was measured: loss that is no worse is no reason for fewer.
///
/// Loss by too much load falls when there is less, and loss by chance does not. So it is measured at the least that the owner goes down
/// to, and what more calls lose is compared with that.
struct LossBaseline: Sendable, Equatable {
    /// A hub that loses this share of few calls gets even fewer: nothing tells that more would fare no worse.
    static let mostShare = 0.6
    /// More calls fare as well as few ones when they succeed three quarters as often, within one standard error.
    static let comparable = 0.75
    /// Less than this is as good as nothing.
    static let leastShare = 0.03

    /// The result of measuring at the lowest limit.
    enum Measure: Sendable, Equatable {
        /// There were too few calls yet.
        case unfinished
        /// Next to nothing is lost.
        case little
        /// The share is known now.
        case known
        /// Too much is lost.
        case tooMuch
    }

    /// The share that is lost anyway, 0 – `mostShare`, or 0 while none is known.
    private(set) var share = 0.0
    private let leastCalls: Int
    private var callCount = 0
    private var lostCount = 0

    /// Nothing is known yet. A measurement ends after `leastCalls`.
    init(leastCalls: Int) { self.leastCalls = leastCalls }

    /// True if `lost` of `calls` are no more than what is lost anyway.
    func explains(_ lost: Int, of calls: Int) -> Bool {
        guard share > 0, lost < calls else { return false }
        let error = (share * (1 - share) / Double(calls)).squareRoot()
        return Double(calls - lost) / Double(calls) >= Self.comparable * (1 - share) - error
    }

    /// Takes in calls that lost nothing out of the ordinary. If they were fewer at once than usual, loss that is lower than
    /// before is believed sooner.
    mutating func follow(_ lost: Int, of calls: Int, areFew: Bool) {
        restart()
        guard share > 0, calls > 0 else { return }
        let found = Double(lost) / Double(calls)
        share += (found - share) / (areFew && found < share ? 2 : 16)
        if share < Self.leastShare { share = 0 }
        share = min(share, Self.mostShare)
    }

    /// Takes in calls that were made at the least.
    mutating func measure(_ lost: Int, of calls: Int) -> Measure {
        callCount += calls
        lostCount += lost
        guard callCount >= leastCalls else { return .unfinished }
        let found = Double(lostCount) / Double(callCount)
        restart()
        guard found < Self.mostShare else { return .tooMuch }
        share = found < Self.leastShare ? 0 : found
        return share > 0 ? .known : .little
    }

    /// Forgets a measurement that was not finished.
    mutating func restart() {
        callCount = 0
        lostCount = 0
    }
}
