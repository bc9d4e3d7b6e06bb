import Dispatch
import HTTPServing
import Synchronization
import TestSupport
import Testing

/// Keeps responders until a test answers.
final class HeldResponders: Sendable {
    private let responders = Mutex<[Responder]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    /// How many are kept.
    var count: Int { responders.withLock { $0.count } }

    func keep(_ responder: Responder) {
        responders.withLock { $0.append(responder) }
        arrivals.signal()
    }

    /// Keeps the responder of `/late`, and answers any other request at once.
    func keepLate(_ request: HTTPServerRequest, _ responder: Responder) {
        guard request.path == "/late" else {
            responder.answer(.text("soon"))
            return
        }
        keep(responder)
    }

    /// The one that came first, once there is one; it is kept no longer.
    func next() throws -> Responder {
        let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
        let hasArrived = arrivals.wait(timeout: limit) == .success
        try #require(hasArrived)
        return responders.withLock { $0.removeFirst() }
    }

    /// The next `count`, once they are there.
    func next(_ count: Int) throws -> [Responder] { try (0..<count).map { _ in try next() } }
}
