import Basics
import Outcomes
import PushModel

extension OutcomeBatch {
    /// Adds a device that its push service refused for good, for the topic of dead handles.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - place: The record that it follows from.
    ///   - hub: The name of the hub that listed it.
    ///   - time: The present moment.
    mutating func add(_ device: RefusedDevice, of place: Origin, hub: String, at time: Timestamp) {
        let hashed = DeviceToken.hashedForm(of: device.handle, on: Platform(name: device.platform))
        let fingerprint = SHA256.hexadecimalDigest(of: Array(hashed.utf8))
        add(.handles, of: place) { record in
            record.copyKey(fingerprint.span)
            record.setValue { DeadHandle.append(device, fingerprint: fingerprint.span, hub: hub, at: time, to: &$0) }
            record.addHeader("content-type") { $0.append("application/json") }
        }
    }
}
