import JobSupport
import Publishing
import PushModel

/// Requests whose result is not that they were sent everywhere.
enum UnsentRequests {
    private struct Group {
        var count = 0
        /// The first of them, which stands for the others.
        let id: String
        let result: ResultRecord
    }

    /// The outcomes of unsent requests and their reasons, each state and error once, with the remedy, in lines for a person.
    static func lines(_ requests: some Sequence<(id: String, result: ResultRecord)>) -> [String] {
        var groups: [[String]: Group] = [:]
        var order: [[String]] = []
        for (id, result) in requests where result.state != ResultState.sent.rawValue {
            let cause = [result.state, result.errorCode ?? ""]
            if groups[cause] == nil { order.append(cause) }
            groups[cause, default: Group(id: id, result: result)].count += 1
        }
        return order.compactMap { groups[$0] }.flatMap(lines)
    }

    private static func lines(_ group: Group) -> [String] {
        let result = group.result
        let explanation = result.errorCode.flatMap(ErrorCode.init(rawValue:))?.explanation
        let code = result.errorCode.map { " (\(Sanitised.line($0)))" } ?? ""
        let why = (result.errorMessage ?? explanation?.cause).map { ": \(Sanitised.line($0))" } ?? ""
        return [
            words(group.count, result.state) + code + why, explanation?.remedy,
            "`pushfan results show \(Sanitised.word(group.id))` shows each attempt",
        ].compactMap(\.self)
    }

    private static func words(_ count: Int, _ state: String) -> String {
        switch ResultState(rawValue: state) {
        case .failed: Counted.text(count, "request failed", "requests failed")
        case .partial: Counted.text(count, "request was sent only in part", "requests were sent only in part")
        case .rejected: Counted.text(count, "request was rejected", "requests were rejected")
        case .expired: Counted.text(count, "request expired", "requests expired")
        case .cancelled: Counted.text(count, "request was cancelled", "requests were cancelled")
        case .duplicate: Counted.text(count, "request was sent before", "requests were sent before")
        case .sent, .scheduled, .retrying, .unknown, nil:
            Counted.text(count, "request is", "requests are") + " \(Sanitised.line(state))"
        }
    }
}
