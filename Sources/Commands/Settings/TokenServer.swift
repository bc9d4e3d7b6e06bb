import Basics
import CurlHTTP
import HTTP1
import JobSupport
public import Kafka
import PushModel

/// A server that gives tokens for a client's id and secret (OAuth 2.0, RFC 6749 section 4.4), as Kafka's properties name them.
public struct TokenServer: Sendable {
    /// The limit for the one call. Whoever waits for a token hears soon that there is none, and the keeper asks again.
    private static let timeout = Duration.seconds(4)

    private let properties: [KafkaConfiguration.Property]
    private let environment: [String: String]

    /// The server of `properties`, which is not called yet. `environment` has the proxy variables.
    public init(_ properties: [KafkaConfiguration.Property], environment: [String: String] = [:]) {
        self.properties = properties
        self.environment = environment
    }

    /// Asks for a token. Blocks for 4 s at most. Throws the reason for which there is none, without secrets.
    public func token() throws(TokenFailure) -> LoginToken {
        let url = try required("token.endpoint.url")
        guard let address = WebAddress(url) else {
            throw TokenFailure("sasl.oauthbearer.token.endpoint.url is no http or https address")
        }
        let (id, secret) = (try required("client.id"), try required("client.secret"))
        var configuration = ConnectionPoolConfiguration(scheme: address.scheme, host: address.host, port: address.port)
        configuration.caFile = value("https.ca.location")
        configuration.environment = environment
        let name = "the token server at \(address.authority)"
        let answer: Answer
        do throws(JobFailure) {
            let peer = try WebPeer(named: name, configuration: configuration, timeout: Self.timeout) { false }
            switch try peer.ask(request(to: address, id: id, secret: secret)) {
            case .answer(let found): answer = found
            case .failure(let reason): throw .peer(.unreachable, "\(name) does not answer: \(reason.description)")
            }
        } catch {
            guard case .room(let failure as PeerFailure) = error else { throw TokenFailure("\(name) cannot be called") }
            throw TokenFailure(failure.text)
        }
        guard answer.status == 200 else {
            let isRefusal = [400, 401, 403].contains(answer.status)
            throw TokenFailure("\(name) gives no token (HTTP \(answer.status))\(isRefusal ? ": are id and secret right?" : "")")
        }
        guard let found = Self.read(answer) else {
            throw TokenFailure("\(name) answers with no access_token, or no expires_in")
        }
        return LoginToken(found.text, principal: id, life: .seconds(found.seconds), extensions: extensions)
    }

    private func value(_ key: String) -> String? { properties.last { $0.key == key }?.value }

    private func required(_ role: String) throws(TokenFailure) -> String {
        if let value = value("sasl.oauthbearer.\(role)"), !value.isEmpty { return value }
        throw TokenFailure("sasl.oauthbearer.\(role) is not set in kafka.properties")
    }

    /// Pairs with `=`, separated by commas.
    private var extensions: [(name: String, value: String)] {
        (value("sasl.oauthbearer.extensions") ?? "").split(separator: ",").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
        }
    }

    private func request(to address: WebAddress, id: String, secret: String) -> [UInt8] {
        var form = "grant_type=client_credentials"
        if let scope = value("sasl.oauthbearer.scope") { form += "&scope=" + PercentEncoding.encoded(scope) }
        let login = String(decoding: Base64.encode(Array("\(id):\(secret)".utf8)), as: UTF8.self)
        return Array(
            """
            POST \(address.target) HTTP/1.1\r
            Host: \(address.authority)\r
            User-Agent: pushfan\r
            Accept: application/json\r
            Authorization: Basic \(login)\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(form.utf8.count)\r
            \r
            \(form)
            """.utf8)
    }

    private static func read(_ answer: Answer) -> (text: String, seconds: Int64)? {
        var document = JSONDocument()
        guard (try? document.read(answer.body)) != nil, document.kind(of: document.root) == .object,
            let token = document.member("access_token", of: document.root), document.kind(of: token) == .string,
            let life = document.member("expires_in", of: document.root), let seconds = document.integer(at: life), seconds > 0
        else { return nil }
        return (document.string(document.text(of: token)), seconds)
    }
}
