public import Basics
public import PushModel
import XML

/// A device that a push service refused, as the hub's error details and feedback list it (page HubProtocol, "Feedback").
///
/// Handles are secrets: no description shows them.
public struct RefusedDevice: Sendable, Equatable {
    /// The reason why it was refused.
    public var outcome: PNSOutcome
    /// The hub's format name (`apple`, `fcmv1`, …), or another word in small letters.
    public var platform: String
    /// The handle.
    public var handle: String
    /// The handle that the push service wants instead.
    public var newHandle: String?
    /// The moment at which the hub heard of it.
    public var time: Timestamp?
    /// The registration that holds the handle.
    public var registrationID: String?
    /// The installation that does.
    public var installationID: String?
    /// The notification that was refused.
    public var notificationID: String?
}

extension RefusedDevice: Concealed {
    /// Platform and reason.
    public var description: String { "RefusedDevice(\(platform), \(outcome.word))" }
}

/// The refused devices of one blob, as far as it can be read.
public struct RefusedDeviceList: Sendable, Equatable {
    /// The most bytes that are read of one blob.
    public static let maximumByteCount = 16 << 20

    /// The devices, in the blob's order.
    public private(set) var devices: [RefusedDevice] = []
    /// The fault behind them, or nil when the whole blob was read. The hub may still be writing.
    public private(set) var fault: TelemetryFault?

    /// Reads a blob: `PnsFeedback` documents one behind another, in UTF-8 whatever they declare.
    public init(reading blob: Span<UInt8>) {
        guard blob.count <= Self.maximumByteCount else {
            fault = .tooLarge
            return
        }
        var scanner = XMLScanner(ofAnswer: blob, allowing: .anyNumberOfRoots)
        do throws(TelemetryFault) {
            while case .start(let name) = try scanner.event() {
                guard scanner.isName(name, equalTo: "PnsFeedback") else { throw .otherEntry }
                devices.append(try RefusedDevice(from: &scanner))
            }
        } catch {
            fault = error
        }
    }
}

extension RefusedDevice {
    /// Reads the element whose start was read last.
    init(from scanner: inout XMLScanner) throws(TelemetryFault) {
        var fields: [Field: String] = [:]
        while let name = try scanner.child(of: "PnsFeedback") {
            guard let field = Field.allCases.first(where: { scanner.isName(name, equalTo: $0.element) }) else {
                try scanner.skipElement()
                continue
            }
            let text = String(
                decoding: try scanner.text(of: "\(field.element)", limit: DeviceToken.maximumByteCount), as: UTF8.self)
            guard !text.isEmpty else { continue }
            guard fields.updateValue(text, forKey: field) == nil else { throw .unexpected("\(field.element)") }
        }
        guard let word = fields[.error], let handle = fields[.handle], let platform = fields[.platform] else {
            throw .unexpected("PnsFeedback")
        }
        guard Self.isWord(word), Self.isWord(platform) else { throw .invalidWord }
        self.init(outcome: PNSOutcome(word: word), platform: Self.formatName(platform), handle: handle)
        newHandle = fields[.newHandle]
        time = fields[.time].flatMap { Timestamp(Array($0.utf8).span) }
        registrationID = fields[.registration]
        installationID = fields[.installation]
        notificationID = fields[.notification]
    }

    private enum Field: CaseIterable {
        case time, error, platform, handle, newHandle, registration, installation, notification

        var element: StaticString {
            switch self {
            case .time: "FeedbackTime"
            case .error: "NotificationSystemError"
            case .platform: "Platform"
            case .handle: "PnsHandle"
            case .newHandle: "NewPnsHandle"
            case .registration: "RegistrationId"
            case .installation: "InstallationId"
            case .notification: "NotificationId"
            }
        }
    }

    /// The format name of a platform that feedback names as installations do.
    private static func formatName(_ platform: String) -> String {
        switch platform.lowercased() {
        case "apns": "apple"
        case "wns": "windows"
        case "mpns": "windowsphone"
        case let other: other
        }
    }

    private static func isWord(_ text: String) -> Bool {
        text.utf8.count <= 64 && text.utf8.allSatisfy(\.isLetterOrDigit)
    }
}
