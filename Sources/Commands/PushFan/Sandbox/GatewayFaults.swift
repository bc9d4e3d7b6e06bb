import Foundation
import GatewayAPI
import HTTPServing
import HubEmulator

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
                if (200..<300).contains(response.status) { response = doubt(about: response.body) }
                fault.shape(&response)
            }
        }
        return Interception(refusal: fault.effect.preventsCall ? refusal(by: fault) : nil) { fault.shape(&$0) }
    }

    /// The 504 in place of the answer to a call that was made.
    private static func doubt(about body: [UInt8]) -> HTTPServerResponse {
        let answer = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        guard let id = (answer?["id"] ?? answer?["request_id"]) as? String else {
            return APIProblem(
                504, code: .ackUnknown, detail: "It is not known whether the call was carried out.", retry: .sameKey
            ).response
        }
        return APIProblem.ackUnknown(id).response
    }

    private static func refusal(by fault: Fault) -> HTTPServerResponse {
        let wait: Int64? =
            switch fault.retryAfter {
            case .seconds(let seconds), .date(let seconds): Int64(seconds) * 1000
            case nil: nil
            }
        switch fault.effect {
        case .throttle: return problem(429, after: wait)
        case .status(let status), .outage(_, .some(let status)):
            switch fault.body {
            case .error: return status < 400 ? HTTPServerResponse(status: status) : problem(status, after: wait)
            case .empty: return HTTPServerResponse(status: status)
            case .html: return .text("<html><body><h1>\(status)</h1></body></html>", status: status, contentType: "text/html")
            case .json: return .text("{}", status: status, contentType: "application/json")
            }
        case .none, .reset, .hang, .outage(_, .none), .drip, .truncate, .closeAfter: return HTTPServerResponse(status: 503)
        }
    }

    /// A problem as the gateway answers it. Nothing was done.
    private static func problem(_ status: Int, after wait: Int64?) -> HTTPServerResponse {
        switch status {
        case 429: return APIProblem.rateLimited(after: wait ?? 1000).response
        case 500: return APIProblem.failed.response
        case 503:
            return APIProblem(
                503, code: .brokerUnavailable, detail: "Kafka did not take the request, which is not written.", retry: .safe,
                retryAfter: wait
            ).response
        default:
            let code = APIProblem.Code.allCases.first { $0.statuses.contains(status) } ?? .internal
            return APIProblem(
                status, code: code, detail: "The sandbox was told to answer \(status).", retry: status < 500 ? .never : .safe,
                retryAfter: wait
            ).response
        }
    }
}
