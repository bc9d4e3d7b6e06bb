import JobSupport
import PushModel
package import ResultQuery

// Its words, and the failures of its time.
extension Incident {
    /// The results that failed within it.
    ///
    /// - Parameter now: The present, in milliseconds since 1970.
    /// - Returns: The filter, or nil where nothing was watched.
    package func failures(at now: Int64) -> ResultFilter? {
        var filter = ResultFilter()
        switch kind {
        case .hubDown, .hubThrottled, .hubUnauthorized: filter.require(.hub, among: [subject])
        case .tenantLimited: filter.require(.tenant, among: [subject])
        case .sourceLimited: filter.require(.source, among: [subject])
        case .kafkaAway, .workerLost, .noWorker: break
        case .unwatched: return nil
        }
        filter.add(since: from)
        if !lasts(at: now) { filter.add(until: end.addingSaturated(1)) }
        return filter
    }

    /// As JSON.
    ///
    /// - Parameters:
    ///   - now: The present, in milliseconds since 1970.
    ///   - open: The failures of its time that are open, or nil where they were not counted.
    /// - Returns: One object.
    package func json(at now: Int64, open: Int? = nil) -> [UInt8] {
        let lasts = lasts(at: now)
        return JSONObject([
            "id": id, "kind": kind.rawValue, "subject": subject, "from": Timestamp(milliseconds: from).text,
            "to": lasts ? nil : Timestamp(milliseconds: end).text, "seconds": Int(length(at: now) / 1000),
            "failed": isOfAll ? failed : nil, "expired": isOfAll ? expired : nil, "waited": waited, "open": open, "cause": cause,
            "filter": failures(at: now)?.description, "text": text(at: now),
        ]).bytes
    }

    /// The time without its sign after which one that lasts says so, 5 s in milliseconds.
    private static let quiet: Int64 = 5000

    /// True if it has shown no sign for some seconds, and may be over.
    private func isQuiet(at now: Int64) -> Bool { lasts(at: now) && seen - lasted > Self.quiet }

    /// The time from its beginning to its end, or to the last look while it lasts.
    private func length(at now: Int64) -> Int64 { lasts(at: now) && !isQuiet(at: now) ? seen : lasted }

    /// `Hub shop was throttled (429) for 12 min; meanwhile 340 requests waited, 12 expired in all.`
    package func text(at now: Int64) -> String {
        let (past, present) = words
        let isQuiet = isQuiet(at: now)
        let sentence =
            "\(lasts(at: now) && !isQuiet ? present : past) for \(Self.length(length(at: now)))"
            + (isQuiet ? ", and has shown no trouble for \(Self.length(seen - lasted))" : "")
        let parts = [
            waited > 0 ? Counted.text(waited, "request waited", "requests waited") : nil,
            isOfAll && failed > 0 ? "\(failed) failed" : nil,
            isOfAll && expired > 0 ? "\(expired) expired" : nil,
        ].compactMap { $0 }
        if kind == .unwatched { return sentence + ": no gateway ran, and what happened then is in no incident." }
        guard !parts.isEmpty else { return sentence + "." }
        let counts = parts.joined(separator: ", ")
        // Other hubs and workers may have had a part in it.
        return switch kind {
        case .hubDown, .hubThrottled, .hubUnauthorized, .workerLost: "\(sentence); meanwhile \(counts) in all."
        default: "\(sentence): \(counts)."
        }
    }

    /// Its beginning in words once it is over, and while it lasts.
    private var words: (past: String, present: String) {
        switch kind {
        case .hubDown: ("Hub \(subject) was down", "Hub \(subject) has been down")
        case .hubThrottled: ("Hub \(subject) was throttled (429)", "Hub \(subject) has been throttled (429)")
        case .hubUnauthorized: ("Hub \(subject) refused the key", "Hub \(subject) has refused the key")
        case .kafkaAway: ("Kafka was away", "Kafka has been away")
        case .workerLost: ("Worker \(subject) was lost", "Worker \(subject) has been lost")
        case .noWorker: ("No worker reported", "No worker has reported")
        case .tenantLimited: ("Tenant \(subject) was held to its rate", "Tenant \(subject) has been held to its rate")
        case .sourceLimited: ("Source \(subject) was held to its rate", "Source \(subject) has been held to its rate")
        case .unwatched: ("Nothing was watched", "Nothing has been watched")
        }
    }

    /// `45 s`, `2 min 42 s`, `12 min`, `3 h 5 min`, `2 d 4 h`.
    private static func length(_ milliseconds: Int64) -> String {
        let (seconds, minutes) = (milliseconds / 1000, milliseconds / 60_000)
        return switch minutes {
        case ..<2: "\(seconds) s"
        case ..<10 where seconds % 60 > 0: "\(minutes) min \(seconds % 60) s"
        case ..<60: "\(minutes) min"
        case ..<1440: "\(minutes / 60) h \(minutes % 60) min"
        default: "\(minutes / 1440) d \(minutes % 1440 / 60) h"
        }
    }
}
