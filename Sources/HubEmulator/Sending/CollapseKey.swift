import HTTPServing
import PushModel

/// What makes one notification on a device replace another.
enum CollapseKey {
    /// The key of a notification as its push service gets it; `nil` when nothing replaces it.
    ///
    /// APNs: `apns-collapse-id`. WNS: `X-WNS-Tag` with its group. Android: the notification's `tag`; a `collapse_key` merges only
    /// what waits for a device that is offline, and counts for nothing on the screen.
    ///
    /// - Parameters:
    ///   - platform: The push service.
    ///   - headers: The header fields for it.
    ///   - document: The body, if it was read as JSON.
    /// - Returns: The key; only equality counts.
    static func of(_ platform: HubPlatform, headers: HTTPFields, document: JSONDocument?) -> String? {
        switch platform {
        case .apple:
            return headers["apns-collapse-id"]
        case .windows:
            let group = headers["X-WNS-Group"].map { "\u{0}" + $0 } ?? ""
            return headers["X-WNS-Tag"].map { $0 + group }
        case .fcmv1:
            guard let document, let message = document.member("message", of: document.root),
                let android = document.member("android", of: message)
            else { return nil }
            return tag(in: android, of: document)
        case .gcm:
            return document.flatMap { tag(in: $0.root, of: $0) }
        case .windowsphone, .adm, .baidu, .browser, .xiaomi:
            return nil
        }
    }

    private static func tag(in container: JSONDocument.Node, of document: JSONDocument) -> String? {
        guard let notification = document.member("notification", of: container),
            let tag = document.member("tag", of: notification), document.kind(of: tag) == .string
        else { return nil }
        return document.string(document.text(of: tag))
    }
}
