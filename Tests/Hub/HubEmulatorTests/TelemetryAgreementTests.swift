import Delivery
import HTTPServing
import HubREST
import Outcomes
import PushModel
import TestSupport
import Testing

@testable import HubEmulator
@testable import HubServer

/// Whatever the emulator tells of a notification, the reader of telemetry understands, and the decision ends.
struct TelemetryAgreementTests {
    private let origin = "http://127.0.0.1"

    /// One line of a telemetry script: some delays, states and counts, of known and of unknown words.
    private func script(_ random: inout SeededRandom) -> String? {
        let names = PNSOutcome.Name.allCases.map(\.rawValue) + ["Melted"]
        let ends = ["Completed", "Abandoned", "NoTargetFound", "Cancelled", "Canceled", "Unknown"]
        var terms: [String] = []
        if random.below(2) == 0 { terms.append("hidden=\(random.below(200))s") }
        let delay = terms.count
        for state in ["Enqueued", "Processing", "Frozen"] where random.below(2) == 0 {
            terms.append("state=\(state)/\(random.below(100))s")
        }
        if random.below(3) == 0 { terms.append("state=\(ends[random.below(ends.count)])") }
        if terms.count > delay {
            for _ in 0..<random.below(4) { terms.append("apple.\(names[random.below(names.count)])=\(random.below(5))") }
        }
        return terms.isEmpty ? nil : terms.joined(separator: ",")
    }

    /// A list of refused devices names the notification, and devices that are there.
    ///
    /// - Returns: How many it names.
    private func check(_ link: ErrorDetailsLink, of id: String, _ hub: TestHub) -> Int {
        let target = String(link.uri.dropFirst(origin.count))
        let blob = hub.hub.handle(HTTPServerRequest(method: "GET", target: target, headers: [:]))
        let list = RefusedDeviceList(reading: blob.body.span)
        #expect(blob.status == 200 && list.fault == nil)
        for device in list.devices {
            #expect(device.notificationID == id && device.platform == "apple")
            #expect(device.handle.hasPrefix("<&") && device.outcome.isHandleDead)
        }
        return list.devices.count
    }

    @Test(arguments: 0..<8)
    func whateverIsToldIsUnderstoodAndEnds(seed: Int) throws {
        var random = SeededRandom(seed)
        let hub = try TestHub()
        let terms = OutcomeTracking.Terms()
        var kinds: Set<String> = []
        var refused = 0
        for round in 0..<40 {
            // Again in each round: those that were refused are registered no more.
            for index in 0..<5 {
                let platform = index % 2 == 0 ? "apns" : "fcmv1"
                try hub.hub.register(EmulatedDevice(id: "d\(index)", platform: platform, handle: "<&\(index)", tags: ["t"]))
            }
            let lines = [script(&random), "refuse=ExpiredChannel,every=\(2 + random.below(5))"].compactMap(\.self)
            hub.hub.script(try lines.map { try TelemetryScript(parsing: $0) })
            let id = try TestHub.id(try hub.send("apple", to: round % 5 == 0 ? "nobody" : "t"))
            var now: Int64 = 0
            var tracking = OutcomeTracking(acceptedAt: .at(now))
            var wait = tracking.firstWait(terms, using: &random)
            var isOpen = true
            while isOpen {
                hub.advance(seconds: wait / 1000 + 1)
                now += (wait / 1000 + 1) * 1000
                let answer = try hub.telemetry(id)
                let told = answer.status == 200 ? try NotificationTelemetry(reading: answer.body.span) : nil
                if let told { #expect(told.notificationID == id && told.state != nil) }
                if let link = told?.errorDetails { refused += check(link, of: id, hub) }
                let poll = PollAnswer(.answered(status: answer.status, hasRetryAfter: false, detail: .none), telemetry: told)
                switch tracking.answered(poll, under: terms, at: .at(now), using: &random) {
                case .poll(let next): wait = next
                case .unavailable:
                    Issue.record("a standing hub is called unavailable: \(lines)")
                    isOpen = false
                case .conclude(let verdict):
                    kinds.insert("\(verdict.kind)")
                    isOpen = false
                }
            }
            #expect(now <= terms.deadline + 2 * terms.interval, "\(lines)")
        }
        #expect(kinds.count > 1 && refused > 0, "\(kinds), \(refused)")
    }
}
