package import GatewayAPI
import HTTPServing

extension APIAnswer {
    /// The answer with the header fields that each answer below `/ui` has. They keep foreign code out of the page, and the page out of
    /// foreign frames.
    package func onPage() -> APIAnswer {
        var answer = self
        for field in Self.pageFields { answer.headers.append(field.name, value: field.value) }
        return answer
    }

    private static let pageFields: [(name: String, value: String)] = [
        ("Content-Security-Policy", contentPolicy), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", unneededFeatures.map { "\($0)=()" }.joined(separator: ", ")), ("X-Frame-Options", "DENY"),
    ]

    /// Content Security Policy Level 3, with trusted types.
    private static let contentPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    /// Features of browsers that the page never asks for. A feature that a browser does not know makes it complain.
    private static let unneededFeatures = [
        "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation", "gyroscope",
        "hid", "idle-detection", "magnetometer", "microphone", "midi", "payment", "picture-in-picture",
        "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
    ]
}
