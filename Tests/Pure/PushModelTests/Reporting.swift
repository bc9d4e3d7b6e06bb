import Foundation
import PushModel
import TestSupport
import Testing

/// What is needed to write one result: a request that was read, and a report that a test fills.
struct Reporting {
    var reading = Reading()
    var report = DeliveryReport()
    var writer = ResultWriter(workerID: "w-3", version: "0.1.0")
    var now = moment("2026-11-20T12:01:31.000Z") ?? Timestamp(milliseconds: 0)

    init(_ record: String = record(#""id":"r-1","source":"/orders","labels":{"campaign":"mlb"}"#)) {
        reading.origin = RecordOrigin(
            topic: "push.requests.v1", partition: 7, offset: 181_920,
            timestamp: moment("2026-11-20T11:59:59.900Z") ?? Timestamp(milliseconds: 0))
        if case .rejected(let faults) = reading.read(record) { report.faults = faults }
        report.consumedAt = moment("2026-11-20T12:00:00.100Z") ?? Timestamp(milliseconds: 0)
    }

    /// Adds a call that ended.
    mutating func add(
        _ platform: Platform?, _ outcome: Outcome?, _ code: ErrorCode? = nil, status: Int = 0, detail: String? = nil
    ) {
        var call = DeliveryReport.Call(platform: platform)
        call.outcome = outcome
        call.code = code
        call.httpStatus = status
        call.detail = detail.flatMap { report.keep(Array($0.utf8).span) }
        report.calls.append(call)
    }

    mutating func keep(_ text: String) -> DeliveryReport.Text? { report.keep(Array(text.utf8).span) }

    func bytes() -> [UInt8] {
        var json = ByteWriter()
        var writer = writer
        let hub = reading.string(reading.request.hub) ?? "prod-shop"
        writer.append(report, of: reading.request, hub: ResultWriter.hub(hub), origin: reading.origin, at: now, to: &json)
        return json.bytes
    }

    /// The result as Foundation reads it, after it was checked against the contract.
    func result(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
        let bytes = bytes()
        #expect(ResultSchema.violations(of: bytes).isEmpty, sourceLocation: sourceLocation)
        return try #require(
            JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any], sourceLocation: sourceLocation)
    }
}

/// A member deep inside what Foundation read.
func value(_ path: String, in object: [String: Any]) -> Any? {
    var current: Any? = object
    for step in path.split(separator: "/") {
        if let list = current as? [Any], let index = Int(step) {
            current = index < list.count ? list[index] : nil
        } else {
            current = (current as? [String: Any])?[String(step)]
        }
    }
    return current
}

func text(_ path: String, in object: [String: Any]) -> String? { value(path, in: object) as? String }
func number(_ path: String, in object: [String: Any]) -> Int? { value(path, in: object) as? Int }
