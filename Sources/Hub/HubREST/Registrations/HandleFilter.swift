import Basics
internal import PushModel

/// The `$filter` by which a hub looks registrations up (page HubProtocol, "Filters").
enum HandleFilter {
    /// As in every part of a URI: nothing but the unreserved characters stays (RFC 3986, 2.3).
    static let encoding = PercentEncoding.unreserved

    /// The filter, percent-encoded. Without a platform it asks for `ChannelUri`, which hubs compare with the handles of every
    /// platform.
    static func encoded(_ handle: String, on platform: Platform?) -> [UInt8] {
        let terms = terms(handle, on: platform).map { name, value in "\(name) eq '\(quoted(value))'" }
        return encoding.encode(terms.joined(separator: " and ").utf8)
    }

    private static func terms(_ handle: String, on platform: Platform?) -> [(name: String, value: String)] {
        switch platform {
        // The filter wants upper case.
        case .apple: return [("DeviceToken", DeviceToken.identity(of: handle, on: .apple))]
        case .fcmv1: return [("FcmV1RegistrationId", handle)]
        case .gcm: return [("GcmRegistrationId", handle)]
        case .adm: return [("AdmRegistrationId", handle)]
        case .xiaomi: return [("XiaomiRegistrationId", handle)]
        case .baidu:
            let parts = handle.split(separator: "-", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return [("BaiduChannelId", handle)] }
            return [("BaiduChannelId", parts[1]), ("BaiduUserId", parts[0])]
        case .browser: return browserTerms(handle)
        case .windows, nil: return [("ChannelUri", handle)]
        }
    }

    /// The endpoint and the keys of a browser's channel, or the endpoint alone.
    private static func browserTerms(_ handle: String) -> [(name: String, value: String)] {
        var document = JSONDocument()
        let bytes = Array(handle.utf8)
        do { try document.read(bytes.span) } catch { return [("Endpoint", handle)] }
        func text(_ name: StaticString) -> String? {
            guard let node = document.member(name, of: document.root), document.kind(of: node) == .string else { return nil }
            return document.string(document.text(of: node))
        }
        guard let endpoint = text("endpoint"), let key = text("p256dh"), let secret = text("auth") else {
            return [("Endpoint", text("endpoint") ?? handle)]
        }
        return [("Endpoint", endpoint), ("P256DH", key), ("Auth", secret)]
    }

    /// A quote inside a text is written twice, whatever accents stand behind it.
    private static func quoted(_ text: String) -> String {
        String(decoding: text.utf8.flatMap { $0 == UInt8(ascii: "'") ? [$0, $0] : [$0] }, as: UTF8.self)
    }
}
