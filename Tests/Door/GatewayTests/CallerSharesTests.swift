@testable import GatewayAPI
import Basics
import HTTPServing
import HubREST
import TestSupport
import Testing
import Users

@testable import Gateway

/// The shares of keys, tenants and addresses in the answers that are held open.
@Suite(.tags(.waits, .threads)) struct CallerSharesTests {
    private static func claimant(_ key: String, _ tenant: String? = nil, _ address: String) -> Claimant {
        Claimant(keyID: key, tenant: tenant, client: ClientNetwork(NumericAddress(address)))
    }

    /// What a greedy caller has only one of.
    enum Kind: CaseIterable {
        case key, tenant, address, network

        /// One of its ten callers.
        func claimant(_ number: Int) -> Claimant {
            switch self {
            case .key: CallerSharesTests.claimant("k", "t", "10.0.0.\(number)")
            case .tenant: CallerSharesTests.claimant("k\(number)", "t", "10.0.0.\(number)")
            case .address: CallerSharesTests.claimant("k\(number)", nil, "10.0.0.1")
            case .network: CallerSharesTests.claimant("k\(number)", nil, "2001:db8::\(number)")
            }
        }

        /// Another caller, who has all the rest in common with one of the ten.
        var other: Claimant {
            switch self {
            case .key: CallerSharesTests.claimant("other", "t", "10.0.0.1")
            case .tenant: CallerSharesTests.claimant("k1", "u", "10.0.0.1")
            case .address: CallerSharesTests.claimant("k1", nil, "10.0.0.2")
            case .network: CallerSharesTests.claimant("k1", nil, "2001:db8:0:1::1")
            }
        }
    }

    @Test(arguments: Kind.allCases) func ofAHundredPlacesTheGreedyHasItsShareAndOthersHaveTheirs(kind: Kind) {
        var (shares, taken) = (CallerShares(places: 100), 0)
        for _ in 0..<100 { for number in 0..<10 where shares.take(for: kind.claimant(number)) == nil { taken += 1 } }
        #expect(taken == (kind == .key ? 25 : 50))
        #expect((0..<10).allSatisfy { shares.refusal(for: kind.claimant($0)) == .share })
        #expect(shares.refusal(for: kind.other) == nil)
    }

    @Test func whatIsGivenBackIsFreeForEachOfTheThree() {
        var shares = CallerShares(places: 8)
        let claimant = Self.claimant("k", "t", "10.0.0.1")
        for _ in 0..<100 {
            let refusals = (0..<3).map { _ in shares.take(for: claimant) }
            #expect(refusals == [nil, nil, .share])
            for _ in 0..<2 { shares.giveBack(of: claimant) }
        }
    }

    @Test func whereNothingIsLeftNobodyIsToBlame() {
        var shares = CallerShares(places: 1)
        let refusal = shares.take(for: Self.claimant("k", "t", "10.0.0.1"))
        #expect(refusal == nil)
        #expect(shares.refusal(for: Self.claimant("l", "u", "10.0.0.2")) == .full)
        #expect(CallerShares.Refusal.full.problem(after: 1000).status == 503)
    }

    @Test(arguments: [(8642, 8192), (1024, 574), (10, 16), (.max, 8192)]) func fewDescriptorsAreFewConnections(
        descriptors: Int, connections: Int
    ) {
        #expect(GatewayService.descriptorsNeeded == 8642)
        #expect(GatewayService.connectionCount(with: descriptors) == connections)
    }

    /// Of a spread each of a hub's lanes has a connection to all of its hubs.
    @Test(arguments: [(1, 0, 0), (2, 0, 4 * 8), (2, 2, 12 * 8), (6, 0, 8 * 8), (6, 3, 20 * 8)]) func moreHubsNeedMoreDescriptors(
        hubs: Int, spread: Int, more: Int
    ) throws {
        var configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        configuration.otherHubs = Array(repeating: configuration.first, count: hubs - 1)
        configuration.routes = HubRoutes(
            hubs: (0..<hubs).map { ("h\($0)", $0) }, spreads: [("all", (0..<spread).map { "h\($0)" })], defaultName: "h0")
        #expect(GatewayService.descriptorsNeeded(for: configuration) == 8642 + more)
    }

    /// Sixteen connections: twelve waits and streams, of one key three.
    @Test func besideAKeyThatFollowsWithoutEndAnotherOneIsServed() throws {
        let gateway = try ServedGateway(connections: 16)
        defer { gateway.stop() }
        let content = #"{"id":"r-1","audience":{"users":["bob"]},"message":{"title":"x"}}"#
        func begin(_ method: String, _ path: String, by key: String, _ body: String = "") throws -> RawClient {
            let client = try RawClient(port: gateway.port)
            let type = body.isEmpty ? [] : ["Content-Type: application/json"]
            client.send(request(method, path, ["Authorization: Bearer \(key)"] + type, body: body))
            return client
        }
        #expect(try begin("POST", "/v1/requests", by: ServedGateway.key, content).answer().status == 202)
        let worker = try ScriptedWorker(gateway)
        _ = try worker.next()
        let streams = try (0..<6).map { _ in
            let client = try begin("GET", "/v1/requests/r-1/events", by: ServedGateway.key)
            return (client: client, status: client.answer().status)
        }
        #expect(streams.map(\.status) == [200, 200, 200, 429, 429, 429])
        let refused = try begin("GET", "/v1/requests/r-1?wait=30", by: ServedGateway.key).answer()
        #expect(refused.status == 429 && refused.head.contains("Retry-After: 1\r\n"), "\(refused.head)")
        let waiting = try begin("GET", "/v1/requests/r-1?wait=30", by: ServedGateway.newKey)
        let following = try begin("GET", "/v1/requests/r-1/events", by: ServedGateway.newKey)
        #expect(following.answer().status == 200)
        try worker.write(#""kind":"final","state":"sent","outcome":"success","source":"/shop","tenant":"shop""#, of: "r-1")
        let ended = waiting.answer()
        #expect(ended.status == 200 && String(decoding: ended.body, as: UTF8.self).contains(#""state":"sent""#))
        #expect(following.chunks().isComplete)
    }
}
