@testable import GatewayAPI
@testable import AppAPI
import Testing

/// The share of one user of the sends that wait.
struct SendPlacesTests {
    @Test func oneUserHasAQuarterAndGivesItBack() throws {
        let places = SendPlaces(limit: 8)
        var held = try (0..<2).map { _ in try places.take(for: "greedy") }
        #expect(throws: APIProblem.tooManySends) { try places.take(for: "greedy") }
        #expect(APIProblem.tooManySends.status == 429 && APIProblem.tooManySends.retryAfter == 1000)
        held.append(try places.take(for: "quiet"))
        held.removeFirst()
        held.append(try places.take(for: "greedy"))
        #expect(throws: APIProblem.tooManySends) { try places.take(for: "greedy") }
        #expect(held.count == 3)
    }

    @Test func withoutAnyPlaceItIsOverload() throws {
        let places = SendPlaces(limit: 1)
        let held = try places.take(for: "a")
        #expect(throws: APIProblem.overloaded(after: 1000)) { try places.take(for: "b") }
        withExtendedLifetime(held) {}
    }
}
