internal import Basics

/// The limits at which a peer closes kept connections without a word of it, so that no request is written where a close is near.
///
/// A close that meets a request on its way leaves the request ambiguous, whatever TCP says of it. Only the peer's past helps: the answers
/// after which it closed, and the idle time.
struct PeerHabits {
    /// Answers of a connection.
    private(set) var answers = Habit(margin: 0)
    /// Idle time of a connection, in nanoseconds. Three quarters of it are trusted, since a close near the end is on its way already.
    private(set) var idleTime = Habit(margin: 4)

    /// Idle time in nanoseconds below which a close is put down to the answers before it.
    private static var longestPause: Int64 { 100_000_000 }

    /// Learns from a connection that the peer has closed, or has ended in answer to a request.
    ///
    /// - Parameters:
    ///   - answers: The answers that came on it. One without any had no habit to show.
    ///   - idle: The nanoseconds since the last one, until it closed or got the request.
    mutating func learn(closedAfter answers: Int, idleFor idle: Int64) {
        guard answers > 0 else { return }
        if idle < Self.longestPause { self.answers.closed(at: Int64(answers)) } else { idleTime.closed(at: idle) }
    }

    /// Learns from an answer on a kept connection.
    ///
    /// - Parameters:
    ///   - answers: The answers on it, this one included.
    ///   - idle: The nanoseconds for which it was idle before the request.
    mutating func learn(answered answers: Int, afterIdle idle: Int64) {
        self.answers.survived(Int64(answers))
        idleTime.survived(idle)
    }

    /// Learns from a connection that was idle for as long as the pool lets it, in nanoseconds.
    mutating func learn(lastedIdle idle: Int64) { idleTime.survived(idle) }

    /// Decides if a connection takes another request, by its answers.
    mutating func allows(answers: Int) -> Bool { self.answers.allows(Int64(answers)) }

    /// Decides if a connection may stay idle beyond the limit.
    mutating func allowsLongerIdleTime() -> Bool { idleTime.allows(idleTime.limit) }
}

/// One limit that a peer keeps to, as far as its closes show it.
///
/// Three closes in a row at about the same measure make a limit, for those by chance seldom agree. After some retired connections one is
/// let through as a trial. If it is closed at the limit again, the next trial comes after twice as many. If it lasts, the limit is
/// forgotten.
struct Habit {
    /// The measure below which connections are used. `Int64.max` when there is no limit.
    private(set) var limit = Int64.max

    /// The part of the measure, as a divisor, by which the limit stays below it. 0 for none.
    private let margin: Int64
    /// The lowest measure of closes that agree.
    private var measure: Int64?
    /// The lowest measure of the last closes that agree, and how many they are. They make no limit yet.
    private var last: (measure: Int64, count: Int) = (0, 0)
    /// Connections that were retired since the last trial.
    private var retired = 0
    /// True from a trial until it has shown something.
    private var isTrying = false
    /// Connections that are retired before the next trial.
    private var patience = Self.leastPatience

    private static var closesOfAHabit: Int { 3 }
    private static var leastPatience: Int { 8 }
    private static var mostPatience: Int { 4096 }

    init(margin: Int64) { self.margin = margin }

    /// Learns from a close at a measure.
    mutating func closed(at value: Int64) {
        if let measure, Self.agree(measure, with: value) {
            if isTrying, value >= limit { (isTrying, patience) = (false, min(2 * patience, Self.mostPatience)) }
            set(min(measure, value))
            return
        }
        let agrees = Self.agree(last.measure, with: value)
        last = agrees ? (min(last.measure, value), last.count + 1) : (value, 1)
        guard last.count >= Self.closesOfAHabit else { return }
        (patience, retired, isTrying) = (Self.leastPatience, 0, false)
        set(last.measure)
    }

    /// Learns from a connection that was good for an answer at a measure.
    mutating func survived(_ value: Int64) {
        guard value > limit, let measure, value > measure, !Self.agree(measure, with: value) else { return }
        self = Habit(margin: margin)
    }

    /// Decides if a connection of a measure is used further: below the limit, or as a trial.
    mutating func allows(_ value: Int64) -> Bool {
        if value < limit { return true }
        retired += 1
        guard retired > patience else { return false }
        (retired, isTrying) = (0, true)
        return true
    }

    private mutating func set(_ measure: Int64) {
        self.measure = measure
        last = (0, 0)
        limit = max(1, margin > 0 ? measure - measure / margin : measure)
    }

    /// Measures that a peer's one limit explains: a timer that looks now and then, or a limit with some chance in it.
    private static func agree(_ one: Int64, with other: Int64) -> Bool { abs(one - other) <= min(one, other) / 4 }
}

/// The promise of an answer's field `Keep-Alive` (RFC 2068, section 19.7.1).
struct KeepAlivePromise: Equatable {
    /// Whole seconds for which the peer keeps the idle connection.
    var timeout: Int64?
    /// Further requests that it takes.
    var max: Int64?

    /// Reads the field's value, and passes over all but `timeout=` and `max=` with a number.
    init(_ value: ArraySlice<UInt8>) {
        // The last eight letters of a name as a number: those that are looked for are shorter.
        var (name, number): (UInt64, Int64?) = (0, nil)
        var isNumber = false
        for index in value.startIndex...value.endIndex {
            let byte = index < value.endIndex ? value[index] : UInt8(ascii: ",")
            switch byte {
            case UInt8(ascii: ","):
                if name == Self.word("timeout") { timeout = number ?? timeout }
                if name == Self.word("max") { max = number ?? max }
                (name, number, isNumber) = (0, nil, false)
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\""): break
            case UInt8(ascii: "="): isNumber = true
            case UInt8(ascii: "0")...UInt8(ascii: "9") where isNumber:
                // A day is as good as any number above it.
                number = min((number ?? 0) * 10 + Int64(byte - UInt8(ascii: "0")), 86_400)
            default:
                // A value that is no number makes the name none.
                name = isNumber ? .max : name << 8 | UInt64(byte.lowercased)
            }
        }
    }

    @inline(__always) private static func word(_ name: StaticString) -> UInt64 {
        name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    }

    /// Three quarters of the promised time, in nanoseconds, or `Int64.max` when none is promised.
    var idleNanoseconds: Int64 { timeout.map { $0 * 750_000_000 } ?? .max }
}
