import PushModel

/// The one table that says what each status of the hub and each error of libcurl means (`pushfan explain --codes` prints it).
///
/// Statuses: page HubProtocol, "Answers". Numbers of libcurl: `curl/curl.h`, `CURLcode`. A failure before the whole body was handed to
/// the connection is transient, because the hub cannot act on half a request. After it, every error is ambiguous, whatever its number: no
/// row says `safe` of a request that had left.
public enum VerdictTable {
    /// One row: what it applies to, and what follows.
    public struct Row: Sendable {
        /// The subject that it applies to.
        public var subject: Subject
        /// The verdict that follows.
        public var verdict: CallVerdict
        /// The meaning of it, in plain words.
        public var meaning: String
    }

    /// The subject that a row applies to.
    public enum Subject: Sendable, Equatable {
        /// A status of the hub. `retryAfter` and `detail` narrow it where they matter.
        case status(ClosedRange<Int>, retryAfter: Bool? = nil, detail: CallResult.DetailHint? = nil)
        /// An error of libcurl. `bodySent` narrows it where it matters.
        case curl([Int32], name: String, bodySent: Bool? = nil)
        /// An answer that HTTP forbids.
        case invalidAnswer(bodySent: Bool)

        /// The name that `explain --codes` gives it.
        public var name: String {
            switch self {
            case .status(let range, let retryAfter, let detail):
                if range == Self.anyStatus { return "any other status" }
                var name = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
                if let retryAfter { name += retryAfter ? " with Retry-After" : " without Retry-After" }
                if detail == .notTheHub { return name + ", not from a hub" }
                if let detail, detail != .none { name += ", detail names \(detail)" }
                return name
            case .curl(let codes, let name, let bodySent):
                let numbers = codes.isEmpty ? "" : " " + codes.map(String.init).joined(separator: ", ")
                return "curl\(numbers) \(name)" + Self.suffix(bodySent)
            case .invalidAnswer(let bodySent):
                return "invalid answer" + Self.suffix(bodySent)
            }
        }

        static let anyStatus = 0...999

        private static func suffix(_ bodySent: Bool?) -> String {
            guard let bodySent else { return "" }
            return bodySent ? ", after the body left" : ", before the body left"
        }

        func matches(_ result: CallResult) -> Bool {
            switch (self, result) {
            case (.status(let range, let retryAfter, let detail), .answered(let status, let hasRetryAfter, let hint)):
                return range.contains(status) && retryAfter ?? hasRetryAfter == hasRetryAfter && detail ?? hint == hint
            case (.curl(let codes, _, let sent), .failed(let code, false, let bodySent)):
                return codes.contains(code) && sent ?? bodySent == bodySent
            case (.invalidAnswer(let sent), .failed(_, true, let bodySent)):
                return sent == bodySent
            default:
                return false
            }
        }
    }

    /// All rows. The first that matches counts.
    public static let rows: [Row] = statusRows + curlRows

    /// The row for `result`. What no row names falls to the last one of its kind.
    public static func row(for result: CallResult) -> Row {
        if let row = rows.first(where: { $0.subject.matches(result) }) { return row }
        switch result {
        case .answered: return unknownStatus
        case .failed(_, _, let bodySent): return bodySent ? unknownAfter : unknownBefore
        }
    }

    private static let statusRows: [Row] = [
        Row(
            .status(200...201, detail: .notTheHub),
            verdict: .init(.ambiguous, code: .responseInvalid, retry: .ifAmbiguityAllowed),
            meaning:
                "A page of HTML, or what else no hub writes; something between answers, and the hub may have the notification."),
        Row(.status(200...201), verdict: .success, meaning: "The hub has queued the notification."),
        Row(
            .status(400...400, detail: .tags), verdict: .init(.payload, code: .tagExpressionInvalid, retry: .never),
            meaning: "The hub does not accept the tags or the tag expression."),
        Row(
            .status(400...400), verdict: .init(.payload, code: .payloadRejected, retry: .never),
            meaning: "The hub does not accept the body or a header."),
        Row(
            .status(401...401), verdict: .init(.auth, code: .hubUnauthorized, retry: .reauthenticate),
            meaning: "The token is refused: wrong key or policy, wrong audience, expired, or a clock that is off."),
        Row(
            .status(403...403, retryAfter: true),
            verdict: .init(.throttled, code: .hubThrottled, retry: .backoff, pausesHub: true),
            meaning: "The hub throttles, as older api-versions say it."),
        Row(
            .status(403...403, retryAfter: false, detail: .quota), verdict: .init(.throttled, code: .hubQuota, retry: .never),
            meaning: "The namespace's quota or tier does not allow it."),
        Row(
            .status(403...403, retryAfter: false), verdict: .init(.auth, code: .hubForbidden, retry: .never),
            meaning: "The policy lacks the right Send, or the tier lacks the feature."),
        Row(
            .status(404...404), verdict: .init(.transient, code: .hubNotFound, retry: .backoff),
            meaning: "There is no hub of this name in the namespace, or none yet; calls wait as in an outage."),
        Row(
            .status(405...405), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "What answers takes no notifications: a wrong endpoint, or a proxy."),
        Row(
            .status(407...407), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "A proxy asks for a login."),
        Row(
            .status(408...408), verdict: .init(.transient, code: .hubTimeout, retry: .backoff),
            meaning: "The hub waited too long for the request."),
        Row(
            .status(410...410), verdict: .init(.permanent, code: .hubNotFound, retry: .never),
            meaning: "What was addressed is gone for good."),
        Row(
            .status(411...411), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "A length is missed that every call has: what answers does not read HTTP as it was sent."),
        Row(
            .status(413...413), verdict: .init(.payload, code: .payloadTooLarge, retry: .never),
            meaning: "The notification is over the hub's 64 KB."),
        Row(
            .status(414...414), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "The path is the same for every send, and short: a wrong endpoint, or a proxy."),
        Row(
            .status(416...417), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "A range or an expectation is refused that no call has: a proxy."),
        Row(
            .status(421...421), verdict: .init(.transient, code: .hubUnavailable, retry: .backoff),
            meaning: "Sent to a server that is not the hub's and did nothing; the next attempt takes another connection."),
        Row(
            .status(423...423), verdict: .init(.transient, code: .hubUnavailable, retry: .backoff),
            meaning: "Something is locked, and nothing was done; locks end."),
        Row(
            .status(425...425), verdict: .init(.transient, code: .hubUnavailable, retry: .backoff),
            meaning: "Too early: a front did nothing with the call because it could be a repeated one."),
        Row(
            .status(426...426), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "What answers wants another protocol."),
        Row(
            .status(428...428), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "A condition is missed that sends do not have: what answers is no notification hub."),
        Row(
            .status(429...429), verdict: .init(.throttled, code: .hubThrottled, retry: .backoff, pausesHub: true),
            meaning: "The hub throttles; if it refuses as a whole, everything sent to it waits as long as Retry-After says."),
        Row(
            .status(431...431), verdict: .init(.payload, code: .payloadTooLarge, retry: .never),
            meaning: "The header fields are too long for a front: tags and the payload's own headers are most of them."),
        Row(
            .status(451...451), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "A filter does not let the call pass."),
        Row(
            .status(499...499), verdict: .init(.ambiguous, code: .hubUnavailable, retry: .ifAmbiguityAllowed),
            meaning: "A proxy says that its client went away; the hub may have queued the notification."),
        Row(
            .status(402...499), verdict: .init(.permanent, code: .payloadRejected, retry: .never),
            meaning: "The hub refuses the request for good."),
        Row(
            .status(503...503, retryAfter: true),
            verdict: .init(.transient, code: .hubUnavailable, retry: .backoff, pausesHub: true),
            meaning: "The hub is busy and says for how long."),
        Row(
            .status(500...500), verdict: .init(.transient, code: .hubUnavailable, retry: .backoff),
            meaning: "The hub had an internal error."),
        Row(
            .status(501...501), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "What answers is no notification hub."),
        Row(
            .status(505...505), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "What answers is no notification hub."),
        Row(
            .status(511...511), verdict: .init(.transient, code: .connectFailed, retry: .backoff),
            meaning: "The network wants a sign-in before it lets calls out."),
        Row(
            .status(520...520), verdict: .init(.ambiguous, code: .hubUnavailable, retry: .ifAmbiguityAllowed),
            meaning: "A front does not understand what the hub answered; the hub may have queued the notification."),
        Row(
            .status(522...522), verdict: .init(.ambiguous, code: .hubUnavailable, retry: .ifAmbiguityAllowed),
            meaning: "A front was not answered in time, perhaps after the call was passed on."),
        Row(
            .status(524...524), verdict: .init(.ambiguous, code: .hubTimeout, retry: .ifAmbiguityAllowed),
            meaning: "A front passed the call on and had no answer in time; the hub may have queued the notification."),
        Row(
            .status(502...599), verdict: .init(.transient, code: .hubUnavailable, retry: .backoff),
            meaning: "The hub, or something before it, is not available."),
        Row(
            .status(202...299), verdict: .init(.ambiguous, code: .responseInvalid, retry: .ifAmbiguityAllowed),
            meaning: "A success that the hub never answers; something between may have answered in its place."),
        Row(
            .status(300...399), verdict: .init(.permanent, code: .responseInvalid, retry: .never),
            meaning: "A redirect; the hub never sends one."),
    ]

    private static let curlRows: [Row] = [
        Row(
            .curl([5, 6], name: "COULDNT_RESOLVE_PROXY, COULDNT_RESOLVE_HOST", bodySent: false),
            verdict: .init(.transient, code: .dnsFailed, retry: .backoff), meaning: "The name has no address at present."),
        Row(
            .curl([7, 97], name: "COULDNT_CONNECT, PROXY", bodySent: false),
            verdict: .init(.transient, code: .connectFailed, retry: .backoff),
            meaning: "No connection could be made."),
        Row(
            .curl(
                [35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98], name: "TLS and certificate errors", bodySent: false),
            verdict: .init(.transient, code: .tlsFailed, retry: .backoff),
            meaning: "The connection could not be secured: an unknown or expired certificate, or a name that does not fit."),
        Row(
            .curl([28], name: "OPERATION_TIMEDOUT", bodySent: false),
            verdict: .init(.transient, code: .connectFailed, retry: .backoff),
            meaning: "The time was over before the request had left."),
        Row(
            .curl([28], name: "OPERATION_TIMEDOUT", bodySent: true),
            verdict: .init(.ambiguous, code: .hubTimeout, retry: .ifAmbiguityAllowed),
            meaning: "No answer in time; the hub may have queued the notification."),
        Row(
            .curl([52, 55, 56, 18], name: "GOT_NOTHING, SEND_ERROR, RECV_ERROR, PARTIAL_FILE", bodySent: false),
            verdict: .init(.transient, code: .connectFailed, retry: .backoff),
            meaning: "The connection broke before the request had left."),
        Row(
            .curl([52, 55, 56, 18], name: "GOT_NOTHING, SEND_ERROR, RECV_ERROR, PARTIAL_FILE", bodySent: true),
            verdict: .init(.ambiguous, code: .hubUnavailable, retry: .ifAmbiguityAllowed),
            meaning: "The connection broke before the answer was whole; the hub may have queued the notification."),
        Row(
            .curl([27], name: "OUT_OF_MEMORY", bodySent: false), verdict: .init(.transient, code: .internal, retry: .backoff),
            meaning: "This machine is out of memory."),
        Row(
            .curl([3, 4, 43, 48], name: "URL_MALFORMAT and other misuse", bodySent: false),
            verdict: .init(.transient, code: .connectFailed, retry: .backoff),
            meaning: "The hub's address cannot be used."),
        Row(
            .invalidAnswer(bodySent: false), verdict: .init(.transient, code: .responseInvalid, retry: .backoff),
            meaning: "What answers does not speak HTTP/1.1 as RFC 9112 has it."),
        Row(
            .invalidAnswer(bodySent: true), verdict: .init(.ambiguous, code: .responseInvalid, retry: .ifAmbiguityAllowed),
            meaning: "The answer makes no sense; the hub may have queued the notification."),
    ]

    private static let unknownStatus = Row(
        .status(Subject.anyStatus), verdict: .init(.ambiguous, code: .responseInvalid, retry: .ifAmbiguityAllowed),
        meaning: "A status that HTTP does not have.")
    private static let unknownBefore = Row(
        .curl([], name: "any other error", bodySent: false), verdict: .init(.transient, code: .connectFailed, retry: .backoff),
        meaning: "The request had not left.")
    private static let unknownAfter = Row(
        .curl([], name: "any other error", bodySent: true),
        verdict: .init(.ambiguous, code: .hubUnavailable, retry: .ifAmbiguityAllowed),
        meaning: "The hub may have queued the notification.")

    /// The rows for what no other row names.
    public static let fallbackRows: [Row] = [unknownStatus, unknownBefore, unknownAfter]
}

extension VerdictTable.Row {
    fileprivate init(_ subject: VerdictTable.Subject, verdict: CallVerdict, meaning: String) {
        self.init(subject: subject, verdict: verdict, meaning: meaning)
    }
}
