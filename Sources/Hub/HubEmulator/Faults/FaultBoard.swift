import HubServer
public import HTTPServing
import PushModel
import Synchronization

/// The faults of a server beside the hub, armed over HTTP as those of the hub are.
public final class FaultBoard: Sendable {
    private let script = Mutex(FaultScript())

    /// A board without faults.
    public init() {}

    /// Finds the first fault that strikes a request, and counts it.
    ///
    /// - Parameter request: The request.
    /// - Returns: The fault, or nil.
    public func strike(_ request: HTTPServerRequest) -> Fault? {
        script.withLock { $0.strike(request, now: SystemClock.milliseconds()) }
    }

    /// Answers a request for `/faults`: GET, PUT, POST and DELETE, as the emulator does.
    ///
    /// - Parameter request: The request.
    /// - Returns: The answer, which is 404 on other paths.
    public func answer(_ request: HTTPServerRequest) -> HTTPServerResponse {
        guard request.path == "/faults" else { return .text("not found\n", status: 404) }
        switch request.method {
        case "GET", "HEAD": return script.withLock { $0.list }
        case "PUT", "POST": return FaultScript.armed(by: request) { faults in script.withLock { $0.arm(faults, for: request) } }
        case "DELETE":
            script.withLock { $0 = FaultScript() }
            return HTTPServerResponse(status: 204)
        default: return HTTPServerResponse(status: 405, headers: ["Allow": "GET, HEAD, PUT, POST, DELETE"])
        }
    }
}

extension FaultScript {
    /// The armed faults as JSON.
    var list: HTTPServerResponse { .json(ReportWriter.json(faults: entries)) }

    /// Arms faults, and lists all. A PUT replaces those before.
    mutating func arm(_ faults: [Fault], for request: HTTPServerRequest) -> HTTPServerResponse {
        if request.method == "PUT" { self = FaultScript() }
        append(faults)
        return list
    }

    /// Hands on the faults that a body has, or says what is wrong with them.
    static func armed(by request: HTTPServerRequest, arm: ([Fault]) -> HTTPServerResponse) -> HTTPServerResponse {
        guard let lines = request.scriptLines else { return .notJSON }
        do { return arm(try lines.map { try Fault(parsing: $0) }) } catch { return .text("\(error)\n", status: 400) }
    }
}

extension HTTPServerRequest {
    /// The lines of a script, from lines of text or a JSON array of strings, or nil for a broken array.
    var scriptLines: [String]? {
        var lines: [String] = []
        if body.first(where: { $0 > 0x20 }) == UInt8(ascii: "[") {
            var document = JSONDocument()
            guard (try? document.read(body.span)) != nil else { return nil }
            document.forEachElement(of: document.root) { lines.append(document.string(document.text(of: $0))) }
        } else {
            lines = String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline).map { $0.trimmingBlanks }
        }
        return lines.filter { !$0.isEmpty }
    }
}

extension HTTPServerResponse {
    /// The answer to a broken array.
    static var notJSON: HTTPServerResponse { .text("the body is not valid JSON\n", status: 400) }

    /// A page of the emulator's own.
    static func json(_ body: [UInt8]) -> HTTPServerResponse {
        HTTPServerResponse(status: 200, headers: ["Content-Type": "application/json; charset=utf-8"], body: body)
    }
}
