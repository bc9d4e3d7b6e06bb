import Basics
public import Observability

/// The address to listen on for connections.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// A name or an address. An IPv6 address has no brackets here.
    public let host: String
    /// 0 to 65535, with 0 for a free port.
    public let port: Int

    /// Reads `host:port` or `[ipv6]:port`. Both parts must be there.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        let others = isBracketed ? ":.%-" : "._-"
        guard !host.isEmpty, SettingLetters.consists(String(host), ofLettersDigitsAnd: others) else { return nil }
        guard (1...5).contains(digits.count), digits.utf8.allSatisfy(\.isDigit) else { return nil }
        guard let port = Int(digits), port <= 65_535 else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// True if the host is this machine by its spelling alone: `localhost`, 127.0.0.0/8 or `::1`.
    public var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && Host.bitCount(ofAddress: host) == 32)
    }

    /// `host:port`, with brackets where the host is an IPv6 address.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A property handed to librdkafka as it is.
public struct KafkaProperty: Sendable, Equatable {
    /// Its name, such as `security.protocol`.
    public let name: String
    /// Its value, which may be a password.
    public let value: Redacted<String>
}

/// A spelling of the headers that name the origin of a dead letter.
public enum DeadLetterSpelling: String, Sendable, CaseIterable {
    /// pushfan's own.
    case native
    /// Kafka Connect's.
    case connect
    /// Spring Kafka's.
    case spring
}

/// The format of log lines.
public enum LogFormat: String, Sendable, CaseIterable {
    /// JSON, or text where standard error is a terminal.
    case auto
    /// One JSON object a line.
    case json
    /// For a person.
    case text
}
