import CurlHTTP
import HTTP1
import TestSupport

/// The end of a connection that gave some answers: at which point of the next request, and how.
enum Ending: String, CaseIterable, Sendable {
    case closeBefore, resetBefore, closeWithin, closeAfterReading, resetAfterReading
    case finishThenClose, finishThenResetWithin, finishThenReadThenReset

    var steps: [ScriptedServer.Step] {
        switch self {
        case .closeBefore: [.close]
        case .resetBefore: [.reset]
        case .closeWithin: [.bytes(10), .close]
        case .closeAfterReading: [.request, .close]
        case .resetAfterReading: [.request, .reset]
        case .finishThenClose: [.finish, .close]
        case .finishThenResetWithin: [.finish, .bytes(10), .reset]
        case .finishThenReadThenReset: [.finish, .request, .reset]
        }
    }
}

/// What became of the requests that a pool sent to a server whose connections end.
struct EndingTally: CustomStringConvertible {
    /// Requests that were answered, by number.
    var answered: Set<Int> = []
    /// Requests that may have arrived, by number.
    var ambiguous: Set<Int> = []
    /// Requests that failed and cannot have arrived.
    var unsent = 0
    /// Requests that the server had whole, in its order.
    var accepted: [Int] = []
    var opened = 0
    var retired = 0
    var sentAgain = 0

    var description: String {
        "\(answered.count) answered, \(ambiguous.count) ambiguous, of which the server had \(ambiguous.intersection(accepted).count); "
            + "\(unsent) unsent, \(accepted.count - Set(accepted).count) accepted twice; "
            + "\(opened) connections opened, \(retired) retired, \(sentAgain) requests sent again"
    }

    /// Sends requests, twice as many at a time as there are connections.
    ///
    /// - Parameters:
    ///   - count: The number of requests, each with its number as the body.
    ///   - server: It has each request that arrived.
    ///   - loop: Sends them to the server, through all that stands between.
    /// - Throws: The sockets cannot be watched.
    init(_ count: Int, to server: ScriptedServer, through loop: PoolLoop) throws {
        let most = 2 * loop.pool.configuration.maxConnections
        var submitted = 0
        let completions = try loop.run { completions in
            while submitted < count, submitted - completions.count < most {
                loop.submit(submitted, PoolLoop.request("\(submitted)"))
                submitted += 1
            }
            return completions.count == count
        }
        for completion in completions {
            switch completion.outcome {
            case .answer: answered.insert(completion.id)
            case .failure(let failure): if failure.requestBytesSent { ambiguous.insert(completion.id) } else { unsent += 1 }
            }
        }
        accepted = server.requests.compactMap { Int($0.split(separator: "\r\n\r\n").last ?? "") }
        (opened, retired, sentAgain) = (loop.pool.connectionsOpened, loop.pool.connectionsRetired, loop.pool.requestsSentAgain)
    }
}
