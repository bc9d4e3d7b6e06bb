import Publishing
import PushModel
import Replay
import ResultQuery
import Testing

@testable import Jobs

/// The decisions of a search by publication that need no broker.
@Suite struct PublishedSearchTests {
    /// Moments end with the year 9999, and a cursor may have been forged.
    @Test(
        arguments: [
            (nil, nil, 253_402_300_799_998), (5, nil, 4), (nil, 5, 4), (nil, Int64.min, Int64.min), (7, Int64.max, 6),
            (Int64.max, 0, -1),
        ] as [(Int64?, Int64?, Int64)])
    func noPlaceOfACursorIsTooFarAway(until: Int64?, time: Int64?, last: Int64) {
        var filter = ResultFilter()
        if let until { filter.add(until: until) }
        #expect(PublishedSearch.last(of: filter, after: time.map { SearchCursor(time: $0, place: nil) }) == last)
    }
}
