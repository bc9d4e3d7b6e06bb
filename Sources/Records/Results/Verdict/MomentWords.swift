package import PushModel
package import ResultQuery

/// Moments and lengths as verdicts tell them: in one zone, beside the present.
package struct MomentWords: Sendable {
    private let now: Timestamp
    private let zone: LocalZone

    /// Words for moments, as people in a zone write them at a moment.
    package init(now: Timestamp, zone: LocalZone) { (self.now, self.zone) = (now, zone) }

    /// `14:05:12`, on another day `2026-11-28 14:05:12`. UTC is named, because few people live by it.
    package func second(_ moment: Timestamp) -> String { text(moment) }

    /// The same, without the seconds of a whole minute: `14:30`.
    package func minute(_ moment: Timestamp) -> String { text(moment, isShort: moment.milliseconds / 1000 % 60 == 0) }

    /// `in 12 min`.
    package func distance(to moment: Timestamp) -> String { "in " + Self.rough(max(0, moment.milliseconds(since: now))) }

    private func text(_ moment: Timestamp, isShort: Bool = false) -> String {
        let (local, today) = (self.local(moment), self.local(now))
        let clock = local.dropFirst(11).prefix(isShort ? 5 : 8)
        let day = local.prefix(10) == today.prefix(10) ? "" : "\(local.prefix(10)) "
        return day + clock + (zone.name == LocalZone.utc.name ? " UTC" : "")
    }

    private func local(_ moment: Timestamp) -> String { moment.adding(seconds: zone.secondsEast(at: moment.milliseconds)).text }

    /// A length that was measured: `35 ms`, `0.2 s`, `12 min`.
    package static func measured(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<100: return "\(max(0, milliseconds)) ms"
        case ..<59_950:
            let tenths = (milliseconds + 50) / 100
            return "\(tenths / 10).\(tenths % 10) s"
        default: return rough(milliseconds)
        }
    }

    /// A length that lies ahead: `40 s`, `12 min`, `3 h`, `5 d`.
    private static func rough(_ milliseconds: Int64) -> String {
        func rounded(_ unit: Int64) -> Int64 { milliseconds / unit + (milliseconds % unit * 2 >= unit ? 1 : 0) }
        switch milliseconds {
        case ..<59_500: return "\(rounded(1000)) s"
        case ..<7_170_000: return "\(rounded(60_000)) min"
        case ..<171_000_000: return "\(rounded(3_600_000)) h"
        default: return "\(rounded(86_400_000)) d"
        }
    }
}
