public import PushModel

/// A device whose handle a push service will never serve again, for whoever cleans up: the value of a record of `push.handles.v1`.
///
/// The handle itself is a secret and never there; its SHA-256 stands for it.
public enum DeadHandle {
    /// Appends the record's value.
    ///
    /// - Parameters:
    ///   - device: What the hub told of the device.
    ///   - fingerprint: The SHA-256 of its handle, as 64 small hexadecimal digits.
    ///   - hub: The hub's name.
    ///   - now: When it was learnt, for devices of which the hub does not say when.
    ///   - json: Gets the text.
    public static func append(
        _ device: RefusedDevice, fingerprint: Span<UInt8>, hub: String, at now: Timestamp, to json: inout ByteWriter
    ) {
        json.append("{\"schema_version\":1,\"fingerprint\":", json: fingerprint)
        json.append(",\"platform\":", json: device.platform)
        json.append(",\"reason\":", json: device.outcome.word)
        json.append(",\"at\":", moment: device.time ?? now)
        json.append(",\"hub\":", json: hub)
        for (name, id) in [("installation_id", device.installationID), ("registration_id", device.registrationID)] {
            guard let id else { continue }
            json.append(",\"\(name)\":")
            json.append(json: id)
        }
        json.append("}")
    }
}
