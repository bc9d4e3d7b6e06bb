import CRDKafka
import EventLoop
import Synchronization

/// The properties of a program's clients as they are now: passwords and certificates change while it runs. One for all clients of a
/// program, on any thread.
public final class LiveProperties: Sendable {
    /// One property of librdkafka.
    public typealias Property = KafkaConfiguration.Property

    /// The effect of new properties on the clients that are there.
    public enum Effect: Sendable, Equatable {
        /// Nothing has changed.
        case none
        /// They log in with another user or password when they connect next.
        case login
        /// They are outdated: their owners close them, and open others.
        case reopening
    }

    private struct State {
        var properties: [Property]
        var files: FileChanges
        var clients: [WeakClient] = []
    }

    /// The properties that can change in a client at work.
    private static let login = ["sasl.username", "sasl.password"]
    /// Those with which the next token is fetched.
    private static let tokens = ["client.id", "client.secret", "scope", "extensions", "token.endpoint.url"].map {
        "sasl.oauthbearer.\($0)"
    }

    /// The properties of the configurations that go with it.
    private let original: [Property]
    private let currentEpoch = Atomic<Int>(0)
    /// Protects all of it. Nothing else is locked while it is held, and no client is called, whose log lines need it.
    private let state: Mutex<State>
    /// Keeps the order in which a client hears of logins. `state` may be locked while it is held.
    private let logins = Mutex(())

    /// Begins with `properties`, and with the files that they name as they are.
    public init(_ properties: [Property]) {
        original = properties
        state = Mutex(State(properties: properties, files: FileChanges(Self.files(in: properties))))
    }

    /// Lets all clients use `properties`, and the files that they name, from now on.
    ///
    /// - Parameter properties: All properties of the user, with which a client can be made (`KafkaConfiguration.check`).
    /// - Returns: The effect on the clients that are there. Later ones have the new properties in any case.
    public func renew(_ properties: [Property]) -> Effect { logins.withLock { _ in apply(properties) } }

    private func apply(_ properties: [Property]) -> Effect {
        let (effect, clients) = state.withLock { state -> (Effect, [ClientHandle]) in
            let changed = Self.keys(of: state.properties, differingFrom: properties)
            let hasNewFiles = state.files.take(Self.files(in: properties))
            state.properties = properties
            guard !changed.isEmpty || hasNewFiles else { return (.none, []) }
            let isLogin =
                !hasNewFiles && changed.isSubset(of: Self.login + Self.tokens)
                && (changed.isDisjoint(with: Self.login) || Login(properties) != nil)
            return (isLogin ? .login : .reopening, state.clients.compactMap(\.client))
        }
        switch effect {
        case .none: break
        case .login: for client in clients { client.logIn(as: Login(properties)) }
        case .reopening: currentEpoch.add(1, ordering: .releasing)
        }
        return effect
    }

    /// True once for each new state of the files that the properties name, such as certificates: there for two calls, so whoever replaces
    /// them has finished. To be called every few seconds.
    public func findsNewFiles() -> Bool {
        state.withLock { $0.files.findNew(among: Self.files(in: $0.properties)) }
    }

    /// The properties as they are now.
    public var current: [Property] { state.withLock(\.properties) }

    /// The number of times that clients became outdated.
    var epoch: Int { currentEpoch.load(ordering: .acquiring) }

    /// The properties of a configuration, those of the user as they are now.
    func renewed(_ properties: [Property]) -> [Property] {
        let current = current
        guard current != original else { return properties }
        let kept = properties.compactMap { property in
            original.contains(property) ? current.last { $0.key == property.key } : property
        }
        let known = Set((kept + original).map(\.key))
        return kept + current.filter { !known.contains($0.key) }
    }

    /// The passwords and keys in use.
    var secrets: [String] { current.filter(\.isSecret).map(\.value) }

    /// Has a new client hear of other users and passwords, also of one that came while it was made.
    func add(_ client: ClientHandle) {
        logins.withLock { _ in
            let current = state.withLock { state in
                state.clients.removeAll { $0.client == nil }
                state.clients.append(WeakClient(client: client))
                return state.properties
            }
            if current != original { client.logIn(as: Login(current)) }
        }
    }

    /// The files that `properties` name, such as `ssl.certificate.location`.
    private static func files(in properties: [Property]) -> [String] {
        properties.filter { $0.key.hasSuffix(".location") }.map(\.value)
    }

    private static func keys(of some: [Property], differingFrom others: [Property]) -> Set<String> {
        func values(_ list: [Property]) -> [String: String] { Dictionary(list.map { ($0.key, $0.value) }) { $1 } }
        let (before, after) = (values(some), values(others))
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    }
}

/// A user and a password.
struct Login {
    let user: String
    let password: String

    /// Those of SASL PLAIN or SCRAM, if `properties` have both.
    init?(_ properties: [KafkaConfiguration.Property]) {
        func value(_ key: String) -> String? { properties.last { $0.key == key }?.value }
        guard let user = value("sasl.username"), let password = value("sasl.password"), !user.isEmpty else { return nil }
        (self.user, self.password) = (user, password)
    }
}

struct WeakClient: Sendable {
    weak var client: ClientHandle?
}

extension KafkaConfiguration {
    /// Makes a client of each kind and drops it. Some properties do not go together in one kind only. No token is asked for.
    ///
    /// - Parameters:
    ///   - transactionalID: An id that no process has, or nil if transactions are not written.
    ///   - transactionTimeout: The time-out of transactions.
    ///   - sessionTimeout: The time-out of members of the group.
    /// - Throws: The reason for which there can be no such client, such as a certificate that cannot be read.
    public func check(transactionalID: String?, transactionTimeout: Duration, sessionTimeout: Duration) throws(KafkaError) {
        var configuration = self
        (configuration.watch, configuration.live) = (nil, nil)
        configuration.tokens = TokenKeeper { () throws(TokenFailure) in throw TokenFailure("none is asked for") }
        _ = try TopicAdmin(configuration)
        _ = try Producer(configuration, transactionalID: transactionalID, transactionTimeout: transactionTimeout)
        _ = try Consumer(configuration, groupID: "check", sessionTimeout: sessionTimeout, wakeUpFileDescriptor: -1)
    }
}
