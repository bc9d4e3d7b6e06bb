import Basics
import CurlHTTP
import EventLoop

/// One hub call after another over a kept connection to a hub that answers at once: one write, one wait, one read for each.
final class ExchangeRun {
    private let hub: CannedHub
    private let poller: Poller
    private let pool: ConnectionPool
    private var buffer: [UInt8]

    init(call: [UInt8]) throws {
        hub = try CannedHub(requestByteCount: call.count)
        poller = try Poller()
        var configuration = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: hub.port)
        configuration.maxConnections = 1
        pool = try ConnectionPool(configuration, poller: poller, tokenBase: 0)
        buffer = call
    }

    func pass() throws {
        let deadline = MonotonicTime.now().advanced(by: .seconds(10))
        var call: [UInt8] = []
        swap(&call, &buffer)
        pool.submit(id: 1, request: call, deadline: deadline)
        while true {
            let events = try poller.wait(until: min(deadline, pool.nextTimer ?? deadline))
            for index in events { pool.handle(poller[index]) }
            pool.handleTimers(.now())
            guard let completion = pool.nextCompletion() else { continue }
            buffer = completion.request
            switch completion.outcome {
            case .answer(let answer): pool.recycle(answer)
            case .failure(let failure): throw failure
            }
            return
        }
    }

    func close() {
        pool.close()
        hub.close()
    }
}
