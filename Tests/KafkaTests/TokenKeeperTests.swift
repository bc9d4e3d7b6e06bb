import TestSupport
import Testing

@testable import Kafka

@Suite(.tags(.threads, .c)) struct TokenKeeperTests {
    /// The library tells a failure once, and what asks later must not wait for brokers that nobody can log in to.
    @Test func eachQuestionEndsAtOnceWithTheReasonForWhichThereIsNoToken() throws {
        var configuration = KafkaConfiguration(
            bootstrapServers: "127.0.0.1:1",
            properties: [
                .init(key: "security.protocol", value: "sasl_plaintext"), .init(key: "sasl.mechanism", value: "OAUTHBEARER"),
            ])
        configuration.tokens = TokenKeeper { () throws(TokenFailure) in throw TokenFailure("there is no token server") }
        let admin = try TopicAdmin(configuration)
        for _ in 0..<3 {
            let error = #expect(throws: KafkaError.self) { try admin.describe(topics: [], timeout: .seconds(5)) }
            #expect(error?.isAuthentication == true && error?.message == "there is no token server")
        }
    }
}
