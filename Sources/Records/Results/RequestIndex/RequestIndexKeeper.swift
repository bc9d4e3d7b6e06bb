package import JobSupport
import SQLite
import Synchronization

/// Keeps an index of the requests current. It follows the topics on a thread of its caller, and any thread may query the index meanwhile.
package final class RequestIndexKeeper: Sendable {
    /// All that is known of the index.
    private struct State {
        var condition = IndexKeeper.Condition.starting
        var view: RequestIndex.View?
        /// All was read that was there when the keeper began.
        var isFilled = false
        /// The last moment up to which everything was read.
        var upTo = Int64.min
        /// Files that a question found damaged.
        var damaged: Set<HourFile> = []
    }

    private static let pauses = (first: Duration.milliseconds(200), longest: Duration.seconds(30))

    private let settings: RequestIndexSettings
    private let context: JobContext
    private let pool = BucketPool()
    private let state = Mutex(State())

    /// Keeps the index of these settings. Nothing is done before `run`.
    package init(_ settings: RequestIndexSettings, in context: JobContext) {
        (self.settings, self.context) = (settings, context)
    }

    /// The condition of the index now.
    package var condition: IndexKeeper.Condition { state.withLock { $0.condition } }

    /// The moment since which it has all requests, in milliseconds since 1970, or nil while it does not know.
    package var since: Int64? {
        let reach = state.withLock { $0.view?.reach } ?? .max
        return reach == .max ? nil : reach
    }

    /// Keeps the index until the context is cancelled. After any trouble it starts over, with pauses that grow to 30 s.
    package func run() {
        var pause = Self.pauses.first
        // The hours that were read again, each once: a disk that damages all it gets must not make an endless loop.
        var refilled: Set<Int64> = []
        while !context.isCancelled() {
            do throws(IndexFailure) {
                try keep(&refilled, pause: &pause)
            } catch {
                if error.isFlaw, !context.isCancelled() { giveUp() }
                rest(after: error, for: &pause)
            }
        }
    }

    /// Lets the index answer a query, without a broker. Returns nil while it is of no use, and once `isOver` has ended the query.
    func answer<Answer>(
        unless isOver: @escaping @Sendable () -> Bool = { false }, question: (RequestIndex) throws(SQLiteError) -> Answer
    ) -> Answer? {
        let known = state.withLock { state -> RequestIndex.View? in
            if case .failed = state.condition { nil } else { state.view }
        }
        guard let known else { return nil }
        let index = RequestIndex(known, pool: pool, unless: isOver)
        do throws(SQLiteError) {
            return try question(index)
        } catch {
            if let file = index.damagedFile { state.withLock { _ = $0.damaged.insert(file) } }
            return nil
        }
    }

    /// Opens the index and follows the topics for as long as nothing is wrong with the files.
    private func keep(_ refilled: inout Set<Int64>, pause: inout Duration) throws(IndexFailure) {
        let store = try RequestStore(settings, topics: IndexedLanes.topics(context.topics))
        /// The moment from which on all has to be read again.
        var gap: Int64?
        while !context.isCancelled() {
            let lost = try removeDamaged(of: store)
            let new = lost.subtracting(refilled)
            refilled.formUnion(new)
            if let first = new.map({ store.beginning(of: $0) }).min() { gap = min(gap ?? .max, first) }
            if !lost.isEmpty, new.isEmpty { store.forgetGap() }
            do throws(IndexFailure) {
                try follow(store, refillingFrom: &gap) { pause = Self.pauses.first }
            } catch {
                guard case .job = error else { throw error }
                rest(after: error, for: &pause)
            }
        }
    }

    /// Removes the files that are damaged. Returns their hours, and those of files that were given up while requests were added.
    private func removeDamaged(of store: RequestStore) throws(IndexFailure) -> Set<Int64> {
        let damaged = state.withLock { state -> Set<HourFile> in
            defer { state.damaged = [] }
            return state.damaged
        }
        try IndexFailure.database { () throws(SQLiteError) in
            // A question that began before may find one that has another in its place by now.
            for file in damaged where store.files.contains(file) { try store.giveUp(file.hour) }
        }
        show(store)
        return store.takeGivenUp()
    }

    private func follow(
        _ store: RequestStore, refillingFrom gap: inout Int64?, succeeded: () -> Void
    ) throws(IndexFailure) {
        var follower = try LaneFollower(store, settings: settings, refillingFrom: gap, in: context)
        repeat {
            let progress = follower.progress
            if progress.behind == 0 {
                if gap != nil {
                    try follower.save()
                    try IndexFailure.database { () throws(SQLiteError) in try store.finishRefilling() }
                }
                gap = nil
                succeeded()
            }
            show(store, progress: progress, upTo: follower.upTo)
        } while try follower.readOn() && state.withLock { $0.damaged.isEmpty } && !context.isCancelled()
        try follower.save()
        show(store)
    }

    /// Shows queries what there is, and others how far it is.
    private func show(_ store: RequestStore, progress: (behind: Int, of: Int)? = nil, upTo: Int64? = nil) {
        let (files, since, count) = (store.files, store.since, store.count)
        let areOthers = state.withLock { state -> Bool in
            if let progress, progress.behind == 0 { state.isFilled = true }
            state.upTo = max(state.upTo, upTo ?? .min)
            let reach = state.isFilled ? since ?? .max : .max
            let areOthers = state.view?.files != files
            if areOthers || state.view?.reach != reach || state.view?.epoch != store.epoch {
                state.view = RequestIndex.View(
                    folder: settings.folder, epoch: store.epoch, secrets: store.secrets, isOmitting: settings.names == .omitted,
                    topics: IndexedLanes.topics(context.topics), files: files, reach: reach)
            }
            state.view?.upTo = state.upTo
            if let progress {
                state.condition =
                    state.isFilled
                    ? .current(records: count, behind: progress.behind)
                    : .filling(records: progress.of - progress.behind, of: progress.of)
            }
            return areOthers
        }
        if areOthers { pool.keep(files) }
    }

    /// Removes all that was kept: it is of another cluster, of other topics, or damaged.
    private func giveUp() {
        state.withLock { state in
            (state.view, state.isFilled, state.upTo, state.damaged) = (nil, false, .min, [])
            state.condition = .starting
        }
        pool.keep([])
        IndexFolder.removeAll(in: settings.folder)
    }

    /// Notes a failure. While brokers are away, the index is behind and of use all the same.
    private func note(_ failure: IndexFailure) {
        let text = failure.text(path: settings.folder)
        let isNew = state.withLock { state -> Bool in
            if case .job = failure, state.isFilled, case .current = state.condition { return false }
            let before = state.condition
            state.condition = .failed(text)
            return state.condition != before
        }
        if isNew { context.note(.indexFailed(text)) }
    }

    private func rest(after failure: IndexFailure, for pause: inout Duration) {
        guard !context.isCancelled() else { return }
        note(failure)
        let deadline = Deadline(after: pause)
        pause = min(pause * 2, Self.pauses.longest)
        while !deadline.hasPassed, !context.isCancelled() { Pause.sleep(deadline.step) }
    }
}
