import Delivery
import Groups
import JobSupport
import PushModel

/// The command `release`.
enum ReleaseCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        guard let id = arguments.operands.first else {
            throw .usage("which hold or limit? give its id", hint: "`pushfan holds` lists those that stand")
        }
        let reason = try OrderTerms.reason(arguments)
        let author = try OrderTerms.author(arguments, user: invocation.userAtHost)
        let (settings, context) = try invocation.job()
        Interruption.catchSignals()
        let book = try invocation.orderBook(settings, context: context)
        guard book.hasTopic else {
            throw CommandFailure(
                .failed, "there is no topic \(context.topics.control), which has the orders",
                hint: CommandFailure.missingTopicHint)
        }
        let now = Timestamp(milliseconds: invocation.surroundings.now())
        var order = try order(id, of: book, at: now)
        order.release = OrderRecord.Release(at: now, author: author, reason: reason)
        try invocation.write(order, settings: settings, context: context)
        try invocation.streams.out([order], as: arguments.format(), at: now)
        invocation.streams.note("\(order.id) is released, and \(Sanitised.line(order.scope.text)) goes on at its usual rate")
        return .done
    }

    /// The one with an id that stands.
    private static func order(_ id: String, of book: OrderBook, at now: Timestamp) throws(CommandFailure) -> OrderRecord {
        let hint = "`pushfan holds` lists those that stand"
        guard let order = book.orders.order(id) else {
            throw CommandFailure(.nothingMatched, "there is no order \(Sanitised.quoted(id))", hint: hint)
        }
        guard order.word != "cancel" else {
            throw CommandFailure(.nothingMatched, "\(order.id) is a cancellation, which is not taken back", hint: hint)
        }
        if let release = order.release {
            throw CommandFailure(
                .nothingMatched, "\(order.id) was released at \(release.at.text) by \(Sanitised.line(release.author))", hint: hint
            )
        }
        guard order.stands(at: now) else {
            throw CommandFailure(.nothingMatched, "\(order.id) has ended at \(order.until.text)", hint: hint)
        }
        return order
    }
}
