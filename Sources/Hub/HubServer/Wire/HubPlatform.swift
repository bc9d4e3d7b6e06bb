package import PushModel

/// A push service behind the hub, with its name in every place where the hub spells it.
///
/// Unlike `PushModel.Platform` it also knows `windowsphone`: the emulator serves every backend, not only pushfan's worker.
package enum HubPlatform: String, CaseIterable, Sendable {
    case apple, windows, windowsphone, gcm, fcmv1, adm, baidu, browser, xiaomi

    /// The platform's place among all, from 0, which files keep: a new one goes to the end.
    package var code: Int64 {
        switch self {
        case .apple: 0
        case .windows: 1
        case .windowsphone: 2
        case .gcm: 3
        case .fcmv1: 4
        case .adm: 5
        case .baidu: 6
        case .browser: 7
        case .xiaomi: 8
        }
    }

    /// The value of `ServiceBusNotification-Format`.
    package var format: String { rawValue }

    /// The `platform` of an installation.
    package var installationName: String {
        switch self {
        case .apple: "apns"
        case .windows: "wns"
        case .windowsphone: "mpns"
        case .fcmv1: "fcmV1"
        case .gcm, .adm, .baidu, .browser, .xiaomi: format
        }
    }

    /// The prefix of a registration's element: `Apple` in `AppleTemplateRegistrationDescription`.
    package var elementPrefix: String {
        switch self {
        case .windowsphone: "Mpns"
        case .fcmv1: "FcmV1"
        case .apple, .windows, .gcm, .adm, .baidu, .browser, .xiaomi: format.capitalized
        }
    }

    /// The element, and the filter's name, of the handle.
    package var handleElement: String {
        switch self {
        case .apple: "DeviceToken"
        case .windows, .windowsphone: "ChannelUri"
        case .gcm, .fcmv1, .adm, .xiaomi: elementPrefix + "RegistrationId"
        case .baidu: "BaiduChannelId"
        case .browser: "Endpoint"
        }
    }

    /// Further elements that belong to the handle, in their order on the wire.
    package var handleExtras: [String] {
        switch self {
        case .windows, .windowsphone: ["SecondaryTileName"]
        case .baidu: ["BaiduUserId"]
        case .browser: ["P256DH", "Auth"]
        case .apple, .gcm, .fcmv1, .adm, .xiaomi: []
        }
    }

    /// The prefix of the elements of template headers (`ApnsHeaders`), for the platforms that have them.
    package var headersElementPrefix: String? {
        switch self {
        case .apple: "Apns"
        case .windows: "Wns"
        case .windowsphone: "Mpns"
        case .gcm, .fcmv1, .adm, .baidu, .browser, .xiaomi: nil
        }
    }

    /// The element of a notification's telemetry that holds the outcome counts.
    package var countsElement: String {
        switch self {
        case .apple: "ApnsOutcomeCounts"
        case .windows: "WnsOutcomeCounts"
        case .windowsphone, .gcm, .fcmv1, .adm, .baidu, .browser, .xiaomi: elementPrefix + "OutcomeCounts"
        }
    }

    /// True if a native body must be JSON.
    package var takesJSON: Bool {
        switch self {
        case .apple, .gcm, .fcmv1, .adm, .browser, .xiaomi: true
        case .windows, .windowsphone, .baidu: false
        }
    }

    /// The platform as pushfan knows it, or nil for `windowsphone`.
    package var platform: Platform? { Platform(name: format) }

    /// The platform of a format header, in any case, or `nil` for `template` and for words the hub does not know.
    package init?(format: String) { self.init(rawValue: format.lowercased()) }

    /// The platform of an installation, in any case.
    package init?(installationName name: String) {
        guard let found = Self.allCases.first(where: { $0.installationName.lowercased() == name.lowercased() }) else {
            return nil
        }
        self = found
    }

    /// Refuses what is no handle of a device by the rule that all of pushfan has (`DeviceToken`). A hub takes handles in their form only, but
    /// for the case of an Apple token's digits.
    package func check(handle: String) throws(RefusedCall) {
        let platform = Platform(name: format) ?? .windows
        do throws(DeviceToken.Problem) {
            let form = try DeviceToken.normalForm(handle, on: platform)
            guard platform == .browser || form.utf8.count == handle.utf8.count else { throw .notHexadecimal }
        } catch {
            throw .invalid(error.description)
        }
    }
}
