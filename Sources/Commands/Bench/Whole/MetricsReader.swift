import Basics
import CurlHTTP
import EventLoop
import HTTP1

/// Reads a worker's metrics page, again and again over one connection.
final class MetricsReader {
    private let poller: Poller
    private let pool: ConnectionPool
    private let request: [UInt8]

    init(port: Int) throws {
        poller = try Poller()
        pool = try ConnectionPool(
            ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: UInt16(clamping: port)), poller: poller,
            tokenBase: 0)
        var bytes: [UInt8] = []
        try RequestHead.begin(method: "GET", target: Array("/metrics".utf8), host: "127.0.0.1", into: &bytes)
        RequestHead.end(contentLength: nil, into: &bytes)
        request = bytes
    }

    /// The page as it is now; nil while nothing answers.
    func read() throws -> MetricsPage? {
        let deadline = MonotonicTime.now().advanced(by: .seconds(2))
        pool.submit(id: 1, request: request, deadline: deadline)
        while true {
            for index in try poller.wait(until: min(deadline, pool.nextTimer ?? deadline)) { pool.handle(poller[index]) }
            pool.handleTimers(.now())
            guard let completion = pool.nextCompletion() else { continue }
            guard case .answer(let answer) = completion.outcome else { return nil }
            defer { pool.recycle(answer) }
            return answer.status == 200 ? MetricsPage(answer.string(answer.bodyRange)) : nil
        }
    }

    func close() { pool.close() }
}

/// The values of a metrics page in Prometheus' text form.
struct MetricsPage {
    private let lines: [Substring]

    init(_ text: String) { lines = text.split(separator: "\n") }

    /// The sum of all series of `name` whose labels hold `label`.
    func sum(_ name: String, where label: String = "") -> Double {
        var sum = 0.0
        for line in lines where line.hasPrefix(name) {
            let rest = line.dropFirst(name.count)
            guard rest.first == " " || rest.first == "{", label.isEmpty || rest.contains(label) else { continue }
            sum += line.split(separator: " ").last.flatMap { Double($0) } ?? 0
        }
        return sum
    }
}
