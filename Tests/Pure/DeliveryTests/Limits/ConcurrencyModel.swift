import Basics
import Delivery
import TestSupport

/// A worker with much to do and a hub with so many places, in which calls beyond them queue, on a clock of their own.
struct ConcurrencyModel {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000

    /// How a hub is at a moment.
    struct Hub {
        /// Calls that it works on at once.
        var places: Int
        /// How long it works on one, nanoseconds.
        var work: Int64
        /// How that varies.
        var jitter = Jitter.none
        /// Whether it does not answer at all.
        var isOut = false
        /// Calls lost by chance, one of so many; 0 for none.
        var lossEvery = 0
        /// Calls under way from which on it refuses more.
        var refusesFrom = Int.max
    }

    enum Jitter {
        /// Every call takes the same time.
        case none
        /// From half to one and a half of it.
        case even
        /// Exponential: most are shorter, some are many times as long.
        case wild
    }

    private(set) var limit: ConcurrencyLimit
    private(set) var now: Int64 = 0
    /// The limit, once every 10 ms.
    private(set) var limits: [(at: Int64, limit: Int)] = []
    /// When answers came.
    private(set) var answers: [Int64] = []
    private(set) var lostCount = 0
    /// The calls under way, and when the hub will have worked on those that it has; the next to end first.
    private var calls: [(startedAt: Int64, end: Int64, isLost: Bool)] = []
    private var freeAt: [Int64] = []
    private var random: SeededRandom
    private let timeout: Int64

    init(_ limit: ConcurrencyLimit, seed: Int, timeout: Int64 = 10 * second) {
        self.limit = limit
        self.timeout = timeout
        random = SeededRandom(seed)
    }

    /// Lets time pass until `end`, with at most `demand` calls to be made at once.
    mutating func run(until end: Int64, demand: Int = .max, _ hub: (Int64) -> Hub) {
        while now < end {
            endCalls()
            while calls.count < min(limit.limit, demand) { start(hub(now)) }
            let sample = limits.last.map { $0.at + 10 * Self.millisecond } ?? 0
            if now >= sample { limits.append((now, limit.limit)) }
            let next = calls.first?.end ?? end
            now = max(now + 1, min(next, end))
        }
    }

    private mutating func start(_ hub: Hub) {
        var (end, isLost) = (now + timeout, true)
        if calls.count >= hub.refusesFrom {
            end = now + Self.millisecond
        } else if !hub.isOut {
            let answer = answerTime(hub)
            isLost = answer > now + timeout || hub.lossEvery > 0 && random.below(hub.lossEvery) == 0
            end = min(answer, now + timeout)
        }
        let place = 1 + (calls.lastIndex { $0.end <= end } ?? -1)
        calls.insert((now, end, isLost), at: place)
        limit.started(inFlight: calls.count)
    }

    /// When the hub answers a call that comes now: first come, first served.
    private mutating func answerTime(_ hub: Hub) -> Int64 {
        freeAt.removeFirst(freeAt.firstIndex { $0 > now } ?? freeAt.count)
        let begin = freeAt.count >= hub.places ? freeAt[freeAt.count - hub.places] : now
        let share: Double =
            switch hub.jitter {
            case .none: 1
            case .even: Double.random(in: 0.5...1.5, using: &random)
            case .wild: Self.exponential(Double.random(in: 0...1, using: &random))
            }
        let end = begin + max(1, Int64(Double(hub.work) * share))
        freeAt.insert(end, at: 1 + (freeAt.lastIndex { $0 <= end } ?? -1))
        return end
    }

    /// The exponential distribution's quantile, by the series of the logarithm: -ln(1 - p), p below 1.
    private static func exponential(_ p: Double) -> Double {
        let q = min(p, 0.999)
        var (sum, power) = (0.0, 1.0)
        for place in 1...500 {
            power *= q
            sum += power / Double(place)
            if power < 1e-3 { break }
        }
        return sum
    }

    private mutating func endCalls() {
        let endedCount = calls.firstIndex { $0.end > now } ?? calls.count
        for call in calls[..<endedCount] {
            limit.noteEnd(startedAt: .at(call.startedAt), now: .at(now), isLost: call.isLost)
            if call.isLost { lostCount += 1 } else { answers.append(now) }
        }
        calls.removeFirst(endedCount)
    }

    /// The mean of the limit from `start` on.
    func meanLimit(from start: Int64) -> Double {
        let seen = limits.filter { $0.at >= start }
        return Double(seen.reduce(0) { $0 + $1.limit }) / Double(max(seen.count, 1))
    }

    /// Answers per second from `start` to before `end`.
    func throughput(from start: Int64, to end: Int64) -> Double {
        Double(answers.count { $0 >= start && $0 < end }) * Double(Self.second) / Double(end - start)
    }
}
