import Foundation
import TestSupport
import Testing

@testable import HTTPServing

/// The bytes of answers that clients do not take.
@Suite(.tags(.threads, .c)) struct AnswerBudgetTests {
    /// More than the system keeps of a connection.
    private static let large = [UInt8](repeating: 0x61, count: 16 << 20)

    private static func answer(_ count: Int, _ upkeep: HTTPServerResponse.Upkeep = .counted) -> HTTPServerResponse {
        var answer = HTTPServerResponse(status: 200, body: [UInt8](repeating: 0x61, count: count))
        answer.upkeep = upkeep
        return answer
    }

    /// A quarter of 64 KiB is 16 KiB.
    @Test(arguments: [
        ("192.0.2.1:2", 1, false), ("192.0.2.2:1", 1, true), ("[::ffff:192.0.2.1]:1", 1, false), ("192.0.2.1:2", 0, true),
        ("[2001:db8::1]:1", 1, true), ("", 1, true),
    ])
    func anAddressHasAShare(peer: String, beyond: Int, isAdmitted: Bool) {
        let budget = AnswerBudget(limit: 64 << 10)
        let held = budget.admit(Self.answer(12 << 10), to: "192.0.2.1:1")
        #expect(held?.room != nil)
        let next = budget.admit(Self.answer((4 << 10) + beyond), to: peer)
        #expect((next != nil) == isAdmitted)
        #expect(budget.isSpent(by: "192.0.2.1:9") == false)
        withExtendedLifetime((held, next)) {}
    }

    @Test func addressesOfOneNetworkHaveOneShare() {
        let budget = AnswerBudget(limit: 64 << 10)
        let held = budget.admit(Self.answer(16 << 10), to: "[2001:db8::1]:1")
        #expect(held != nil && budget.isSpent(by: "[2001:db8::ffff]:2") && !budget.isSpent(by: "[2001:db8:0:1::1]:1"))
        #expect(budget.admit(Self.answer(5 << 10), to: "[2001:db8::ffff]:2") == nil)
        withExtendedLifetime(held) {}
    }

    @Test func roomComesBackWhenNobodyHasTheAnswer() {
        let budget = AnswerBudget(limit: 64 << 10)
        for _ in 0..<3 {
            let held = budget.admit(Self.answer(16 << 10), to: "192.0.2.1:1")
            #expect(held != nil && budget.isSpent(by: "192.0.2.1:1"))
            withExtendedLifetime(held) {}
        }
        #expect(!budget.isSpent(by: "192.0.2.1:1"))
    }

    @Test(arguments: [
        (4 << 10, HTTPServerResponse.Upkeep.counted, true), (5 << 10, .counted, false), (5 << 10, .owed, true),
        (1 << 20, .owed, true),
        (1 << 20, .shared, true),
    ])
    func whatIsOwedOrSharedOrShortFindsRoom(count: Int, upkeep: HTTPServerResponse.Upkeep, isAdmitted: Bool) {
        let budget = AnswerBudget(limit: 64 << 10)
        let held = budget.admit(Self.answer(16 << 10), to: "192.0.2.1:1")
        let next = budget.admit(Self.answer(count, upkeep), to: "192.0.2.1:1")
        #expect((next != nil) == isAdmitted)
        #expect(!budget.isSpent(by: "192.0.2.2:1"), "others have their room, whatever one is owed")
        withExtendedLifetime((held, next)) {}
    }

    @Test func whoeverIsOwedBeyondTheShareTakesThatFirst() {
        let budget = AnswerBudget(limit: 64 << 10)
        var owed = budget.admit(Self.answer(1 << 20, .owed), to: "192.0.2.1:1")
        #expect(owed != nil && budget.isSpent(by: "192.0.2.1:2") && !budget.isSpent(by: "192.0.2.2:1"))
        #expect(budget.admit(Self.answer(5 << 10), to: "192.0.2.1:2") == nil)
        owed = nil
        #expect(!budget.isSpent(by: "192.0.2.1:2"))
        let other = budget.admit(Self.answer(16 << 10), to: "192.0.2.1:2")
        #expect(other != nil, "what was owed took nothing of the share")
    }

    /// Serves large answers while `body` runs.
    private static func serving(limit: Int?, upkeep: HTTPServerResponse.Upkeep = .counted, _ body: (Int) throws -> Void) throws {
        var configuration = HTTPServerConfiguration()
        configuration.maximumUnreadByteCountInAll = limit
        let server = HTTPServer(configuration) { _, responder in
            var answer = HTTPServerResponse(status: 200, body: large)
            answer.upkeep = upkeep
            responder.answer(answer)
        }
        let address = try server.start()
        defer { server.stop(within: .zero) }
        try body(address.port)
    }

    private static func asking(_ port: Int, from source: String) throws -> RawClient {
        let client = try RawClient(port: port, from: source)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return client
    }

    @Test func whoDoesNotReadGetsNoMoreAndOthersDo() throws {
        try Self.serving(limit: 64 << 20) { port in
            let slow = try Self.asking(port, from: "127.0.0.2")
            #expect(eventually { slow.hasSomethingToRead })
            let refused = try Self.asking(port, from: "127.0.0.2").answer()
            #expect(refused.status == 503 && refused.body.isEmpty && refused.head.contains("\r\nRetry-After: 1\r\n"))
            let other = try Self.asking(port, from: "127.0.0.3").answer()
            #expect(other.status == 200 && other.body.count == Self.large.count)
            // A large body would bring a large answer.
            let poster = try RawClient(port: port, from: "127.0.0.2")
            poster.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n")
            #expect(poster.answer().status == 503)
            let read = slow.answer()
            #expect(read.status == 200 && read.body == Self.large)
            #expect(try eventually { try Self.asking(port, from: "127.0.0.2").answer().status == 200 })
        }
    }

    /// The pages of this process that are in memory, in bytes.
    private static func residentByteCount() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return (Int(pages) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Copies would have 640 MiB.
    @Test func sharedBytesAreThereOnceHoweverManyDoNotReadThem() throws {
        try Self.serving(limit: 1, upkeep: .shared) { port in
            let before = try Self.residentByteCount()
            let clients = try (0..<40).map { _ in try Self.asking(port, from: "127.0.0.2") }
            #expect(eventually { clients.allSatisfy(\.hasSomethingToRead) })
            #expect(try Self.residentByteCount() - before < 320 << 20)
            #expect(clients[39].answer().body == Self.large)
        }
    }
}
