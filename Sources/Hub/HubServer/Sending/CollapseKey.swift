package import HTTPServing
package import PushModel

/// The key by which one notification on a device replaces another.
package enum CollapseKey {
    /// The key of a notification as its push service gets it, or `nil` when nothing replaces it. Only equality counts. APNs:
    /// `apns-collapse-id`. WNS: `X-WNS-Tag` with its group. Android: the notification's `tag`. A `collapse_key` merges only
    /// notifications that wait for an offline device, and does not count on the screen.
    package static func of(_ platform: HubPlatform, headers: HTTPFields, document: JSONDocument?) -> String? {
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
