import HubServer
import Basics
import HTTPServing
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

    static func json(devices: [DeviceReport]) -> [UInt8] { line(of: devices.map(object)) }

    static func json(calls: [RecordedCall]) -> [UInt8] { line(of: calls.map(object)) }

    static func json(faults: [FaultScript.Entry]) -> [UInt8] {
        let objects = faults.map { JSONObject(["fault": $0.fault.text, "met": $0.metCount, "struck": $0.struckCount]) }
        return line(of: objects)
    }

    static func json(telemetry: [TelemetryPlan.Entry]) -> [UInt8] {
        let objects = telemetry.map { JSONObject(["telemetry": $0.script.text, "met": $0.metCount, "struck": $0.struckCount]) }
        return line(of: objects)
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

    private static func object(_ device: DeviceReport) -> JSONObject {
        let rung = device.rung.map(Self.object)
        var object = JSONObject(["platform": device.platform, "handle": device.handle])
        object.add("tags", array: device.tags.map(JSONObject.text))
        object.add("installations", array: device.installations.map(JSONObject.text))
        object.add(["registrations": device.registrationCount, "rung_count": device.rungCount])
        object.add("rung", array: rung.map(\.bytes))
        object.add("visible_count", value: device.visibleCount)
        object.add("visible", array: zip(rung, device.areShown).filter(\.1).map(\.0.bytes))
        return object
    }

    private static func object(_ ring: RingReport) -> JSONObject {
        var object = JSONObject([
            "notification_id": ring.notificationID, "call": ring.callID,
            "time": Moment(milliseconds: ring.milliseconds).rfc3339, "format": ring.format, "template": ring.template,
        ])
        object.add("headers", raw: fields(ring.headers))
        object.add("body", value: ring.body)
        return object
    }

    private static func object(_ call: RecordedCall) -> JSONObject {
        var object = JSONObject([
            "id": call.id, "time": Moment(milliseconds: call.at).rfc3339, "method": call.method, "path": call.target,
            "operation": "\(call.operation)", "format": Nullable(text: call.format), "tags": Nullable(text: call.tags),
            "handle": Nullable(text: call.handle),
        ])
        add(outcomeOf: call, to: &object)
        object.add("client", value: call.client)
        object.add("headers", raw: fields(call.headers))
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

    /// An array, and the end of the line.
    private static func line(of objects: [JSONObject]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("[")
        writer.append(list: objects) { $0.append($1.bytes.span) }
        writer.append("]\n")
        return writer.bytes
    }

    /// Header fields as an object. A repeated name keeps its first value.
    private static func fields(_ fields: HTTPFields) -> [UInt8] {
        var seen: Set<String> = []
        var object = JSONObject()
        for field in fields.all where seen.insert(field.name.lowercased()).inserted { object.add(field.name, value: field.value) }
        return object.bytes
    }
}
