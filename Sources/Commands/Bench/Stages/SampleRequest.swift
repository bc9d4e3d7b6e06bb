/// The request that the bench publishes: a short message for one user on one platform, which is one hub call.
enum SampleRequest {
    private static let prefix = "bench-"

    /// The record of request `number`; its length does not depend on the number.
    static func json(_ number: Int) -> [UInt8] {
        let digits = padded(number)
        return Array(
            """
            {"schema_version":1,"id":"\(prefix)\(digits)","source":"/shop/orders","audience":{"users":["\(digits)"]},\
            "platforms":["apple"],"message":{"title":"Order shipped","body":"Your parcel is on its way and arrives tomorrow",\
            "deep_link":"shop://orders/4711","data":{"order":"4711","carrier":"post"}},"ttl_seconds":86400}
            """.utf8)
    }

    /// The number of the request with this id, which is also its result's key.
    static func number(ofID id: some Collection<UInt8>) -> Int? {
        guard id.starts(with: prefix.utf8) else { return nil }
        return Int(String(decoding: id.dropFirst(prefix.utf8.count), as: UTF8.self))
    }

    /// The number of the request whose hub call has these tags.
    static func number(ofTags tags: String) -> Int? {
        guard let colon = tags.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        return Int(tags[tags.index(after: colon)...])
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits
    }
}
