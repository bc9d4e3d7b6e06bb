import Delivery
import Groups
import JobSupport
import PushModel
import Settings

/// The commands `hold` and `limit`.
enum GiveOrderCommand {
    static func hold(_ invocation: Invocation) throws(CommandFailure) -> ExitCode { try give(.hold, by: invocation) }

    static func limit(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let limits = OrderRecord.limits
        guard let text = invocation.arguments.operands.first else {
            throw .usage("how many calls a second? give \(limits.lowerBound) to \(limits.upperBound)")
        }
        let rate = Int(text)
        if rate == 0 { throw .usage("a limit of 0 is a hold", hint: "use `pushfan hold`") }
        guard let rate, limits.contains(rate) else {
            throw .usage(
                "\(Sanitised.quoted(text)) is no limit; expected \(limits.lowerBound) to \(limits.upperBound) calls a second")
        }
        return try give(.limit(callsPerSecond: rate), by: invocation)
    }

    private static func give(_ kind: OrderRecord.Kind, by invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        let order = try order(kind, of: invocation)
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        try checkRoom(for: order, by: invocation, settings: settings, context: context)
        try invocation.write(order, settings: settings, context: context)
        try invocation.streams.out([order], as: arguments.format(), at: order.since)
        try invocation.streams.flush()
        invocation.streams.note(
            "\(order.id) \(order.sentence) until \(order.until.text); `pushfan release \(order.id)` ends it before")
        guard arguments.has("wait") else {
            // Of no use to who may not read reports.
            let reach = (try? context.reach(of: order.id, within: .zero)) ?? OrderReach()
            for note in notes(reach, on: order, by: settings) { invocation.streams.note(note) }
            return .done
        }
        let reach = try invocation.perform(context.reach(of: order.id, within: context.timeout), with: settings)
        guard let reach else {
            throw CommandFailure(
                .failed, "it is written, but there is no topic \(context.topics.status), on which workers say that they obey",
                hint: CommandFailure.missingTopicHint)
        }
        for note in notes(reach, on: order, by: settings) { invocation.streams.note(note) }
        invocation.streams.note(reach.progressText)
        guard reach.pending.isEmpty else { return Interruption.isRequested ? .interrupted : .temporary }
        return reach.ignorant.isEmpty ? .done : .partlyFailed
    }

    /// Fails where as many orders stand as may: no worker would obey another one. Who may not read the topic is not asked.
    private static func checkRoom(
        for order: OrderRecord, by invocation: Invocation, settings: Settings, context: JobContext
    ) throws(CommandFailure) {
        guard var book = try? invocation.orderBook(settings, context: context) else { return }
        guard book.orders.take(order, now: Timestamp(milliseconds: invocation.surroundings.now())) == .tooMany else { return }
        throw CommandFailure(
            .failed, "as many holds and limits stand as may, and no worker would obey another one",
            hint: "`pushfan holds` lists them, `pushfan release ID` ends one")
    }

    private static func notes(_ reach: OrderReach, on order: OrderRecord, by settings: Settings) -> [String] {
        let known = reach.hubs.union(settings.allHubs.compactMap(\.routeName))
        let hubNote = order.scope.hub.flatMap { known.contains($0) ? nil : OrderReach.unknownHubText($0) }
        return [hubNote].compactMap(\.self) + reach.warnings(topic: settings.kafka.topics.control)
    }

    private static func order(_ kind: OrderRecord.Kind, of invocation: Invocation) throws(CommandFailure) -> OrderRecord {
        let scope = try ScopeFlags.requiredScope(invocation.arguments)
        let terms = try OrderTerms(invocation.arguments, now: invocation.surroundings.now(), user: invocation.userAtHost)
        var generator = SystemRandomNumberGenerator()
        let order = OrderRecord(
            id: OrderRecord.makeID(kind, using: &generator), kind: kind, scope: scope, reason: terms.reason,
            author: terms.author, since: terms.since, until: terms.until)
        do throws(OrderRecord.Fault) { try order.check() } catch { throw .usage("no worker would obey it: \(error.sentence)") }
        return order
    }
}
