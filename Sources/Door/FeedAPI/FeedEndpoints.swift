package import Basics
import EventLoop
package import GatewayAPI
import HTTPServing
import ResultFeed

/// Answers calls for results. Waits for nothing.
package struct FeedEndpoints: Sendable {
    /// The longest time for which results are sought for a call that does not wait.
    private static let patience = Duration.seconds(5)

    /// Milliseconds after which no record is written yet.
    private static let century: Int64 = 3_155_760_000_000

    let readers: FeedReaders
    private let now: @Sendable () -> MonotonicTime
    /// Milliseconds since 1970.
    private let wall: @Sendable () -> Int64

    /// Endpoints that read nothing yet. Answers that are held open share the places of `held`.
    package init(
        held: HeldAnswers, now: @escaping @Sendable () -> MonotonicTime = { .now() },
        wall: @escaping @Sendable () -> Int64 = { WallClock.millisecondsSince1970() }
    ) {
        (self.now, self.wall) = (now, wall)
        readers = FeedReaders(held: held, now: now)
    }

    /// The number of calls and streams that read.
    package var count: Int { readers.count }

    /// Begins. `open` makes where results are read, and gets what it calls when there are new ones.
    package func start(opening open: (_ onNews: @escaping @Sendable () -> Void) -> any FeedReader) {
        readers.start(with: open { [readers] in readers.noteNews() })
        readers.startThread()
    }

    /// Answers all who wait, and those who come later at once.
    package func endWaits() { readers.end() }

    /// Ends the rest.
    package func stop() { readers.stop() }

    /// Answers a call, before it returns or later. Called on any thread.
    package func answer(_ call: FeedCall) {
        do throws(APIProblem) {
            let query = try FeedQuery(call.request, of: call.operation, at: wall())
            let audience = try FeedAudience(query, for: call.publisher)
            guard call.operation == .listResults || call.request.method != "HEAD" else { return call.answer(EventFrames.head) }
            guard let feed = readers.feed else { throw .stopping }
            switch query.start {
            case .places(let places): begin(call, as: query, for: audience, from: places)
            case .end:
                if let places = feed.end { return beginNow(call, as: query, for: audience, at: places) }
                // The topic was not read before. Kafka knows its end.
                feed.findPlaces(since: wall() + Self.century) { found in
                    switch found {
                    case .failure(let failure): call.refuse(failure.problem)
                    case .success(let places): beginNow(call, as: query, for: audience, at: places)
                    }
                }
            case .time(let time):
                feed.findPlaces(since: time) { found in
                    switch found {
                    case .failure(let failure): call.refuse(failure.problem)
                    case .success(let places): begin(call, as: query, for: audience, from: places)
                    }
                }
            }
        } catch {
            call.refuse(error)
        }
    }

    /// Begins a stream at the end of the topic, or answers a call with that place, whatever it would wait.
    private func beginNow(_ call: FeedCall, as query: FeedQuery, for audience: FeedAudience, at places: FeedPlaces) {
        guard call.operation == .listResults else { return begin(call, as: query, for: audience, from: places) }
        FeedPage(query, answer: call.answer).end(at: places, isAtEnd: true)
    }

    private func begin(_ call: FeedCall, as query: FeedQuery, for audience: FeedAudience, from places: FeedPlaces) {
        let isHeld = call.operation == .followResults || query.wait > 0
        let number: Int
        do throws(CallerShares.Refusal) {
            number = try readers.reserve(for: isHeld ? call.claimant : nil)
        } catch {
            return call.refuse(error.problem(after: 5000))
        }
        switch call.operation {
        case .listResults:
            let page = FeedPage(query, answer: call.answer)
            if query.wait > 0 {
                page.keep(
                    call.holding { [readers] problem in
                        page.end(with: APIAnswer(problem))
                        readers.remove(number)
                    })
            }
            let wait = query.wait > 0 ? Duration.seconds(query.wait) : Self.patience
            readers.begin(number, by: page, for: audience, from: places, until: now().advanced(by: wait))
        case .followResults:
            let sink = call.stream(EventFrames.head) { [readers] in readers.remove(number) }
            readers.begin(number, by: FeedStream(sink, from: places), for: audience, from: places)
        }
    }
}
