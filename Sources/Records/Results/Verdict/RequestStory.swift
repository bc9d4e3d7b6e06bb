package import PushModel
package import ResultQuery

/// All that is known of a request, for its verdict. A plain value without the facts that are not known.
package struct RequestStory: Sendable, Equatable {
    /// The request's id.
    package var id: String
    /// The moment of its publication.
    package var publishedAt: Timestamp?
    /// The request of which it is a part.
    package var whole: Whole?
    /// The audience.
    package var audience: AudienceSummary?
    /// Its final result, or nil while it has none.
    package var ending: Ending?
    /// The outcomes of the calls that the hub had accepted.
    package var telemetry = Telemetry.notSearched
    /// The reasons for which devices may have rung twice, the gravest first.
    package var doubts: [Doubt] = []
    /// Its replays that have ended, oldest first. Those of its parts, and of replays, are not among them.
    package var replays: [Replay] = []
    /// The request that it repeats.
    package var original: Original?
    /// True if its id was published again, which was not sent.
    package var isRepeated = false
    /// The place where it is while it has no result.
    package var standing = Standing.open
    /// The moment at which it was cancelled. It goes on until it has its turn.
    package var cancelledAt: Timestamp?
    /// The hold that keeps it back now.
    package var hold: Hold?
    /// The obstacle at the hub that its calls go to.
    package var hub: HubObstacle?
    /// The reason for which something is not known.
    package var obstacle: Obstacle?

    /// A request of which nothing but its id is known.
    package init(id: String, publishedAt: Timestamp? = nil) { (self.id, self.publishedAt) = (id, publishedAt) }

    /// A larger request, and the number of its part, from 1.
    package struct Whole: Sendable, Equatable {
        /// The larger request's id.
        package var id: String
        /// The number of the part, from 1.
        package var number: Int

        /// A part of a request.
        package init(id: String, number: Int) { (self.id, self.number) = (id, number) }
    }

    /// A final result, as far as a verdict needs it. Words are as they were written.
    package struct Ending: Sendable, Equatable {
        /// The state and the class of the outcome.
        package var state, outcome: String
        /// The error.
        package var code, message: String?
        /// The first fault of a request that was rejected.
        package var fault: String?
        /// The moment of the result.
        package var at: Timestamp?
        /// The milliseconds from its publication to its end.
        package var took: Int64?
        /// The number of calls, of those that the hub accepted, and of those in doubt.
        package var planned, accepted, ambiguous: Int?
        /// The calls that the hub did not accept. Nil if they are not told one by one.
        package var open: Set<Int64>?
        /// The number of its parts, and of those that were sent.
        package var parts, partsSent: Int?
        /// The numbers of parts that failed, that expired, and that were cancelled.
        package var partsFailed, partsExpired, partsCancelled: Int?
        /// The safety of a replay.
        package var safety: String?

        /// A result of which nothing but its state and class are known.
        package init(state: String, outcome: String) { (self.state, self.outcome) = (state, outcome) }
    }

    /// A replay by its final result.
    package struct Replay: Sendable, Equatable {
        /// The state.
        package var state: String
        /// The calls that it repeats, or nil for all.
        package var calls: Set<Int64>?

        /// A replay.
        package init(_ state: String, of calls: Set<Int64>? = nil) { (self.state, self.calls) = (state, calls) }
    }

    /// True if replays that were sent have repeated all that the hub had not accepted.
    var isRepaired: Bool {
        let sent = replays.filter { $0.state == "sent" }
        guard sent.allSatisfy({ $0.calls != nil }) else { return true }
        guard let open = ending?.open, !open.isEmpty else { return false }
        return open.isSubset(of: sent.reduce(into: []) { $0.formUnion($1.calls ?? []) })
    }

    /// The outcomes of the calls that the hub had accepted.
    package enum Telemetry: Sendable, Equatable {
        /// They were not looked for, or not everywhere, so that nothing is said of them.
        case notSearched
        /// The hub was not asked for them.
        case notTracked
        /// The hub is asked, and has not said yet.
        case awaited
        /// There are none. It is not known if the hub was asked.
        case missing
        /// Those of some calls.
        case known([Outcome])
    }

    /// The outcome of one call.
    package struct Outcome: Sendable, Equatable {
        /// The state.
        package var state: String
        /// The error's code.
        package var code: String?

        /// An outcome.
        package init(state: String, code: String? = nil) { (self.state, self.code) = (state, code) }
    }

    /// A reason for which devices may have rung twice.
    package enum Doubt: Sendable, Hashable {
        /// An attempt had no answer, and its call was made again.
        case lostAnswer
        /// Its id was sent so many times.
        case sentTwice(Int)
        /// It has its result more than once.
        case secondResult
        /// A replay repeated a call that may have arrived.
        case repeatedDoubt

        /// True if other results than the one that counts tell of devices that may have been reached.
        var isOfMoreResults: Bool {
            switch self {
            case .sentTwice, .secondResult: true
            case .lostAnswer, .repeatedDoubt: false
            }
        }
    }

    /// The request that another one repeats.
    package struct Original: Sendable, Equatable {
        /// Its id, or its place in Kafka.
        package var id: String
        /// Its state in a word of results, or nil where that is not known.
        package var state: String?

        /// A request.
        package init(id: String, state: String? = nil) { (self.id, self.state) = (id, state) }
    }

    /// The place of a request without a result.
    package enum Standing: Sendable, Equatable {
        /// Kafka has not said that it has it.
        case unconfirmed
        /// It was published, and nothing more is known.
        case open
        /// In a lane, and not read.
        case published
        /// Read by a worker, which has not written its outcome.
        case inWork
        /// It waits for a moment, after so many attempts.
        case delayed(due: Timestamp?, attempts: Int)
        /// Behind another with its ordering key.
        case behindItsKey
        /// Divided into parts, of which some have ended, and some of these were sent. Numbers that are not known are nil.
        case inParts(count: Int?, ended: Int, sent: Int?)
        /// The workers are done with it, and its result was not found.
        case done
        /// No record of it was found.
        case unknown
        /// Its record could not be read, and is among the dead letters.
        case deadLetter(reason: String?)
    }

    /// A hold that keeps a request back.
    package struct Hold: Sendable, Equatable {
        /// The hold's author and reason.
        package var author, reason: String
        /// The moments between which it keeps the request back.
        package var from, until: Timestamp

        /// A hold.
        package init(author: String, reason: String, from: Timestamp, until: Timestamp) {
            (self.author, self.reason, self.from, self.until) = (author, reason, from, until)
        }
    }

    /// An obstacle at a hub.
    package struct HubObstacle: Sendable, Equatable {
        /// The kinds of obstacles.
        package enum Kind: Sendable, Equatable {
            /// It asked to wait.
            case throttled(until: Timestamp)
            /// Too many calls failed.
            case suspended(until: Timestamp?)
            /// It refuses the key.
            case refusesKey
            /// It does not work.
            case broken
        }

        /// The hub's name.
        package var name: String
        /// The kind.
        package var kind: Kind

        /// An obstacle.
        package init(name: String, kind: Kind) { (self.name, self.kind) = (name, kind) }
    }

    /// A reason for which something is not known.
    package enum Obstacle: Sendable, Hashable, CaseIterable {
        /// Kafka does not answer.
        case kafkaAway
        /// The index of results lacks the newest.
        case indexBehind
        /// Not all that may have it was searched.
        case notAllSearched
    }
}
