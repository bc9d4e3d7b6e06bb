import TestSupport
import Testing

@testable import Kafka

@Suite(.tags(.threads, .c)) struct TokenKeeperTests {
    /// The library tells a failure once, and what asks later must not wait for brokers that nobody can log in to.
    @Test func eachQuestionEndsAtOnceWithTheReasonForWhichThereIsNoToken() throws {
        let login = [
            ("security.protocol", "sasl_plaintext"), ("sasl.mechanism", "OAUTHBEARER"), ("sasl.oauthbearer.method", "oidc"),
        ]
        var configuration = KafkaConfiguration(
            bootstrapServers: "127.0.0.1:1", properties: login.map { .init(key: $0.0, value: $0.1) })
        configuration.tokens = TokenKeeper { () throws(TokenFailure) in throw TokenFailure("there is no token server") }
        let admin = try TopicAdmin(configuration)
        for _ in 0..<3 {
            let error = #expect(throws: KafkaError.self) { try admin.describe(topics: [], timeout: .seconds(5)) }
            #expect(error?.isAuthentication == true && error?.message == "there is no token server")
        }
    }
}
