import JobSupport
import PushModel
import ResultQuery

/// The verdict on a request that has ended.
struct EndingWords {
    let story: RequestStory
    let ending: RequestStory.Ending
    let words: MomentWords

    var verdict: Verdict {
        if let nobody = reachedNobody { return nobody }
        if let base = base, let doubt = story.doubts.first {
            return Verdict(.perhapsTwice, text: "\(base), and may have rung twice: \(text(of: doubt)).", because: note(nil))
        }
        if let repaired { return repaired }
        return switch ResultState(rawValue: ending.state) {
        case .sent: sent
        case .partial: sentInPart
        case .failed: failed
        case .rejected: Verdict(.rejected, text: "Rejected: \(cause).", because: note(faults))
        case .expired: expired
        case .cancelled: cancelled
        case .duplicate: repetition
        case .retrying:
            Verdict(.inWork, text: "On its way: it is tried again.", because: note("The last attempt failed: \(cause)."))
        case .scheduled: Verdict(.waiting, text: "Waits to be sent.", because: note(nil))
        case .unknown, nil: other
        }
    }

    /// The beginning of a sentence on one that may have reached devices.
    private var base: String? {
        switch ResultState(rawValue: ending.state) {
        case .sent: "Sent"
        case .partial: "Sent in part"
        case .failed: "Failed"
        case .expired: "Expired"
        case .cancelled: "Cancelled"
        default: nil
        }
    }

    // MARK: Sent

    private var sent: Verdict {
        guard case .known(let outcomes) = story.telemetry, !outcomes.isEmpty else {
            return Verdict(.sent, text: "\(sentThen).", because: note(unseen))
        }
        switch outcomes.count >= ending.accepted ?? 0 ? OutcomeState(outcomes) : .awaited {
        case .delivered:
            return Verdict(
                .delivered, text: "\(sentThen), and the push services took it for every device.",
                because: note("No service tells if a phone then showed it."))
        case .reachedSome, .devicesRefused, .noTarget:
            return Verdict(
                .reachedSome, text: "Reached some devices: the push services refused the others.", because: note("\(sentThen)."))
        case .awaited, .unknown: break
        }
        let unclear = outcomes.first { ![.reached, .noDevice].contains($0.fate) }
        guard let unclear else {
            return Verdict(
                .sent, text: "\(sentThen).",
                because: note("The hub has told the outcome of \(outcomes.count) of \(ending.accepted ?? 0) calls."))
        }
        return Verdict(.sent, text: "\(sentThen).", because: note(Self.doubtful + "\(Self.cause(of: unclear.code))."))
    }

    /// `Sent at 14:05:12, in 0.2 s`, as far as it is known.
    private var sentThen: String {
        let parts = (ending.parts ?? 0) > 1 ? ", in \(ending.parts ?? 0) parts" : ""
        return "Sent" + (ending.at.map { " at \(words.second($0))" } ?? "")
            + (ending.took.map { ", in \(MomentWords.measured($0))" } ?? "") + parts
    }

    private static let doubtful = "Whether the phone showed it is not known: "

    /// The reason for which it is unknown if a device showed it.
    private var unseen: String? {
        switch story.telemetry {
        case .notTracked: Self.doubtful + "outcomes are not tracked."
        case .awaited: "Whether the phone showed it is not known yet: the hub has not told the outcome."
        case .missing: Self.doubtful + "there is no outcome of it."
        case .notSearched, .known: nil
        }
    }

    /// The verdict if the hub's outcomes say of every call that no device was reached.
    private var reachedNobody: Verdict? {
        guard ending.state == "sent", !story.doubts.contains(where: \.isOfMoreResults),
            case .known(let outcomes) = story.telemetry, !outcomes.isEmpty, outcomes.count >= ending.accepted ?? 0,
            ending.ambiguous ?? 0 == 0
        else { return nil }
        let state = OutcomeState(outcomes)
        guard [.noTarget, .devicesRefused].contains(state) else { return nil }
        let why =
            state == .devicesRefused
            ? "the push services refused every one" : "the hub knows none \(Self.owner(story.audience))"
        return Verdict(
            .reachedNobody, text: "Reached no device: \(why).", because: note("\(sentThen)."))
    }

    /// `of this user`.
    private static func owner(_ audience: AudienceSummary?) -> String {
        guard let audience else { return "of its audience" }
        let isOne = audience.count == 1
        return switch audience.kind {
        case .users: isOne ? "of this user" : "of these users"
        case .installations: isOne ? "with this installation" : "with these installations"
        case .devices: isOne ? "with this handle" : "with these handles"
        case .tags: isOne ? "with this tag" : "with these tags"
        case .expression: "that its tag expression fits"
        case .all: "at all"
        }
    }

    // MARK: Not sent

    private var sentInPart: Verdict {
        let numbers =
            if let parts = ending.parts, let sent = ending.partsSent {
                "\(sent) of \(Counted.text(parts, "part was", "parts were")) sent everywhere"
            } else if let accepted = ending.accepted, let planned = ending.planned {
                "the hub accepted \(accepted) of \(Counted.text(planned, "call", "calls"))"
            } else {
                "the hub accepted some calls"
            }
        let rest = mayHaveRung ? "The rest may have rung, too: \(cause)." : "The rest was not sent: \(cause)."
        return Verdict(.sentInPart, text: "Sent in part: \(numbers).", because: note(rest, or: replayOfRest))
    }

    private var failed: Verdict {
        if mayHaveRung {
            return Verdict(.mayHaveRung, text: "Failed; it may have rung: \(cause).", because: note("A replay may ring twice."))
        }
        return Verdict(
            .failed, text: "Failed\(parts(ending.partsFailed))\(then): \(cause).",
            because: note("No device was reached.", or: replayOfAll))
    }

    private var expired: Verdict {
        let why =
            code == .expiredOnHold
            ? "its time was over while a hold stood" : "its time was over before the hub had accepted it"
        return Verdict(
            .expired, text: "Expired\(parts(ending.partsExpired))\(then): \(why).",
            because: note(mayHaveRung ? "It may have rung." : "It was not sent."))
    }

    private var cancelled: Verdict {
        let message = ending.message ?? ""
        if message.hasPrefix("dry run") {
            return Verdict(.dryRun, text: "A dry run: nothing was sent.", because: note(nil))
        }
        if code != .cancelled, code != nil {
            return Verdict(
                .cancelled, text: "Given up\(parts(ending.partsCancelled))\(then): \(cause).",
                because: note(mayHaveRung ? "It may have rung." : nil))
        }
        let reason = message.hasPrefix("cancelled: ") ? "The reason given: “\(message.dropFirst(11))”." : nil
        return Verdict(
            .cancelled, text: "Cancelled\(parts(ending.partsCancelled))\(then).",
            because: note(mayHaveRung ? "It may have rung." : reason))
    }

    private var repetition: Verdict {
        guard let original = story.original else {
            return Verdict(.duplicate, text: "A repetition of an earlier request, and not sent itself.", because: note(nil))
        }
        let fate =
            switch original.state {
            case nil: ", and not sent itself"
            case "sent": ", which was sent"
            case "partial": ", which was sent in part"
            case "failed": ", which failed"
            case "rejected": ", which was rejected"
            case "expired": ", which expired"
            case "cancelled": ", which was cancelled"
            case "duplicate": ", which was a repetition itself"
            default: ", of which no result is known"
            }
        return Verdict(
            .duplicate, text: "A repetition of \(original.id)\(fate).", because: note("It was not sent a second time."))
    }

    private var repaired: Verdict? {
        guard isRepaired else { return nil }
        let rest = story.replays.contains(RequestStory.Replay("sent")) ? "all of it" : "the rest"
        return ResultState(rawValue: ending.state) == .partial
            ? Verdict(
                .repaired, text: "Sent in part at first, and a replay sent \(rest).", because: note("It had failed: \(cause)."))
            : Verdict(
                .repaired, text: "Not sent at first, and a replay sent it.", because: note("It had ended so: \(cause)."))
    }

    /// True if it was not sent everywhere, and replays have sent what was not.
    private var isRepaired: Bool {
        switch ResultState(rawValue: ending.state) {
        case .partial, .failed, .rejected, .expired, .cancelled: story.isRepaired
        default: false
        }
    }

    private var other: Verdict {
        let word = ending.state.filter { $0 != "`" }
        return Verdict(.notKnown, text: "It has ended as `\(word)`, which is not known here.", because: note(nil))
    }

    private func text(of doubt: RequestStory.Doubt) -> String {
        switch doubt {
        case .lostAnswer: "the first answer was lost"
        case .sentTwice(let count): "its id was sent \(count) times"
        case .secondResult: "it has its result more than once"
        case .repeatedDoubt: "a replay repeated a call that may have arrived"
        }
    }

    // MARK: Reasons

    private var code: ErrorCode? { ending.code.flatMap(ErrorCode.init(rawValue:)) }

    /// True if calls that were not accepted may have reached devices.
    private var mayHaveRung: Bool {
        ending.outcome == Outcome.ambiguous.rawValue || ending.ambiguous ?? 0 > 0
            || ending.safety == ReplaySafety.ambiguous.rawValue
    }

    /// ` at 14:05:12`, or nothing.
    private var then: String { ending.at.map { " at \(words.second($0))" } ?? "" }

    /// ` in all 300 parts`, or ` in 200 of 300 parts (60 expired, 40 cancelled)`. Nothing where that is not known.
    private func parts(_ count: Int?) -> String {
        guard let count, let all = ending.parts, all > 1 else { return "" }
        guard count < all else { return " in all \(all) parts" }
        let state = ResultState(rawValue: ending.state)
        let others = [
            (ResultState.failed, ending.partsFailed, "failed"), (.expired, ending.partsExpired, "expired"),
            (.cancelled, ending.partsCancelled, "cancelled"),
        ].filter { $0.0 != state && $0.1 ?? 0 > 0 }.map { "\($0.1 ?? 0) \($0.2)" }
        return " in \(count) of \(all) parts" + (others.isEmpty ? "" : " (\(others.joined(separator: ", ")))")
    }

    private var cause: String { Self.cause(of: ending.code) }

    /// The cause of a code as a clause.
    private static func cause(of code: String?) -> String {
        switch code.flatMap(ErrorCode.init(rawValue:)) {
        case nil: "no reason is known"
        case .duplicate: "it repeats an earlier request"
        case .cancelled: "it was cancelled"
        case .some(let code): code.explanation.cause.clause
        }
    }

    private var faults: String? {
        guard let fault = ending.fault ?? ending.message, code != .unknownHub else { return "Nothing was sent." }
        return "Nothing was sent. Its first fault: “\(fault)”."
    }

    private var replayOfAll: String? {
        switch ending.safety.flatMap(ReplaySafety.init(rawValue:)) {
        case .safe: "A replay is safe."
        case .pointless: "A replay would end the same way."
        default: nil
        }
    }

    private var replayOfRest: String? {
        switch ending.safety.flatMap(ReplaySafety.init(rawValue:)) {
        case .safe: "A replay of the rest is safe."
        case .pointless: "A replay of the rest would end the same way."
        default: nil
        }
    }

    /// A reason, a further one, and the fate of replays and repetitions.
    private func note(_ reason: String?, or more: String? = nil) -> String? {
        let replay = isRepaired ? nil : replay
        let again = story.isRepeated ? "Its id was published again, and that was not sent." : nil
        let sentences = [reason, more, replay, again].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// The fate of the last replay that was sent, or else of the last one.
    private var replay: String? {
        guard let replay = story.replays.last(where: { $0.state == "sent" }) ?? story.replays.last else { return nil }
        let fate =
            switch ResultState(rawValue: replay.state) {
            case .sent: ending.state == "sent" ? "was sent, too" : "was sent"
            case .partial: "was sent in part"
            case .failed: ending.state == "failed" ? "failed, too" : "failed"
            case .rejected: "was rejected"
            case .expired: "expired"
            case .cancelled: "was cancelled"
            case .duplicate: "was not sent, as a repetition"
            default: "has not ended"
            }
        let part = replay.calls.map { Counted.text($0.count, "of its calls", "of its calls") } ?? "it"
        return "A replay of \(part) \(fate)."
    }
}
