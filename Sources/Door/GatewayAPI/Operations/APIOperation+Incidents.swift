internal import Keys
internal import PushModel
internal import Results

// The row of incidents (page Gateway, "Find and repair").
extension APIOperation {
    static let listIncidentsRow = Row(
        method: "GET", path: "/v1/incidents", label: "incidents",
        summary: "Lists what was out or held to a rate in the last 14 days, newest first, \(APILimit.incidentCount) at most.",
        access: .key([.read], allTenants: true), work: .scan,
        parameters: [
            Parameter(name: "since", schema: JSONSchema.text(), summary: "Those that lasted then or later.", example: "1d")
        ],
        answers: [
            Answer(
                summary:
                    "The incidents. One without `to` lasts; `filter` finds the failures of its time, of which `open` are open.",
                content: Content(
                    schema: JSONSchema.object(
                        [("items", JSONSchema.list(of: incident))], required: ["items"], isOpen: true
                    ).named("IncidentList"),
                    example: [
                        "items": [
                            [
                                "id": "hub_throttled/shop/2026-11-21T17:00:00.000Z", "kind": "hub_throttled", "subject": "shop",
                                "from": "2026-11-21T17:00:12.000Z", "to": "2026-11-21T17:12:15.000Z", "seconds": 723,
                                "failed": 0, "expired": 12, "waited": 340, "open": 12,
                                "filter": "hub:shop since:2026-11-21T17:00:12.000Z until:2026-11-21T17:12:15.001Z",
                                "text":
                                    "Hub shop was throttled (429) for 12 min; meanwhile 340 requests waited, 12 expired in all.",
                            ]
                        ]
                    ]))
        ], problems: searchProblems)

    private static let incident = JSONSchema.object(
        [
            ("id", JSONSchema.text()), ("kind", JSONSchema.words(Incident.Kind.allCases.map(\.rawValue))),
            ("subject", JSONSchema.text()), ("from", JSONSchema.moment), ("to", JSONSchema.moment),
            ("seconds", JSONSchema.count), ("failed", JSONSchema.count), ("expired", JSONSchema.count),
            ("waited", JSONSchema.count), ("open", JSONSchema.count), ("cause", JSONSchema.text()), ("filter", JSONSchema.text()),
            ("text", JSONSchema.text()),
        ], required: ["id", "kind", "from", "seconds", "text"], isOpen: true
    ).named("Incident")
}
