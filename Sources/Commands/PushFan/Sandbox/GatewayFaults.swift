import Foundation
import GatewayAPI
import HTTPServing
import HubEmulator
import PushModel

/// The faults of the sandbox's gateway, which `/faults` at an address of its own arms.
final class GatewayFaults {
    private let board: FaultBoard
    private let server: HTTPServer
    /// The address of `/faults`.
    let address: HTTPServer.Address

    /// Serves them on a free port.
    init() throws {
        let board = FaultBoard()
        self.board = board
        server = HTTPServer { request in board.answer(request) }
        address = try server.start()
    }

    func stop() { server.stop(within: .zero) }

    /// Gives the fault of a call of `/v1` and `/api`.
    var intercept: @Sendable (HTTPServerRequest) -> Interception? {
        { [board] request in
            guard request.path.hasPrefix("/v1/") || request.path.hasPrefix("/api/"), let fault = board.strike(request) else {
                return nil
            }
            return Self.interception(by: fault, of: request)
        }
    }

    /// The effect of a fault on a call. One that is answered 504 is made, so that it is written.
    private static func interception(by fault: Fault, of request: HTTPServerRequest) -> Interception {
        if fault.effect == .status(504), !["GET", "HEAD"].contains(request.method) {
            return Interception(refusal: nil) { response in
                if (200..<300).contains(response.status) { response = doubt(about: request, answered: response.body).response }
                fault.shape(&response)
            }
        }
        return Interception(refusal: fault.effect.preventsCall ? refusal(by: fault, of: request) : nil) { fault.shape(&$0) }
    }

    /// The 504 in place of the answer to a call that was made. A request alone has an id, and can be asked about.
    private static func doubt(about request: HTTPServerRequest, answered body: [UInt8]) -> APIProblem {
        let answer = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        if request.path == "/v1/requests", let id = answer?["id"] as? String { return .ackUnknown(id) }
        let retry: APIProblem.Retry =
            switch request.method {
            case "PUT", "DELETE": .safe
            default: request.path.hasPrefix("/v1/requests") ? .sameKey : .ambiguous
            }
        let id = request.path == "/api/notifications" ? answer?["request_id"] as? String : nil
        return APIProblem(
            504, code: .ackUnknown, detail: "It is not known whether the call was carried out.", retry: retry, requestID: id)
    }

    private static func refusal(by fault: Fault, of request: HTTPServerRequest) -> HTTPServerResponse {
        let wait: Int64? =
            switch fault.retryAfter {
            case .seconds(let seconds), .date(let seconds): Int64(seconds) * 1000
            case nil: nil
            }
        switch fault.effect {
        case .throttle: return problem(429, of: request, after: wait)
        case .status(let status), .outage(_, .some(let status)):
            switch fault.body {
            case .error: return status < 400 ? HTTPServerResponse(status: status) : problem(status, of: request, after: wait)
            case .empty: return HTTPServerResponse(status: status)
            case .html: return .text("<html><body><h1>\(status)</h1></body></html>", status: status, contentType: "text/html")
            case .json: return .text("{}", status: status, contentType: "application/json")
            }
        case .none, .reset, .hang, .outage(_, .none), .drip, .truncate, .closeAfter: return HTTPServerResponse(status: 503)
        }
    }

    /// A problem as the gateway answers it, or a proxy's text for a status that the gateway does not answer. Nothing was done.
    private static func problem(_ status: Int, of request: HTTPServerRequest, after wait: Int64?) -> HTTPServerResponse {
        guard var problem = problem(status, of: request) else {
            return .text("The sandbox was told to answer \(status).\n", status: status)
        }
        problem.retryAfter = wait ?? problem.retryAfter
        return problem.response
    }

    private static func problem(_ status: Int, of request: HTTPServerRequest) -> APIProblem? {
        switch status {
        case 409: return .conflictInFlight
        case 429: return .rateLimited(after: 1000)
        case 500: return .failed
        case 502 where request.path.hasPrefix("/v1/installations"):
            return APIProblem(502, code: ErrorCode.connectFailed, detail: "The hub has not done it.", retry: .safe)
        case 503:
            return APIProblem(
                503, code: .brokerUnavailable, detail: "Kafka did not take the request, which is not written.", retry: .safe)
        case 504: return nil
        default:
            guard let code = APIProblem.Code.allCases.first(where: { $0.statuses.contains(status) }) else { return nil }
            return APIProblem(status, code: code, detail: "The sandbox was told to answer \(status).", retry: .never)
        }
    }
}
