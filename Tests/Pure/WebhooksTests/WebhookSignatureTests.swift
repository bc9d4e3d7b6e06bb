import Basics
import Testing
import Webhooks

/// Signatures, against those of the library `standardwebhooks`.
struct WebhookSignatureTests {
    /// A signed call.
    struct Call: Sendable {
        let secret: String
        let id: String
        let timestamp: Int64
        let body: String
        let signature: String
    }

    private static let calls = [
        Call(
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: #"{"test": 2432232314}"#, signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        Call(
            secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", id: "shop-1@0", timestamp: 1_790_000_000,
            body: #"{"schema":"push.result/1","state":"delivered"}"#,
            signature: "v1,i/9Fc0BHkM5Nen6+7TeskdBBpJT7FSTAeRlomBEyfic="),
        Call(
            secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==", id: "r",
            timestamp: 1, body: "", signature: "v1,AaPYg5mnQh0eh/gJa1lJIrSogOngg8ukJMF3omIpwn8="),
        Call(
            secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", id: "grüße", timestamp: 1_790_000_000, body: #"{"a":"ä€😀"}"#,
            signature: "v1,ULF+6Xs5z6lQZTEVADySebIVUjKaVKc9UQC7zv2BSaM="),
    ]

    /// HMAC (RFC 2104) for keys of at most 64 bytes.
    private static func mac(_ content: [UInt8], by key: [UInt8]) -> [UInt8] {
        let block = key + [UInt8](repeating: 0, count: 64 - key.count)
        return SHA256.digest(of: block.map { $0 ^ 0x5C } + SHA256.digest(of: block.map { $0 ^ 0x36 } + content))
    }

    @Test(arguments: calls) func aSignatureIsThatOfTheLibrary(_ call: Call) throws {
        let secret = try #require(WebhookSecret(call.secret))
        let content = WebhookSignature.content(id: call.id, timestamp: call.timestamp, body: Array(call.body.utf8))
        #expect(WebhookSignature.header([Self.mac(content, by: secret.key)]) == call.signature)
    }

    @Test func theDotsStandBetweenIdMomentAndBody() {
        let content = WebhookSignature.content(id: "a.b", timestamp: -1, body: [0, 255])
        #expect(content == Array("a.b.-1.".utf8) + [0, 255])
    }

    @Test func eachSecretHasItsSignature() {
        #expect(WebhookSignature.header([[0], [255]]) == "v1,AA== v1,/w==")
    }

    @Test(arguments: [
        "", "whsec_", "whsec", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY=", "whsec_" + String(repeating: "A", count: 88),
        "whsec_" + String(repeating: "A", count: 100_000),
    ])
    func anotherTextIsNoSecret(_ text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func nothingShowsASecret() throws {
        let text = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let secret = try #require(WebhookSecret("whsec_" + text))
        let url = try #require(ReceiverURL("https://example.com/CANARY?CANARY"))
        var shown = "\(secret) \(String(reflecting: secret)) \(url) \(String(reflecting: url))"
        dump(Receiver(name: "a", url: url, secrets: [secret]), to: &shown)
        let number = try #require(secret.key.first)
        #expect(!shown.contains(text) && !shown.contains("CANARY") && !shown.contains("\(number), "))
    }
}
