import CallbackRecords
import KafkaCare
import Settings

extension Flag {
    /// Chooses the role.
    static func role(default standard: String? = nil) -> Flag {
        let roles = AccessRole.allCases.map(\.rawValue)
        return Flag("role", "NAME", "What the user is", default: standard, choices: roles)
    }

    /// Adds a right that not every publisher has.
    static let with = Flag(
        "with", "RIGHT", "A right that not every publisher has", choices: ["cancel", "wait"], isRepeatable: true)
}

extension Arguments {
    /// The role that is given.
    var accessRole: AccessRole? { value("role").flatMap(AccessRole.init(rawValue:)) }
}

extension Invocation {
    /// The settings on which the rights of a role depend.
    func accessTerms(of role: AccessRole, in settings: Settings) throws(CommandFailure) -> AccessTerms {
        let more = arguments.values("with")
        guard more.isEmpty || role == .publisher else { throw .usage("--with is for --role publisher") }
        var terms = AccessTerms(
            topics: settings.kafka.topics, group: settings.kafka.groupID,
            workersWriteTransactions: settings.unusedTransactionalID != nil,
            gatewayReplays: settings.gateway.stateFolder != nil)
        terms.receiverGroups = CallbackTopics.group(of: "")
        terms.callbackGroup = settings.callbacks.groupID
        terms.publisherCancels = more.contains("cancel")
        terms.publisherWaits = more.contains("wait")
        return terms
    }
}
