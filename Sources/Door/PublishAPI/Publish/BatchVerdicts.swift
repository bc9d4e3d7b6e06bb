import GatewayAPI
import HTTPServing
import PushModel
import Synchronization

/// What became of each request of a batch, in the batch's order; without clock and thread.
struct BatchVerdicts: Sendable {
    /// The kinds of a batch of which nothing was written, the worst first. It has the status of the worst item.
    private static let worstFirst = [504, 503, 500, 403, 413, 422, 400]

    /// The bytes of verdicts beyond which a problem's faults are left out.
    private static let faultRoom = 512 << 10

    /// The verdicts as JSON; empty for those that are not there yet.
    private var items: [[UInt8]]
    private var byteCount = 0
    private var missingCount: Int
    private var acceptedCount = 0
    /// Whether the same batch would get the same verdicts whenever it is made.
    private(set) var isCertain = true
    /// The worst problem, and the longest wait of all.
    private var worst: APIProblem?
    private var wait: Int64?

    /// The verdicts of so many requests, none of which is there.
    init(count: Int) {
        items = Array(repeating: [], count: count)
        missingCount = count
    }

    /// Whether all are there.
    var isComplete: Bool { missingCount == 0 }

    /// Notes what became of the request at `index` in the batch, once.
    package mutating func note(_ outcome: PublishOutcome, at index: Int) {
        var json = ByteWriter()
        json.append("{\"index\":", decimal: index)
        var location: String?
        switch outcome {
        case .written(let request):
            acceptedCount += 1
            json.append(",\"status\":202,\"id\":", json: request.id)
            json.append(placeIn: request.topic, partition: request.partition, offset: request.offset)
            location = request.location
        case .refused(var problem):
            noteWorst(problem)
            if byteCount > Self.faultRoom { problem.faults = [] }
            json.append(",\"status\":", decimal: problem.status)
            problem.appendMembers(to: &json)
            location = problem.location
        }
        json.append(",\"location\":", json: location)
        json.append("}")
        items[index] = json.bytes
        byteCount += json.count
        missingCount -= 1
    }

    private mutating func noteWorst(_ problem: APIProblem) {
        isCertain = isCertain && StoredAnswer.isCertain(problem.status)
        wait = [wait, problem.retryAfter].compactMap { $0 }.max()
        if let worst, Self.rank(worst) <= Self.rank(problem) { return }
        worst = problem
    }

    private static func rank(_ problem: APIProblem) -> Int { worstFirst.firstIndex(of: problem.status) ?? worstFirst.count }

    /// The answer to the batch, once all are there: 202 if at least one request was written.
    package var answer: APIAnswer {
        var answer = said
        // Requests may be written, and nobody may be told to bring them again.
        if acceptedCount > 0 || worst?.status == 504 { answer.upkeep = .owed }
        return answer
    }

    private var said: APIAnswer {
        var json = ByteWriter(capacity: items.reduce(64) { $0 + $1.count + 1 })
        json.append("\"accepted\":", decimal: acceptedCount)
        json.append(",\"refused\":", decimal: items.count - acceptedCount)
        for (index, item) in items.enumerated() {
            json.append(index == 0 ? ",\"items\":[" : ",")
            json.append(item.span)
        }
        json.append("]}")
        guard acceptedCount == 0, var problem = worst else {
            return APIAnswer(status: 202, json: [UInt8(ascii: "{")] + json.bytes)
        }
        problem.detail = "Of the batch no request is known to be written; items has the verdict on each."
        (problem.faults, problem.requestID, problem.location, problem.retryAfter) = ([], nil, nil, wait)
        return APIAnswer(problem, json: problem.json.dropLast() + [UInt8(ascii: ",")] + json.bytes)
    }
}

/// Takes the verdicts on a batch from any thread. Whoever brings the last one hands over all.
final class BatchTally: Sendable {
    private let verdicts: Mutex<BatchVerdicts>
    private let then: @Sendable (BatchVerdicts) -> Void

    /// Waits for `count` verdicts, at least one. `then` is called once, with all of them, in the thread of the last one.
    init(count: Int, then: @escaping @Sendable (BatchVerdicts) -> Void) {
        verdicts = Mutex(BatchVerdicts(count: count))
        self.then = then
    }

    /// Notes what became of the request at a place, once.
    package func note(_ outcome: PublishOutcome, at index: Int) {
        let complete = verdicts.withLock { verdicts -> BatchVerdicts? in
            verdicts.note(outcome, at: index)
            return verdicts.isComplete ? verdicts : nil
        }
        if let complete { then(complete) }
    }
}
