import HubServer
import HTTPServing

/// The lines of the telemetry's script with their counts. Of the lines for notifications and of those for devices, the first that
/// applies counts.
struct TelemetryPlan: Sendable {
    struct Entry: Sendable {
        let script: TelemetryScript
        /// Notifications or devices that the line is for.
        var metCount = 0
        /// The number of sends or devices that it applied to.
        var struckCount = 0
    }

    private(set) var entries: [Entry] = []
    private var refusesDevices = false

    init(_ scripts: [TelemetryScript] = []) {
        append(scripts)
    }

    mutating func append(_ scripts: [TelemetryScript]) {
        for script in scripts {
            entries.append(Entry(script: script))
            if case .refusal = script.effect { refusesDevices = true }
        }
    }

    /// The progress of a send's telemetry: at once and as it really was, unless a line says otherwise.
    mutating func progress(for request: HTTPServerRequest) -> TelemetryScript.Progress {
        for index in entries.indices {
            guard case .progress(let progress) = entries[index].script.effect,
                entries[index].script.conditions.areMet(by: request), entries[index].strikes()
            else { continue }
            return progress
        }
        return TelemetryScript.Progress()
    }

    /// Takes the devices that a push service refuses from those that ring.
    mutating func refuseDevices(of reach: inout Reach) {
        guard refusesDevices else { return }
        let deliveries = reach.rung
        reach.rung = []
        for delivery in deliveries {
            if let outcome = refusal(of: delivery) {
                reach.refused.append(Reach.RefusedDelivery(delivery: delivery, outcome: outcome))
            } else {
                reach.rung.append(delivery)
            }
        }
    }

    private mutating func refusal(of delivery: Delivery) -> String? {
        for index in entries.indices {
            guard case .refusal(let outcome, let device, let platform) = entries[index].script.effect,
                platform.map({ $0 == delivery.device.platform }) ?? true,
                device.map({ DeviceKey(platform: delivery.device.platform, handle: $0) == delivery.device }) ?? true,
                entries[index].strikes()
            else { continue }
            return outcome
        }
        return nil
    }
}

extension TelemetryPlan.Entry {
    fileprivate mutating func strikes() -> Bool {
        metCount += 1
        guard metCount > script.after, (metCount - script.after) % script.every == 0,
            script.count.map({ struckCount < $0 }) ?? true
        else { return false }
        struckCount += 1
        return true
    }
}
