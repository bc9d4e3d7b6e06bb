import Basics

extension Delivery {
    /// The id of this push, for its push service and for records: the same for the same push, however often it is tried.
    ///
    /// It is a UUID of the hub's own making (RFC 9562, version 8), from the SHA-256 of the notification's id, the platform and the handle. A
    /// push from a template also has the template's name and the body in it: a device gets several of them.
    ///
    /// - Parameter messageID: The notification's id.
    /// - Returns: `8-4-4-4-12` small hexadecimal digits.
    package func pushID(of messageID: String) -> String {
        var facts = Array("\(messageID)\u{0}\(device.platform.format)\u{0}\(device.handle)".utf8)
        if let template { facts += Array("\u{0}\(template)\u{0}".utf8) + body }
        var bytes = Array(SHA256.digest(of: facts).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Hexadecimal.digits(of: bytes)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }
}
