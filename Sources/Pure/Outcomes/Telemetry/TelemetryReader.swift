import Basics
import XML

extension NotificationTelemetry {
    /// The most bytes that are read: a notification's 64 KB, every one of them escaped, and room for the rest.
    public static let maximumByteCount = 512 << 10

    /// Reads the body of a 200 to `GET /messages/{id}`.
    ///
    /// The order of the elements does not matter, and undocumented elements are skipped.
    ///
    /// - Parameter body: XML in UTF-8.
    /// - Throws: ``TelemetryFault`` for anything that is no telemetry.
    public init(reading body: Span<UInt8>) throws(TelemetryFault) {
        guard body.count <= Self.maximumByteCount else { throw .tooLarge }
        var reader = TelemetryReader(body)
        self = try reader.read()
    }
}

/// Reads one `NotificationDetails` element.
private struct TelemetryReader: ~Escapable {
    /// The most counts: more than there are platforms times names.
    private static let maximumCounts = 512
    /// Bytes of a state, an outcome or a platform.
    private static let maximumWordLength = 64
    private static let listSuffix: StaticString = "OutcomeCounts"

    private var scanner: XMLScanner
    private var telemetry = NotificationTelemetry()
    private var hasState = false
    private var hasDetails = false
    private var lists: [String] = []

    @_lifetime(copy body) init(_ body: Span<UInt8>) { scanner = XMLScanner(ofAnswer: body) }

    mutating func read() throws(TelemetryFault) -> NotificationTelemetry {
        guard case .start(let root) = try scanner.event() else { throw .otherRoot }
        guard scanner.isName(root, equalTo: "NotificationDetails") else { throw .otherRoot }
        while let name = try scanner.child(of: "NotificationDetails") { try readElement(name) }
        guard try scanner.event() == .finished else { throw .otherRoot }
        // .NET's FcmOutcomeCounts is another name of GcmOutcomeCounts: the same devices, not more of them.
        if lists.contains("gcm") { telemetry.counts.removeAll { $0.platform == "fcm" } }
        for index in telemetry.counts.indices where telemetry.counts[index].platform == "fcm" {
            telemetry.counts[index].platform = "gcm"
        }
        return telemetry
    }

    private mutating func readElement(_ name: Range<Int>) throws(TelemetryFault) {
        if scanner.isName(name, equalTo: "State") {
            guard !hasState else { throw .unexpected("State") }
            hasState = true
            let word = try scanner.text(of: "State", limit: Self.maximumWordLength)
            if !word.isEmpty { telemetry.state = NotificationState(word: try Self.word(word)) }
        } else if scanner.isName(name, equalTo: "NotificationId") {
            guard telemetry.notificationID == nil else { throw .unexpected("NotificationId") }
            telemetry.notificationID = String(decoding: try scanner.text(of: "NotificationId", limit: 256), as: UTF8.self)
        } else if scanner.isName(name, equalTo: "PnsErrorDetailsUri") {
            guard !hasDetails else { throw .unexpected("PnsErrorDetailsUri") }
            hasDetails = true
            let uri = try scanner.text(of: "PnsErrorDetailsUri", limit: 4096)
            telemetry.errorDetails = ErrorDetailsLink(String(decoding: uri, as: UTF8.self))
        } else if let platform = try platform(ofList: name) {
            guard !lists.contains(platform) else { throw .unexpected("OutcomeCounts") }
            lists.append(platform)
            while let entry = try scanner.child(of: "OutcomeCounts") {
                if scanner.isName(entry, equalTo: "Outcome") { try readCount(platform) } else { try scanner.skipElement() }
            }
        } else {
            try scanner.skipElement()
        }
    }

    private mutating func readCount(_ platform: String) throws(TelemetryFault) {
        var outcome: PNSOutcome?
        var count: Int?
        while let name = try scanner.child(of: "Outcome") {
            if scanner.isName(name, equalTo: "Name") {
                guard outcome == nil else { throw .unexpected("Name") }
                outcome = PNSOutcome(word: try Self.word(try scanner.text(of: "Name", limit: Self.maximumWordLength)))
            } else if scanner.isName(name, equalTo: "Count") {
                guard count == nil else { throw .unexpected("Count") }
                count = try Self.number(try scanner.text(of: "Count", limit: Self.maximumWordLength))
            } else {
                try scanner.skipElement()
            }
        }
        guard let outcome, let count else { throw .unexpected("Outcome") }
        guard telemetry.counts.count < Self.maximumCounts else { throw .tooManyCounts }
        telemetry.counts.append(NotificationTelemetry.Count(platform: platform, outcome: outcome, count: count))
    }

    /// The platform of an element that is a list of counts, or nil for any other element.
    private func platform(ofList name: Range<Int>) throws(TelemetryFault) -> String? {
        let local = scanner.localName(name)
        let prefixEnd = local.upperBound - Self.listSuffix.utf8CodeUnitCount
        guard prefixEnd > local.lowerBound, scanner.holds(Self.listSuffix, at: prefixEnd) else { return nil }
        let prefix = try Self.word((local.lowerBound..<prefixEnd).map { scanner.text[$0] })
        switch prefix {
        case "Apns": return "apple"
        case "Wns": return "windows"
        case "Mpns": return "windowsphone"
        default: return prefix.lowercased()
        }
    }

    private static func word(_ bytes: [UInt8]) throws(TelemetryFault) -> String {
        guard (1...maximumWordLength).contains(bytes.count),
            bytes.allSatisfy(\.isLetterOrDigit)
        else { throw .invalidWord }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func number(_ bytes: [UInt8]) throws(TelemetryFault) -> Int {
        guard bytes.allSatisfy(\.isDigit), let number = Int(String(decoding: bytes, as: UTF8.self)) else {
            throw .invalidCount
        }
        return number
    }
}
