import Basics
import EventLoop
import Glibc
import Intake
import JobSupport
import Publishing
import PushModel
import Replay
import Replays
import ResultQuery
import Settings

/// `pushfan replay plan`.
enum PlanCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        Interruption.catchSignals()
        let summary = try plan(invocation)
        let (header, path) = (summary.header, summary.path)
        if invocation.arguments.format() == .table {
            try invocation.streams.out(summary.text)
            if !summary.samples.isEmpty {
                try invocation.streams.out("\nTen of them, or fewer:")
                try invocation.streams.out(.table, summary.sampleTable, [])
            }
            if !header.counts.left.isEmpty {
                invocation.streams.note("`pushfan replay leftovers \(Sanitised.word(path))` lists what is left, and why")
            }
        } else {
            try invocation.streams.out(summary.json + [UInt8(ascii: "\n")])
        }
        guard header.counts.requests > 0 else { throw CommandFailure(.nothingMatched, "there is nothing to replay") }
        invocation.streams.note("`pushfan replay run \(Sanitised.word(path))` does it; nothing was done yet")
        return .done
    }

    /// Makes the plan that flags and operands ask for, and its file.
    static func plan(_ invocation: Invocation) throws(CommandFailure) -> PlanSummary {
        let arguments = invocation.arguments
        let settings = try invocation.settings()
        var context = invocation.jobContext(settings, timeout: try invocation.timeout())
        let limit = try arguments.integer("limit", in: 1...100_000_000) ?? 1_000_000
        let now = invocation.surroundings.now()
        let (filter, exceptions) = try filter(invocation, now: now)
        var generator = SystemRandomNumberGenerator()
        var identifiers = RequestIdentifier()
        var header = ReplayPlanHeader(
            jobID: identifiers.next(now: now, using: &generator), createdAt: Timestamp(milliseconds: now),
            filter: filter.description, actor: try actor(invocation))
        header.reason = try reason(invocation) ?? ""
        try RunCommand.requireReason(header)
        header.includesAmbiguous = arguments.has("include-ambiguous")
        header.exceptions = exceptions
        header.expiry = try expiry(arguments, now: now)
        header.edits = arguments.values("set")
        let edits = try invocation.perform(header.manner(), with: nil).edits
        let hubs = settings.hubNames
        try requireHub(edits, among: hubs)
        let path = arguments.value("file") ?? "replay-\(header.jobID).ndjson"
        context.hubNames = hubs
        let maker = try invocation.perform(settings) { () throws(JobFailure) in
            var maker = try PlanMaker(context, planning: settings.planning(), header: header, path: path)
            try maker.plan(filter, limit: limit)
            return maker
        }
        return PlanSummary(
            header: maker.header, samples: maker.samples, pace: try pace(invocation, settings), path: path)
    }

    /// Fails where a change names a hub that is in no settings.
    static func requireHub(_ edits: [RequestEdit], among hubs: HubNames?) throws(CommandFailure) {
        guard let hubs, let edit = edits.last(where: { $0.path == ["hub"] }), let name = hubs.unknown(edit.text) else { return }
        throw .usage(
            "--set: hub \(Sanitised.quoted(name)) is in no settings",
            hint: Spelling.nearest(to: name, among: hubs.all).map { "did you mean \($0)?" }
                ?? "hubs: \(hubs.all.joined(separator: ", "))")
    }

    /// The filter of the command line, or that of a plan whose leftovers are meant, and what its author named that is else left out.
    private static func filter(
        _ invocation: Invocation, now: Int64
    ) throws(CommandFailure) -> (ResultFilter, ReplayPlanHeader.Exceptions) {
        let filter: ResultFilter
        let exceptions: ReplayPlanHeader.Exceptions
        if let path = invocation.arguments.value("leftovers") {
            guard invocation.arguments.operands.isEmpty else {
                throw .usage("--leftovers takes the filter of the plan; give one of the two")
            }
            let earlier = try invocation.perform(ReplayPlanReader(path), with: nil).header
            guard earlier.source == .results else {
                throw .usage("--leftovers: `pushfan replay deadletter` finds what it has left itself")
            }
            let moment = earlier.createdAt.text
            filter = try invocation.filter([earlier.filter] + (earlier.filter.contains("until:") ? [] : ["until:\(moment)"]))
            exceptions = earlier.exceptions
        } else {
            filter = try invocation.filter(invocation.arguments.operands)
            exceptions = ReplayPlanHeader.Exceptions(of: filter)
        }
        guard !filter.asksForOpen else {
            throw .usage(
                "the filter asks for requests that have no result yet, of which there is nothing to replay",
                hint: "`pushfan results list` lists them")
        }
        return (PlanMaker.narrowed(filter), exceptions)
    }

    /// The user who replays: the flag, else the user.
    static func actor(_ invocation: Invocation) throws(CommandFailure) -> String {
        let user = Self.user(of: invocation.surroundings.environment, account: ProcessAccount.name)
        let name = invocation.arguments.value("actor") ?? user ?? "uid \(getuid())"
        guard (1...128).contains(name.unicodeScalars.count) else { throw .usage("--actor: 1 to 128 characters are allowed") }
        return name
    }

    /// The user that the environment names, else the process's account, or nil without either.
    static func user(of environment: [String: String], account: String?) -> String? {
        [environment["USER"], environment["LOGNAME"], account].compactMap(\.self).first { !$0.isEmpty }
    }

    static func reason(_ invocation: Invocation) throws(CommandFailure) -> String? {
        guard let reason = invocation.arguments.value("reason") else { return nil }
        guard (1...512).contains(reason.unicodeScalars.count) else { throw .usage("--reason: 1 to 512 characters are allowed") }
        guard !reason.allSatisfy(\.isWhitespace) else { throw .usage("--reason: it must say something") }
        return reason
    }

    private static func expiry(_ arguments: Arguments, now: Int64) throws(CommandFailure) -> NewExpiry? {
        if let life = try arguments.duration("ttl") {
            guard arguments.value("expires-at") == nil else {
                throw .usage("--ttl and --expires-at say the same; give one of the two")
            }
            guard (1...2_419_200).contains(life.components.seconds) else { throw .usage("--ttl: expected 1s to 28d") }
            return .life(seconds: life.components.seconds)
        }
        guard let text = arguments.value("expires-at") else { return nil }
        guard let moment = TimeWords.moment(text, now: now, isPast: false), moment.milliseconds > now else {
            throw .usage("--expires-at: \(Sanitised.quoted(text)) is no time to come; expected 2026-11-21T17:00:00Z or 2h")
        }
        return .moment(moment)
    }

    /// The pace at which the plan would be run.
    static func pace(_ invocation: Invocation, _ settings: Settings) throws(CommandFailure) -> ReplayPace {
        ReplayPace(
            rate: try rate(invocation), callsAtOnce: settings.worker.maxInFlight,
            callTime: try invocation.arguments.duration("call-time") ?? .milliseconds(100))
    }

    /// Requests a second.
    static func rate(_ invocation: Invocation) throws(CommandFailure) -> Double {
        guard let text = invocation.arguments.value("rate") else { return 500 }
        guard let rate = Double(text), rate > 0, rate <= 1e6 else {
            throw .usage("--rate: \(Sanitised.quoted(text)) is no number that is allowed; expected requests a second")
        }
        return rate
    }
}

extension Settings {
    /// The names of all hubs, or nil where these settings have one hub or none. Workers may have more than that.
    fileprivate var hubNames: HubNames? {
        guard let sketch = try? workerSketch(), sketch.isWhole, sketch.hubs.count > 1 else { return nil }
        return HubNames(sketch.routes, names: sketch.hubs.map(\.name), areWhole: true)
    }
}
