import Delivery
import JobSupport
import PushModel
import Results
import Settings

/// The list of `pushfan status --incidents`, which it reads from the topic of the history.
enum IncidentsListing {
    /// Reads the incidents of the last days, and writes them, the newest first.
    static func run(_ invocation: Invocation, with settings: Settings, in context: JobContext) throws(CommandFailure) -> ExitCode
    {
        let list = try invocation.perform(context.incidents(), with: settings)
        let now = context.now()
        let incidents = list?.incidents(since: now - IncidentList.span) ?? []
        var table = Table([
            "FROM", .init(title: "TO", spare: 2), .init(title: "KIND", spare: 1), .number("FAILED", isWide: true),
            .number("EXPIRED", isWide: true), .number("WAITED", isWide: true), "TEXT",
        ])
        for incident in incidents {
            table.add(
                Timestamp(milliseconds: incident.from).text,
                incident.lasts(at: now) ? "-" : Timestamp(milliseconds: incident.end).text, incident.kind.rawValue,
                incident.isOfAll ? "\(incident.failed)" : "-", incident.isOfAll ? "\(incident.expired)" : "-",
                "\(incident.waited)", incident.text(at: now))
        }
        try invocation.streams.out(invocation.arguments.format(), table, incidents.map { $0.json(at: now) })
        if list == nil {
            let topic = Sanitised.line(context.topics.history)
            invocation.streams.note(
                "there is no topic \(topic), where gateways write incidents; \(CommandFailure.missingTopicHint)")
        }
        let lasting = incidents.count { $0.lasts(at: now) }
        let counted = Counted.text(incidents.count, "incident", "incidents")
        invocation.streams.note("\(counted) in 14 days, of which \(lasting) \(lasting == 1 ? "lasts" : "last")")
        return .done
    }
}
