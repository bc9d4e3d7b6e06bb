import Audiences
import JobSupport
import Kafka
import KafkaCare
import Replay
import Replays

extension CommandFailure {
    /// The failure of a job, in a person's words. `brokers` are the addresses that were called.
    init(_ error: JobFailure, brokers: String) {
        switch error {
        case .kafka(let error, .collect) where error.isFenced:
            self.init(.temporary, "another run of the same hub has taken over; it goes on with what is left")
        case .kafka(let error, let action): self.init(error, brokers: brokers, action: action.text)
        case .cancelled: self.init(Interruption.exitCode, "interrupted")
        case .stalled(let topic, let remaining):
            self.init(
                .temporary, "nothing came from \(topic) for some time, and \(remaining) of its offsets are not read yet",
                hint: "--timeout waits longer")
        case .unfinished(let topic): self.init(.temporary, "\(topic) cannot be read to its end in time")
        case .newerRecords(let topic):
            self.init(.failed, "a newer version wrote records of \(topic)", hint: "use the version that wrote them")
        case .cursor: self = .usage("the list does not go on from there; begin it again")
        case .unreadableFile(let path, let reason):
            self = .usage("the file \(Sanitised.quoted(path)) cannot be read: \(reason)")
        case .unwritableFile(let path, let reason):
            self.init(.failed, "the file \(Sanitised.quoted(path)) cannot be written: \(reason)")
        case .room(let failure as ReplayFailure): self.init(failure)
        case .room(let failure as StartFailure): self.init(failure)
        case .room(let failure as AudienceFailure): self.init(failure)
        case .room(let failure as PeerFailure):
            self.init(failure.kind.code, Sanitised.line(failure.text, atMost: 1024), hint: failure.hint)
        case .room(let failure): self.init(.failed, Sanitised.line("\(failure)"))
        }
    }

    /// The failure of a replay.
    init(_ failure: ReplayFailure) {
        switch failure {
        case .notAPlan(let path):
            self = .usage("\(Sanitised.quoted(path)) is no plan of a replay", hint: "`pushfan replay plan FILTER` makes one")
        case .planOfOtherVersion(let path):
            self = .usage("\(Sanitised.quoted(path)) was made by another version of pushfan; make a new plan")
        case .damagedPlan(let path): self = .usage("\(Sanitised.quoted(path)) is damaged; make a new plan")
        case .tooManyRequests(let limit):
            self.init(
                .refused, "more than \(limit) requests could be replayed",
                hint: "narrow the filter, such as with since: and until:, or raise --limit")
        case .edit(let text, let fault): self = .usage("--set \(Sanitised.quoted(text)): \(fault.reason)")
        case .replacement(.notOnePlace): self = .usage("--value: it is for one dead letter; name it with --at, once")
        case .replacement(.invalidRequest): self = .usage("--value: it is no valid request, as it stands or with the changes")
        case .replacement(.foreignSource): self = .usage("--value: it names another source than the dead letter")
        case .otherPlan(let job):
            self.init(.refused, "the job \(Sanitised.line(job)) was begun with another plan", hint: "make a new plan")
        case .stopped(let job):
            self.init(
                .refused, "the replay \(job) was stopped",
                hint: "`pushfan replay plan --leftovers FILE` plans what it left as a new job")
        case .running(let job):
            self.init(
                .temporary, "the replay \(job) is running; one runs at a time",
                hint: "wait for it, or `pushfan replay pause \(Sanitised.word(job))`")
        case .takenOver: self.init(.temporary, "another process has taken the job over, and goes on with it")
        case .unreadClaim(let error):
            self.init(
                .temporary, error.message, hint: "a hanging transaction may block it; the broker aborts it when it times out")
        }
    }

    private init(_ failure: StartFailure) {
        switch failure {
        case .noResults(let topic):
            self.init(
                .failed, "there is no topic \(Sanitised.quoted(topic)), which would say what is finished",
                hint: "--at beginning sends everything")
        case .newerOutcomes:
            self.init(
                .failed, "a newer version wrote some of what is finished, which this one cannot read",
                hint: "use the version that wrote it")
        }
    }
}

extension CommandFailure {
    private init(_ failure: AudienceFailure) {
        switch failure {
        case .invalidRequest(let fault): self = .usage("the flags: \(Sanitised.line(fault))")
        case .noOrdinaryFile(let path):
            self = .usage("\(Sanitised.quoted(path)) is no ordinary file; it is read twice, and again when a run is resumed")
        case .longLine(let path, let number, let limit):
            self = .usage("\(Sanitised.line(path)):\(number): the line has more than \(limit) bytes")
        case .changedFile(let path):
            self.init(
                .failed, "the file \(Sanitised.quoted(path)) was changed while it was read",
                hint: "put it back as it was and run the same command again, or `pushfan cancel` the request")
        case .noRecipient(let path): self = .usage("there is no recipient in \(Sanitised.quoted(path))")
        case .sharedCategories(let hubs):
            self = .usage(
                "categories are on every one of the hubs \(hubs.joined(separator: ", ")); name one of them with --hub")
        case .handlesWithTemplate: self = .usage("a template cannot be sent to device handles")
        case .manyParts(let count, let limit):
            self = .usage("the request would have \(count) parts; \(limit) are allowed")
        case .longParts(let count, let byteCount, let limit):
            self = .usage(
                "the flags: record_too_large: each of the \(count) parts would repeat \(byteCount) bytes that are not its audience;"
                    + " \(limit) are allowed")
        case .longRecord(let topic, let byteCount, let limit, let isClients):
            self.init(
                .refused,
                "nothing was sent: a record for \(topic) may have \(byteCount) bytes, and "
                    + (isClients ? "message.max.bytes is \(limit)" : "its max.message.bytes is \(limit)"),
                hint: isClients
                    ? "shorten the content, or leave message.max.bytes out of kafka.properties"
                    : "shorten the content, or set max.message.bytes of that topic to 1048588")
        case .otherRequest(let id):
            self.init(
                .refused, "the request \(id) was begun with another file, other content, or for other platforms or hubs",
                hint: "another --id makes another request of it")
        }
    }

    /// The failure of a call over plain HTTP.
    init(_ failure: PlainRequest.Failure) {
        switch failure {
        case .impossible: self = .usage("\(failure)")
        case .unanswered: self.init(.unreachable, "\(failure)")
        case .garbled: self.init(.failed, "\(failure)")
        }
    }
}

extension JobAction {
    /// The action, such as `read push.results.v1`.
    fileprivate var text: String {
        switch self {
        case .read(let topic): "read \(topic)"
        case .readOriginals: "read the original requests"
        case .findBeginning(let topic): "look where \(topic) begins"
        case .write(let topic): "write to \(topic)"
        case .replay: "replay"
        case .createTopics: "create the topics"
        case .checkTopics: "look at the topics"
        case .describeGroup: "ask who is in the group"
        case .readPositions: "ask where the group stands"
        case .writePositions: "write where the group begins"
        case .describeTopics: "ask about the topics"
        case .findFirst: "look for the first requests since then"
        case .collect(let topic): "write to \(topic); the same command goes on"
        case .enqueue(let path): "enqueue \(Sanitised.line(path)); the same command goes on"
        }
    }
}

extension PeerFailure.Kind {
    fileprivate var code: ExitCode {
        switch self {
        case .misconfigured: .configuration
        case .unreachable: .unreachable
        case .busy: .temporary
        case .refused: .notAllowed
        case .failed: .failed
        }
    }
}
