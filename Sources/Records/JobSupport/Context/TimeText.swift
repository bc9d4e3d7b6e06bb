package import PushModel
import ResultQuery

/// Lengths of time and moments, as people write and read them.
package enum TimeText {
    /// Reads `250ms`, `30s`, `15m`, `1h`, `7d`, or several in a row such as `1h30m`, or nil for anything else.
    package static func duration(_ text: String) -> Duration? {
        TimeWords.milliseconds(text).map { .milliseconds($0) }
    }

    /// `120 ms`, `1.5 s`, `2 min 5 s`.
    package static func length(milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1000: "\(milliseconds) ms"
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        default: "\(milliseconds / 60_000) min \(milliseconds % 60_000 / 1000) s"
        }
    }

    /// `40 s`, `12 min`, `3 h 5 min`, `6 d 3 h`.
    package static func rough(milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        return switch minutes {
        case 0: "\(milliseconds / 1000) s"
        case ..<60: "\(minutes) min"
        case ..<1440: "\(minutes / 60) h" + (minutes % 60 == 0 ? "" : " \(minutes % 60) min")
        default: "\(minutes / 1440) d" + (minutes / 60 % 24 == 0 ? "" : " \(minutes / 60 % 24) h")
        }
    }
}

extension Timestamp {
    /// `3.2 s ago`, `in 4.0 s`.
    package func distance(from now: Timestamp) -> String {
        let distance = milliseconds(since: now)
        let length = TimeText.length(milliseconds: abs(distance))
        return distance > 0 ? "in \(length)" : "\(length) ago"
    }
}
