public import FanOut
public import HubAuth
public import Payloads
public import PushModel

/// Writes the hub's calls and reads its answers (page HubProtocol, "Sends" and "Answers"). The bytes travel elsewhere.
///
/// One owner, not thread-safe, because it caches the token.
public struct HubClient: Sendable {
    /// One operation of the hub, as far as path and query go.
    private enum Operation: Int, CaseIterable {
        case send, direct, batch, testSend, testDirect, testBatch

        var path: String {
            switch self {
            case .send, .testSend, .direct, .testDirect: "messages"
            case .batch, .testBatch: "messages/$batch"
            }
        }

        var flags: String {
            switch self {
            case .send: ""
            case .direct, .batch: "&direct"
            case .testSend: "&test"
            case .testDirect, .testBatch: "&test&direct"
            }
        }
    }

    /// The boundary of a direct batch's parts, the one that the official SDKs use.
    private static let usualBoundary = "nh-batch-multipart-boundary"

    var tokens: SASTokenCache
    private let heads: [[UInt8]]
    let telemetryHead: TelemetryHead
    let registrationHead: RegistrationHead

    /// A client of one hub.
    ///
    /// - Parameters:
    ///   - configuration: The hub.
    ///   - userAgent: The program's name and version, as `User-Agent`.
    /// - Throws: `HubAuthError` when the token's life is out of range.
    public init(_ configuration: HubConfiguration, userAgent: String) throws(HubAuthError) {
        tokens = try SASTokenCache(
            audience: configuration.endpoint.audience(of: configuration.hub), primary: configuration.credential,
            secondary: configuration.secondaryCredential, lifetime: configuration.tokenLifetime)
        telemetryHead = TelemetryHead(configuration, userAgent: userAgent)
        registrationHead = RegistrationHead(configuration, userAgent: userAgent)
        let rest = configuration.restOfHead(userAgent: userAgent)
        heads = Operation.allCases.map { operation in
            let path = "\(configuration.endpoint.pathPrefix)\(configuration.hub)/\(operation.path)"
            let query = "?api-version=\(configuration.apiVersion)\(operation.flags)"
            return Array("POST \(path)\(query)".utf8) + rest
        }
    }

    /// Writes one call as the bytes of an HTTP/1.1 request, in place of what `writer` held.
    ///
    /// - Parameters:
    ///   - call: One of `plan`'s calls.
    ///   - plan: The plan of `request`.
    ///   - request: The request.
    ///   - payload: The body and headers for the call's platform.
    ///   - now: Seconds since 1970, for the token.
    ///   - writer: Takes the request.
    /// - Returns: The number of the token that was used; `accepted` or `rejected` want it back.
    /// - Throws: `HubAuthError.signing` when OpenSSL cannot sign.
    public mutating func write(
        _ call: FanOutPlan.Call, of plan: borrowing FanOutPlan, for request: borrowing PushRequest,
        with payload: borrowing RenderedPayload, now: Int64, into writer: inout ByteWriter
    ) throws(HubAuthError) -> UInt64 {
        writer.removeAll()
        let token = try tokens.token(now: now)
        let isTest = request.options.testSend
        let operation: Operation
        switch call.target {
        case .tags, .broadcast: operation = isTest ? .testSend : .send
        case .device: operation = isTest ? .testDirect : .direct
        case .devices: operation = isTest ? .testBatch : .batch
        }
        let head = heads[operation.rawValue]
        writer.append(head.span)
        writer.append(token.headerValue.span)
        writer.append("\r\nServiceBusNotification-Format: ")
        writer.append(call.platform?.name ?? "template")
        writer.append("\r\n")
        if case .device(let handle) = call.target, call.platform == .browser {
            Self.append(subscription: request.document.span(handle), to: &writer)
        } else {
            appendTarget(call.target, of: plan, for: request, to: &writer)
        }
        writer.append(payload.headers)
        if case .devices(let handles) = call.target {
            appendBatch(handles, of: request, with: payload, to: &writer)
        } else {
            writer.append("Content-Type: ")
            writer.append(payload.contentType.name)
            appendBody(payload.body, to: &writer)
        }
        return token.serial
    }

    /// True while the last answer to each of the keys was a refusal of a fresh token.
    public var isKeyRefused: Bool { tokens.isRefused }

    /// True if the hub has refused a token and taken none since.
    public var isKeyInDoubt: Bool { tokens.isInDoubt }

    /// Notes that the hub took the token (any answer but 401).
    public mutating func accepted(token serial: UInt64) { tokens.accepted(serial: serial) }

    /// Notes that the hub refused the token.
    ///
    /// - Returns: What follows; whether the same call should be made again.
    public mutating func rejected(token serial: UInt64) -> SASTokenCache.Verdict {
        tokens.rejected(serial: serial)
    }

    /// Appends a browser's handle as a direct send has it: the endpoint, and the keys in headers of their own.
    private static func append(subscription handle: Span<UInt8>, to writer: inout ByteWriter) {
        var document = JSONDocument()
        guard (try? document.read(handle)) != nil else { return }
        let headers: [(StaticString, StaticString)] = [
            ("ServiceBusNotification-DeviceHandle: ", "endpoint"), ("P256DH: ", "p256dh"), ("Auth: ", "auth"),
        ]
        for (header, name) in headers {
            guard let value = document.member(name, of: document.root) else { continue }
            writer.append(header)
            writer.append(document.span(document.text(of: value)))
            writer.append("\r\n")
        }
    }

    /// Appends the header that says whom the call reaches. Only a broadcast, which has to be asked for, has none.
    private func appendTarget(
        _ target: FanOutPlan.Target, of plan: borrowing FanOutPlan, for request: borrowing PushRequest,
        to writer: inout ByteWriter
    ) {
        switch target {
        case .tags(let tags):
            writer.append("ServiceBusNotification-Tags: ")
            writer.append(plan.span(tags))
            writer.append("\r\n")
        case .device(let handle):
            writer.append("ServiceBusNotification-DeviceHandle: ")
            writer.append(request.document.span(handle))
            writer.append("\r\n")
        case .devices, .broadcast:
            break
        }
    }

    private func appendBody(_ body: borrowing ByteWriter, to writer: inout ByteWriter) {
        writer.append("\r\nContent-Length: ")
        writer.append(decimal: body.count)
        writer.append("\r\n\r\n")
        writer.append(body)
    }

    private func appendBatch(
        _ handles: [JSONDocument.Text], of request: borrowing PushRequest, with payload: borrowing RenderedPayload,
        to writer: inout ByteWriter
    ) {
        let boundary = Self.boundary(notIn: payload.body)
        var body = ByteWriter(capacity: payload.body.count + handles.count * 80 + 400)
        body.append("--\(boundary)\r\nContent-Type: ")
        body.append(payload.contentType.name)
        body.append("\r\nContent-Disposition: inline; name=notification\r\n\r\n")
        body.append(payload.body)
        body.append("\r\n--\(boundary)\r\nContent-Type: application/json; charset=utf-8\r\n")
        body.append("Content-Disposition: inline; name=devices\r\n\r\n[")
        body.append(list: handles) { $0.append(json: request.document.span($1)) }
        body.append("]\r\n--\(boundary)--\r\n")
        writer.append("Content-Type: multipart/mixed; boundary=\"\(boundary)\"")
        appendBody(body, to: &writer)
    }

    /// A boundary that the payload does not hold, so that no content can end its part and name other devices.
    private static func boundary(notIn payload: borrowing ByteWriter) -> String {
        var boundary = usualBoundary
        var number = 0
        while payload.bytes.firstRange(of: boundary.utf8) != nil {
            number += 1
            boundary = "\(usualBoundary)-\(number)"
        }
        return boundary
    }
}
