import Delivery
import Feedback
import HubAuth
import HubREST
import JobSupport
import Outcomes
import PushModel
import ResultQuery
import Settings

extension Command {
    static let handlesCollect = Command(
        "handles collect", .operators, "List the dead device handles that the hub's feedback names",
        examples: [
            "pushfan handles collect --dry-run",
            "pushfan handles collect",
            "pushfan handles collect --since 7d -o ndjson",
        ],
        groups: [
            .selection([
                Flag("hub", "NAME", "The hub, where there are several; the first by default"),
                Flag("since", "TIME", "Leave blobs that were written last before then: 2d, 2026-11-21"),
                Flag("dry-run", nil, "Read, and write nothing"),
                .timeout("30s", "How long Kafka, the hub and its storage may each take"),
            ]),
            .output(), .kafka(topics: ["handles", "replays"]),
        ],
        readOn: "pushfan help outcomes, settings, exit-codes", run: HandlesCommand.run)
}

enum HandlesCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let now = invocation.surroundings.now
        let since = try since(invocation, now())
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        guard let hub = settings.hub(named: invocation.arguments.value("hub")) else {
            let names = settings.allHubs.compactMap(\.routeName).joined(separator: ", ")
            throw .usage("--hub: there is no such hub; there are \(names)")
        }
        let container = try container(of: hub, settings: settings, context: context, invocation: invocation)
        let blobs = try invocation.perform(container.blobs(), with: nil)
            .filter { ($0.modified?.milliseconds ?? .max) >= since }
        let isDry = invocation.arguments.has("dry-run")
        var collection = try invocation.perform(FeedbackCollection(of: container, isDry: isDry, context: context), with: settings)
        var progress = ProgressPace(invocation.streams)
        let ending = Result<Void, CommandFailure> { () throws(CommandFailure) in
            try invocation.perform(settings) { () throws(JobFailure) in
                try collection.read(blobs) { count, collection in
                    progress.show {
                        "\(count) of \(blobs.count) blobs, \(collection.entries) entries, \(collection.handles) dead handles"
                    }
                }
            }
        }
        progress.end()
        // The part that was committed before the trouble is reported, too.
        try report(collection, of: blobs.count, settings, invocation)
        if case .failure(let failure) = ending { throw failure }
        if collection.isInterrupted {
            invocation.streams.note("interrupted; the same command goes on where it stopped")
            return Interruption.exitCode
        }
        return collection.rows.contains { $0.problem != nil } ? .partlyFailed : .done
    }

    private static func since(_ invocation: Invocation, _ now: Int64) throws(CommandFailure) -> Int64 {
        guard let text = invocation.arguments.value("since") else { return .min }
        guard let moment = TimeWords.moment(text, now: now, isPast: true) else {
            throw .usage(
                "--since: \(Sanitised.quoted(text)) is no moment; expected one such as 2d, 2026-11-21 or 2026-11-21T17:00Z")
        }
        return moment.milliseconds
    }

    private static func container(
        of hub: HubSettings, settings: Settings, context: JobContext, invocation: Invocation
    ) throws(CommandFailure) -> FeedbackContainer {
        let configuration: HubConfiguration
        do throws(SettingsError) {
            configuration = try settings.hubConfiguration(of: hub)
        } catch {
            throw CommandFailure(error)
        }
        return try invocation.perform { () throws(JobFailure) in
            try FeedbackContainer(
                of: configuration, name: hub.routeName ?? configuration.hub.text,
                connections: settings.connections(to: configuration.endpoint, like: hub),
                userAgent: "pushfan/\(Program.version)", context: context)
        }
    }

    private static func report(
        _ collection: FeedbackCollection, of count: Int, _ settings: Settings, _ invocation: Invocation
    ) throws(CommandFailure) {
        var table = Table(["BLOB", .number("BYTES"), .number("ENTRIES"), .number("HANDLES"), .number("UNREADABLE"), "TROUBLE"])
        for row in collection.rows {
            table.add([
                "blob": row.blob, "bytes": Int(row.byteCount), "entries": row.entries, "handles": row.handles,
                "unreadable": row.unreadable, "trouble": row.problem,
            ])
        }
        if !invocation.arguments.format().isForPeople || !collection.rows.isEmpty { try invocation.out(table) }
        let verb = invocation.arguments.has("dry-run") ? "would be written" : "written"
        invocation.streams.note(
            "\(Counted.text(collection.handles, "dead handle", "dead handles")) \(verb) to \(settings.kafka.topics.handles); "
                + "\(collection.rows.count) of \(count) blobs have something new")
    }
}
