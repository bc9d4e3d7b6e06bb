internal import PushModel

// The rows of `/v1/requests` (page Publish).
extension APIOperation {
    static let publishRow = Row(
        method: "POST", path: "/v1/requests", summary: "Publishes a request.", access: .key,
        parameters: [
            Parameter(
                name: "Idempotency-Key", place: .header, schema: JSONSchema.text(1...IdempotencyKey.maximumByteCount),
                summary: "The same call under the same key is sent once at most.", example: "order-4711")
        ],
        body: Content(
            schema: MessageSchema.request.body,
            example: ["audience": ["users": ["alice"]], "message": ["title": "Order shipped"], "ttl_seconds": 3600]),
        answers: [Answer(status: 202, summary: "Kafka has the request.", content: accepted)],
        problems: [
            Problem(status: 400, codes: [.notJSON, .idempotencyKeyInvalid]),
            Problem(status: 403, codes: [.forbiddenScope, .forbiddenTenant, .forbiddenSource]),
            Problem(status: 422, codes: [.invalidRequest]), Problem(status: 429, codes: [.rateLimited]),
            Problem(status: 503, codes: [.brokerUnavailable, .brokerSlow]),
            Problem(status: 504, codes: [.ackUnknown]),
        ])

    private static var accepted: Content {
        Content(
            schema: JSONSchema.object(
                [
                    ("id", JSONSchema.text()), ("state", ["const": "accepted"]), ("topic", JSONSchema.text()),
                    ("partition", JSONSchema.count), ("offset", JSONSchema.text(pattern: "^[0-9]+$")),
                    ("accepted_at", JSONSchema.moment), ("expires_at", JSONSchema.moment),
                ], required: ["id", "state", "topic", "partition", "accepted_at"], isOpen: true),
            example: [
                "id": "01890a5d-ac96-774b-bcce-b302099a8057", "state": "accepted", "topic": "push.requests.v1", "partition": 3,
                "offset": "12345", "accepted_at": "2026-11-21T17:00:00.100Z",
            ])
    }
}
