/// The reason that a broker cannot be worked with, in plain words: what an error of librdkafka comes to. Fixed words and an
/// address, so no secrets.
public struct BrokerFailure: Sendable, Equatable {
    /// The fault, as far as the error shows it.
    public enum Cause: String, Sendable, CaseIterable {
        case connectionRefused = "connection refused"
        case noRoute = "no way to that address"
        case timedOut = "timed out"
        case nameUnknown = "name unknown"
        case closedByPeer = "closed by peer"
        case notKafka = "what answers there is not Kafka"
        case noTLS = "it does not speak TLS"
        case certificateNotTrusted = "certificate not trusted"
        case certificateWanted = "it does not accept our certificate"
        case tlsFailed = "TLS cannot be agreed on"
        case closedAtLogin = "closed by peer at the login"
        case loginRefused = "login refused"
        case mechanismRefused = "login refused: it does not offer this SASL mechanism"
    }

    /// The cause of the trouble.
    public let cause: Cause
    /// The broker, `host:port`.
    public let broker: String

    /// The trouble of a connection that an error reports by its name, such as `_TRANSPORT`, and a sentence that begins with
    /// `host:port/id: `. Nil where it is about none, or its words are not known.
    init?(name: String, sentence: String) {
        guard let end = sentence.firstRange(of: ": ")?.lowerBound,
            let slash = sentence[..<end].lastIndex(of: "/"), let cause = Cause(name: name, sentence: sentence)
        else { return nil }
        self.cause = cause
        let address = sentence[..<slash]
        broker = String(address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address)
    }
}

extension BrokerFailure: CustomStringConvertible {
    /// The address and what is wrong there.
    public var description: String { "\(broker): \(cause.rawValue)" }
}

extension BrokerFailure.Cause {
    /// The words are those of librdkafka 2.0.2, taken from the library at work. The system's are those of glibc.
    fileprivate init?(name: String, sentence: String) {
        func has(_ words: String...) -> Bool { words.contains { sentence.contains($0) } }
        switch name {
        case "_RESOLVE": self = .nameUnknown
        case "_SSL": self = has("certificate verify failed") ? .certificateNotTrusted : has("wrong version") ? .noTLS : .tlsFailed
        case "_AUTHENTICATION": self = has("Unsupported SASL mechanism") ? .mechanismRefused : .loginRefused
        case "_BAD_MSG" where has("Invalid response size"): self = .notKafka
        case "_TRANSPORT" where has("Connection refused"): self = .connectionRefused
        case "_TRANSPORT" where has("No route to host", "Network is unreachable"): self = .noRoute
        case "_TRANSPORT" where has("timed out"): self = .timedOut
        case "_TRANSPORT" where has("SSL alert"): self = has("certificate") ? .certificateWanted : .tlsFailed
        case "_TRANSPORT" where has("in state SSL_HANDSHAKE"): self = .noTLS
        case "_TRANSPORT" where has("SASL", "in state AUTH_"): self = .closedAtLogin
        case "_TRANSPORT" where has("Disconnected", "closed by peer", "reset by peer", "Broken pipe"): self = .closedByPeer
        default: return nil
        }
    }

    /// The broker is there, and does not let us in.
    public var isRefusal: Bool {
        switch self {
        case .connectionRefused, .noRoute, .timedOut, .nameUnknown, .closedByPeer, .notKafka: false
        case .noTLS, .certificateNotTrusted, .certificateWanted, .tlsFailed: true
        case .closedAtLogin, .loginRefused, .mechanismRefused: true
        }
    }

    /// The thing to check, as a question.
    public var question: String {
        switch self {
        case .connectionRefused, .noRoute, .timedOut, .nameUnknown, .notKafka: Self.addressQuestion
        case .closedByPeer: "are `kafka.bootstrap_servers`, and `security.protocol` in `kafka.properties`, right?"
        case .noTLS: "are the port, and `security.protocol` in `kafka.properties`, right?"
        case .certificateNotTrusted: "is `ssl.ca.location` in `kafka.properties` right, and the broker's name in its certificate?"
        case .certificateWanted: "is `ssl.certificate.location` in `kafka.properties` right?"
        case .tlsFailed: "are the `ssl` properties in `kafka.properties` right?"
        case .closedAtLogin, .loginRefused: "are user and password, or client id and secret, in `kafka.properties` right?"
        case .mechanismRefused: "is `sasl.mechanism` in `kafka.properties` right?"
        }
    }

    /// The thing to check where nothing answers, as a question.
    static let addressQuestion = "is `kafka.bootstrap_servers` right?"
}
