/// The way to reach the brokers, and whatever else of librdkafka's settings the user wants to have their way.
public struct KafkaConfiguration: Sendable {
    /// One property of librdkafka, as its `CONFIGURATION.md` names it.
    public struct Property: Sendable, Equatable {
        /// The property's name, such as `security.protocol`.
        public var key: String
        /// The property's value in text.
        public var value: String

        /// A property called `key` with `value`.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }

        /// The value must not be shown: a password, a private key or a token.
        public var isSecret: Bool {
            let secrets = ["password", "secret", "ssl.key.pem", "ssl_key", "token", "sasl.oauthbearer.config"]
            let key = key.lowercased()
            return secrets.contains { key.contains($0) }
        }
    }

    /// The brokers to ask first, `host:port` separated by commas.
    public var bootstrapServers: String
    /// The name under which brokers log this client, 1 to 100 characters (librdkafka 2.0.2 does not survive long ones, fixed in 2.5.0).
    public var clientID: String
    /// Properties that overrule the defaults of this module, in order. Those on which the guarantees rest are refused.
    public var properties: [Property]
    /// Hears whether a broker answers the clients that are made with it. Nil when no one wants to know.
    public var watch: BrokerWatch?
    /// Has the user's properties as they are now, for a program that outlives a password or a certificate. Nil where they never change.
    public var live: LiveProperties?
    /// Has tokens for clients that log in with some (`fetchesTokens`). Nil leaves that to the library.
    public var tokens: TokenKeeper?

    /// A configuration for the brokers at `bootstrapServers`.
    public init(bootstrapServers: String, clientID: String = "pushfan", properties: [Property] = []) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }

    /// The last value given to the property `key`.
    func value(of key: String) -> String? { properties.last { $0.key == key }?.value }
}

extension KafkaConfiguration.Property: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `key=value`, a secret value replaced by `***`.
    public var description: String { "\(key)=\(isSecret ? "***" : value)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// Shows no more than `description` does.
    public var customMirror: Mirror { Mirror(self, children: ["property": description]) }
}
