import JobSupport
import Kafka

extension ReportGap {
    /// The failed query with its reason. Errors of brokers name the addresses that were called.
    func text(brokers: String) -> String {
        switch self {
        case .missing(let topic): "\(topic): there is no such topic; `pushfan topics create` makes it"
        case .undescribed(let topic, let error): "\(topic): \(Sanitised.line(error.description))"
        case .unread(let topic, let failure): "\(topic): \(CommandFailure(failure, brokers: brokers).message)"
        case .cancellations(let failure): "what was cancelled: \(CommandFailure(failure, brokers: brokers).message)"
        case .members(let error): "members of the group: \(Sanitised.line(error.description))"
        case .worker(let url, let reason): "the worker at \(url): \(reason)"
        case .silent, .cut, .hidden: remark
        case .unreported(let topic, let isMissing):
            "what only workers know (attempts, circuit, limit, rate, throttling): "
                + (isMissing
                    ? "there is no topic \(topic) on which they report themselves; `pushfan topics create` makes it"
                    : "none has reported itself on \(topic)") + "; --worker http://HOST:9464 asks one"
        case .positions(let error): "where the group stands: \(Sanitised.line(error.description))"
        }
    }
}
