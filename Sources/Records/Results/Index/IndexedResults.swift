import JobSupport
import Kafka
import SQLite

/// Answers queries for results from the index, which first reads the new records.
///
/// The index is a convenience. With any fault of it the answer is nil, after a note, and the caller reads the topic itself.
struct IndexedResults: Sendable {
    private let context: JobContext
    private let scan: TopicScan
    private let choice: IndexChoice

    private enum Attempt<Answer> {
        case answer(Answer)
        /// The contents of the file are of no use.
        case useless(path: String, IndexFlaw)
        /// The topic must be read instead.
        case none(IndexAbsence)
    }

    init(_ context: JobContext, _ scan: TopicScan, _ choice: IndexChoice) {
        self.context = context
        self.scan = scan
        self.choice = choice
    }

    /// Answers a query, or returns nil when the index is of no use now.
    func answer<Answer>(
        _ question: (ResultIndex) throws(SQLiteError) -> Answer
    ) throws(JobFailure) -> Answer? {
        for isLast in [false, true] {
            switch try attempt(question) {
            case .answer(let answer): return answer
            case .none(let absence):
                context.note(.indexUnused(absence.text))
                return nil
            case .useless(let path, let flaw):
                guard !isLast, isReset(path) else {
                    context.note(.indexUnused(IndexAbsence.flawed(path: path, flaw).text))
                    return nil
                }
                context.note(.indexRebuilt(path: path, flaw.text))
            }
        }
        return nil
    }

    private func isReset(_ path: String) -> Bool {
        do throws(SQLiteError) { try ResultIndex.reset(path: path) } catch { return false }
        return true
    }

    private func attempt<Answer>(
        _ question: (ResultIndex) throws(SQLiteError) -> Answer
    ) throws(JobFailure) -> Attempt<Answer> {
        let reader = try scan.survey()
        defer { reader.close() }
        let cluster = reader.clusterID ?? ""
        let path: String
        do throws(IndexAbsence) {
            path = try IndexLocation(choice, cluster: cluster, topic: reader.topic).path
        } catch {
            return .none(error)
        }
        let index: ResultIndex
        do throws(SQLiteError) {
            index = try ResultIndex(path: path, cluster: cluster, topic: reader.topic)
        } catch {
            return Self.end(error, path)
        }
        if let flaw = index.flaw { context.note(.indexRebuilt(path: path, flaw.text)) }
        var catchUp = IndexCatchUp(index)
        switch try catchUp.run(reader, scan) {
        case .done: break
        case .topicIsAnother: return .useless(path: path, .otherRecords)
        case .indexIsAnother: return .none(.rebuiltByAnother)
        case .failed(let error): return Self.end(error, path)
        }
        do throws(SQLiteError) {
            let answer = try index.ask { () throws(SQLiteError) in try question(index) }
            return answer.map { .answer($0) } ?? .none(.rebuiltByAnother)
        } catch {
            return Self.end(error, path)
        }
    }

    private static func end<Answer>(_ error: SQLiteError, _ path: String) -> Attempt<Answer> {
        if error.isDamage { return .useless(path: path, .damaged) }
        return .none(error.isBusy ? .busy(path: path) : .database(path: path, message: error.message))
    }
}
