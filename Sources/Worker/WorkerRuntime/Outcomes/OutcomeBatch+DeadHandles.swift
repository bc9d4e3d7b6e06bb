import Crypto
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
    /// - Returns: Whether it is there. False when its handle has no digest.
    mutating func add(_ device: RefusedDevice, of place: Origin, hub: String, at time: Timestamp) -> Bool {
        let hashed = DeviceToken.hashedForm(of: device.handle, on: Platform(name: device.platform))
        guard let fingerprint = try? SHA256.hexadecimalDigest(of: Array(hashed.utf8)) else { return false }
        add(.handles, of: place) { record in
            record.copyKey(fingerprint.span)
            record.setValue { DeadHandle.append(device, fingerprint: fingerprint.span, hub: hub, at: time, to: &$0) }
            record.addHeader("content-type") { $0.append("application/json") }
        }
        return true
    }
}
