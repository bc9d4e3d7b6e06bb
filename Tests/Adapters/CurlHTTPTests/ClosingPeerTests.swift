import Basics
import EventLoop
import HTTP1
import TestSupport
import Testing

@testable import CurlHTTP

/// Connections that a peer closes without a word of it: nothing arrives twice, and little stays in doubt.
@Suite(.tags(.c)) struct ClosingPeerTests {
    /// The way to the server.
    enum Way: CaseIterable {
        case plain, tls, tlsWithoutNotice
    }

    private static let certificate = Result { try ServerCertificate(hosts: ["127.0.0.1"]) }

    /// A pool of eight connections that reach a server, and what stands between them.
    private static func loop(_ way: Way, to server: ScriptedServer) throws -> (PoolLoop, TLSFront?) {
        if way == .plain { return (try PoolLoop(port: server.port) { $0.maxConnections = 8 }, nil) }
        let certificate = try certificate.get()
        let front = try TLSFront(certificate, before: server.port, saysEnd: way == .tls)
        let loop = try PoolLoop(port: front.port) {
            ($0.scheme, $0.maxConnections, $0.caFile) = (.https, 8, certificate.certificateFile)
        }
        return (loop, front)
    }

    /// Ends of all kinds, after answers of all numbers, so that no habit shows.
    @Test(arguments: Way.allCases) func noRequestIsAcceptedTwiceHoweverItsConnectionEnds(_ way: Way) throws {
        let server = try ScriptedServer { number in
            let answers = (0...(number * 7 % 13)).flatMap { _ in [ScriptedServer.Step.request, .send(Answers.created)] }
            return answers + Ending.allCases[number % Ending.allCases.count].steps
        }
        let (loop, front) = try Self.loop(way, to: server)
        defer { withExtendedLifetime(front) {} }
        let tally = try EndingTally(2_000, to: server, through: loop)
        #expect(Set(tally.accepted).count == tally.accepted.count, "\(tally)")
        #expect(tally.answered.isSubset(of: tally.accepted))
        #expect(tally.answered.union(tally.ambiguous).isSuperset(of: tally.accepted))
        #expect(tally.answered.count + tally.ambiguous.count + tally.unsent == 2_000)
        // A new connection always gives an answer first.
        #expect(tally.unsent == 0)
    }

    @Test(arguments: Way.allCases, [2, 10]) func aPeerThatClosesAfterSoManyAnswersIsLearned(_ way: Way, _ limit: Int) throws {
        let server = try ScriptedServer { _ in
            (0..<limit).flatMap { _ in [ScriptedServer.Step.request, .send(Answers.created)] } + [.close]
        }
        let (loop, front) = try Self.loop(way, to: server)
        defer { withExtendedLifetime(front) {} }
        let tally = try EndingTally(800, to: server, through: loop)
        #expect(Set(tally.accepted).count == tally.accepted.count)
        // The first close of each of eight connections, three to learn, and the trials: after 8, 16, 32, 64 and 128 connections.
        #expect(tally.ambiguous.count <= 8 + 3 + 5, "\(tally)")
        #expect(tally.opened <= 800 / limit + 8 + 3 + 5, "\(tally)")
    }

    /// The worst case, without any chance: each close meets a request that is on its way.
    @Test func aCloseThatAlwaysMeetsARequestCostsThreeRequestsAndTheTrials() throws {
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port) { $0.maxConnections = 1 })
        var (connection, answers, ambiguous): (HandConnection?, Int, Int) = (nil, 0, 0)
        for _ in 0..<1_000 {
            client.start(isHead: false)
            let current = try client.wait {
                if let new = server.accept() { (connection, answers) = (new, 0) }
                return connection.flatMap { $0.takeRequest() == nil ? nil : $0 }
            }
            if answers == 10 {
                current.finish()
                ambiguous += 1
            } else {
                answers += 1
                current.send(Answers.created.utf8)
            }
            try client.wait { client.reading.map { _ in true } }
        }
        // Connections 9, 26 and 59 after the third are trials.
        #expect(ambiguous == 3 + 3)
        #expect(client.loop.pool.connectionsRetired > 80)
    }

    @Test func aPeerThatClosesIdleConnectionsIsNotWrittenToWhenTheTimeIsNear() throws {
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port) { $0.maxConnections = 1 })
        let pool = client.loop.pool
        for _ in 0..<3 { pool.habits.learn(closedAfter: 5, idleFor: 4_000_000_000) }
        let (_, first) = try client.exchange([Array(Answers.created.utf8)[...]], with: server)
        let idleSince = try #require(pool.connections.first).idleSince
        pool.handleTimers(idleSince.advanced(by: .milliseconds(2_999)))
        #expect(pool.openConnections == 1)
        pool.handleTimers(idleSince.advanced(by: .seconds(3)))
        #expect(pool.openConnections == 0 && pool.connectionsRetired == 1)
        try client.wait { first.hasEnded() ? true : nil }
    }

    @Test(arguments: [
        ("timeout=4", 3_000, true), ("timeout=4, max=1", 3_000, true), ("timeout=4, max=0", 0, false), ("timeout=0", 0, false),
        ("max=5", 90_000, true),
    ])
    func whatAPeerPromisesIsHonoured(_ promise: String, _ milliseconds: Int64, _ isKept: Bool) throws {
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port) { $0.maxConnections = 1 })
        let answer = "HTTP/1.1 201 Created\r\nKeep-Alive: \(promise)\r\nContent-Length: 0\r\n\r\n"
        _ = try client.exchange([Array(answer.utf8)[...]], with: server)
        let pool = client.loop.pool
        #expect(pool.openConnections == (isKept ? 1 : 0))
        guard isKept, let connection = pool.connections.first else { return }
        #expect(pool.expiry(of: connection) == connection.idleSince.advanced(by: .milliseconds(milliseconds)))
    }

    @Test func aFailureSaysWhatItsConnectionHadDone() throws {
        let server = try ScriptedServer([[.request, .send(Answers.created), .request, .close]])
        let loop = try PoolLoop(port: server.port)
        #expect(try loop.exchange(1)?.status == 201)
        let detail = try #require(try loop.exchange(2)?.failure).detail
        #expect(detail.contains("the connection was closed before an answer; it had given 1 answer and was idle for "))
    }
}
