import PushModel

/// What a result says that the answer to a send depends on (page Results).
struct SendResult: Sendable, Equatable {
    package struct Call: Sendable, Equatable {
        /// Its place in the request's plan, from 0.
        var index: Int64
        /// The hub's format name.
        var platform: String
        /// Whether the hub accepted it.
        var isAccepted: Bool
        /// Why it is no success.
        var code: ErrorCode?
        /// The id under which the hub's telemetry knows it.
        var notificationID: String?
    }

    let state: ResultState
    let code: ErrorCode?
    let replaySafety: ReplaySafety
    let calls: [Call]

    /// Reads the value of a result's record, or returns nil for what is no JSON.
    init?(reading json: [UInt8]) {
        var document = JSONDocument()
        do { try document.read(json.span) } catch { return nil }
        let root = document.root
        state = document.text("state", of: root).flatMap(ResultState.init(rawValue:)) ?? .unknown
        replaySafety =
            document.text("replay_safety", of: root).flatMap(ReplaySafety.init(rawValue:)) ?? .ambiguous
        if let error = document.member("error", of: root) {
            // What a later version calls by a new word is a failure all the same.
            code = document.text("code", of: error).flatMap(ErrorCode.init(rawValue:)) ?? .internal
        } else {
            code = nil
        }
        var calls: [Call] = []
        if let sends = document.member("sends", of: root) {
            document.forEachElement(of: sends) { send in
                let place = document.member("index", of: send).flatMap { document.integer(at: $0) }
                let outcome = document.text("outcome", of: send)
                let code = document.text("error_code", of: send)
                calls.append(
                    Call(
                        index: place ?? Int64(calls.count), platform: document.text("platform", of: send) ?? "",
                        isAccepted: outcome == Outcome.success.rawValue, code: code.flatMap { ErrorCode(rawValue: $0) },
                        notificationID: document.text("notification_id", of: send)))
            }
        }
        self.calls = calls
    }
}
