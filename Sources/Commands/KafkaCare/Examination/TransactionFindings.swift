/// The facts of the right to transactional ids.
struct TransactionFacts {
    let prefix: String
    /// The success of using another id with this prefix, or the refusal.
    let answer: Result<Void, QueryFailure>
    /// True if a loop of the worker is a member of the group and so uses its id.
    let isRunning: Bool
}

/// Findings about the right to transactions.
enum TransactionFindings {
    /// The faults, empty when there are none.
    static func of(_ facts: TransactionFacts, tool: KafkaTool) -> [Finding] {
        guard case .failure(let refusal) = facts.answer, !facts.isRunning else { return [] }
        guard refusal.kind == .rights else {
            return [
                .unasked(
                    "rights", of: facts.prefix, text: "whether its transactional ids may be used is not known: \(refusal.text)")
            ]
        }
        return [
            .failure(
                "rights", of: facts.prefix, text: "transactional ids that begin so are not allowed: \(refusal.text)",
                mend: tool.allow(
                    .write, on: [.init(resource: .transactionalID, name: facts.prefix, isPrefix: true, operations: [.write])]),
                cause: .notAllowed)
        ]
    }
}
