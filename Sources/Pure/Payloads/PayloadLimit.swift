public import PushModel

/// The sizes that push services and the hub take. Larger ones are refused before any call.
///
/// A service's own refusal would come only after the hub had accepted, as an outcome in its telemetry (page HubProtocol, "Outcomes").
public enum PayloadLimit {
    /// Bytes of body and platform headers that the hub takes in one message, 64 KiB.
    public static let hubByteCount = 65_536
    /// Bytes of a VoIP push to Apple.
    public static let appleVoIPByteCount = 5_120
    /// Bytes of a raw notification to Windows, 5 KiB.
    public static let windowsRawByteCount = 5_120

    /// Bytes of a body for `platform`. Where the service publishes no figure, the hub's.
    public static func bodyByteCount(for platform: Platform) -> Int {
        switch platform {
        case .apple, .fcmv1, .gcm: 4_096
        case .windows: 5_000
        case .adm: 6_144
        case .baidu, .browser, .xiaomi: hubByteCount
        }
    }

    /// Bytes of a native body for `platform` with these headers.
    static func bodyByteCount(for platform: Platform, beside given: NativeHeaders) -> Int {
        if platform == .apple && given.isVoIP { return appleVoIPByteCount }
        return platform == .windows && given.wnsType == .raw ? windowsRawByteCount : bodyByteCount(for: platform)
    }
}

extension RenderedPayload {
    /// Refuses a body that is larger than `limit`, or that is with its headers more than the hub takes.
    func checkSize(limit: Int, for target: StaticString, pointer: @autoclosure () -> String) throws(PayloadError) {
        if body.count > limit {
            throw .tooLarge(pointer(), what: "The body for \(target)", measured: body.count, allowed: limit)
        }
        let total = body.count + headers.count
        if total > PayloadLimit.hubByteCount {
            throw .tooLarge(
                pointer(), what: "The body for \(target), with its headers,", measured: total, allowed: PayloadLimit.hubByteCount)
        }
    }
}
