import Kafka
import ResultQuery
import SQLite

/// Answers questions about results from the index, which first reads what is new.
///
/// The index is a convenience: whatever is wrong with it is said in a line, and the command then reads the topic itself.
struct IndexedResults {
    /// The flag of the commands that can use the index.
    static let flag = Flag(
        "index", "FILE",
        "Answer from an index of the results, kept in FILE or below the user's cache folder; it reads only what is new, is made when it "
            + "is not there, and can be deleted at any time", isValueOptional: true)

    private let invocation: Invocation
    private let scan: ResultScan

    private enum Attempt<Answer> {
        case answer(Answer)
        /// What is in the file is of no use, for a reason.
        case useless(path: String, String)
        /// The topic must be read instead, for a reason.
        case none(String)
    }

    /// Answers for a command.
    ///
    /// - Parameters:
    ///   - invocation: The command.
    ///   - scan: Reads the results.
    init(_ invocation: Invocation, _ scan: ResultScan) {
        self.invocation = invocation
        self.scan = scan
    }

    /// Answers a question.
    ///
    /// - Parameter question: Asks the index.
    /// - Returns: nil when the command wants no index, or it is of no use now.
    /// - Throws: The topic cannot be read.
    func answer<Answer>(
        _ question: (ResultIndex) throws(SQLiteError) -> Answer
    ) throws(CommandFailure) -> Answer? {
        guard invocation.arguments.has("index") else { return nil }
        if invocation.arguments.value("index") == "" {
            throw .usage("--index= needs a value: --index=FILE", hint: "--index alone takes a file below the user's cache folder")
        }
        for isLast in [false, true] {
            switch try attempt(question) {
            case .answer(let answer): return answer
            case .none(let reason):
                invocation.streams.note("the index is not used: \(reason)")
                return nil
            case .useless(let path, let reason):
                guard !isLast, isReset(path) else {
                    invocation.streams.note("the index is not used: \(path) \(reason)")
                    return nil
                }
                invocation.streams.note("\(path) \(reason) and is rebuilt")
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
    ) throws(CommandFailure) -> Attempt<Answer> {
        let reader = try scan.survey()
        defer { reader.close() }
        let location: IndexLocation
        do throws(IndexLocation.Trouble) {
            location = try IndexLocation(
                invocation.arguments.value("index"), cluster: reader.clusterID ?? "", topic: reader.topic,
                invocation.surroundings.environment)
        } catch {
            return .none(error.message)
        }
        let path = location.path
        let index: ResultIndex
        do throws(SQLiteError) {
            index = try ResultIndex(path: path, cluster: reader.clusterID ?? "", topic: reader.topic)
        } catch {
            return Self.end(error, path)
        }
        if let reason = index.reasonForAnew { invocation.streams.note("\(path) \(reason) and is rebuilt") }
        var catchUp = IndexCatchUp(index)
        switch try catchUp.run(reader, scan) {
        case .done: break
        case .topicIsAnother: return .useless(path: path, "has records that the topic does not have")
        case .indexIsAnother: return .none("another command is rebuilding it")
        case .failed(let error): return Self.end(error, path)
        }
        do throws(SQLiteError) {
            let answer = try index.ask { () throws(SQLiteError) in try question(index) }
            return answer.map { .answer($0) } ?? .none("another command is rebuilding it")
        } catch {
            return Self.end(error, path)
        }
    }

    private static func end<Answer>(_ error: SQLiteError, _ path: String) -> Attempt<Answer> {
        if error.isDamage { return .useless(path: path, "is damaged") }
        return .none("\(path): \(error.isBusy ? "another command is writing it" : error.message)")
    }
}
