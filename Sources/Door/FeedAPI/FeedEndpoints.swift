package import Basics
import EventLoop
package import GatewayAPI
import HTTPServing
import ResultFeed

/// Answers calls for results. Waits for nothing.
package struct FeedEndpoints: Sendable {
    /// The longest time for which a place is sought, and for which results are for a call that does not wait.
    private static let patience = Duration.seconds(5)

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
            let end = query.start == .end ? feed.end : nil
            // Costs nothing where the end is known.
            if let end, call.operation == .listResults { return FeedPage(query, answer: call.answer).end(at: end, isAtEnd: true) }
            let number = try reserve(for: call, isFiltered: query.filter != nil)
            let beginning = Beginning(call: call, query: query, audience: audience, number: number)
            switch query.start {
            case .places(let places): begin(beginning, from: places)
            case .time(let time): find(time, in: feed, for: beginning)
            case .end:
                // The topic was not read before where the end is not known. Kafka knows it.
                if let end { begin(beginning, from: end) } else { find(.max, in: feed, for: beginning) }
            }
        } catch {
            call.refuse(error)
        }
    }

    /// A call that has a place among all that are held.
    private struct Beginning: Sendable {
        let call: FeedCall
        let query: FeedQuery
        let audience: FeedAudience
        let number: Int
    }

    private func reserve(for call: FeedCall, isFiltered: Bool) throws(APIProblem) -> Int {
        do throws(CallerShares.Refusal) {
            return try readers.reserve(for: call.claimant, isFiltered: isFiltered)
        } catch {
            throw error.problem(after: 5000)
        }
    }

    private func find(_ time: Int64, in feed: any FeedReader, for beginning: Beginning) {
        let deadline = now().advanced(by: Self.patience)
        feed.findPlaces(since: time, while: { [now] in now() < deadline }) { found in
            switch found {
            case .success(let places): begin(beginning, from: places)
            case .failure(let failure):
                beginning.call.refuse(failure.problem)
                readers.remove(beginning.number)
            }
        }
    }

    private func begin(_ beginning: Beginning, from places: FeedPlaces) {
        let (call, query, number) = (beginning.call, beginning.query, beginning.number)
        switch call.operation {
        case .listResults:
            let page = FeedPage(query, answer: call.answer)
            if query.start == .end {
                // The place of now is the answer, whatever the call would wait.
                page.end(at: places, isAtEnd: true)
                return readers.remove(number)
            }
            if query.wait > 0 {
                page.keep(
                    call.holding { [readers] problem in
                        page.end(with: APIAnswer(problem))
                        readers.remove(number)
                    })
            }
            let wait = query.wait > 0 ? Duration.seconds(query.wait) : Self.patience
            readers.begin(number, by: page, for: beginning.audience, from: places, until: now().advanced(by: wait))
        case .followResults:
            let stream = FeedStream(
                from: places, opening: { [readers] in call.stream(EventFrames.head) { readers.remove(number) } },
                refusing: { call.refuse($0) })
            readers.begin(number, by: stream, for: beginning.audience, from: places)
        }
    }
}
