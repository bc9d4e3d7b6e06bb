import Glibc
import JobSupport
import Kafka
import SQLite

/// A reason to open an index again.
enum IndexFailure: Error {
    case job(JobFailure)
    case database(SQLiteError)
    case absence(IndexAbsence)
    /// The content of the file is of no use.
    case flaw(IndexFlaw)
    /// The file was removed, or another one stands in its place.
    case fileIsGone

    /// True if the content of the file must be given up.
    var isFlaw: Bool {
        switch self {
        case .flaw: true
        case .database(let error): error.isDamage
        case .job, .absence, .fileIsGone: false
        }
    }

    /// One line without secrets.
    func text(path: String) -> String {
        let words =
            switch self {
            case .job(.kafka(let error, _)): error.description
            case .job(.stalled(let topic, let remaining)): "no record of \(topic) comes, of \(remaining) that are left"
            case .job: "the results cannot be read"
            case .database(let error): "\(path): \(error.message)"
            case .absence(let absence): absence.text
            case .flaw(let flaw): "\(path) \(flaw.text)"
            case .fileIsGone: "\(path) was removed or replaced"
            }
        return words.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Does something with Kafka.
    static func kafka<Value>(_ body: () throws(KafkaError) -> Value) throws(IndexFailure) -> Value {
        do throws(KafkaError) { return try body() } catch { throw .job(.kafka(error, .describeTopics)) }
    }

    /// Does something with the file.
    static func database<Value>(_ body: () throws(SQLiteError) -> Value) throws(IndexFailure) -> Value {
        do throws(SQLiteError) { return try body() } catch { throw .database(error) }
    }
}

/// A file among those that may stand at its path one after another.
struct FileMark: Equatable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// The file that is at a path now, or nil for none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}
