import TestSupport

/// How an app makes calls, byte for byte, each on a connection of its own; what it asked for is remembered.
final class AppSession {
    /// An answer that an app does not take for success.
    struct Failure: Error, Equatable {
        let status: Int
    }

    /// Whom it calls.
    let port: Int
    /// The calls, each as method, target and status.
    private(set) var calls: [String] = []

    init(port: Int) {
        self.port = port
    }

    /// Makes one call; the status is 0 when no answer came.
    ///
    /// Nothing in the target is escaped here, and a call without a body says that it has none. The fields are those besides `Host` and
    /// `Content-Length`.
    @discardableResult
    func call(
        _ method: String, _ target: String, _ fields: [String], _ body: String = ""
    ) throws -> (status: Int, head: String, body: String) {
        let client = try RawClient(port: port)
        let lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields + ["Content-Length: \(body.utf8.count)"]
        client.send(lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        let answer = client.answer()
        calls.append("\(method) \(target) \(answer.status)")
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    /// Forgets what it asked for.
    func forgetCalls() { calls = [] }
}

/// What the tutorials' apps have in common: they sign in with a token, keep the id of their registration, and cut its quotes off.
enum AppText {
    /// The id in an answer: the first and the last character are taken for quotation marks, whatever they are.
    static func cut(_ answer: String) -> String { String(answer.dropFirst().dropLast()) }

    /// A text as the apps make a JSON string of it: what stands in it is not escaped.
    static func quoted(_ text: String) -> String { "\"\(text)\"" }
}
