import Basics
import GatewayAPI
import Synchronization

/// The places of sends that wait for their results, which users share.
final class SendPlaces: Sendable {
    /// A place, which is free again once it is dropped.
    final class Place: Sendable {
        private let places: SendPlaces
        private let user: String

        fileprivate init(_ places: SendPlaces, user: String) {
            self.places = places
            self.user = user
        }

        deinit { places.shares.withLock { $0.give(back: 1, of: user) } }
    }

    /// The most sends that wait. One user has a quarter of them at most.
    static let limit = 20_000

    /// No other lock is taken while it is held.
    private let shares: Mutex<Shares<String>>

    init(limit: Int = SendPlaces.limit) { shares = Mutex(Shares(places: limit)) }

    /// Takes a place for a send of a user: 429 where the user has its share, and 503 where all are taken.
    func take(for user: String) throws(APIProblem) -> Place {
        let (isTaken, isFull) = shares.withLock { ($0.take(for: user), $0.free == 0) }
        guard isTaken else { throw isFull ? .overloaded(after: 1000) : .tooManySends }
        return Place(self, user: user)
    }
}

extension APIProblem {
    /// 429: one user has so many sends that others would find no place.
    static let tooManySends = APIProblem(
        429, code: .tooManyRequests, detail: "Too many sends of this user wait for their results.", retry: .safe, retryAfter: 1000
    )
}
