import Kafka

@testable import WorkerRuntime

extension OutcomeBatch {
    /// Text of one of its records; "-" for none.
    func text(_ range: Range<Int>?, of record: Record) -> String {
        guard let range else { return "-" }
        let bytes = span(range, of: record)
        return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }

    /// The headers of one of its records, `NAME=VALUE`.
    func headerTexts(of record: Record) -> [String] {
        headers[record.headers].map { "\(text($0.name, of: record))=\(text($0.value, of: record))" }
    }
}
