import Basics
import CallbackRecords
import Crypto
import CurlHTTP
import HTTP1
import JobSupport
import PushModel
import Webhooks

/// One call of a receiver from the terminal, on a connection of its own and by the service's rule about addresses.
struct ReceiverCall {
    /// The most bytes of an answer that are read.
    private static let mostBytes = 1 << 20

    private let receiver: Receiver
    private let guarded: AddressGuard
    private let caFile: String?
    private let timeout: Duration

    /// A call that is not made yet. Without a time limit it has the receiver's own.
    init(_ receiver: Receiver, of set: ReceiverSet, timeout: Duration? = nil) {
        self.receiver = receiver
        guarded = AddressGuard(allowed: set.allowedNetworks)
        caFile = set.caFile
        self.timeout = timeout ?? .milliseconds(receiver.timeout)
    }

    /// Delivers a sample, signed as a result is.
    ///
    /// - Parameters:
    ///   - id: The sample's id.
    ///   - now: The moment, in milliseconds since 1970.
    /// - Returns: The answer, or the failure.
    /// - Throws: The call cannot be made.
    func deliver(sample id: String, now: Int64) throws(CommandFailure) -> Completion.Outcome {
        let body = CallbackBody.make(
            result: Self.sample(id, now: now), resultID: id, requestID: id, source: "pushfan callbacks test", kind: "final",
            at: now, form: receiver.form)
        let signed = WebhookSignature.content(id: id, timestamp: now / 1000, body: body.bytes)
        var codes: [[UInt8]] = []
        do throws(CryptoError) {
            for secret in receiver.secrets { codes.append(try HMACSHA256.code(of: signed, key: secret.key)) }
        } catch {
            throw CommandFailure(.failed, error.description)
        }
        return try make(
            "POST",
            fields: [
                ("Content-Type", body.mediaType), ("webhook-id", id), ("webhook-timestamp", "\(now / 1000)"),
                ("webhook-signature", WebhookSignature.header(codes)),
            ], body: body.bytes)
    }

    /// Asks for the receiver's path without delivering anything.
    func ask() throws(CommandFailure) -> Completion.Outcome { try make("HEAD") }

    private func make(
        _ method: String, fields: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) throws(CommandFailure) -> Completion.Outcome {
        let url = receiver.url
        var request: [UInt8] = []
        do throws(RequestHead.Fault) {
            try RequestHead.begin(method: method, target: Array(url.target.utf8), host: url.authority, into: &request)
            try RequestHead.field("User-Agent", value: "pushfan/\(Program.version)", into: &request)
            for field in fields { try RequestHead.field(field.name, value: field.value, into: &request) }
        } catch {
            throw CommandFailure(.configuration, "the receiver \(receiver.name) cannot be called: \(error.rawValue)")
        }
        RequestHead.end(contentLength: body?.count, into: &request)
        request += body ?? []
        var configuration = ConnectionPoolConfiguration(scheme: url.isSecure ? .https : .http, host: url.host, port: url.port)
        configuration.maxConnections = 1
        configuration.connectTimeout = timeout
        configuration.refuses = { [guarded] in guarded.refuses($0) }
        configuration.caFile = caFile
        configuration.limits.bodyByteCount = Self.mostBytes
        do throws(JobFailure) {
            let peer = try WebPeer(
                named: "the receiver \(receiver.name)", configuration: configuration, timeout: timeout,
                isCancelled: { Interruption.isRequested })
            return try peer.ask(request)
        } catch {
            throw CommandFailure(error, brokers: "")
        }
    }

    /// A final result of no request, on one line.
    private static func sample(_ id: String, now: Int64) -> [UInt8] {
        var json = ByteWriter()
        json.append("{\"schema_version\":1,\"result_id\":", json: id)
        json.append(",\"request_id\":", json: id)
        json.append(",\"source\":\"pushfan callbacks test\",\"hub\":\"none\",\"kind\":\"final\",\"state\":\"sent\"")
        json.append(",\"outcome\":\"success\",\"attempt_count\":0,\"sends\":[],\"at\":", moment: Timestamp(milliseconds: now))
        json.append("}")
        return json.bytes
    }
}
