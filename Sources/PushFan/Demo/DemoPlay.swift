import Console
import FanOut
import Foundation
import HubEmulator
import Kafka
import PushModel
import WorkerRuntime

/// Publishes one request and tells what happens to it, as it happens.
struct DemoPlay {
    /// What came out.
    struct Ending {
        var state = "?"
        var calls = 0
        var attempts = 0
        var devices = 0
        var milliseconds = 0
    }

    private let stage: DemoStage
    private let streams: Streams

    init(_ stage: DemoStage, _ streams: Streams) {
        self.stage = stage
        self.streams = streams
    }

    func play(_ scene: DemoScene) throws -> Ending {
        let firstCall = stage.hub.calls().last.map { $0.id } ?? 0
        let rungBefore = stage.hub.devices().map { ($0.handle, $0.rungCount) }
        let value = Array(scene.json.utf8)
        try stage.producer.produce(to: stage.requests, key: nil, value: value.span)
        try stage.producer.flush(timeout: .seconds(10))
        try say(scene, "accepted", "on \(stage.topics.requests): \(scene.title)")
        try showPlan(scene)
        let result = try follow(scene, after: firstCall)
        let rung = stage.hub.devices().filter { device in
            device.rungCount > (rungBefore.first { $0.0 == device.handle }?.1 ?? 0)
        }
        if !rung.isEmpty {
            try say(scene, "rang", rung.map { DemoDevice.name(of: $0.handle) }.joined(separator: ", "))
        }
        return try showResult(scene, result, rungCount: rung.count)
    }

    /// What `pushfan explain` would say: the calls, or why there are none.
    private func showPlan(_ scene: DemoScene) throws {
        var request = PushRequest()
        let origin = RecordOrigin(topic: stage.topics.requests, partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let bytes = Array(scene.json.utf8)
        switch RequestReader().read(bytes.span, headers: RecordHeaders(), origin: origin, into: &request) {
        case .request:
            var plan = FanOutPlan()
            try FanOutPlanner().plan(request, into: &plan)
            let names = plan.calls.map { call in "\(call.platform?.name ?? "template")" }.joined(separator: ", ")
            try say(scene, "planned", "\(plan.calls.count) hub call\(plan.calls.count == 1 ? "" : "s"): \(names)")
        case .rejected(let faults):
            try say(scene, "planned", "no call: " + (faults.first.map { "\($0.pointer): \($0.message)" } ?? ""))
        case .unreadable(let failure):
            try say(scene, "planned", "no call: \(failure.message)")
        }
    }

    /// Shows hub calls as they arrive, until the request's result is there.
    private func follow(_ scene: DemoScene, after first: Int) throws -> [String: Any] {
        var shown = first
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            try showCalls(scene, &shown)
            var value: [UInt8] = []
            _ = stage.results.read(timeout: .milliseconds(20)) { record in
                if let span = record.value { value = span.withUnsafeBufferPointer { Array($0) } }
            }
            guard !value.isEmpty else { continue }
            let result = try JSONSerialization.jsonObject(with: Data(value)) as? [String: Any] ?? [:]
            guard result["request_id"] as? String == scene.id else { continue }
            try showCalls(scene, &shown)
            return result
        }
        throw CommandFailure(.temporary, "there was no result for \(scene.id) within 30 s")
    }

    /// Shows the sends among the calls; the worker's probes of the hub belong to no request.
    private func showCalls(_ scene: DemoScene, _ shown: inout Int) throws {
        for call in stage.hub.calls(after: shown) {
            shown = call.id
            guard call.isSend else { continue }
            let id = call.notificationID.map { ", notification \($0.prefix(8))…" } ?? ""
            let tags = call.tags.map { " to \($0)" } ?? ""
            try say(scene, "sent", "\(call.format ?? "?")\(tags): \(call.status)\(id)")
        }
    }

    private func showResult(_ scene: DemoScene, _ result: [String: Any], rungCount: Int) throws -> Ending {
        var ending = Ending()
        ending.state = result["state"] as? String ?? "?"
        ending.calls = (result["sends"] as? [Any])?.count ?? 0
        ending.attempts = result["attempt_count"] as? Int ?? 0
        ending.devices = rungCount
        ending.milliseconds = (result["timings"] as? [String: Any])?["total_ms"] as? Int ?? 0
        let error = (result["error"] as? [String: Any])?["message"] as? String
        let outcome = result["outcome"] as? String ?? "?"
        let reason = error.map { ": \($0)" } ?? ""
        try say(scene, "result", "\(ending.state) (\(outcome)) after \(ending.milliseconds) ms\(reason)")
        try streams.out("")
        try streams.flush()
        return ending
    }

    private func say(_ scene: DemoScene, _ step: String, _ text: String) throws {
        try streams.out("  \(scene.id)  \(step.padding(toLength: 10, withPad: " ", startingAt: 0))\(text)")
        try streams.flush()
    }
}
