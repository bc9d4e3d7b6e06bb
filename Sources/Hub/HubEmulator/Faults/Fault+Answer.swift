import HubServer
public import HTTPServing

extension Fault.Effect {
    /// True if the server performs no call and does at most answer.
    public var preventsCall: Bool {
        switch self {
        case .status, .throttle, .reset(.before), .hang(.before), .outage: true
        case .none, .reset(.after), .hang(.after), .drip, .truncate, .closeAfter: false
        }
    }
}

extension Fault {
    /// The answer in place of the hub's own, or `nil` when the fault makes none. The call's api-version decides the answer to
    /// throttling.
    func answer(to request: HTTPServerRequest, at moment: Moment) -> HubReply? {
        switch effect {
        case .status(let status), .outage(_, .some(let status)):
            return made(status, detail: "The emulator was told to answer \(status)", at: moment)
        case .throttle:
            let version = APIVersion(request.queryValue("api-version"))
            let status = version.map { $0 >= APIVersion.answers429 } ?? true ? 429 : 403
            return made(status, detail: "The rate of requests exceeds the limit of this hub", at: moment)
        case .none, .reset, .hang, .outage(_, .none), .drip, .truncate, .closeAfter:
            return nil
        }
    }

    /// Makes the response travel as the fault wants it.
    ///
    /// - Parameter response: The answer on its way.
    public func shape(_ response: inout HTTPServerResponse) {
        response.delay = delay
        switch effect {
        case .none, .status, .throttle, .outage(_, .some): break
        case .reset, .outage(_, .none): response.delivery = .reset
        case .hang: response.delivery = .hang
        case .drip(let byteCount, let interval): response.delivery = .dripped(byteCount: byteCount, every: interval)
        case .truncate: response.delivery = .truncated(keeping: response.body.count / 2)
        case .closeAfter: response.closesConnection = true
        }
    }

    private func made(_ status: Int, detail: String, at moment: Moment) -> HubReply {
        var answer =
            switch body {
            case .error: HubReply.error(status, detail: detail)
            case .empty: HubReply.empty(status)
            case .html:
                HubReply.body(
                    status, bytes: Array("<html><body><h1>\(status)</h1></body></html>".utf8), contentType: "text/html")
            case .json:
                HubReply.body(
                    status, bytes: Array("{\"error\":{\"code\":\(status)}}".utf8), contentType: "application/json")
            }
        switch retryAfter ?? (effect == .throttle ? .seconds(10) : nil) {
        case .seconds(let seconds):
            answer.headers.append("Retry-After", value: String(seconds))
        case .date(let seconds):
            let date = Moment(milliseconds: moment.milliseconds + Int64(seconds) * 1000)
            answer.headers.append("Retry-After", value: date.httpDate)
        case nil: break
        }
        return answer
    }
}

extension HTTPServerResponse {
    /// True if the client sees no status at all.
    var isLost: Bool { delivery == .reset || delivery == .hang }
}
