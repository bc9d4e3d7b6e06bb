import Kafka

/// The reason for which a query to Kafka failed, as far as findings depend on it.
struct QueryFailure: Error, Equatable {
    enum Kind: Sendable, Equatable {
        case unreachable, tls, certificate, login, rights, missing, configuration, other
    }

    let kind: Kind
    /// The library's text, without secrets.
    let text: String

    init(_ kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// The meaning of an error of the library.
    init(_ error: KafkaError) {
        text = error.description
        kind =
            if error.isConfiguration {
                .configuration
            } else if error.isAuthentication {
                error.name == "_SSL" ? .tls : error.brokerFailure?.cause == .certificateWanted ? .certificate : .login
            } else if error.isAuthorization {
                .rights
            } else if error.isUnknownTopicOrPartition {
                .missing
            } else if error.isUnreachable {
                .unreachable
            } else {
                .other
            }
    }
}

extension Result where Failure == QueryFailure {
    /// The answer to a query, or the refusal.
    init(asking question: () throws(KafkaError) -> Success) {
        do throws(KafkaError) { self = .success(try question()) } catch { self = .failure(QueryFailure(error)) }
    }

    var answer: Success? { try? get() }
}
