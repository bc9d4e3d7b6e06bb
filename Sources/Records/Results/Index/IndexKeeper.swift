import Delivery
package import JobSupport
import Kafka
import PushModel
import SQLite
import Synchronization

/// Keeps an index of the results current. It follows the topic on a thread of its caller, and any thread may query the index meanwhile.
package final class IndexKeeper: Sendable {
    /// The condition of the index.
    package enum Condition: Sendable, Equatable {
        /// Nothing is known of it yet.
        case starting
        /// So many records of those that the topic holds were read.
        case filling(records: Int, of: Int)
        /// It has so many records, and lacks so many of those that were there when following began.
        case current(records: Int, behind: Int)
        /// It cannot be used, for a reason in one line without secrets, and is tried again.
        case failed(String)
    }

    /// All that is known of the file.
    private struct State {
        var condition = Condition.starting
        var epoch: Int64 = 0
        var mark: FileMark?
        /// Its content is wrong and must be given up.
        var isUseless = false
    }

    private static let pauses = (first: Duration.milliseconds(200), longest: Duration.seconds(30))
    /// Bytes that are read ahead of a filling: less than commands use, for a service does other work, too.
    private static let readAhead = 64 << 20

    private let path: String
    private let context: JobContext
    private let state = Mutex(State())

    /// Keeps the index in the file at `path`. Nothing is done before `run`.
    package init(path: String, _ context: JobContext) {
        self.path = path
        self.context = context
    }

    /// The condition of the index now.
    package var condition: Condition { state.withLock { $0.condition } }

    /// The records that a current index has and lacks, or nil for one that is not current.
    var counts: (records: Int, behind: Int)? {
        if case .current(let records, let behind) = condition { (records, behind) } else { nil }
    }

    /// Keeps the index until the context is cancelled. After any trouble it starts over, with pauses that grow to 30 s.
    package func run() {
        var pause = Self.pauses.first
        while !context.isCancelled() {
            do throws(IndexFailure) {
                let (index, positions) = try catchUp()
                try follow(index, from: positions)
                pause = Self.pauses.first
            } catch {
                guard !context.isCancelled() else { return }
                note(error)
                wait(pause)
                pause = min(pause * 2, Self.pauses.longest)
            }
        }
    }

    /// Lets the index answer a query, without a broker. Returns nil while it is not current, and once `isOver` has ended the query.
    func answer<Answer>(
        unless isOver: @escaping @Sendable () -> Bool = { false }, question: (ResultIndex) throws(SQLiteError) -> Answer
    ) -> Answer? {
        let known = state.withLock { $0 }
        guard case .current = known.condition, !known.isUseless, let mark = known.mark, FileMark(path: path) == mark
        else { return nil }
        do throws(SQLiteError) {
            let index = try ResultIndex(asking: path, epoch: known.epoch)
            index.database.interrupt(when: isOver)
            return try index.ask { () throws(SQLiteError) in try question(index) }
        } catch {
            if error.isDamage { state.withLock { $0.isUseless = true } }
            return nil
        }
    }

    /// Notes a failure. While brokers are away, the index is behind and of use all the same.
    private func note(_ failure: IndexFailure) {
        let isNew = state.withLock { state -> Bool in
            state.isUseless = state.isUseless || failure.isFlaw
            if case .job = failure, case .current = state.condition { return false }
            let before = state.condition
            state.condition = .failed(failure.text(path: path))
            return state.condition != before
        }
        if isNew { context.note(.indexFailed(failure.text(path: path))) }
    }

    private func wait(_ pause: Duration) {
        let deadline = Deadline(after: pause)
        while !deadline.hasPassed, !context.isCancelled() { Pause.sleep(deadline.step) }
    }

    /// Reads what is new, removes what retention took, and returns where to read on.
    private func catchUp() throws(IndexFailure) -> (index: ResultIndex, positions: [Int32: Int64]) {
        let topic = context.topics.results
        let survey = try IndexFailure.kafka { () throws(KafkaError) in
            try TopicReader(
                surveying: topic, configuration: context.kafka, timeout: context.timeout, readAhead: Self.readAhead)
        }
        defer { survey.close() }
        let total = survey.bounds.reduce(Int64(0)) { $0.addingSaturated($1.upperBound - $1.lowerBound) }
        let index = try open(survey, of: Int(clamping: total))
        var filling = context
        filling.progress = { [self] progress in
            guard case .reached(let remaining) = progress else { return }
            note(remaining: Int(clamping: remaining), of: Int(clamping: total))
        }
        var catchUp = IndexCatchUp(index)
        let ending: IndexCatchUp.Ending
        do throws(JobFailure) { ending = try catchUp.run(survey, TopicScan(filling, topic: topic)) } catch { throw .job(error) }
        switch ending {
        case .done: return (index, survey.positions)
        case .topicIsAnother: throw .flaw(.otherRecords)
        case .indexIsAnother: throw .absence(.rebuiltByAnother)
        case .failed(let error): throw .database(error)
        }
    }

    /// Notes the progress of a filling. An index that was current stays so, and is behind.
    private func note(remaining: Int, of total: Int) {
        state.withLock { state in
            if case .current(let records, _) = state.condition {
                state.condition = .current(records: records, behind: remaining)
            } else {
                state.condition = .filling(records: max(0, total - remaining), of: total)
            }
        }
    }

    /// Opens the index. One that is not the one of before, or had trouble, is not current until it was filled.
    private func open(_ survey: TopicReader, of total: Int) throws(IndexFailure) -> ResultIndex {
        let known = state.withLock { $0 }
        // A file that was checked before is not opened again, because closing it would end the locks of queries.
        if FileMark(path: path) != known.mark || known.mark == nil {
            do throws(IndexAbsence) { try IndexLocation.checkThatItIsNobodyElses(path) } catch { throw .absence(error) }
        }
        return try IndexFailure.database { () throws(SQLiteError) in
            if known.isUseless { try ResultIndex.reset(path: path) }
            let index = try ResultIndex(path: path, cluster: survey.clusterID ?? "", topic: survey.topic)
            let (epoch, mark) = (index.epoch, FileMark(path: path))
            state.withLock { state in
                var isCurrent = false
                if case .current = state.condition { isCurrent = state.epoch == epoch && state.mark == mark }
                if !isCurrent { state.condition = .filling(records: 0, of: total) }
                (state.epoch, state.mark, state.isUseless) = (epoch, mark, false)
            }
            return index
        }
    }

    /// Adds what comes, until it is time to compare the index with the topic again.
    private func follow(_ index: ResultIndex, from positions: [Int32: Int64]) throws(IndexFailure) {
        var tail = try IndexTail(index, from: positions, in: context)
        defer { tail.close() }
        while !context.isCancelled() {
            note(try tail.counts())
            guard try tail.readOn() else { return }
            let mark = state.withLock { $0.isUseless ? nil : $0.mark }
            guard let mark else { throw .flaw(.damaged) }
            guard FileMark(path: path) == mark else { throw .fileIsGone }
        }
    }

    private func note(_ counts: (records: Int, behind: Int)) {
        state.withLock { $0.condition = .current(records: counts.records, behind: counts.behind) }
    }
}
