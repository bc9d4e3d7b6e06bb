import HTTPServing
import PushModel

/// Writes the emulator's own reports as JSON.
struct ReportWriter {
    private(set) var writer = ByteWriter(capacity: 4096)

    static func json(devices: [DeviceReport]) -> [UInt8] {
        array(devices) { report, device in report.write(device) }
    }

    static func json(calls: [RecordedCall]) -> [UInt8] {
        array(calls) { report, call in report.write(call) }
    }

    static func json(faults: [FaultScript.Entry]) -> [UInt8] {
        array(faults) { report, entry in
            report.object { report in
                report.member("fault", value: entry.fault.text)
                report.member("met", value: entry.metCount)
                report.member("struck", value: entry.struckCount)
            }
        }
    }

    static func json(telemetry: [TelemetryPlan.Entry]) -> [UInt8] {
        array(telemetry) { report, entry in
            report.object { report in
                report.member("telemetry", value: entry.script.text)
                report.member("met", value: entry.metCount)
                report.member("struck", value: entry.struckCount)
            }
        }
    }

    private static func array<Element>(_ elements: [Element], writing write: (inout ReportWriter, Element) -> Void) -> [UInt8] {
        var report = ReportWriter()
        report.array(elements, writing: write)
        report.writer.append("\n")
        return report.writer.bytes
    }

    private mutating func write(_ device: DeviceReport) {
        object { report in
            report.member("platform", value: device.platform)
            report.member("handle", value: device.handle)
            report.key("tags")
            report.array(device.tags) { $0.writer.append(json: $1) }
            report.key("installations")
            report.array(device.installations) { $0.writer.append(json: $1) }
            report.member("registrations", value: device.registrationCount)
            report.member("rung_count", value: device.rungCount)
            report.key("rung")
            report.array(device.rung) { $0.write($1) }
            let visible = device.visible
            report.member("visible_count", value: visible.count)
            report.key("visible")
            report.array(visible) { $0.write($1) }
        }
    }

    private mutating func write(_ ring: RingReport) {
        object { report in
            report.member("notification_id", value: ring.notificationID)
            report.member("call", value: ring.callID)
            report.member("time", value: Moment(milliseconds: ring.milliseconds).rfc3339)
            report.member("format", value: ring.format)
            if let template = ring.template { report.member("template", value: template) }
            report.key("headers")
            report.fields(ring.headers)
            report.member("body", value: ring.body)
        }
    }

    private mutating func write(_ call: RecordedCall) {
        object { report in
            report.member("id", value: call.id)
            report.member("time", value: Moment(milliseconds: call.at).rfc3339)
            report.member("method", value: call.method)
            report.member("path", value: call.target)
            report.member("operation", value: "\(call.operation)")
            report.member("format", value: call.format)
            report.member("tags", value: call.tags)
            report.member("handle", value: call.handle)
            report.outcome(of: call)
            report.member("client", value: call.client)
            report.key("headers")
            report.fields(call.headers)
            report.member("body", value: String(decoding: call.body, as: UTF8.self))
        }
    }

    private mutating func outcome(of call: RecordedCall) {
        member("status", value: call.status)
        key("accepted")
        writer.append(call.isAccepted ? "true" : "false")
        member("notification_id", value: call.notificationID)
        member("rung", value: call.rungCount)
        if let rule = call.brokenRule { member("broken_rule", value: rule) }
        member("fault", value: call.fault)
        member("collapse", value: call.collapseKey)
    }

    /// Appends a line of the journal. The fingerprint stands for the device handle of a direct send.
    mutating func appendLine(_ call: RecordedCall, fingerprint: String?) {
        object { report in
            report.member("id", value: call.id)
            report.member("at", value: Int(call.at))
            report.member("op", value: "\(call.operation)")
            report.member("tags", value: call.tags)
            report.member("format", value: call.format)
            report.member("handle", value: fingerprint)
            report.outcome(of: call)
        }
        writer.append("\n")
    }

    private mutating func array<Element>(_ elements: [Element], writing write: (inout ReportWriter, Element) -> Void) {
        writer.append("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { writer.append(",") }
            write(&self, element)
        }
        writer.append("]")
    }

    private mutating func object(_ members: (inout ReportWriter) -> Void) {
        writer.append("{")
        members(&self)
        writer.append("}")
    }

    private mutating func key(_ name: StaticString) {
        if writer.bytes.last != UInt8(ascii: "{") { writer.append(",") }
        writer.append("\"")
        writer.append(name)
        writer.append("\":")
    }

    private mutating func member(_ name: StaticString, value: String?) {
        key(name)
        if let value { writer.append(json: value) } else { writer.append("null") }
    }

    private mutating func member(_ name: StaticString, value: Int) {
        key(name)
        writer.append(decimal: value)
    }

    /// Header fields as an object. A repeated name keeps its first value.
    private mutating func fields(_ fields: HTTPFields) {
        var seen: Set<String> = []
        object { report in
            for field in fields.all where seen.insert(field.name.lowercased()).inserted {
                if report.writer.bytes.last != UInt8(ascii: "{") { report.writer.append(",") }
                report.writer.append(json: field.name)
                report.writer.append(":")
                report.writer.append(json: field.value)
            }
        }
    }
}
