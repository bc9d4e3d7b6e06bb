package import JobSupport
import Kafka
import PushModel
import Replay
import Replays

extension APIProblem {
    /// The longest work for an answer, the wait for its turn included: twice as long as a list reads a topic, so that it ends by itself first.
    package static let answerTime = Duration.seconds(10)

    /// Does something of a job, whose failure is thrown as a problem.
    package static func catching<Value>(_ body: () throws(JobFailure) -> Value) throws(APIProblem) -> Value {
        do throws(JobFailure) { return try body() } catch { throw APIProblem(error) }
    }

    /// The failure of a job. No address of a broker and no path is in it but in `cause`, which the log gets.
    package init(_ failure: JobFailure) {
        self.init(ofJob: failure)
        if status >= 500 { cause = "\(failure)" }
    }

    private init(ofJob failure: JobFailure) {
        switch failure {
        case .kafka(let error, _) where error.isAuthorization:
            self = .unanswered("Kafka does not allow the gateway what this call needs.")
        case .kafka(let error, _) where error.isUnknownTopicOrPartition:
            self = .unanswered("A topic that this call needs does not exist. `pushfan topics create` makes it.")
        case .kafka: self = .unanswered(Self.lateKafka)
        case .stalled, .unfinished: self = .unanswered("A topic could not be read to its end in time.")
        case .cancelled: self = .stopping
        case .newerRecords:
            self = APIProblem(500, code: .internal, detail: "A newer version of pushfan wrote what this call reads.")
        case .cursor: self = .badCursor
        case .room(let failure as ReplayFailure): self.init(failure)
        case .unreadableFile, .unwritableFile, .room:
            self = APIProblem(500, code: .internal, detail: "The gateway could not use a file of its own. Its log says why.")
        }
    }

    /// The failure of a replay.
    init(_ failure: ReplayFailure) {
        switch failure {
        case .unreadClaim: self = .unanswered(Self.lateKafka)
        case .tooManyRequests(let limit):
            self = APIProblem(
                422, code: .tooManyMatches,
                detail: "More than \(limit) requests could be replayed. Narrow the filter, or raise limit.")
        case .edit(_, let fault):
            self = APIProblem(
                422, code: .invalidRequest, detail: "An edit is none.",
                faults: [.init(.schemaInvalid, at: "/set", message: fault.reason)])
        case .replacement(.foreignSource): self = .foreignMendedSource
        case .replacement(let fault):
            let words = fault == .notOnePlace ? "It needs exactly one place." : "It is no valid request with the edits."
            self = APIProblem(
                422, code: .invalidRequest, detail: "The value cannot stand in place of the dead letter.",
                faults: [.init(.schemaInvalid, at: "/value", message: words)])
        case .otherPlan, .notAPlan, .planOfOtherVersion, .damagedPlan:
            self = APIProblem(409, code: .replayEnded, detail: "The plan's file is of no use any more. Make a new plan.")
        case .stopped: self = APIProblem(409, code: .replayEnded, detail: "The replay was stopped for good. Make a new plan.")
        case .running: self = .otherReplayRuns
        case .takenOver: self = APIProblem(409, code: .replayRunning, detail: "Another process runs the replay now.")
        }
    }

    private static let lateKafka = "Kafka did not do in time what this call needs."

    /// 503: there is no topic of results. The log gets the name of the topic that is missing.
    package static func noResults(topic: String) -> APIProblem {
        var problem = unanswered("There is no topic of results.")
        problem.cause = "there is no topic \(topic)"
        return problem
    }

    /// 503: a search was ended by the limit of its time, and has found nothing until then.
    package static let searchTooLong = APIProblem(
        503, code: .overloaded,
        detail: "The answer was not there within \(answerTime.components.seconds) s, and the search was ended. "
            + "Narrow the filter, such as by a time (since:1h).", retry: .safe, retryAfter: 1000)

    /// A query that failed, so that a report has a gap. No address of a broker is in it.
    package static func words(for gap: ReportGap) -> String {
        switch gap {
        case .missing(let topic): "\(topic): there is no such topic; `pushfan topics create` makes it"
        case .undescribed(let topic, _), .unread(let topic, _): "\(topic): Kafka does not show it"
        case .cancellations: "what was cancelled: Kafka does not show it"
        case .positions: "where the group stands: Kafka does not show it"
        case .members: "members of the group: Kafka does not show them"
        case .worker(let url, let reason): "the worker at \(url): \(reason)"
        case .silent, .cut, .hidden: gap.remark
        case .unreported(let topic, true): words(for: .missing(topic: topic))
        case .unreported(let topic, false): "\(topic): no worker has reported itself"
        }
    }

    /// 503: what was asked for is in Kafka, which does not give it.
    private static func unanswered(_ detail: String) -> APIProblem {
        APIProblem(503, code: .brokerUnavailable, detail: detail, retry: .safe, retryAfter: 2000)
    }

    /// 400: the cursor is none of this list.
    package static let badCursor = APIProblem.invalid("The cursor is none that this list with this filter has given.")

    /// 409: another one runs.
    package static let otherReplayRuns = APIProblem(
        409, code: .replayRunning,
        detail: "Another replay is running that may have the same requests: one of the tenant, or one of all tenants. "
            + "One whose runner was killed holds up others for 30 s.",
        retry: .safe,
        retryAfter: 10_000)

    /// 503: Kafka does not give a record now, as the text of a secure push.
    static let recordUnread = APIProblem(
        503, code: .brokerUnavailable, detail: "What is asked for could not be read from Kafka.", retry: .safe, retryAfter: 1000)
}
