internal import Crypto
public import FanOut

extension UserTag.Pattern {
    /// The tag of a user.
    ///
    /// - Parameter name: The name as the users file has it, or as a caller wrote it to send to.
    /// - Throws: 500 when OpenSSL cannot compute the digest of a long name.
    /// - Returns: The tag that registering and sending have in common.
    public func tag(of name: String) throws(APIProblem) -> UserTag {
        do throws(CryptoError) {
            return try tag(of: name) { (bytes) throws(CryptoError) in try SHA256.hexadecimalDigest(of: bytes) }
        } catch {
            throw APIProblem(500, APIProblem.Code.internal, "The user's tag cannot be made: \(error).", retry: .safe)
        }
    }
}
