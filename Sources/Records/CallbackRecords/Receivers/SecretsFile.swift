import EventLoop
import Webhooks

/// The secrets of one receiver in a file of their own, one a line.
struct SecretsFile: FileContent {
    /// A fault, without any part of the file.
    enum Reason: Error, Equatable, CustomStringConvertible {
        case tooLarge, noSecret, none, tooMany

        /// The end of a sentence about the file.
        var description: String {
            switch self {
            case .tooLarge: "more than \(SecretsFile.maximumByteCount) bytes"
            case .noSecret: ReceiversReader.secretRule
            case .none: "there is no secret"
            case .tooMany: "more than \(ReceiversReader.secretLimit) secrets"
            }
        }
    }

    static let maximumByteCount = 4096
    private(set) var secrets: [WebhookSecret] = []
    let bytes: [UInt8]

    init() { bytes = [] }

    init(_ bytes: [UInt8]) throws(LineFault<Reason>) {
        self.bytes = bytes
        guard bytes.count <= Self.maximumByteCount else { throw LineFault(.tooLarge) }
        try LineFault<Reason>.read(bytes) { line throws(Reason) in
            guard let text = String(validating: line, as: UTF8.self), let secret = WebhookSecret(text) else { throw .noSecret }
            guard secrets.count < ReceiversReader.secretLimit else { throw .tooMany }
            secrets.append(secret)
        }
        guard count > 0 else { throw LineFault(.none) }
    }

    var count: Int { secrets.count }

    func keepsAll(of other: SecretsFile) -> Bool { other.secrets.allSatisfy(secrets.contains) }
}
