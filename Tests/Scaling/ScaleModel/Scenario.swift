/// A day of demand and of the hub, from 04:00 to 04:00. Moments are seconds since midnight.
package struct Scenario: Sendable {
    /// A disturbance and its time.
    package enum Event: Sendable, Equatable {
        /// So many requests for single users, published evenly.
        case broadcast(Double)
        /// The hub's calls hang. Another hub keeps the workers ready, or none.
        case outage(hasOther: Bool)
        /// Calls that take so many times as long.
        case slowHub(Double)
        /// 429 beyond so many calls a second.
        case hubLimit(Double)
        /// `hub.rate_limit`.
        case rateLimit(Double)
        /// So many requests of one ordering key, published evenly.
        case oneKey(Double)

        /// True if more workers would change nothing.
        var isFutile: Bool {
            switch self {
            case .broadcast, .slowHub: false
            case .outage, .hubLimit, .rateLimit, .oneKey: true
            }
        }
    }

    package static let dayStart = 4 * 3600
    package static let dayEnd = dayStart + 86_400

    package let name: String
    package let events: [(event: Event, from: Int, to: Int)]

    /// The days that a rule has to pass.
    package static let all: [Scenario] = {
        let broadcast = (Event.broadcast(1_000_000), 34_200, 34_260)
        let outage = (Event.outage(hasOther: false), 36_900, 39_300)
        let slow = (Event.slowHub(5), 50_400, 54_000)
        let limit = (Event.hubLimit(1000), 55_800, 59_400)
        return [
            Scenario(name: "ordinary day", events: []),
            Scenario(name: "broadcast", events: [broadcast]),
            Scenario(name: "outage", events: [outage]),
            Scenario(name: "one of two", events: [(.outage(hasOther: true), 36_900, 39_300)]),
            Scenario(name: "slow hub, ×5", events: [slow]),
            Scenario(name: "slow hub, ×3", events: [(.slowHub(3), 59_400, 63_000)]),
            Scenario(name: "hub's limit", events: [limit]),
            Scenario(name: "rate limit", events: [(.rateLimit(1000), 55_800, 59_400)]),
            Scenario(name: "one key", events: [(.oneKey(9000), 54_000, 54_600)]),
            Scenario(name: "all in one", events: [broadcast, outage, limit, slow]),
        ]
    }()

    /// Requests in a second, before chance: 150 at night, 2,200 by day.
    func demand(at second: Int) -> Double {
        let hour = Double(second % 86_400) / 3600
        let part: Double =
            switch hour {
            case 6..<9: (hour - 6) / 3
            case 9..<16: 1
            case 16..<22: 1 - (hour - 16) / 6
            default: 0
            }
        return 150 + 2050 * part + published(at: second, keyed: false)
    }

    /// Requests of one ordering key in a second.
    func keyedDemand(at second: Int) -> Double { published(at: second, keyed: true) }

    private func published(at second: Int, keyed: Bool) -> Double {
        var sum = 0.0
        for (event, from, to) in events where (from..<to).contains(second) {
            switch event {
            case .broadcast(let count) where !keyed: sum += count / Double(to - from)
            case .oneKey(let count) where keyed: sum += count / Double(to - from)
            case .broadcast, .oneKey, .outage, .slowHub, .hubLimit, .rateLimit: break
            }
        }
        return sum
    }

    func hub(at second: Int) -> HubCondition {
        var condition = HubCondition()
        for (event, from, to) in events where (from..<to).contains(second) {
            switch event {
            case .outage(let hasOther):
                condition.isOut = true
                condition.hasOther = hasOther
            case .slowHub(let factor): condition.callSeconds *= factor
            case .hubLimit(let ceiling): condition.ceiling = ceiling
            case .rateLimit(let rate): condition.rate = rate
            case .broadcast, .oneKey: break
            }
        }
        return condition
    }
}
