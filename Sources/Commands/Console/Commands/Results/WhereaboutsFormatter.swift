import Groups
import JobSupport
import Kafka
import PushModel
import Results

extension WhereaboutsReport {
    private var problems: [String] { gaps.map { $0.text(brokers: brokers) } }
    /// The report as one JSON object.
    var json: [UInt8] { json(describing: { $0.text(brokers: brokers) }) }
    private var request: WaitingRequest? { whereabouts.found?.request }

    /// Several lines, the last without its end.
    var text: String {
        var lines = ["request    \(Sanitised.line(id))", "state      no result yet: \(Sanitised.line(sentence))"]
        if let origin = whereabouts.origin {
            lines.append(
                "published  \(origin.timestamp.text) to \(Sanitised.line(origin.topic)), partition \(origin.partition), "
                    + "offset \(origin.offset)")
        }
        if let sighting = whereabouts.found {
            let side =
                sighting.offset < sighting.position ? "beyond it" : sighting.offset == sighting.position ? "at it" : "before it"
            lines.append("group      goes on at offset \(sighting.position) of \(sighting.partition), and is \(side)")
        }
        if let cancelledAt {
            lines.append("cancelled  \(cancelledAt.text); \(ending)")
        }
        lines += extents.map { "searched   \($0.text)" }
        lines += problems.map { "unsearched \(Sanitised.line($0))" }
        return lines.joined(separator: "\n")
    }

    private var sentence: String {
        if let divided = whereabouts.divided {
            let (ended, verb) = (divided.endedCount, divided.endedCount == 1 ? "has" : "have")
            guard let count = divided.count else { return "divided into parts, of which at least \(ended) \(verb) a result" }
            return "divided into \(Counted.text(count, "part", "parts")), of which \(ended) \(verb) a result"
        }
        guard let sighting = whereabouts.found else {
            return "unknown; no record of it is in what was searched"
        }
        let place = "\(sighting.partition.topic), partition \(sighting.partition.partition), offset \(sighting.offset)"
        let due = request?.due.map { ", due \($0.text) (\($0.distance(from: now)))" } ?? ""
        return switch whereabouts.state {
        case .published: "published, and not read yet"
        case .inWork: "in work; a worker has read it at \(place)"
        case .delayed: "waits in \(place)\(due)"
        case .held: "is held behind its ordering key in \(place)"
        case .done, .unknown, .inParts:
            "the group is done with it at \(place), and its result is not in what was searched"
        }
    }

    /// The same as a row.
    var table: Table {
        var table = Table("REQUEST", "STATE", "TOPIC", "PARTITION", "OFFSET", "DUE", "PUBLISHED", "CANCELLED")
        let sighting = whereabouts.found
        table.add(
            id, whereabouts.state.rawValue, sighting?.partition.topic ?? "-",
            sighting.map { "\($0.partition.partition)" } ?? "-", sighting.map { "\($0.offset)" } ?? "-",
            request?.due?.text ?? "-",
            whereabouts.origin?.timestamp.text ?? "-", cancelledAt?.text ?? "-")
        return table
    }
}

extension WhereaboutsReport.Extent {
    /// `push.requests.v1: the newest 20000 of 31000 offsets`.
    var text: String {
        let name = Sanitised.line(topic)
        return searched == total
            ? "\(name): \(Counted.text(total, "offset", "offsets")) (all)" : "\(name): the newest \(searched) of \(total) offsets"
    }
}
