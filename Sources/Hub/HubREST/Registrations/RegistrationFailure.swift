import Basics
public import CurlHTTP
internal import Delivery
public import EventLoop
internal import HTTP1
public import HubAuth
public import PushModel

/// The reason that a call about devices did not do what it should: all that can be said of it, and no handle, token or key.
///
/// The hub's own sentence is not kept, because it may repeat what was sent.
public struct RegistrationFailure: Error, Sendable, Equatable {
    /// The possible causes.
    public enum Cause: Sendable, Equatable {
        /// The hub refuses the call.
        case refused
        /// There is no such installation. The hub is well.
        case absent
        /// Too many calls were made, or the hub wants rest. Nothing was asked.
        case held
        /// There is no answer.
        case unanswered(TransportFailure.Cause)
        /// The hub says yes, and the rest cannot be understood.
        case unreadable(RegistrationFault)
        /// No hub can have such an id or handle. Nothing was asked.
        case unusable
        /// The token cannot be signed. Nothing was asked.
        case unsigned(HubAuthError)
        /// The kernel does not let us wait.
        case system(SystemCallError)
    }

    /// The cause of the failure.
    public var cause: Cause
    /// The HTTP status, or nil without an answer.
    public var status: Int?
    /// The reason in pushfan's words, safe as a metric's label.
    public var code: ErrorCode
    /// The hub's own number, such as 40901: a detail's `SubCode`, else the error's `Code`.
    public var hubCode: Int?
    /// The wait that the hub asks for, in milliseconds, 0 to an hour.
    public var retryAfter: Int64?
    /// The hub's word for the call in its logs.
    public var trackingID: String?
    /// True if the same call may succeed later.
    public var isWorthRetrying: Bool

    /// The failure that the hub's refusal stands for. `now` is milliseconds since 1970, for a Retry-After that is a date.
    init(refusal answer: Answer, now: Int64) {
        let said = HubAnswer(answer, now: now)
        let verdict = CallVerdict(of: said.result)
        // Calls on one id come too fast, or another one is at work on it (page HubProtocol, "Statuses").
        let isConflict = said.status == 409
        self.init(
            .refused, code: isConflict ? .hubThrottled : verdict.code ?? .responseInvalid,
            isWorthRetrying: isConflict || verdict.retry.mayHelp)
        readHead(answer, saying: said)
        if said.status >= 300 { hubCode = Self.hubCode(in: answer.string(answer.bodyRange)) }
    }

    /// A page for people, which no hub sends: what else answers has done nothing for the call, even if it says so.
    init(page answer: Answer, now: Int64) {
        self.init(refusal: answer, now: now)
        if answer.status < 300 { cause = .unreadable(.page) }
    }

    /// An installation to change that is not there.
    init(absence answer: Answer, now: Int64) {
        self.init(refusal: answer, now: now)
        (cause, isWorthRetrying) = (.absent, false)
    }

    /// An answer that cannot be read.
    init(_ fault: RegistrationFault, in answer: Answer, now: Int64) {
        self.init(.unreadable(fault), code: .responseInvalid, isWorthRetrying: false)
        readHead(answer, saying: HubAnswer(answer, now: now))
    }

    /// No answer. Every call may be made again, so that it does not matter whether this one arrived.
    init(_ failure: TransportFailure) {
        let verdict = CallVerdict(of: CallResult(failure))
        self.init(
            .unanswered(failure.reason), code: verdict.code ?? .hubUnavailable, isWorthRetrying: verdict.retry.mayHelp)
    }

    /// A failure. Tests of other modules make them too.
    public init(_ cause: Cause, code: ErrorCode, isWorthRetrying: Bool = false) {
        self.cause = cause
        self.code = code
        self.isWorthRetrying = isWorthRetrying
    }

    private mutating func readHead(_ answer: Answer, saying said: HubAnswer) {
        status = said.status
        retryAfter = said.retryAfter
        trackingID = said.trackingID.flatMap { Self.checkedID(answer.string($0)) }
    }

    /// A GUID, perhaps with a short suffix (`1b2c…_G3`): too short for a handle, and nothing else is repeated.
    private static func checkedID(_ text: String) -> String? {
        let isID = (1...48).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
        return isID ? text : nil
    }

    private static func hubCode(in body: String) -> Int? {
        for mark in ["SubCode=", "<Code>"] {
            guard let place = body.firstRange(of: mark) else { continue }
            let digits = body[place.upperBound...].prefix(7).prefix { $0.isASCII && $0.isNumber }
            if digits.count <= 6, let number = Int(digits) { return number }
        }
        return nil
    }
}

extension RegistrationFailure: CustomStringConvertible {
    /// One plain sentence.
    public var description: String {
        var text: String
        switch cause {
        case .refused: text = "the hub answers \(status ?? 0)"
        case .absent: text = "the hub has no such installation"
        case .held: text = "calls to the hub wait for their turn"
        case .unanswered(let reason): text = "the hub does not answer: \(reason.label)"
        case .unreadable(let fault): text = "the hub's answer cannot be read: \(fault)"
        case .unusable: text = "no hub can have such an id or handle"
        case .unsigned(let error): text = "the call cannot be signed: \(error)"
        case .system(let error): text = "the answer cannot be waited for: \(error)"
        }
        if let hubCode, hubCode != status { text += ", its code \(hubCode)" }
        if let trackingID { text += ", tracking id \(trackingID)" }
        if let retryAfter { text += ", to be tried again after \(retryAfter) ms" }
        return text
    }
}

extension CallVerdict.Retry {
    /// True if a call that may be made twice is worth another try with the token that it had.
    fileprivate var mayHelp: Bool { self == .backoff || self == .ifAmbiguityAllowed }
}
