/// Which results are wanted: every kind of condition that is given must hold, with any of its values.
///
/// The one place where a record meets conditions; whatever language people write them in ends here.
struct ResultFilter: Sendable {
    /// A field that can be compared.
    enum Field: String, CaseIterable, Sendable {
        case state, outcome, error, hub, id

        func value(_ record: ResultRecord) -> String? {
            switch self {
            case .state: record.state
            case .outcome: record.outcome
            case .error: record.errorCode
            case .hub: record.hub
            case .id: record.requestID
            }
        }
    }

    private var wanted: [(field: Field, values: [String])] = []

    /// A filter that lets everything through.
    init() {}

    /// The filter that the flags describe; values may be separated by commas.
    init(_ arguments: Arguments) {
        for field in Field.allCases where field != .id {
            let values = arguments.values(field.rawValue).flatMap { $0.split(separator: ",").map(String.init) }
            if !values.isEmpty { wanted.append((field, values)) }
        }
    }

    /// The results of one request.
    init(id: String) {
        wanted = [(.id, [id])]
    }

    /// Whether a record is wanted.
    func matches(_ record: ResultRecord) -> Bool {
        wanted.allSatisfy { condition in condition.field.value(record).map(condition.values.contains) ?? false }
    }

    /// The flags of a filter.
    static let flags = [
        Flag("state", "WORD", "Only these states, such as failed or rejected", isRepeatable: true),
        Flag("outcome", "WORD", "Only these outcomes, such as throttled", isRepeatable: true),
        Flag("error", "CODE", "Only these error codes, such as hub_throttled", isRepeatable: true),
        Flag("hub", "NAME", "Only these hubs", isRepeatable: true),
    ]
}
