import HTTPServing
import Kafka
import Settings
import Testing

/// A token server may answer anything: there is a token, or one sentence without secrets.
@Suite struct TokenServerTests {
    private static func properties(_ url: String) -> [KafkaConfiguration.Property] {
        [
            .init(key: "sasl.oauthbearer.client.id", value: "orders"),
            .init(key: "sasl.oauthbearer.client.secret", value: "s3cret-word"),
            .init(key: "sasl.oauthbearer.scope", value: "push write"),
            .init(key: "sasl.oauthbearer.token.endpoint.url", value: url),
            .init(key: "sasl.oauthbearer.extensions", value: "tenant=shop,odd"),
        ]
    }

    /// The token that a server with this answer gives, or the reason for which there is none.
    private func ask(status: Int, _ body: String) throws -> Result<LoginToken, TokenFailure> {
        let server = HTTPServer(HTTPServerConfiguration()) { request in
            let isRight =
                request.method == "POST" && request.path == "/token"
                && request.headers["Authorization"] == "Basic b3JkZXJzOnMzY3JldC13b3Jk"
                && request.body == Array("grant_type=client_credentials&scope=push%20write".utf8)
            return isRight ? .text(body, status: status, contentType: "application/json") : .text("wrong call", status: 418)
        }
        let address = try server.start()
        defer { server.stop() }
        return Result { () throws(TokenFailure) in try TokenServer(Self.properties("http://\(address)/token")).token() }
    }

    @Test func aTokenHasItsLifeAndTheExtensionsOfTheSettings() throws {
        let token = try ask(status: 200, #"{"access_token":"abc","token_type":"Bearer","expires_in":300}"#).get()
        #expect(token.text == "abc" && token.principal == "orders" && token.life == .seconds(300))
        #expect(token.extensions.map(\.name) == ["tenant"] && token.extensions.map(\.value) == ["shop"])
    }

    @Test func aLifeOfAgesCountsAsAYear() throws {
        let token = try ask(status: 200, #"{"access_token":"abc","expires_in":9223372036854775807}"#).get()
        #expect(token.life == .seconds(365 * 86_400))
    }

    @Test(
        "what is no token is one sentence that names the server, and no secret",
        arguments: [
            (200, "", "no access_token"), (200, "[]", "no access_token"),
            (200, #"{"access_token":7,"expires_in":3}"#, "no access_token"),
            (200, #"{"access_token":"abc"}"#, "no expires_in"), (200, #"{"access_token":"abc","expires_in":0}"#, "no expires_in"),
            (200, #"{"access_token":"abc","expires_in":-5}"#, "no expires_in"), (200, "\u{0}\u{1}", "no access_token"),
            (401, #"{"error":"invalid_client"}"#, "are id and secret right?"), (503, "s3cret-word", "HTTP 503"),
            (302, "", "HTTP 302"),
        ])
    func refusals(status: Int, body: String, words: String) throws {
        let result = try ask(status: status, body)
        guard case .failure(let failure) = result else {
            Issue.record("there is a token")
            return
        }
        #expect(failure.reason.contains(words) && failure.reason.contains("the token server at 127.0.0.1:"))
        #expect(!failure.reason.contains("s3cret") && !failure.reason.contains("\n"))
    }

    @Test(
        "an address that is none, and a property that is missing, are named",
        arguments: [
            ("ftp://127.0.0.1/", "no http or https address"), ("", "is not set"), ("http://u:p@127.0.0.1/", "no http or https"),
        ])
    func settings(url: String, words: String) throws {
        let failure = #expect(throws: TokenFailure.self) { try TokenServer(Self.properties(url)).token() }
        #expect(failure?.reason.contains(words) == true)
    }
}
