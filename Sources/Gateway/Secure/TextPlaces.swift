import Basics

/// Where in their topic texts can be, as far as the brokers have said it; without clock and broker.
///
/// An answer of a broker holds for good where it says that a place is there: records stay where they are. That a place is not there holds
/// only for ids that were shown before the broker was asked, because an id is made after its record was written.
struct TextPlaces: Sendable {
    /// A number that says which places there are.
    enum Bound: Sendable, Hashable {
        /// The number of partitions.
        case partitionCount
        /// The offset behind a partition's last record.
        case end(Int32)
        /// The offset of a partition's oldest record.
        case start(Int32)

        fileprivate func admits(_ id: SecureID, _ value: Int64) -> Bool {
            switch self {
            case .partitionCount: id.partition < value
            case .end: id.offset < value
            case .start: id.offset >= value
            }
        }
    }

    /// What is known of an id.
    enum Verdict: Sendable, Equatable {
        /// Its place is there; what lies in it decides.
        case present
        /// No record can be where it says.
        case impossible
        /// A broker must be asked for this first.
        case unknown(Bound)
    }

    private var answers: [Bound: (value: Int64, time: MonotonicTime)] = [:]

    /// Nothing is known.
    init() {}

    /// What is known of an id. Asks for bounds of partitions alone that are there.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - shown: When a caller brought it.
    /// - Returns: What to do.
    func verdict(on id: SecureID, shown: MonotonicTime) -> Verdict {
        for bound in [.partitionCount, .end(id.partition), .start(id.partition)] as [Bound] {
            guard let answer = answers[bound] else { return .unknown(bound) }
            if !bound.admits(id, answer.value) { return answer.time >= shown ? .impossible : .unknown(bound) }
        }
        return .present
    }

    /// Notes what a broker has answered, unless a later answer is known.
    ///
    /// - Parameters:
    ///   - value: The answer.
    ///   - bound: The question.
    ///   - time: When the question was sent, or before.
    mutating func note(_ value: Int64, for bound: Bound, askedAt time: MonotonicTime) {
        if let known = answers[bound], known.time > time { return }
        answers[bound] = (value, time)
    }

    /// Forgets what is known of a partition and of their number, as after an error: the topic may be another one.
    mutating func forget(_ partition: Int32) {
        for bound in [.partitionCount, .end(partition), .start(partition)] as [Bound] { answers[bound] = nil }
    }
}
