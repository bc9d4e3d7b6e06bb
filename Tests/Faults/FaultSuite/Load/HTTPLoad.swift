/// What is published over HTTP in one scenario, and through how many gateways.
struct HTTPLoad: Sendable {
    /// Requests in all; each has an Idempotency-Key of its own.
    var count: Int
    /// Requests per second at most; after a stop nothing is made up for.
    var rate: Int
    /// Connections to each gateway; each makes one call at a time.
    var connections = 32
    /// Gateways. Calls with one key go to one after the other.
    var gateways = 1
    /// How often each request is published until a 202.
    var rounds = 1
    /// One of so many is given up when its first answer is a 503; 0 for none.
    var giveUpEvery = 4
    /// Whether gateways reach the broker through the proxy.
    var isBehindProxy = false
    /// Whether each gateway keeps its answers in a file.
    var keepsAnswers = false

    init(_ count: Int, rate: Int) {
        self.count = count
        self.rate = rate
    }

    /// Whether a request is given up when its first answer is a 503.
    func isGivenUp(_ number: Int) -> Bool { giveUpEvery > 0 && number % giveUpEvery == giveUpEvery - 1 }

    /// The call for a request; the same for the same number, its Idempotency-Key included.
    static func call(of number: Int, port: UInt16, apiKey: String) -> [UInt8] {
        let body = "{\"audience\":{\"users\":[\"u\(number)\"]},\"platforms\":[\"apple\"],\"message\":{\"title\":\"\(number)\"}}"
        let head =
            "POST /v1/requests HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(apiKey)\r\n"
            + "Content-Type: application/json\r\nIdempotency-Key: n\(number)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return Array((head + body).utf8)
    }
}
