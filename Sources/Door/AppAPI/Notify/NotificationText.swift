import PushModel

/// What a device is sent, in the tutorials' words.
enum NotificationText: Sendable, Equatable {
    /// `From alice: text`.
    case message(from: String, text: String)
    /// A text to the caller's own devices, as it is.
    case own(String)
    /// `Hello`; on Windows `Hello, alice`.
    case greeting(user: String)
    /// The id under which the app fetches the text; nothing is shown.
    case secure(id: String)

    /// The platforms that it can be written for, in the order of `Platform.allCases`.
    static let platforms: [Platform] = [.apple, .fcmv1, .windows]

    /// Appends the member of a request's open object `payloads` for a platform: its name and a native payload. Only Apple, FCM v1
    /// and Windows have one.
    func append(for platform: Platform, to json: inout ByteWriter) {
        switch platform {
        case .apple: appendApple(to: &json)
        case .fcmv1: appendFCM(to: &json)
        case .windows: appendWindows(to: &json)
        case .gcm, .adm, .baidu, .browser, .xiaomi: break
        }
    }

    private func appendApple(to json: inout ByteWriter) {
        json.append("\"apple\":{\"body\":{\"aps\":{")
        if case .secure(let id) = self {
            json.append("\"content-available\":1},\"secureId\":", json: id)
            json.append("},\"headers\":{\"apns-push-type\":\"background\",\"apns-priority\":\"5\"}}")
            return
        }
        json.append("\"alert\":", json: sentence(for: .apple))
        json.append("}}}")
    }

    /// FCM v1 wants everything below `message`, and data are strings.
    private func appendFCM(to json: inout ByteWriter) {
        json.append("\"fcmv1\":{\"body\":{\"message\":{\"data\":{")
        switch self {
        case .message, .own: json.append("\"message\":")
        case .greeting: json.append("\"msg\":")
        case .secure: json.append("\"secureId\":")
        }
        json.append(json: sentence(for: .fcmv1))
        json.append("}}}}")
    }

    private func appendWindows(to json: inout ByteWriter) {
        if case .secure(let id) = self {
            json.append("\"windows\":{\"body\":", json: id)
            json.append(",\"content_type\":\"application/octet-stream\",\"headers\":{\"X-WNS-Type\":\"wns/raw\"}}")
            return
        }
        var toast = ByteWriter()
        toast.append("<toast><visual><binding template=\"ToastText01\"><text id=\"1\">")
        let words = sentence(for: .windows)
        toast.append(xml: words.utf8Span.span)
        toast.append("</text></binding></visual></toast>")
        json.append("\"windows\":{\"body\":", json: toast.span)
        json.append(",\"content_type\":\"application/xml\",\"headers\":{\"X-WNS-Type\":\"wns/toast\"}}")
    }

    /// The words that a device of a platform shows; for a secure push, the id.
    func sentence(for platform: Platform) -> String {
        switch self {
        case .message(let name, let text): "From \(name): \(text)"
        case .own(let text): text
        case .greeting(let user): platform == .windows ? "Hello, \(user)" : "Hello"
        case .secure(let id): id
        }
    }
}
