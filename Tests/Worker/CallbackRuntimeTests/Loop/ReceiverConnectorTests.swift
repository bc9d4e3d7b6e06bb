import Basics
import CallbackRecords
import Crypto
import EventLoop
import Foundation
import Observability
import TestSupport
import Testing
import Webhooks

@testable import CallbackRuntime

/// The changes of the file of receivers, and of the certificates that it names, that need new connections.
@Suite struct ReceiverConnectorTests {
    private static let second: Int64 = 1_000_000_000
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func connector(_ set: ReceiverSet) throws -> ReceiverConnector {
        try ReceiverConnector(set, poller: Poller(), log: .silent, now: start)
    }

    private func write(_ name: String, to path: String) throws {
        let certificate = try SelfSignedCertificate(hosts: [name])
        try certificate.certificatePEM.write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test func certificatesThatCannotBeUsedAreTriedAgain() throws {
        let folder = try TemporaryFolder()
        var set = ReceiverSet()
        let connector = try connector(set)
        set.caFile = folder.path("ca.pem")
        #expect(!connector.change(to: set, now: start))
        #expect(!connector.isDue(now: start) && connector.isDue(now: start + 10 * Self.second))
        try write("a.example", to: folder.path("ca.pem"))
        #expect(connector.change(to: set, now: start + 10 * Self.second))
        #expect(!connector.change(to: set, now: start + 20 * Self.second))
    }

    @Test func certificatesThatWereRenewedAreReadAgain() throws {
        let folder = try TemporaryFolder()
        var set = ReceiverSet()
        set.caFile = folder.path("ca.pem")
        try write("a.example", to: folder.path("ca.pem"))
        let connector = try connector(set)
        #expect(!connector.change(to: set, now: start))
        try write("b.example", to: folder.path("ca.pem"))
        #expect(connector.change(to: set, now: start + 10 * Self.second))
        try Data().write(to: URL(fileURLWithPath: folder.path("ca.pem")))
        #expect(!connector.change(to: set, now: start + 20 * Self.second), "those that are known stay")
    }

    @Test func networksThatMayNotBeCalledAnyMoreNeedNewConnections() throws {
        var set = ReceiverSet()
        set.allowedNetworks = ["10.0.0.0/8", "127.0.0.0/8"].compactMap { NetworkRange($0) }
        let connector = try connector(set)
        #expect(!connector.change(to: set, now: start))
        set.allowedNetworks += ["192.168.0.0/16"].compactMap { NetworkRange($0) }
        #expect(!connector.change(to: set, now: start))
        set.allowedNetworks.removeFirst()
        #expect(connector.change(to: set, now: start))
        #expect(!connector.change(to: set, now: start))
    }
}
