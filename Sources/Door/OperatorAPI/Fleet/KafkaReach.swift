import JobSupport
import Kafka
import PushModel

/// The answers of brokers to what this gateway asks them about the fleet. Without clock.
struct KafkaReach: Sendable, Equatable {
    /// A report that is younger was read from brokers that answer, in milliseconds.
    private static let reportAge: Int64 = 5000

    /// The time of the first of the last questions without an answer, in milliseconds since 1970, or nil if the last was answered.
    private var silentSince: Int64?
    /// The reason for which there was none, in a few words.
    private var problem = ""
    private var wasAsked = false
    /// The time of the last question that was answered.
    private var answeredAt: Int64?

    /// Notes the end of a question: a failure, or nil for an answer. It was asked at a time in milliseconds since 1970.
    mutating func note(_ failure: JobFailure?, askedAt wall: Int64) {
        if case .cancelled = failure { return }
        wasAsked = true
        guard case .kafka(let error, _) = failure, error.isUnreachable || error.isAuthentication else {
            (silentSince, answeredAt) = (nil, wall)
            return
        }
        silentSince = silentSince ?? wall
        problem = error.isAuthentication ? "brokers do not let the gateway in" : "brokers do not answer"
    }

    /// True if the last question was answered, and was asked after a time in milliseconds since 1970.
    func hasAnswered(since moment: Int64) -> Bool { silentSince == nil && answeredAt.map { $0 >= moment } ?? false }

    /// The reason for which brokers count as away, or nil. `age` is that of the newest report of a worker, in milliseconds.
    func fault(hearing age: Int64?) -> String? { silentSince != nil && age ?? .max >= Self.reportAge ? problem : nil }

    /// As JSON, or nil before the end of the first question. `age` is that of the newest report of a worker, in milliseconds.
    func json(hearing age: Int64?) -> [UInt8]? {
        guard wasAsked else { return nil }
        guard let silentSince, let problem = fault(hearing: age) else { return JSONObject(["reachable": true]).bytes }
        return JSONObject(["reachable": false, "since": Timestamp(milliseconds: silentSince).text, "problem": problem]).bytes
    }
}
