import Basics
import Crypto
import HTTPServing

/// Signs links to a hub's blobs and checks them, in the manner of a storage account's shared access signatures.
struct BlobAccess: Sendable {
    /// The lifetime of a link, in milliseconds: an hour.
    private static let lifetime: Int64 = 3_600_000

    private let key: [UInt8]

    /// - Parameter key: The key, 32 bytes. Hubs with one key accept each other's links.
    init(key: [UInt8]) { self.key = key }

    /// - Parameter seed: The seed of a key that is no secret. Two hubs with the same seed accept each other's links.
    init(seed: UInt64) {
        var random = HubIdentifiers(seed: ~seed)
        key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Signs a link to the content of `path`, valid for an hour, or to all below it. Returns `nil` when OpenSSL cannot sign.
    func link(to path: String, at origin: String, from moment: Moment, isContainer: Bool = false) -> String? {
        let expiry = Moment(milliseconds: moment.milliseconds / 1000 * 1000 + Self.lifetime).dotNet
        guard let signature = signature(of: path, expiry: expiry) else { return nil }
        let permission = isContainer ? "sr=c&sp=rl" : "sr=b&sp=r"
        return "\(origin)\(path)?sv=2015-02-21&\(permission)&se=\(PercentEncoding.encoded(expiry))"
            + "&sig=\(PercentEncoding.encoded(signature))"
    }

    /// True if the query of a request is that of a link to `path` which has not expired.
    func allows(_ request: HTTPServerRequest, path: String, now: Int64) -> Bool {
        guard let expiry = request.queryValue("se"), let time = Moment(reading: expiry), time.milliseconds > now,
            let presented = request.queryValue("sig"), let signature = signature(of: path, expiry: expiry)
        else { return false }
        return constantTimeEqual(Array(presented.utf8), Array(signature.utf8))
    }

    private func signature(of path: String, expiry: String) -> String? {
        guard let code = try? HMACSHA256.code(of: Array("\(path)\n\(expiry)".utf8), key: key) else { return nil }
        return String(decoding: Base64.encode(code), as: UTF8.self)
    }
}
