/// A push service behind the hub, under the hub's own format name.
public enum Platform: UInt8, Sendable, CaseIterable {
    case apple, fcmv1, gcm, windows, adm, baidu, browser, xiaomi

    /// The word used in requests, results, metrics and the hub's format header.
    public var name: StaticString {
        switch self {
        case .apple: "apple"
        case .fcmv1: "fcmv1"
        case .gcm: "gcm"
        case .windows: "windows"
        case .adm: "adm"
        case .baidu: "baidu"
        case .browser: "browser"
        case .xiaomi: "xiaomi"
        }
    }

    /// The platform called `name`: the hub's word, or `apns`, `fcm` and `wns`, which mean `apple`, `fcmv1` and `windows`.
    ///
    /// Names are compared exactly; the documentation's `fcmV1` is accepted too.
    public init?(name: String) { self.init(name.utf8Span.span) }

    /// The platform called `name`, as UTF-8.
    public init?(_ name: Span<UInt8>) {
        guard let platform = Self.names.value(of: name) else { return nil }
        self = platform
    }

    /// The fault of a word that names no platform, with the one that was probably meant.
    ///
    /// - Parameter word: The word that stood there. It is not repeated.
    /// - Returns: A sentence or two.
    public static func refusal(of word: String) -> String {
        let known = allCases.map { "\($0.name)" }.joined(separator: ", ")
        let message = "There is no such platform; known are \(known), and apns, fcm and wns."
        return Platform(name: word.lowercased()).map { message + " Write it as `\($0.name)`." } ?? message
    }

    static let names = NameTable<Platform>([
        ("apple", .apple), ("apns", .apple), ("fcmv1", .fcmv1), ("fcmV1", .fcmv1), ("fcm", .fcmv1), ("gcm", .gcm),
        ("windows", .windows), ("wns", .windows), ("adm", .adm), ("baidu", .baidu), ("browser", .browser), ("xiaomi", .xiaomi),
    ])

    /// True if a `message` can be formatted natively for the platform. The others take `payloads` only.
    public var formatsMessages: Bool {
        switch self {
        case .apple, .fcmv1, .gcm, .windows: true
        case .adm, .baidu, .browser, .xiaomi: false
        }
    }
}

/// A set of platforms, iterated in the order of `Platform.allCases`.
public struct PlatformSet: OptionSet, Sendable, Hashable {
    /// Bit `n` stands for the platform with raw value `n`.
    public let rawValue: UInt8

    /// The set with the given bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The set of one platform.
    @inlinable public init(_ platform: Platform) { rawValue = 1 << platform.rawValue }

    /// True if `platform` is in the set.
    @inlinable public func contains(_ platform: Platform) -> Bool { rawValue >> platform.rawValue & 1 == 1 }
}
