import HubServer
import PushModel

/// Writes the emulator's own reports as JSON.
enum ReportWriter {
    /// A text, or null where there is none.
    private struct Nullable: JSONMember {
        let text: String?

        func add(to object: inout JSONObject, as name: String) {
            object.add(name, raw: text.map(JSONObject.text) ?? Array("null".utf8))
        }
    }

    static func json(devices: [DeviceReport]) -> [UInt8] { ReportJSON.line(of: devices.map(\.entry.json)) }

    static func json(calls: [RecordedCall]) -> [UInt8] { ReportJSON.line(of: calls.map(object)) }

    static func json(faults: [FaultScript.Entry]) -> [UInt8] {
        let objects = faults.map { JSONObject(["fault": $0.fault.text, "met": $0.metCount, "struck": $0.struckCount]) }
        return ReportJSON.line(of: objects)
    }

    static func json(telemetry: [TelemetryPlan.Entry]) -> [UInt8] {
        let objects = telemetry.map { JSONObject(["telemetry": $0.script.text, "met": $0.metCount, "struck": $0.struckCount]) }
        return ReportJSON.line(of: objects)
    }

    /// A line of the journal. The fingerprint stands for the device handle of a direct send.
    static func line(_ call: RecordedCall, fingerprint: String?) -> [UInt8] {
        var object = JSONObject([
            "id": call.id, "at": Int(call.at), "op": "\(call.operation)", "tags": Nullable(text: call.tags),
            "format": Nullable(text: call.format), "handle": Nullable(text: fingerprint),
        ])
        add(outcomeOf: call, to: &object)
        return object.bytes + [UInt8(ascii: "\n")]
    }

    private static func object(_ call: RecordedCall) -> JSONObject {
        var object = JSONObject([
            "id": call.id, "time": Moment(milliseconds: call.at).rfc3339, "method": call.method, "path": call.target,
            "operation": "\(call.operation)", "format": Nullable(text: call.format), "tags": Nullable(text: call.tags),
            "handle": Nullable(text: call.handle),
        ])
        add(outcomeOf: call, to: &object)
        object.add("client", value: call.client)
        object.add("headers", raw: ReportJSON.fields(call.headers))
        object.add("body", value: String(decoding: call.body, as: UTF8.self))
        return object
    }

    private static func add(outcomeOf call: RecordedCall, to object: inout JSONObject) {
        object.add([
            "status": call.status, "accepted": call.isAccepted, "notification_id": Nullable(text: call.notificationID),
            "rung": call.rungCount, "broken_rule": call.brokenRule, "fault": Nullable(text: call.fault),
            "collapse": Nullable(text: call.collapseKey),
        ])
    }
}
