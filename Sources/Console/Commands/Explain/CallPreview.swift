import FanOut
import Payloads
import PushModel

/// One hub call as it would be written, without its signature and without device handles.
struct CallPreview {
    private let platform: String
    private let audience: String
    private let head: [String]
    private let body: [UInt8]
    private let limit: Int
    private let part: Int
    /// Bytes of the whole request, its head included.
    let byteCount: Int

    /// - Parameters:
    ///   - call: The call.
    ///   - request: Its bytes.
    ///   - payload: Its content.
    init(_ call: FanOutPlan.Call, request: [UInt8], _ payload: borrowing RenderedPayload) {
        platform = call.platform.map { "\($0.name)" } ?? "template"
        audience =
            switch call.target {
            case .tags: "tags"
            case .broadcast: "every device"
            case .device: "one device"
            case .devices(let handles): "\(handles.count) devices"
            }
        body = payload.body.bytes
        part = call.chunk + 1
        byteCount = request.count
        limit = Self.limit(call.platform, payload.contentType)
        let text = String(decoding: request, as: UTF8.self)
        let end = text.range(of: "\r\n\r\n")
        head = (end.map { text[..<$0] } ?? text[...]).split(separator: "\r\n").map { Self.hidden(String($0)) }
    }

    private static func limit(_ platform: Platform?, _ type: ContentType) -> Int {
        guard let platform else { return PayloadLimit.hubByteCount }
        return type == .octetStream ? PayloadLimit.windowsRawByteCount : PayloadLimit.bodyByteCount(for: platform)
    }

    /// A header line; of the signature and of a device's handle no more than that they are there.
    private static func hidden(_ line: String) -> String {
        for (name, shown) in [
            ("Authorization:", "SharedAccessSignature …redacted"), ("ServiceBusNotification-DeviceHandle:", "…redacted"),
        ] where line.lowercased().hasPrefix(name.lowercased()) {
            return "\(name) \(shown)"
        }
        return Sanitised.line(line, atMost: 8192)
    }

    /// Whether it is a call of a platform; nil for that of a template.
    func isFor(_ other: Platform?) -> Bool { platform == other.map { "\($0.name)" } ?? "template" }

    /// One line that says what it is.
    var title: String {
        let whole = part > 1 ? "\(platform), part \(part)" : platform
        return "\(whole), to \(audience), \(body.count) of at most \(limit) bytes"
    }

    /// The request.
    var lines: [String] {
        head.map { "  " + $0 } + ["", "  " + Sanitised.line(String(decoding: body, as: UTF8.self), atMost: limit + 1)]
    }

    /// The same as a JSON object.
    var json: [UInt8] {
        var object = JSONObject()
        object.add("platform", platform)
        object.add("part", part)
        object.add("audience", audience)
        object.add("request_line", head.first)
        object.add("headers", texts: Array(head.dropFirst()))
        object.add("body", String(decoding: body, as: UTF8.self))
        object.add("body_bytes", body.count)
        object.add("body_bytes_allowed", limit)
        return object.bytes
    }
}

extension String {
    /// Where `part` stands first.
    fileprivate func range(of part: String) -> String.Index? {
        ranges(of: part).first?.lowerBound
    }
}
