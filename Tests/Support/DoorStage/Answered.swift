package import GatewayAPI
import Synchronization

/// Answers that were given to one call.
package final class Answered: Sendable {
    private let answers = Mutex<[APIAnswer]>([])

    package init() {}

    package func add(_ answer: APIAnswer) { answers.withLock { $0.append(answer) } }

    package var all: [APIAnswer] { answers.withLock { $0 } }
    package var last: APIAnswer? { all.last }
    /// The body of the last one.
    package var text: String { String(decoding: last?.body ?? [], as: UTF8.self) }
}
