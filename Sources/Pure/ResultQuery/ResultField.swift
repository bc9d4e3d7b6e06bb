import PushModel

/// The fields that a filter can ask of a result: a name, where the record has it, and what its values are (page Results).
public enum ResultField: String, Sendable, CaseIterable {
    case request, state, outcome, error, status, safety, hub, platform, attempts, took, queued, kind
    case hubState = "hub_state"
    case worker, source, tenant, topic, partition, root, parent, job, actor, generation

    /// The kinds of a field's values.
    public enum Values: Sendable, Equatable {
        /// One of a closed list.
        case words([String])
        /// Any text.
        case text
        /// A whole number.
        case number
        /// A length of time, in the record as milliseconds.
        case duration
    }

    /// The place of a value in a record.
    enum Place: Sendable {
        /// A member of the record.
        case member(ResultMember)
        /// A member of an object in the record.
        case inner(ResultMember, StaticString)
        /// A member of each object of an array in the record. One that fits is enough.
        case each(ResultMember, StaticString)

        /// The member of the record that it is or stands in.
        var member: ResultMember {
            switch self {
            case .member(let member), .inner(let member, _), .each(let member, _): member
            }
        }
    }

    /// The kind of the values.
    public var values: Values {
        switch self {
        case .state: .words(ResultState.allCases.map(\.rawValue) + OpenState.allCases.map(\.rawValue))
        case .outcome: .words(Outcome.allCases.map(\.rawValue))
        case .error: .words(ErrorCode.allCases.map(\.rawValue))
        case .safety: .words(ReplaySafety.allCases.map(\.rawValue))
        case .platform: .words(Platform.allCases.map { "\($0.name)" } + ["template"])
        case .kind: .words(["final", "interim", "outcome"])
        case .status, .attempts, .partition, .generation: .number
        case .took, .queued: .duration
        case .request, .hub, .hubState, .worker, .source, .tenant, .topic, .root, .parent, .job, .actor: .text
        }
    }

    var places: [Place] {
        switch self {
        case .request: [.member(.request)]
        case .state: [.member(.state)]
        case .outcome: [.member(.outcome)]
        case .error: [.inner(.error, "code")]
        case .status: [.inner(.error, "http_status"), .each(.sends, "http_status")]
        case .safety: [.member(.safety)]
        case .hub: [.member(.hub)]
        case .platform: [.each(.sends, "platform")]
        case .attempts: [.member(.attempts)]
        case .took: [.inner(.timings, "total_ms")]
        case .queued: [.inner(.timings, "queue_ms")]
        case .kind: [.member(.kind)]
        case .hubState: [.member(.hubState)]
        case .worker: [.inner(.worker, "id")]
        case .source: [.member(.source)]
        case .tenant: [.member(.tenant)]
        case .topic: [.inner(.origin, "topic")]
        case .partition: [.inner(.origin, "partition")]
        case .root: [.inner(.replay, "root_request_id")]
        case .parent: [.inner(.replay, "parent_request_id")]
        case .job: [.inner(.replay, "job_id")]
        case .actor: [.inner(.replay, "actor")]
        case .generation: [.inner(.replay, "generation")]
        }
    }

    /// The meaning of the field, without a full stop.
    public var summary: String {
        switch self {
        case .request: "the request's id"
        case .state: "where the request stands"
        case .outcome: "the class of what became of it"
        case .error: "why it was no success; `pushfan explain CODE` says more"
        case .status: "a status that the hub answered with"
        case .safety: "whether it may be replayed"
        case .hub: "the hub's name"
        case .platform: "a platform that was called"
        case .attempts: "attempts of the call that had most"
        case .took: "from publishing to the result"
        case .queued: "from publishing to the worker"
        case .kind: "what the result is"
        case .hubState: "the hub's own word"
        case .worker: "the worker's name"
        case .source: "who published the request"
        case .tenant: "for whom"
        case .topic: "the topic that the request came from"
        case .partition: "the partition that it came from"
        case .root: "of a replay: the very first request"
        case .parent: "of a replay: the request that was replayed"
        case .job: "of a replay: the job"
        case .actor: "of a replay: who started the job"
        case .generation: "of a replay: 1, or more for a replay of a replay"
        }
    }
}
