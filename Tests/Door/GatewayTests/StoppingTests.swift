import AppAPI
import Dispatch
import Foundation
import Gateway
import GatewayAPI
import HTTPServing
import Kafka
import TestSupport
import Testing

@Suite(.tags(.threads)) struct StoppingTests {
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

    @Test func publishesThatComeDuringADrainAreRefusedAndCanBeRepeated() throws {
        let held = HeldCalls()
        let gateway = try TestGateway(demo: true, endpoints: held)
        let (client, kept) = (try RawClient(port: gateway.port), try RawClient(port: gateway.port))
        kept.send(request("GET", "/"))
        #expect(kept.answer().status == 200)
        client.send(Self.text)
        let call = try held.next()
        let isStopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [service = gateway.service] in
            service.stop(within: farDeadline)
            isStopped.signal()
        }
        #expect(try eventually { try gateway.ask(request("GET", "/")).status == 503 })
        #expect(gateway.services.readiness.contains("draining"))
        let others = try (0..<8).map { _ in try RawClient(port: gateway.port) } + [kept]
        let publish = request("POST", "/v1/requests", [Self.bearer, "Content-Type: application/json"], body: "{}")
        for (index, other) in others.enumerated() { other.send(index % 2 == 0 ? publish : Self.text) }
        for other in others {
            let answer = other.answer()
            #expect(answer.status == 503 && answer.head.contains("Retry-After: 1\r\n"))
            #expect(answer.head.contains("Content-Type: application/problem+json"))
            #expect(answer.head.lowercased().contains("connection: close\r\n"))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains(#""code":"stopping""#) && text.contains(#""retry":"safe""#), "\(text)")
            #expect(other.rest().isEmpty && other.ending == 0)
        }
        call.reply.answer(.text("done"))
        #expect(client.answer().status == 200)
        isStopped.wait()
    }

    /// Whatever the time for answers: a wait for a result ends with the stop.
    @Test(arguments: [.zero, farDeadline] as [Duration]) func aPublishThatPrefersToWaitGetsThe202OfItsRecord(limit: Duration)
        throws
    {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let publishing = try Self.publish(gateway, wait: 30)
        let worker = try ScriptedWorker(gateway)
        let id = try worker.next().id
        let asking = try Self.look(gateway, at: "\(id)?wait=30")
        #expect(eventually { gateway.services.metrics.contains("pushfan_gateway_waiting_requests 2\n") })
        gateway.service.stop(within: limit)
        let published = publishing.answer()
        #expect(published.status == 202 && published.head.contains("Location: /v1/requests/\(id)?at="), "\(published)")
        #expect(!published.head.contains("Preference-Applied"))
        let found = asking.answer()
        #expect(found.status == 200 && String(decoding: found.body, as: UTF8.self).contains("\"id\":\"\(id)\""))
    }

    @Test func eventsEndWithTheirLastChunk() throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        _ = try Self.publish(gateway).answer()
        let worker = try ScriptedWorker(gateway)
        let client = try Self.look(gateway, at: "\(try worker.next().id)/events")
        #expect(client.answer().status == 200 && client.chunk() != nil)
        gateway.service.stop(within: .zero)
        let (bytes, isComplete) = client.chunks()
        #expect(isComplete && !String(decoding: bytes, as: UTF8.self).contains("event: end"))
    }

    /// As no broker says what became of the record, nobody may take it for not written, nor for written.
    @Test func whatKafkaHasNotConfirmedAtTheEndIsNotCalledWritten() throws {
        let gateway = try ServedGateway {
            $0.kafka.properties.append(.init(key: "message.timeout.ms", value: "3600000"))
        }
        defer { gateway.stop() }
        try #require(gateway.cluster).setBroker(1, isUp: false)
        let publishing = try Self.publish(gateway)
        let sending = try gateway.begin("POST", "/api/notifications", as: "alice", body: #""Hi""#)
        #expect(eventually { gateway.services.metrics.contains("pushfan_gateway_waiting_requests 2\n") })
        gateway.service.stop(within: .zero)
        for client in [publishing, sending] {
            let answer = client.answer()
            let text = String(decoding: answer.body, as: UTF8.self)
            let isHonest =
                answer.status == 503 ? text.contains(#""retry":"safe""#) : answer.head.contains("Location: /v1/requests/")
            #expect([503, 504].contains(answer.status) && isHonest, "\(text)")
        }
    }

    private static let bearer = "Authorization: Bearer \(ServedGateway.key)"

    private static func publish(_ gateway: ServedGateway, wait: Int = 0) throws -> RawClient {
        let client = try RawClient(port: gateway.port)
        let fields = [bearer, "Content-Type: application/json", "Prefer: wait=\(wait)"]
        client.send(request("POST", "/v1/requests", fields, body: #"{"audience":{"users":["bob"]},"message":{"title":"Hi"}}"#))
        return client
    }

    private static func look(_ gateway: ServedGateway, at path: String) throws -> RawClient {
        let client = try RawClient(port: gateway.port)
        client.send(request("GET", "/v1/requests/\(path)", [bearer]))
        return client
    }
}
