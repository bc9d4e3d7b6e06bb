import Dispatch
import Foundation
import HTTPServing
import TestSupport
import Testing

@testable import Gateway

@Suite(.tags(.threads, .c)) struct StoppingTests {
    private static let text = request("POST", "/api/notifications", [basic("alice", "alice")])

    @Test func whatStillWaitsIsAnswered503() throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let clients = try (0..<20).map { _ in try RawClient(port: gateway.port) }
        for client in clients { client.send(Self.text) }
        let calls = try clients.map { _ in try held.next() }
        gateway.service.stop(within: .zero)
        for client in clients {
            let answer = client.answer()
            #expect(answer.status == 503)
            #expect(answer.head.contains("Retry-After: 1\r\n"))
            #expect(String(decoding: answer.body, as: UTF8.self).contains(#""code":"stopping""#))
        }
        // Answers that come too late are harmless.
        for call in calls { call.reply.answer(.text("late")) }
        #expect(gateway.services.readiness.contains("draining"))
        #expect(!gateway.services.metrics.contains("status=\"200\""))
    }

    @Test func whatIsAnsweredInTimeIsNot() throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let client = try RawClient(port: gateway.port)
        client.send(Self.text)
        let call = try held.next()
        let isStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [service = gateway.service] in
            service.stop(within: farDeadline)
            isStopped.signal()
        }
        #expect(eventually { gateway.services.readiness.contains("draining") })
        call.reply.answer(.text("done"))
        #expect(client.answer().status == 200)
        isStopped.wait()
        // A second stop does nothing.
        gateway.service.stop()
    }
}
