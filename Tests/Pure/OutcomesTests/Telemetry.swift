import Outcomes

/// Texts as a hub answers them.
enum Specimen {
    /// What the emulator answers for three devices, one of them refused; its own tests hold the same text.
    static let completed =
        #"<?xml version="1.0" encoding="utf-8"?><NotificationDetails xmlns="http://schemas.microsoft.com/netservices/2010/10/"#
        + #"servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><NotificationId>"#
        + "4995f50796f046d6a61aa7580af3c9c7-20260101000000-586152-24</NotificationId><Location>sb://127.0.0.1/newshub/messages/x"
        + "?api-version=2020-06</Location><State>Completed</State><EnqueueTime>2026-01-01T00:00:00Z</EnqueueTime><StartTime>"
        + "2026-01-01T00:00:00Z</StartTime><EndTime>2026-01-01T00:00:00.1230000Z</EndTime><NotificationBody>{\"a\":\"&lt;&amp;é\"}"
        + "</NotificationBody><Tags>World &amp;&amp; !Sports</Tags><TargetPlatforms>apple</TargetPlatforms><ApnsOutcomeCounts>"
        + "<Outcome><Name>Success</Name><Count>2</Count></Outcome><Outcome><Name>ExpiredChannel</Name><Count>1</Count></Outcome>"
        + "</ApnsOutcomeCounts><PnsErrorDetailsUri>http://127.0.0.1/blobs/errors/x?sv=2015-02-21&amp;sr=b&amp;sig=s3cret%3D"
        + "</PnsErrorDetailsUri></NotificationDetails>"

    /// Telemetry with `content` inside.
    static func details(_ content: String) -> String { "<NotificationDetails>\(content)</NotificationDetails>" }

    /// A list of counts.
    static func list(_ prefix: String, _ counts: [(String, Int)]) -> String {
        let outcomes = counts.map { "<Outcome><Name>\($0.0)</Name><Count>\($0.1)</Count></Outcome>" }.joined()
        return "<\(prefix)OutcomeCounts>\(outcomes)</\(prefix)OutcomeCounts>"
    }
}

/// A text as XML has it.
func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
}

/// Reads a text as telemetry.
func telemetry(_ text: String) throws(TelemetryFault) -> NotificationTelemetry {
    let bytes = Array(text.utf8)
    return try NotificationTelemetry(reading: bytes.span)
}

/// Telemetry of a state with counts of Apple's devices.
func telemetry(_ state: NotificationState?, _ counts: [String: Int] = [:]) -> NotificationTelemetry {
    NotificationTelemetry(
        state: state,
        counts: counts.sorted { $0.key < $1.key }.map {
            NotificationTelemetry.Count(platform: "apple", outcome: PNSOutcome(word: $0.key), count: $0.value)
        })
}
