@testable import AppAPI
@testable import PublishAPI
@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
import Basics
import HTTPServing
import TestSupport
import Testing

@testable import Keys

/// Streams and waits end with the rights by which they began.
@Suite(.tags(.threads)) struct RightsTests {
    enum Loss: CaseIterable {
        case revoked, expired, withoutScope, withAnotherSecret
    }

    /// Nothing is sent meanwhile, so that nothing but the look at rights can end it.
    @Test(arguments: Loss.allCases) func aStreamEndsWithItsKey(loss: Loss) throws {
        let key = try newKey {
            $0.scopes = [.read, .replay]
            $0.expiresAt = 1600
        }
        let control = try newKey { $0.scopes = [.read] }
        let stage = try PageStage([key, control])
        let clients = try [key, control].map { try stream(of: $0, on: stage) }
        #expect(eventually { stage.streams.count == 2 && stage.services.services.rights.count == 2 })
        look(stage)
        #expect(stage.services.services.rights.count == 2)
        switch loss {
        case .revoked:
            var file = KeysFile()
            for each in [key, control] { try file.add(each.key) }
            _ = file.revoke(key.key.id, at: 1500)
            try stage.keys.put(file.bytes)
        case .expired: stage.wall.add(100_000)
        case .withoutScope: try stage.keys.put([changed(key) { $0.scopes = [.replay] }, control.key])
        case .withAnotherSecret:
            let other = try newKey { $0 = key.key.terms }
            try stage.keys.put([
                APIKey(id: key.key.id, digest: other.key.digest, terms: key.key.terms, createdAt: 1000, revokedAt: nil),
                control.key,
            ])
        }
        look(stage)
        #expect(clients[0].chunks() == (EventFrames.problem(.rightsOver), true))
        #expect(eventually { stage.services.services.rights.count == 1 })
        let event = EventFrames.event("fleet", id: "1", data: Array("{1}".utf8))
        stage.streams.send("fleet", id: "1", data: Array("{1}".utf8), to: EventStreams.fleet)
        #expect(clients[1].chunk() == event && stage.streams.count == 1)
    }

    /// A file that is being written is empty for a moment, and then lacks its end.
    @Test(arguments: [0, 40, 100]) func aStreamOutlivesAFileThatIsBeingWritten(count: Int) throws {
        let key = try newKey { $0.scopes = [.read] }
        let stage = try PageStage([key, try newKey()])
        let client = try stream(of: key, on: stage)
        var file = KeysFile()
        try file.add(key.key)
        try stage.keys.put(Array(file.bytes.prefix(count)))
        look(stage)
        look(stage)
        stage.streams.send("fleet", id: "1", data: Array("{1}".utf8), to: EventStreams.fleet)
        #expect(client.chunk() == EventFrames.event("fleet", id: "1", data: Array("{1}".utf8)))
    }

    @Test func aReaderWhoHasGoneIsLookedAtNoMore() throws {
        let key = try newKey { $0.scopes = [.read] }
        let stage = try PageStage([key])
        do { _ = try stream(of: key, on: stage) }
        // What is written first after a reader has gone is not refused yet.
        var number = 0
        #expect(
            eventually {
                number += 1
                stage.streams.send("fleet", id: "1", data: Array("{\(number)}".utf8), to: EventStreams.fleet)
                return stage.services.services.rights.count == 0 && stage.streams.count == 0
            })
    }

    @Test func aWaitEndsWithItsCallersRights() throws {
        let stage = LookupStage()
        stage.publish("a")
        let (rights, isThere) = (RightsWatch(), Box(true))
        let holder = Self.holder { isThere.withLock { $0 } }
        let (answers, control, published) = (Answered(), stage.get("a?wait=10"), Answered())
        let call = LookupCall(
            operation: .showRequest, id: "a", request: HTTPServerRequest(method: "GET", target: "/v1/requests/a?wait=10"),
            asker: LookupStage.publisher, answer: { answers.add($0) }, stream: { _, _ in ManualSink() },
            holding: rights.hold(holder))
        stage.endpoints.answer(call)
        let key = try #require(stage.lookup.find("a", for: LookupStage.publisher)).key
        stage.endpoints.answer(
            key, of: holder.claimant, to: ["Prefer": "wait=10"], accepted: APIAnswer(status: 202), holding: rights.hold(holder)
        ) { published.add($0) }
        rights.tick(at: .at(1))
        #expect(answers.all.isEmpty && published.all.isEmpty && rights.count == 2)
        isThere.withLock { $0 = false }
        rights.tick(at: .at(1 + RightsWatch.interval - 1))
        #expect(answers.all.isEmpty)
        rights.tick(at: .at(1 + RightsWatch.interval))
        #expect(answers.all == [APIAnswer(APIProblem.rightsOver)] && answers.last?.status == 401)
        #expect(published.all.map(\.status) == [202], "what it has published is published")
        #expect(rights.count == 0 && stage.lookup.watcherCount == 1 && control.all.isEmpty)
        try stage.bring("sent", of: "a")
        #expect(control.all.map(\.status) == [200] && answers.all.count == 1)
    }

    @Test func aWaitThatIsOverIsLookedAtNoMore() throws {
        let stage = LookupStage()
        stage.publish("a")
        let (rights, answers) = (RightsWatch(), Answered())
        let key = try #require(stage.lookup.find("a", for: LookupStage.publisher)).key
        let holder = Self.holder { true }
        stage.endpoints.answer(
            key, of: holder.claimant, to: ["Prefer": "wait=10"], accepted: APIAnswer(status: 202), holding: rights.hold(holder)
        ) { answers.add($0) }
        #expect(rights.count == 1)
        try stage.bring("sent", of: "a")
        #expect(answers.all.map(\.status) == [200] && rights.count == 0)
    }

    private static func holder(_ isThere: @escaping @Sendable () -> Bool) -> KeyHolder {
        KeyHolder(
            publisher: Publisher(keyID: "k1", tenant: nil, source: "shop", scopes: [.publish]), client: nil, isStillThere: isThere
        )
    }

    private func changed(_ key: NewKey, _ change: (inout KeyTerms) -> Void) -> APIKey {
        var terms = key.key.terms
        change(&terms)
        return APIKey(id: key.key.id, digest: key.key.digest, terms: terms, createdAt: 1000, revokedAt: nil)
    }

    private func stream(of key: NewKey, on stage: PageStage) throws -> RawClient {
        let client = try RawClient(port: stage.port)
        client.send(request("GET", "/v1/status/events", ["Authorization: Bearer \(key.text)"]))
        try #require(client.answer().status == 200 && client.chunk() == EventFrames.beginning)
        return client
    }

    /// Has the next look made, and the file read.
    private func look(_ stage: PageStage) {
        stage.services.clock.advance(seconds: 2)
        stage.services.services.rights.tick(at: stage.services.clock.now)
    }
}
