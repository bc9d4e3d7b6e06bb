import GatewayAPI
import Glibc
import Results

extension RequestIndexSettings {
    /// The most bytes of a secret that are read.
    private static let mostSecret = 4096

    /// The settings of an index in a folder. Reads the secret. Fails if that is of no use.
    init(_ terms: RequestIndexTerms, folder: String) throws(GatewayFailure) {
        let names: Names =
            switch terms.names {
            case .plain: .plain
            case .omitted: .omitted
            case .encrypted(let path): .encrypted(secret: try Self.secret(path))
            }
        self.init(folder: folder, keep: terms.keep, byteLimit: terms.byteLimit, names: names)
    }

    /// The bytes of a file, without the line breaks at its end.
    private static func secret(_ path: String) throws(GatewayFailure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .configuration("gateway.index.key_file: '\(path)' cannot be read") }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: mostSecret)
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        bytes.removeLast(bytes.count - max(0, count))
        while bytes.count > leastSecret, bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
        }
        guard bytes.count >= leastSecret else {
            throw .configuration("gateway.index.key_file: '\(path)' has fewer than \(leastSecret) bytes")
        }
        return bytes
    }
}
