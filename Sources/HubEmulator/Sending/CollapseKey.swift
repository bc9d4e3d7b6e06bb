import HTTPServing
import PushModel

/// What makes one notification on a device replace another.
enum CollapseKey {
    /// The key of a native notification; `nil` when nothing replaces it.
    ///
    /// APNs: `apns-collapse-id`. WNS: `X-WNS-Tag` with its group. Android shows one notification for each `tag`; a collapse key
    /// alone merges only what waits for a device that is offline, so it counts together with a tag, never by itself.
    ///
    /// - Parameters:
    ///   - platform: The push service.
    ///   - headers: The send's header fields.
    ///   - document: The body, if it was read as JSON.
    /// - Returns: The key; only equality counts.
    static func of(_ platform: HubPlatform, headers: HTTPFields, document: JSONDocument?) -> String? {
        switch platform {
        case .apple:
            return headers["apns-collapse-id"]
        case .windows:
            return headers["X-WNS-Tag"].map { $0 + "\u{0}" + (headers["X-WNS-Group"] ?? "") }
        case .fcmv1:
            guard let document, let message = document.member("message", of: document.root),
                let android = document.member("android", of: message)
            else { return nil }
            return androidKey(in: android, of: document)
        case .gcm:
            return document.flatMap { androidKey(in: $0.root, of: $0) }
        case .windowsphone, .adm, .baidu, .browser, .xiaomi:
            return nil
        }
    }

    private static func androidKey(in container: JSONDocument.Node, of document: JSONDocument) -> String? {
        guard let notification = document.member("notification", of: container),
            let tag = document.member("tag", of: notification), document.kind(of: tag) == .string
        else { return nil }
        let collapse = document.member("collapse_key", of: container).map { document.string(document.text(of: $0)) } ?? ""
        return document.string(document.text(of: tag)) + "\u{0}" + collapse
    }
}
