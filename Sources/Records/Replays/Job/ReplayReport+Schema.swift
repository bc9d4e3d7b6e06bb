package import PushModel

extension ReplayReport {
    /// The members of ``summary``, each with its schema.
    package static let summarySchema: [(String, JSONTree)] = [
        ("id", JSONSchema.text()), ("state", JSONSchema.text()), ("has_runner", JSONSchema.boolean),
        ("requests", JSONSchema.count),
        ("next", JSONSchema.count.described("The requests that were dealt with.")),
        ("replayed", JSONSchema.count.described("Those of them that were not left out.")),
        ("source", sourceSchema), ("filter", JSONSchema.text()),
        ("reason", JSONSchema.text()), ("actor", JSONSchema.text()), ("tenant", JSONSchema.text()),
        ("rate", JSONSchema.count.described("Requests a second for a run that says nothing else.")),
        ("created_at", JSONSchema.moment.described("Of the plan, or of the first run where the plan is not at hand.")),
        ("started_at", JSONSchema.moment), ("updated_at", JSONSchema.moment),
        ("left_by_run", JSONSchema.counts.described("What runs have left out, by its reason (page Replay).")),
    ]

    /// The members that ``whole(at:samples:)`` has besides, each with its schema.
    package static let planSchema: [(String, JSONTree)] = [
        ("mode", modeSchema), ("matched", JSONSchema.count),
        ("calls", JSONSchema.count), ("estimated_ms", JSONSchema.count), ("eligible_by_safety", JSONSchema.counts),
        ("left", JSONSchema.counts.described("What the plan has left out, by its reason.")), ("repairs", JSONSchema.counts),
        ("unknown_hubs", JSONSchema.counts),
        ("set", JSONSchema.list(of: JSONSchema.text())), ("samples", JSONSchema.list(of: [:])),
    ]

    package static let sourceSchema = JSONSchema.words(ReplayPlanHeader.Source.allCases.map(\.rawValue)).named("ReplaySource")
    package static let modeSchema = JSONSchema.words(ReplayPlanHeader.Mode.allCases.map(\.rawValue)).named("ReplayMode")
}
