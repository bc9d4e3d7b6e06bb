import Basics
import EventLoop
import GatewayAPI
import HTTPServing
import JobSupport
import PushModel
import Synchronization

/// The plans that are being made, and those that could not be made. What was made is a file.
final class PlanDrafts: Sendable {
    struct Draft: Sendable {
        let tenant: String?
        /// The party whose share of what is remembered it counts for.
        fileprivate let party: Party
        /// The records that are left to be read of so many, as far as that is known.
        var remaining: Int64?
        var total: Int64?
        /// The reason for the lack of a plan.
        var problem: APIProblem?
        var isCancelled = false
        /// Answers the call that has asked for it, once.
        fileprivate var answer: (@Sendable (APIAnswer) -> Void)?
        fileprivate let deadline: MonotonicTime

        /// The draft as JSON.
        func json(id: String) -> [UInt8] {
            var json = JSONObject(["id": id, "state": problem == nil ? "planning" : "failed"])
            if let remaining, let total { json.add(["read": Int(max(0, total - remaining)), "of": Int(total)]) }
            if let problem { json.add("problem", raw: problem.json) }
            return json.bytes
        }
    }

    /// Drafts that are remembered. No more can be at work.
    private static let memory = 200
    /// The longest wait of a call for its plan.
    private static let patience = Duration.seconds(10)

    /// Nothing else is locked while it is held.
    private let drafts = Mutex<[String: Draft]>([:])

    subscript(id: String) -> Draft? { drafts.withLock { $0[id] } }

    /// The drafts that a caller may see, by their ids.
    func all(for publisher: Publisher) -> [String: Draft] {
        drafts.withLock { $0.filter { publisher.mayUse(tenant: $0.value.tenant) } }
    }

    /// Adds a draft of a tenant, or of a source without one. `answer` gets the plan, or after some seconds that it is being made.
    /// Where too many are remembered, the oldest that has failed of whoever has most of those is forgotten. Returns false where too many
    /// are being made.
    func add(
        _ id: String, tenant: String?, source: String? = nil, answer: @escaping @Sendable (APIAnswer) -> Void
    ) -> Bool {
        let draft = Draft(
            tenant: tenant, party: Party(tenant: tenant, source: source), answer: answer,
            deadline: MonotonicTime.now().advanced(by: Self.patience))
        return drafts.withLock { drafts in
            if drafts.count >= Self.memory {
                let failed = Dictionary(grouping: drafts.filter { $0.value.problem != nil }, by: \.value.party)
                // Ids sort by time.
                guard let most = failed.values.max(by: { $0.count < $1.count }), let oldest = most.map(\.key).min() else {
                    return false
                }
                drafts[oldest] = nil
            }
            drafts[id] = draft
            return true
        }
    }

    /// Forgets a draft whose call is answered otherwise.
    func forget(_ id: String) { drafts.withLock { $0[id] = nil } }

    func note(_ progress: ReadingProgress, of id: String) {
        drafts.withLock { drafts in
            switch progress {
            case .began(_, let count):
                drafts[id]?.total = count
                drafts[id]?.remaining = count
            case .reached(let remaining): drafts[id]?.remaining = remaining
            case .sorting, .ended: break
            }
        }
    }

    /// Has a draft not become a plan. Returns whether there is such a draft.
    func cancel(_ id: String) -> Bool {
        drafts.withLock { drafts in
            guard drafts[id] != nil, drafts[id]?.problem == nil else { return false }
            drafts[id]?.isCancelled = true
            return true
        }
    }

    /// Ends a draft: it has become a plan, with which its call is answered, or there is a problem.
    func end(_ id: String, with result: Result<APIAnswer, APIProblem>) {
        let answer = drafts.withLock { drafts -> (@Sendable (APIAnswer) -> Void)? in
            let answer = drafts[id]?.answer.take()
            if case .failure(let problem) = result { drafts[id]?.problem = problem } else { drafts[id] = nil }
            return answer
        }
        switch result {
        case .success(let plan): answer?(plan)
        case .failure(let problem): answer?(APIAnswer(problem))
        }
    }

    /// Answers the calls that have waited long enough.
    func tick(at now: MonotonicTime = .now()) {
        let late = drafts.withLock { drafts -> [(String, Draft)] in
            let late = drafts.filter { $0.value.answer != nil && now >= $0.value.deadline }
            for id in late.keys { drafts[id]?.answer = nil }
            return Array(late)
        }
        for (id, draft) in late {
            draft.answer?(APIAnswer(status: 202, json: draft.json(id: id), headers: ["Location": "/v1/replays/\(id)"]))
        }
    }
}
