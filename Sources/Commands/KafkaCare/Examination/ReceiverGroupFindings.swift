/// Findings about the rights to the consumer groups of callbacks.
enum ReceiverGroupFindings {
    /// The faults, empty when there are none.
    static func of(_ entry: AccessRights.Entry, answer: Result<Void, QueryFailure>, tool: KafkaTool) -> [Finding] {
        guard case .failure(let refusal) = answer else { return [] }
        guard refusal.kind == .rights else {
            return [.unasked("rights", of: entry.name, text: "whether the group may be used is not known: \(refusal.text)")]
        }
        let what = entry.isPrefix ? "groups of receivers, whose names begin so," : "the group of the services"
        return [
            .failure(
                "rights", of: entry.name, text: "\(what) may not be used: \(refusal.text)",
                mend: entry.operations.map { tool.allow($0, on: [entry]) }.joined(separator: "; "), cause: .notAllowed)
        ]
    }
}
