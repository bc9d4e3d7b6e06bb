import GatewayAPI
import Kafka
import ResultFeed

/// Whoever takes results as they are read: a call that is answered once, or a stream. What returns false has ended.
protocol FeedTaker: Sendable {
    /// The room for results now, or nil while there is none.
    var room: FeedRoom? { get }
    /// Takes what was read.
    func take(_ reading: FeedReading) -> Bool
    /// Hears that nothing could be read.
    func take(_ failure: FeedFailure) -> Bool
    /// Hears that there was nothing for a while, up to a place.
    func rest(at places: FeedPlaces) -> Bool
    /// Gets nothing more, whether or not that place is the end of what is known.
    func end(at places: FeedPlaces, isAtEnd: Bool)
}

extension FeedFailure {
    /// The answer to a call for results.
    var problem: APIProblem {
        switch self {
        case .gone(let first): .cursorExpired(first.text)
        case .unreachable: .resultsAway
        case .full: .overloaded(after: 2000)
        case .closed: .stopping
        }
    }
}
