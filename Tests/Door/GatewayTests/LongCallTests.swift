import DoorStage
@testable import AppAPI
@testable import PublishAPI
@testable import OperatorAPI
@testable import GatewayAPI
import Basics
import Dispatch
import HTTPServing
import Keys
import Synchronization
import TestSupport
import Testing

/// What lasts for long holds up neither the server nor those who ask for something else.
@Suite(.tags(.waits, .threads), .serialized) struct LongCallTests {
    /// Batches that stop while they are counted, until they are let go.
    private final class HeldBatches: Sendable {
        private let count = Mutex(0)
        private let gate = DispatchSemaphore(value: 0)

        var heldCount: Int { count.withLock { $0 } }

        func check(_ publisher: Publisher) -> KeyUses.BatchVerdict {
            guard publisher.keyID != "decent00" else { return .beyond(7) }
            count.withLock { $0 += 1 }
            gate.wait()
            return .beyond(7)
        }

        func release() { for _ in 0..<100 { gate.signal() } }
    }

    private static let batch = #"{"requests":[{},{}]}"#

    /// A key whose id of eight characters begins so.
    private static func key(_ name: String) -> String {
        "pf_\(name)\(String(repeating: "0", count: 8 - name.count))_CANARYkey0123456789abcdefghijklmnopqrstuvwx"
    }

    /// A call with a key.
    private func begin(_ key: String, at path: String, body: String, in gateway: ServedGateway) throws -> RawClient {
        let client = try RawClient(port: gateway.port)
        client.send(request("POST", path, ["Authorization: Bearer \(key)", "Content-Type: application/json"], body: body))
        return client
    }

    @Test func whateverTwoKeysDoOthersAreServed() throws {
        let held = HeldBatches()
        let gateway = try ServedGateway(hasKafka: false, checkBatch: { held.check($1) }) { authorization, _ in
            let id = String(authorization?.split(separator: "_").dropFirst().first ?? "")
            return .signedIn(Publisher(keyID: id, tenant: nil, source: "/\(id)", scopes: Set(Scope.allCases)))
        }
        defer { gateway.stop() }
        defer { held.release() }
        var greedy: [RawClient] = []
        for key in ["greedy", "hasty"] {
            for _ in 0..<5 { greedy.append(try begin(Self.key(key), at: "/v1/requests:batch", body: Self.batch, in: gateway)) }
        }
        #expect(eventually { held.heldCount == 4 })
        let page = try RawClient(port: gateway.port)
        page.send(request("GET", "/"))
        #expect(page.answer().status == 200)
        #expect(try gateway.ask("POST", "/api/register", as: "alice").status == 200)
        // A small request is read where it was received, and another key's batch has a thread.
        #expect(try begin(Self.key("greedy"), at: "/v1/requests", body: "{}", in: gateway).answer().status == 422)
        #expect(try begin(Self.key("decent"), at: "/v1/requests:batch", body: Self.batch, in: gateway).answer().status == 429)
        #expect(held.heldCount == 4)
        held.release()
        for client in greedy { #expect(client.answer().status == 429) }
    }

    @Test func aKeyHasNoMoreThanItsShareOfPlaces() throws {
        let held = HeldBatches()
        let gateway = try ServedGateway(hasKafka: false, checkBatch: { held.check($1) })
        defer { gateway.stop() }
        defer { held.release() }
        let clients = try (0..<129).map { _ in
            try begin(ServedGateway.key, at: "/v1/requests:batch", body: Self.batch, in: gateway)
        }
        #expect(eventually { gateway.services.metrics.contains("requests_total{route=\"requests.batch\",status=\"429\"} 1\n") })
        held.release()
        held.release()
        let answers = clients.map { $0.answer() }
        #expect(answers.allSatisfy { $0.status == 429 })
        let refused = answers.filter { String(decoding: $0.body, as: UTF8.self).contains(#""code":"too_many_requests""#) }
        #expect(refused.count == 1 && refused.allSatisfy { $0.head.contains("Retry-After: 1\r\n") })
    }

    @Test(
        arguments: [
            (.single(.request), "{}", 100, false), (.single(.request), "{}", 32 << 10, false),
            (.single(.request), "{}", (32 << 10) + 1, true),
            (.single(.structuredEvent), "{}", 100, false), (.trial(.request), "{}", 2, true), (.batch(.list), "{}", 2, true),
            (.batch(.lines), "{}", 2, true), (.batch(.events), "{}", 2, true),
            // An expression may take long to split, and its name may be escaped.
            (.single(.request), #"{"audience":{"tag_expression":"a"}}"#, 400, false),
            (.single(.request), #"{"audience":{"tag_expression":"a"}}"#, 401, true),
            (.single(.request), #"{"audience":{"\u0074ag_expression":"a"}}"#, 401, true),
            (.single(.request), #"{"audience":{"users":["tag"]}}"#, 401, false),
        ] as [(PublishKind, String, Int, Bool)])
    func smallRequestsAreReadWhereTheyAreReceived(kind: PublishKind, text: String, byteCount: Int, isLong: Bool) {
        let body = Array(text.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: byteCount - text.utf8.count)
        #expect(kind.isLong(body) == isLong)
    }

    @Test(arguments: [true, false]) func aSearchWhoseTimeIsOverSaysSo(isOver: Bool) throws {
        let gateway = try ServedGateway()
        defer { gateway.stop() }
        let worker = try ScriptedWorker(gateway)
        // The clock is looked at every 64 records.
        for number in 0..<70 { try worker.write(#""state":"sent""#, of: "a\(number)") }
        var services = gateway.services.services
        let questions = Atomic(0)
        // Each look at the clock finds it 11 s later.
        services.now = {
            MonotonicTime(nanoseconds: isOver ? Int64(questions.add(1, ordering: .relaxed).newValue) * 11_000_000_000 : 1)
        }
        let endpoints = try OperatorEndpoints(
            gateway.configuration, services: services, held: HeldAnswers(connections: 64), give: { _, _ in }
        ) { _ in }
        endpoints.start()
        defer { endpoints.stop() }
        let answers = Mutex<[APIAnswer]>([])
        // By results, which are all that is there.
        endpoints.answer(
            call(.listRequests, scopes: [.read], target: "/x?filter=state:sent") { answer in
                answers.withLock { $0.append(answer) }
            })
        #expect(eventually { answers.withLock { !$0.isEmpty } })
        let answer = try #require(answers.withLock { $0.first })
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.status == (isOver ? 503 : 200), "\(text)")
        #expect(text.contains("within 10 s") == isOver && text.contains(#""code":"overloaded""#) == isOver, "\(text)")
        #expect(text.contains(#""id":"a5""#) == !isOver)
    }
}
