import Delivery
import Groups
import JobSupport
import PushModel

/// The command `holds`.
enum HoldsCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let book = try invocation.orderBook(settings, context: context)
        let (streams, topic) = (invocation.streams, Sanitised.line(context.topics.control))
        let now = Timestamp(milliseconds: invocation.surroundings.now())
        let isWhole = invocation.arguments.has("history")
        try streams.out(orders(of: book, at: now, withHistory: isWhole), as: invocation.arguments.format(), at: now)
        if !book.hasTopic {
            streams.note("there is no topic \(topic), so nothing is held, and nothing can be; \(CommandFailure.missingTopicHint)")
        }
        for (offset, fault) in book.faulty {
            streams.note(
                "\(topic), partition \(OrderRecord.partition), offset \(offset): an order that no worker obeys: \(fault.sentence)"
            )
        }
        let standing = book.orders.all.count { $0.word != "cancel" }
        streams.note(Counted.text(standing, "hold or limit stands", "holds or limits stand"))
        return .done
    }

    /// The orders of the list, the newest first.
    private static func orders(of book: OrderBook, at now: Timestamp, withHistory isWhole: Bool) -> [OrderRecord] {
        let history = book.orders.history
        return isWhole ? history : history.filter { $0.stands(at: now) && $0.word != "cancel" }
    }
}
