/// Failures one after the other, and whether they are more than chance.
///
/// A number alone says little: where every third call fails, ten failures one after the other are seen every few minutes. So a row is
/// unlikely when it is as rare as `longest` failures are among calls of which one in twenty fails, by the share of the calls before it.
struct FailureRow: Sendable, Equatable {
    /// The share that failed is taken to be between these.
    static let shares = 0.05...0.9
    /// The calls over which the share is taken, about.
    static let memory = 64
    /// The longest row that can be asked for.
    static let longest = 100

    private let limit: Double
    /// The failures since the last success.
    private(set) var count = 0
    private var callCount = 0
    private var share = 0.0
    private var shareBefore = 0.0
    private var chance = 1.0

    /// No failure yet. `longest` of them are unlikely where few calls fail.
    init(longest: Int) {
        limit = (0..<min(max(longest, 1), Self.longest)).reduce(1.0) { chance, _ in chance * Self.shares.lowerBound }
    }

    /// Notes a success, which ends a row.
    mutating func succeeded() {
        count = 0
        note(0)
    }

    /// Notes a failure.
    mutating func noteFailure() {
        if count == 0 {
            shareBefore = min(max(share, Self.shares.lowerBound), Self.shares.upperBound)
            chance = 1
        }
        count += 1
        chance *= shareBefore
        note(1)
    }

    /// Ends a row as if it had not been.
    mutating func restart() {
        if count > 0 { share = shareBefore }
        count = 0
    }

    /// True if chance does not explain the row.
    var isUnlikely: Bool { count > 0 && chance <= limit }

    private mutating func note(_ failure: Double) {
        callCount = min(callCount + 1, Self.memory)
        share += (failure - share) / Double(callCount)
    }
}
