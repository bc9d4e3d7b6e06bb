import Basics
import GatewayAPI
import JobSupport
import PushModel
import ResultQuery
import Results
import Synchronization

/// Finds other requests with the same title to the same person about the same time.
struct TwinQuery: Sendable {
    /// The longest time between twins, in milliseconds.
    static let reach: Int64 = 60_000
    /// The most twins that are named.
    static let limit = 3
    /// The most requests to that person in that time that are looked at.
    private static let candidateLimit = 20

    private let id: String
    private let publishedAt: Int64
    private let title: String
    /// The request, or the first of all whose replay it is.
    private let root: String
    let filter: ResultFilter

    /// A query for the twins of a request. Nil for one that went to more than one person, or has no text.
    init?(of facts: RequestFacts, publishedAt: Timestamp) {
        let subject: Sought.Subject
        switch facts.audience.kind {
        case .users: subject = .user
        case .installations: subject = .device
        default: return nil
        }
        guard facts.audience.count == 1, let name = facts.audience.names.first, let title = facts.title, !title.isEmpty
        else { return nil }
        (id, self.publishedAt, self.title) = (facts.id, publishedAt.milliseconds, Sought.folded(title))
        root = facts.root
        var filter = ResultFilter()
        filter.add(Sought(subject, values: [Sought.Value(name)]))
        filter.add(since: publishedAt.adding(milliseconds: -Self.reach).milliseconds)
        filter.add(until: publishedAt.adding(milliseconds: Self.reach + 1).milliseconds)
        self.filter = filter
    }

    /// The twins among the requests that an asker may see. Nil if not all were found in time.
    func twins(by search: RequestSearch, for asker: Asker, within patience: Duration) throws(JobFailure) -> [Twin]? {
        let page = try search.page(of: Self.candidateLimit, matching: filter, patience: patience) { row in
            asker.maySee(RequestOwner(source: row.facts?.source, tenant: row.facts?.tenant))
        }
        let twins = twins(in: page.rows)
        return twins.isEmpty && !(page.searched.isComplete && page.next == nil) ? nil : twins
    }

    /// The twins among requests to that person.
    func twins(in rows: [SearchRow]) -> [Twin] {
        let near = publishedAt.addingSaturated(-Self.reach)...publishedAt.addingSaturated(Self.reach)
        let found = rows.filter { row in
            row.isNamed && row.id != id && row.facts?.root != root && near.contains(row.publishedAt)
                && (row.facts?.title).map { Sought.folded($0) == title } ?? false
        }
        return found.prefix(Self.limit).map {
            Twin(id: $0.id, publishedAt: Timestamp(milliseconds: $0.publishedAt), state: $0.state)
        }
    }
}

extension RequestFacts {
    /// The request, or the first of all whose replay it is. A replay has its title and its person, and is named as a replay.
    fileprivate var root: String { replay?.root ?? replayed ?? id }
}

/// Answers that wait for twins, but not for long.
final class TwinWaits: Sendable {
    typealias Ending = @Sendable ([Twin]?) -> Void

    /// The longest wait. An answer is as good without twins.
    static let patience = Duration.milliseconds(500)

    private struct State {
        var endings: [Int: (deadline: MonotonicTime, then: Ending)] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Keeps a waiting answer. The ending that is returned is for the search: the first that comes counts.
    func add(until deadline: MonotonicTime, then: @escaping Ending) -> Ending {
        let number = state.withLock { state -> Int in
            state.lastNumber += 1
            state.endings[state.lastNumber] = (deadline, then)
            return state.lastNumber
        }
        return { [self] twins in
            state.withLock { $0.endings.removeValue(forKey: number) }?.then(twins)
        }
    }

    /// Ends the waits that are over, without twins.
    func tick(at now: MonotonicTime) {
        let over = state.withLock { state -> [Ending] in
            let over = state.endings.filter { $0.value.deadline <= now }
            for number in over.keys { state.endings[number] = nil }
            return over.values.map(\.then)
        }
        for then in over { then(nil) }
    }
}
