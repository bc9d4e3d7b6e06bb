import CRDKafka
import Testing

@testable import Kafka

@Suite struct BrokerFailureTests {
    /// What librdkafka 2.0.2 reported, run against ports that behave like this.
    @Test(arguments: [
        (
            "_TRANSPORT",
            "127.0.0.1:9999/bootstrap: Connect to ipv4#127.0.0.1:9999 failed: Connection refused "
                + "(after 0ms in state CONNECT, 1 identical error(s) suppressed)",
            BrokerFailure.Cause.connectionRefused
        ),
        (
            "_TRANSPORT",
            "[2001:db8::1]:9092/bootstrap: Connect to ipv6#[2001:db8::1]:9092 failed: No route to host (after 1021ms in state CONNECT)",
            .noRoute
        ),
        (
            "_RESOLVE",
            "no-such-broker.invalid:9092/bootstrap: Failed to resolve 'no-such-broker.invalid:9092': Name or service not known "
                + "(after 1ms in state CONNECT)", .nameUnknown
        ),
        (
            "_TRANSPORT",
            "127.0.0.1:35855/bootstrap: Connection setup timed out in state APIVERSION_QUERY (after 1001ms in state APIVERSION_QUERY)",
            .timedOut
        ),
        (
            "_TRANSPORT",
            "127.0.0.1:45105/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol "
                + "configuration (connecting to a SSL listener?) or broker version is < 0.10 (see api.version.request) "
                + "(after 0ms in state APIVERSION_QUERY)", .closedByPeer
        ),
        (
            "_BAD_MSG",
            "127.0.0.1:36211/bootstrap: Receive failed: Invalid response size 1213486160 (0..100000000): increase "
                + "receive.message.max.bytes (after 0ms in state APIVERSION_QUERY)", .notKafka
        ),
        (
            "_SSL",
            "ssl://127.0.0.1:44259/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker "
                + "certificate could not be verified, verify that ssl.ca.location is correctly configured or root CA certificates are "
                + "installed (install ca-certificates package) (after 7ms in state SSL_HANDSHAKE)", .certificateNotTrusted
        ),
        (
            "_TRANSPORT",
            "ssl://127.0.0.1:34243/bootstrap: Receive failed: error:0A00045C:SSL routines::tlsv13 alert certificate required: SSL alert "
                + "number 116 (after 2ms in state APIVERSION_QUERY)", .certificateWanted
        ),
        ("_TRANSPORT", "ssl://127.0.0.1:33361/bootstrap: Disconnected (after 1ms in state SSL_HANDSHAKE)", .noTLS),
        (
            "_TRANSPORT",
            "ssl://127.0.0.1:33361/bootstrap: SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener? "
                + "(after 1ms in state SSL_HANDSHAKE)", .noTLS
        ),
        (
            "_SSL",
            "ssl://127.0.0.1:38033/bootstrap: SSL handshake failed: error:0A00010B:SSL routines::wrong version number "
                + "(after 0ms in state SSL_HANDSHAKE)", .noTLS
        ),
        (
            "_AUTHENTICATION",
            "sasl_plaintext://127.0.0.1:45299/bootstrap: SASL PLAIN mechanism handshake failed: Broker: Unsupported SASL mechanism: "
                + "broker's supported mechanisms: SCRAM-SHA-512 (after 0ms in state AUTH_HANDSHAKE)", .mechanismRefused
        ),
        (
            "_AUTHENTICATION",
            "sasl_plaintext://127.0.0.1:36797/bootstrap: SASL authentication error: Authentication failed: Invalid username or password "
                + "(after 0ms in state AUTH_REQ)", .loginRefused
        ),
        ("_TRANSPORT", "sasl_plaintext://127.0.0.1:38897/bootstrap: Disconnected (after 0ms in state AUTH_REQ)", .closedAtLogin),
        (
            "_TRANSPORT",
            "sasl_plaintext://127.0.0.1:38897/bootstrap: SASL authentication error: SaslAuthenticateRequest failed: Local: Broker "
                + "transport failure (after 0ms in state DOWN)", .closedAtLogin
        ),
    ])
    func theLibrarysSentencesAreUnderstood(name: String, sentence: String, cause: BrokerFailure.Cause) throws {
        let trouble = try #require(BrokerFailure(name: name, sentence: sentence))
        #expect(trouble.cause == cause)
        #expect(!trouble.broker.contains("/") && sentence.contains("\(trouble.broker)/bootstrap"))
        #expect(trouble.description == "\(trouble.broker): \(cause.rawValue)")
    }

    @Test(arguments: [
        ("_TIMED_OUT", "Local: Timed out"), ("_ALL_BROKERS_DOWN", "1/1 brokers are down"),
        ("_TRANSPORT", "Local: Broker transport failure"),
        ("_TRANSPORT", "b:1/2: of another kind"), ("", ""), ("_RESOLVE", ": "), ("_SSL", "/"),
        ("_AUTHENTICATION", "invalid credentials"),
    ])
    func whatIsAboutNoConnectionStaysAsItIs(name: String, sentence: String) {
        #expect(BrokerFailure(name: name, sentence: sentence) == nil)
    }

    @Test func nothingOfTheLibrarysWordsOrOfABrokersIsShown() {
        let diagnosis = Diagnosis(KafkaConfiguration(bootstrapServers: "b:1"))
        let error = diagnosis.explain(
            KafkaError(
                RD_KAFKA_RESP_ERR__AUTHENTICATION,
                message:
                    "sasl_ssl://b:1/bootstrap: SASL authentication error: user 'CANARY' is not known (after 0ms in state AUTH_REQ)"
            ))
        #expect(error.description == "b:1: login refused")
        #expect(error.isAuthentication && error.brokerFailure?.cause == .loginRefused)
        let down = diagnosis.explain(KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, message: "1/1 brokers are down"))
        #expect(down.description == "no broker answers" && down.isAllBrokersDown)
        #expect(diagnosis.explain(error) == error)
    }
}
