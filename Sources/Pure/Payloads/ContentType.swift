/// The media types that a hub call's body can have (page HubProtocol, "Formats and media types").
public enum ContentType: UInt8, Sendable, CaseIterable {
    case jsonUTF8, json, xml, xmlUTF8, octetStream, form

    /// The value of the `Content-Type` header.
    public var name: StaticString {
        switch self {
        case .jsonUTF8: "application/json;charset=utf-8"
        case .json: "application/json"
        case .xml: "application/xml"
        case .xmlUTF8: "application/xml;charset=utf-8"
        case .octetStream: "application/octet-stream"
        case .form: "application/x-www-form-urlencoded"
        }
    }

    /// True if the body is a JSON text.
    public var isJSON: Bool { self == .jsonUTF8 || self == .json }
}
