package import Delivery
package import Groups
import ResultQuery

/// The place at which a group without a position begins.
package enum StartPlace: Sendable, Equatable {
    /// The place at which workers with this rule (`kafka.start`) begin: the beginning, the end, or the first record since a time.
    case rule(StartRule)
    /// With the first record of which it is not known that workers are done with it.
    case finished

    /// Reads a word, a moment, or how long ago it was: `15m`, `now-15m`. Other texts give nil.
    package init?(_ text: String, now: Int64) {
        switch text {
        case "beginning": self = .rule(.beginning)
        case "end": self = .rule(.end)
        case "finished": self = .finished
        default:
            let isLength = text.hasPrefix("now-")
            let words = isLength ? String(text.dropFirst("now-".count)) : text
            guard !isLength || TimeWords.milliseconds(words) != nil,
                let moment = TimeWords.moment(words, now: now, isPast: true)
            else { return nil }
            self = .rule(.moment(moment))
        }
    }
}

extension StartRule {
    /// The offset at which this rule begins in a partition, or nil where it leaves it to an operator. `since` is the first offset
    /// that is not older than the rule's time.
    package func offset(in position: GroupPosition, since: Int64?) -> Int64? {
        guard case .offset(let offset) = decision(low: position.low, high: position.high, since: since) else { return nil }
        return min(max(offset, position.low), position.high)
    }
}
