@testable import AppAPI
@testable import GatewayAPI
import HTTPServing
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// Faults of a gateway's own, with which clients are tried.
@Suite(.tags(.threads)) struct InterceptionTests {
    /// Counts the calls that are made.
    private final class CountedCalls: Endpoints {
        let count = Atomic(0)

        func answer(_ call: APICall) {
            count.add(1, ordering: .relaxed)
            call.reply.answer(.text(call.caller.name))
        }
    }

    /// Asks a gateway with a fault, and says what its client got and how many calls were made and struck.
    private static func ask(
        _ interception: Interception?, password: String = "alice"
    ) throws -> (answer: String, made: Int, struck: Int) {
        let calls = CountedCalls()
        let struck = Box(0)
        var services = TestServices().services
        services.intercept = { request in
            guard request.path == "/api/register", let interception else { return nil }
            struck.withLock { $0 += 1 }
            return interception
        }
        let configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        let service = try GatewayService(configuration, services: services) { _, _ in calls }
        defer { service.stop(within: .zero) }
        let client = try RawClient(port: try service.start().port)
        client.send(request("POST", "/api/register", [basic("alice", password)]))
        let answer = client.answer()
        let made = calls.count.load(ordering: .relaxed)
        return ("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))", made, struck.withLock { $0 })
    }

    @Test func aRefusedCallIsNotMade() throws {
        let seen = try Self.ask(Interception(refusal: .text("no", status: 503)) { $0.body.append(UInt8(ascii: "!")) })
        #expect(seen == ("503 no!", 0, 1))
    }

    @Test func aCallWhoseAnswerChangesIsMade() throws {
        let seen = try Self.ask(Interception(refusal: nil) { $0 = .text("lost \($0.status)", status: 504) })
        #expect(seen == ("504 lost 200", 1, 1))
    }

    @Test func aCallWhoseCallerIsNotKnownIsRefusedAndLeavesTheFaultToTheNext() throws {
        let seen = try Self.ask(Interception(refusal: .text("no", status: 503)) { _ in }, password: "bob")
        #expect(seen.answer.hasPrefix("401 ") && seen.made == 0 && seen.struck == 0)
    }

    @Test func withoutAFaultACallIsAnsweredAsEver() throws {
        #expect(try Self.ask(nil) == ("200 alice", 1, 0))
    }
}
