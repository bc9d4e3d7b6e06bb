import PushModel

/// The verdict on a request that has no result.
struct StandingWords {
    let story: RequestStory
    let now: Timestamp
    let words: MomentWords

    var verdict: Verdict {
        if case .deadLetter(let reason) = story.standing {
            return Verdict(
                .deadLetter, text: "Not sent: its record could not be read, and is among the dead letters.",
                because: reason.map { $0.sentence })
        }
        if let cancelledAt = story.cancelledAt, canEnd { return cancelling(cancelledAt) }
        if let hold = story.hold, canEnd { return held(by: hold) }
        switch story.standing {
        case .unconfirmed:
            return Verdict(
                .unconfirmed, text: "Handed to Kafka, which has not confirmed it yet.", because: obstacle?.capitalSentence)
        case .open:
            guard let obstacle else {
                return Verdict(.published, text: "\(published), and no result of it has been read yet.", because: nil)
            }
            let cancelled = story.cancelledAt.map { "It was cancelled at \(words.second($0))." }
            return Verdict(.notKnown, text: "\(unknown): \(obstacle).", because: cancelled ?? since)
        case .published:
            return Verdict(.published, text: "\(published), and no worker has read it yet.", because: obstacle?.capitalSentence)
        case .inWork:
            let text = story.hub.map { "On its way: it waits for \(words(for: $0))." } ?? "On its way: a worker has read it."
            return Verdict(.inWork, text: text, because: since)
        case .delayed(let due, let attempts): return waiting(until: due, after: attempts)
        case .behindItsKey:
            return Verdict(
                .behindItsKey, text: "Waits behind another request with its ordering key.", because: hubSentence ?? since)
        case .inParts(let count, let ended, let sent): return divided(into: count, ended: ended, sent: sent)
        case .done:
            if story.obstacle == .indexBehind {
                return Verdict(
                    .notKnown, text: "The workers are done with it, and its result has not been read yet.",
                    because: obstacle?.capitalSentence)
            }
            guard let obstacle else {
                return Verdict(.notKnown, text: "The workers are done with it, and no result of it was found.", because: since)
            }
            return Verdict(.notKnown, text: "\(unknown): \(obstacle).", because: since)
        case .unknown, .deadLetter:
            guard let obstacle else { return Verdict(.notFound, text: "No record of it was found.", because: nil) }
            return Verdict(.notKnown, text: "\(unknown): \(obstacle).", because: since)
        }
    }

    private let unknown = "What became of it is not known"

    init(story: RequestStory, now: Timestamp, words: MomentWords) { (self.story, self.now, self.words) = (story, now, words) }

    /// True if it is somewhere from where it can go on.
    private var canEnd: Bool {
        switch story.standing {
        case .done, .unknown, .deadLetter: false
        // It may have ended without anybody here knowing it.
        case .open: story.obstacle == nil
        default: true
        }
    }

    // MARK: Waiting

    private func waiting(until due: Timestamp?, after attempts: Int) -> Verdict {
        let tried = attempts > 0 ? "Tried \(attempts == 1 ? "once" : "\(attempts) times"), and waits" : "Waits"
        guard let due else { return Verdict(.waiting, text: "\(tried) in a delay lane.", because: hubSentence ?? since) }
        guard due > now else {
            return Verdict(
                .waiting, text: "Was due at \(words.minute(due)), and no worker has gone on with it yet.",
                because: hubSentence ?? since)
        }
        return Verdict(
            .waiting, text: "\(tried) for \(words.minute(due)) (\(words.distance(to: due))).", because: hubSentence ?? since)
    }

    private func held(by hold: RequestStory.Hold) -> Verdict {
        let end = hold.until > now ? " until \(words.minute(hold.until)) (\(words.distance(to: hold.until)))" : ""
        return Verdict(
            .held, text: "Held\(end): “\(hold.reason)”.", because: "By \(hold.author), since \(words.minute(hold.from)).")
    }

    private func cancelling(_ moment: Timestamp) -> Verdict {
        let text =
            switch story.standing {
            case .inParts(let count?, let ended, _):
                "after \(ended) of \(count) parts had ended; the others end as they have their turns"
            case .inParts: "while its parts were on their way; they end as they have their turns"
            case .delayed: "and it ends when its record is checked, at the latest when it is due"
            case .behindItsKey: "and it ends when its key has its turn"
            default: "and it ends when it has its turn"
            }
        return Verdict(.cancelling, text: "Cancelled at \(words.second(moment)), \(text).", because: since)
    }

    private func divided(into count: Int?, ended: Int, sent: Int?) -> Verdict {
        guard let count, count >= ended else {
            return Verdict(
                .inParts,
                text: "On its way: it was divided into parts, of which at least \(ended) \(ended == 1 ? "has" : "have") ended.",
                because: hubSentence ?? since)
        }
        guard ended < count else {
            return Verdict(
                .inParts, text: "On its way: all \(count) parts have ended, and the result of the whole is about to be written.",
                because: since)
        }
        let others = ended - (sent ?? 0)
        let done =
            switch sent {
            case nil: "\(ended) of \(count) parts have ended"
            case let sent? where others > 0: "\(sent) of \(count) parts sent, \(others) ended otherwise"
            case let sent?: "\(sent) of \(count) parts sent"
            }
        let open = count - ended
        let rest =
            story.hub.map { "\(open) \(open == 1 ? "waits" : "wait") for \(words(for: $0))" }
            ?? "\(open) \(open == 1 ? "is" : "are") to come"
        return Verdict(.inParts, text: "On its way: \(done), \(rest).", because: since)
    }

    // MARK: Reasons

    private var published: String { "Published" + (story.publishedAt.map { " at \(words.second($0))" } ?? "") }

    /// The moment of its publication as a sentence.
    private var since: String? { story.publishedAt.map { "It was published at \(words.second($0))." } }

    /// The obstacle at its hub as a sentence.
    private var hubSentence: String? { story.hub.map { "Its calls wait for \(words(for: $0))." } }

    /// `hub north (429 until 14:08)`.
    private func words(for hub: RequestStory.HubObstacle) -> String {
        let why =
            switch hub.kind {
            case .throttled(let until): "429 until \(words.minute(until))"
            case .suspended(let until?) where until > now: "its circuit is open until \(words.minute(until))"
            case .suspended: "its circuit is open"
            case .refusesKey: "it refuses the key"
            case .broken: "it does not work"
            }
        return "hub \(hub.name) (\(why))"
    }

    /// The reason for which something is not known, as a clause.
    private var obstacle: String? {
        switch story.obstacle {
        case nil: nil
        case .kafkaAway: "Kafka does not answer"
        case .indexBehind: "the index of results is behind"
        case .notAllSearched: "not all records that may tell it were searched"
        }
    }
}
