import Basics
public import PushModel

/// Makes the bodies and headers of hub calls out of requests.
///
/// It reads no clock and makes no calls. One formatter serves one loop; once its buffers have grown to the usual size it allocates
/// nothing, unless it has an error to tell.
///
/// What a platform has no field for travels with the app's own data, under the name that the request gave it (`deep_link`, `image_url`,
/// `thread_id`, …). So nothing that a publisher wrote is lost on the way.
public struct PayloadFormatter: Sendable {
    /// The choices about every payload.
    public struct Configuration: Sendable, Equatable {
        /// The lifetimes that can be chosen. APNs keeps nothing longer than 30 days.
        public static let defaultLifetimeRange: ClosedRange<Int64> = 0...2_592_000

        /// Seconds after which Apple may drop a push whose request names no end. Default 24 h.
        ///
        /// Without an expiry a hub's push is tried only once (azure-notificationhubs-dotnet issue 87), so one is always sent.
        /// The other platforms keep such a push as long as they do by themselves.
        public var defaultLifetimeSeconds: Int64 = 86_400
        /// True if a request without `collapse_key` gets an identity of its own on the device. Default true.
        ///
        /// A call that was repeated because its outcome was ambiguous then rings once.
        public var derivesCollapseID = true

        /// The defaults.
        public init() {}

        /// Every setting that is out of range, as a sentence each.
        public func validate() -> [String] {
            if Self.defaultLifetimeRange.contains(defaultLifetimeSeconds) { return [] }
            return [
                "The default lifetime is \(defaultLifetimeSeconds) s; 0 to \(Self.defaultLifetimeRange.upperBound) s are allowed."
            ]
        }
    }

    /// The choices that were made.
    public let configuration: Configuration
    /// A native body that stood in the request as a string, read to be checked.
    var scratch = JSONDocument()
    /// The text that Apple's expiry is written with.
    var expiry = TimestampText()

    /// A formatter with the given choices.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// True if `request` has content that can be sent natively to `platform`.
    public static func hasContent(_ request: PushRequest, for platform: Platform) -> Bool {
        request.payload(for: platform) != nil || (request.message != nil && platform.formatsMessages)
    }

    /// Formats the content for one platform: its member of `payloads`, else `message`.
    ///
    /// - Parameters:
    ///   - request: A request that was read without faults.
    ///   - platform: The platform that the hub call is for.
    ///   - now: The moment that lifetimes are counted from.
    ///   - rendered: Takes the body and its headers; after an error its content means nothing.
    /// - Throws: `PayloadError` when there is no content for the platform, the platform would refuse it, or it is too large.
    public mutating func format(
        _ request: PushRequest, for platform: Platform, now: Timestamp, into rendered: inout RenderedPayload
    ) throws(PayloadError) {
        rendered.removeAll()
        if let payload = request.payload(for: platform) {
            try formatNative(payload, of: request, for: platform, now: now, into: &rendered)
            return
        }
        guard let message = request.message else {
            throw .rejected(
                "", because: "The request has no content for \(platform.name): neither payloads.\(platform.name) nor message.")
        }
        rendered.origin = .message
        let context = MessageContext(message, of: request, now: now, configuration: configuration)
        switch platform {
        case .apple: try rendered.renderAPNs(context, of: request, expiry: &expiry)
        case .fcmv1: try rendered.renderFCM(context, of: request)
        case .gcm: try rendered.renderGCM(context, of: request)
        case .windows: try rendered.renderWNS(context, of: request)
        case .adm, .baidu, .browser, .xiaomi:
            throw .rejected(
                "/message", because: "A message cannot be formatted for \(platform.name); give payloads.\(platform.name).")
        }
        let limit =
            rendered.contentType == .octetStream
            ? PayloadLimit.windowsRawByteCount : PayloadLimit.bodyByteCount(for: platform)
        try rendered.checkSize(limit: limit, for: platform.name, pointer: "/message")
    }

    /// Formats the properties of the devices' templates: one flat object of strings.
    ///
    /// The Apple expiry goes along, because the call reaches the Apple templates too.
    ///
    /// - Parameters:
    ///   - request: A request that was read without faults.
    ///   - now: The moment that the default lifetime is counted from.
    ///   - rendered: Takes the body and its headers; after an error its content means nothing.
    /// - Throws: `PayloadError` when there is no `template`, a value of it is no string, or it is too large.
    public func formatTemplate(
        _ request: PushRequest, now: Timestamp, into rendered: inout RenderedPayload
    ) throws(PayloadError) {
        rendered.removeAll()
        rendered.origin = .template
        rendered.contentType = .jsonUTF8
        guard let template = request.template, request.document.childCount(of: template) > 0 else {
            throw .rejected("/template", because: "The request has no template properties.")
        }
        rendered.body.append(UInt8(ascii: "{"))
        try rendered.body.append(stringMembersOf: template, in: request.document)
        rendered.body.append(UInt8(ascii: "}"))
        var text = TimestampText()
        let expiry = request.expiresAt ?? now.adding(seconds: configuration.defaultLifetimeSeconds)
        rendered.headers.append(apnsExpiry: expiry, by: &text)
        try rendered.checkSize(limit: PayloadLimit.hubByteCount, for: "templates", pointer: "/template")
    }
}
