import HubAuth
import HubServer
import Observability
import Settings

extension Invocation {
    /// The policies of a hub that flags and settings describe. The key of the connection string comes first, because the first policy is the
    /// one that is printed.
    ///
    /// - Parameters:
    ///   - settings: The settings, whose connection string has all rights.
    ///   - standard: The policy without a connection string.
    /// - Returns: The policies, which may be none.
    /// - Throws: What is wrong with the connection string or a flag, without any key.
    func hubPolicies(_ settings: Settings, else standard: HubPolicy? = nil) throws(CommandFailure) -> [HubPolicy] {
        var policies = [standard].compactMap(\.self)
        if let text = settings.hub.connectionString { policies = [try policy(text.secret)] }
        for text in arguments.values("policy") {
            guard let policy = HubPolicy(parsing: text) else {
                throw .usage("--policy: expected NAME=KEY or NAME=KEY:Listen,Send,Manage")
            }
            policies.append(policy)
        }
        return policies
    }

    /// The name and key of a connection string. The reader of connection strings keeps keys to itself.
    private func policy(_ connectionString: String) throws(CommandFailure) -> HubPolicy {
        let name: String
        do throws(HubAuthError) {
            name = try ConnectionString(parsing: connectionString).credential.policy
        } catch {
            throw CommandFailure(.configuration, "hub.connection_string: \(error)")
        }
        for field in connectionString.split(separator: ";") {
            guard let equals = field.firstIndex(of: "=") else { continue }
            let key = field[..<equals].lowercased().filter { $0 != " " }
            if key == "sharedaccesskey" {
                let value = field[field.index(after: equals)...].drop { $0 == " " }
                return HubPolicy(name: name, key: String(value), rights: .all)
            }
        }
        throw CommandFailure(.configuration, "hub.connection_string has no SharedAccessKey")
    }
}
