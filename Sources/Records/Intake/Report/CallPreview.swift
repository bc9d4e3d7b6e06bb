internal import FanOut
internal import Payloads
public import PushModel

/// One hub call as it would be written, without its signature and without device handles.
public struct CallPreview: Sendable, Equatable {
    /// The platform, or nil for a template.
    public let platform: Platform?
    /// The place of the call among those of its platform, from 1.
    public let part: Int
    /// The addressees, in words without names.
    public let audience: String
    /// The lines of the head, in their order, from the request line on.
    public let head: [String]
    /// The content.
    public let body: [UInt8]
    /// Bytes that the content may have.
    public let maximumBodyByteCount: Int
    /// Bytes of the whole request, its head included.
    public let byteCount: Int

    /// - Parameters:
    ///   - call: The call.
    ///   - request: Its bytes.
    ///   - payload: Its content.
    init(_ call: FanOutPlan.Call, request: [UInt8], payload: borrowing RenderedPayload) {
        platform = call.platform
        part = call.chunk + 1
        audience =
            switch call.target {
            case .tags: "tags"
            case .broadcast: "every device"
            case .device: "one device"
            case .devices(let handles): "\(handles.count) devices"
            }
        body = payload.body.bytes
        maximumBodyByteCount = Self.limit(for: call.platform, type: payload.contentType)
        byteCount = request.count
        let end = request.firstRange(of: Array("\r\n\r\n".utf8))
        let text = String(decoding: end.map { request[..<$0.lowerBound] } ?? request[...], as: UTF8.self)
        head = text.split(separator: "\r\n").map { Self.hidden(String($0)) }
    }

    private static func limit(for platform: Platform?, type: ContentType) -> Int {
        guard let platform else { return PayloadLimit.hubByteCount }
        return type == .octetStream ? PayloadLimit.windowsRawByteCount : PayloadLimit.bodyByteCount(for: platform)
    }

    /// A header line, in which the signature and a device's handle with its keys are only marked as present.
    private static func hidden(_ line: String) -> String {
        for (name, shown) in [
            ("Authorization:", "SharedAccessSignature …redacted"), ("ServiceBusNotification-DeviceHandle:", "…redacted"),
            ("P256DH:", "…redacted"), ("Auth:", "…redacted"),
        ] where line.lowercased().hasPrefix(name.lowercased()) {
            return "\(name) \(shown)"
        }
        return line
    }

    /// The platform's name, or `template`.
    public var platformName: String { platform.map { "\($0.name)" } ?? "template" }

    /// The call as a JSON object.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("platform", value: platformName)
        object.add("part", value: part)
        object.add("audience", value: audience)
        object.add("request_line", value: head.first)
        object.add("headers", texts: Array(head.dropFirst()))
        object.add("body", value: String(decoding: body, as: UTF8.self))
        object.add("body_bytes", value: body.count)
        object.add("body_bytes_allowed", value: maximumBodyByteCount)
        return object.bytes
    }
}
