import Basics
import JobSupport
import PushModel
import Replay
import Replays

/// The totals of a plan, for a person and for a script.
struct PlanSummary {
    let header: ReplayPlanHeader
    /// Some of its requests.
    let samples: [ReplayItem]
    let pace: ReplayPace
    let path: String

    var json: [UInt8] { ReplayReport(header, job: nil, now: 0).line(at: pace, samples: samples, path: path).bytes }

    /// Several lines, the last without its end.
    var text: String {
        let counts = header.counts
        let time = TimeText.length(milliseconds: pace.milliseconds(requests: counts.requests, calls: counts.calls))
        var lines = [
            "job         \(header.jobID)", "filter      \(Sanitised.line(header.filter))", "matched     \(counts.matched)",
            "eligible    \(counts.eligible)",
        ]
        for reason in Leftover.allCases {
            if let count = counts.left[reason], count > 0 {
                lines.append(reason.rawValue.padding(to: 12) + "\(count)  \(reason.explanation)")
            }
        }
        lines.append("requests    \(counts.requests), which become \(counts.calls) hub calls")
        for (code, count) in counts.repairsByCount {
            lines.append("repair      \(count) \(code.rawValue): \(code.repair ?? "")")
        }
        for (hub, count) in counts.unknownHubs.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "repair      \(count) name hub \(Sanitised.quoted(hub)), which is in no settings: --set hub=NAME names another")
        }
        lines.append(
            "time        about \(time) at \(Int(pace.rate)) requests a second, for one worker with"
                + " \(pace.callsAtOnce) calls at once of \(TimeText.length(milliseconds: pace.callTime.wholeMilliseconds)) each")
        lines.append("file        \(Sanitised.line(path))")
        return lines.joined(separator: "\n")
    }

    /// Some of what would be replayed.
    var sampleTable: Table {
        var table = Table("REQUEST", "ORIGIN", "PLATFORMS", "CALLS", "EXPIRES")
        for item in samples {
            table.add(
                item.requestID, item.place.description, item.platforms.joined(separator: ","), String(item.callCount),
                item.expiresAt ?? "-")
        }
        return table
    }
}
