/// The forms of the two kinds of results as JSON Schemas (page Results). Both are open: later versions may add members and words.
extension ResultWriter {
    /// Of the kind `final`.
    static var finalSchema: JSONTree {
        let members: [(String, JSONTree)] = [
            ("attempts", JSONSchema.list(of: attempt, count: 1...DeliveryReport.maximumAttempts)),
            ("targets", counts(["planned", "accepted", "failed", "ambiguous"]).named("Targets")),
            (
                "timings",
                timings(
                    moments: ["published_at", "consumed_at", "finished_at"], optional: ["first_attempt_at"],
                    lengths: ["queue_ms", "throttle_wait_ms", "hub_ms", "total_ms"]
                ).named("Timings")
            ),
            (
                "followed",
                JSONSchema.boolean.described("Each call that the hub accepted gets a result of the kind outcome, too.")
            ),
            ("parent", RequestReader.parent), ("parts", parts),
        ]
        return schema(of: "final", hubState: JSONSchema.words(["Enqueued"]), own: members).named("FinalResult")
    }

    /// Of the kind `outcome`.
    static var outcomeSchema: JSONTree {
        let members: [(String, JSONTree)] = [
            ("devices", JSONSchema.map(of: pushServiceCounts).named("DeviceCounts")),
            ("targets", counts(["planned"]).named("OutcomeTargets")),
            (
                "timings",
                timings(moments: ["published_at", "finished_at"], optional: [], lengths: ["total_ms"]).named("OutcomeTimings")
            ),
        ]
        // The words that are documented, and whatever else the hub may say.
        return schema(of: "outcome", hubState: word, own: members).named("Outcome")
    }

    private static func schema(of kind: String, hubState: JSONTree, own: [(String, JSONTree)]) -> JSONTree {
        let shared: [(String, JSONTree)] = [
            ("schema_version", JSONSchema.version),
            ("result_id", JSONSchema.text(identifier, of: .identifier)),
            ("request_id", JSONSchema.text(identifier, of: .identifier)),
            ("source", JSONSchema.text(RequestLimits.source)), ("tenant", JSONSchema.text(RequestLimits.slug, of: .slug)),
            ("hub", JSONSchema.text(RequestLimits.slug)), ("kind", ["type": "string", "const": .text(kind)]),
            ("state", JSONSchema.words(ResultState.allCases.map(\.rawValue)).named("ResultState")), ("outcome", outcome),
            ("hub_state", hubState),
            ("replay_safety", JSONSchema.words(ReplaySafety.allCases.map(\.rawValue)).named("ReplaySafety")), ("error", error),
            ("attempt_count", JSONSchema.count), ("sends", JSONSchema.list(of: send, count: 1...maximumSends)),
            ("origin", origin), ("replay", RequestReader.replay), ("labels", RequestReader.labels),
            ("worker", object(["id": JSONSchema.text(0...128), "version": JSONSchema.text(0...32)]).named("WorkerName")),
            ("at", JSONSchema.moment),
        ]
        let required = [
            "schema_version", "result_id", "request_id", "kind", "state", "outcome", "replay_safety", "attempt_count", "targets",
            "timings", "origin", "worker", "at",
        ]
        return JSONSchema.object(shared + own, required: required, isOpen: true)
    }

    private static var identifier: ClosedRange<Int> { RequestLimits.identifier }
    private static var outcome: JSONTree { JSONSchema.words(Outcome.allCases.map(\.rawValue)).named("CallOutcome") }
    private static var errorCode: JSONTree { JSONSchema.errorCode }
    private static var httpStatus: JSONTree { JSONSchema.integer(100...599) }
    /// A word of the hub.
    private static var word: JSONTree { JSONSchema.text(1...64, pattern: "^[A-Za-z0-9]+$") }
    private static var pushServiceCounts: JSONTree {
        JSONSchema.map(of: JSONSchema.count, names: word).named("PushServiceCounts")
    }

    /// An open object, all of whose members are there.
    private static func object(_ properties: KeyValuePairs<String, JSONTree>) -> JSONTree {
        JSONSchema.object(properties.map { ($0.key, $0.value) }, required: properties.map(\.key), isOpen: true)
    }

    private static func counts(_ names: [String]) -> JSONTree {
        JSONSchema.object(names.map { ($0, JSONSchema.count) }, required: names, isOpen: true)
    }

    private static func timings(moments: [String], optional: [String], lengths: [String]) -> JSONTree {
        JSONSchema.object(
            (moments + optional).map { ($0, JSONSchema.moment) } + lengths.map { ($0, JSONSchema.count) },
            required: moments + lengths, isOpen: true)
    }

    private static var error: JSONTree {
        let fault = object(["code": errorCode, "pointer": JSONSchema.text(), "message": JSONSchema.text()]).named("ResultFault")
        return JSONSchema.object(
            [
                ("code", errorCode), ("message", JSONSchema.text(1...512)), ("retryable", JSONSchema.boolean),
                ("http_status", httpStatus), ("retry_after_ms", JSONSchema.count),
                ("faults", JSONSchema.list(of: fault, count: 1...FieldReader.maximumFaults)),
            ], required: ["code", "message", "retryable"], isOpen: true
        ).named("ResultError")
    }

    private static var send: JSONTree {
        JSONSchema.object(
            [
                ("index", JSONSchema.count),
                ("platform", JSONSchema.words(Platform.allCases.map { String(describing: $0.name) } + ["template"])),
                ("outcome", outcome), ("notification_id", JSONSchema.text(1...256)), ("tracking_id", JSONSchema.text(1...256)),
                ("http_status", httpStatus), ("error_code", errorCode), ("payload_bytes", JSONSchema.count),
                ("pns_outcomes", pushServiceCounts),
            ], required: ["index", "platform", "outcome"], isOpen: true
        ).named("Send")
    }

    private static var attempt: JSONTree {
        JSONSchema.object(
            [
                ("n", ["type": "integer", "minimum": 1]), ("send", JSONSchema.count), ("started_at", JSONSchema.moment),
                ("duration_ms", JSONSchema.count),
                ("result", JSONSchema.words(DeliveryReport.AttemptResult.allCases.map(\.rawValue))),
                ("http_status", httpStatus), ("error_code", errorCode), ("backoff_ms", JSONSchema.count),
                ("bytes_sent", JSONSchema.boolean),
            ], required: ["n", "send", "started_at", "duration_ms", "result", "bytes_sent"], isOpen: true
        ).named("Attempt")
    }

    private static var origin: JSONTree {
        object([
            "topic": JSONSchema.text(1...249), "partition": JSONSchema.integer(0...Int64(Int32.max)),
            "offset": JSONSchema.text(1...19, pattern: "^[0-9]+$"),
        ]).named("Origin")
    }

    private static var parts: JSONTree {
        let names = ["count", "sent", "partial", "failed", "ambiguous", "expired", "cancelled"]
        let notSent = JSONSchema.list(of: JSONSchema.count, count: 1...PartTotals.maximumNamed)
        return JSONSchema.object(
            names.map { ($0, JSONSchema.count) } + [("not_sent", notSent)], required: names, isOpen: true
        ).named("PartTotals")
    }
}
