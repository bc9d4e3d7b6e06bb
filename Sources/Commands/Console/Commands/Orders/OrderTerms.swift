import Basics
import EventLoop
import Glibc
import PushModel
import ResultQuery
import Settings

/// The words of an order beside its scope.
struct OrderTerms {
    let reason: String
    let author: String
    let since: Timestamp
    let until: Timestamp

    /// The terms that flags give. `now` is in milliseconds since 1970, and `user` the author where no flag names one.
    init(_ arguments: Arguments, now: Int64, user: String) throws(CommandFailure) {
        guard let reason = try Self.reason(arguments) else {
            throw .usage("--reason is missing", hint: "say why, such as --reason 'wrong text': lists and results show it")
        }
        self.reason = reason
        author = try Self.author(arguments, user: user)
        since = Timestamp(milliseconds: now)
        until = try Self.until(arguments, now: now)
    }

    /// The reason that a flag gives, or nil without it.
    static func reason(_ arguments: Arguments) throws(CommandFailure) -> String? {
        guard let reason = arguments.value("reason") else { return nil }
        guard reason.contains(where: { !$0.isWhitespace }) else { throw .usage("--reason: it must say something") }
        let most = OrderRecord.maximumReasonLength
        guard reason.count <= most, reason.utf8.count <= 4 * most else {
            throw .usage("--reason: at most \(most) characters are kept")
        }
        return reason
    }

    /// The author that a flag names, else the user.
    static func author(_ arguments: Arguments, user: String) throws(CommandFailure) -> String {
        let author = arguments.value("by") ?? user
        guard author.contains(where: { !$0.isWhitespace }), author.utf8.count <= OrderRecord.maximumAuthorByteCount else {
            throw .usage("--by: expected 1 to \(OrderRecord.maximumAuthorByteCount) bytes, not all of them blanks")
        }
        return author
    }

    private static func until(_ arguments: Arguments, now: Int64) throws(CommandFailure) -> Timestamp {
        let since = Timestamp(milliseconds: now)
        guard let text = arguments.value("until") else {
            let span = try arguments.duration("for")?.wholeMilliseconds ?? OrderRecord.usual
            guard (1...OrderRecord.longest).contains(span) else { throw .usage("--for: expected more than 0 and at most 7d") }
            return since.adding(milliseconds: span)
        }
        guard !arguments.has("for") else { throw .usage("--for and --until say the same; give one of the two") }
        guard let until = TimeWords.moment(text, now: now, isPast: false) else {
            throw .usage("--until: \(Sanitised.quoted(text)) is no time; expected one such as 2026-11-21T17:00:00Z")
        }
        let span = until.milliseconds(since: since)
        guard span > 0 else { throw .usage("--until: \(until.text) has passed; it is \(since.text)") }
        guard span <= OrderRecord.longest else { throw .usage("--until: \(until.text) is more than 7d away") }
        return until
    }
}

extension Invocation {
    /// The user of the terminal with the machine's name: the author of orders where no flag names one.
    var userAtHost: String {
        let user = PlanCommand.user(of: surroundings.environment, account: ProcessAccount.name) ?? "uid \(getuid())"
        return Host.name.isEmpty ? user : "\(user)@\(Host.name)"
    }
}
