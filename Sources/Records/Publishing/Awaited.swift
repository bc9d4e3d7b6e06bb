import PushModel
import ResultQuery

/// The results of a request that a waiter needs, and those that have come. Has neither clock nor thread.
///
/// Results may come in any order and more than once.
///
/// - A request has one final result. Of two of one id the one that is not a `duplicate` counts: the id was published twice, and the second
///   record was not sent. So a `duplicate` of the id alone does not end the wait at once. A `duplicate` of another id's request, by its
///   dedupe key, does.
/// - Of a request that is tracked, each call that the hub accepted has an `outcome` result besides, later, under the same record key.
public struct Awaited: Sendable {
    /// The goal of a wait.
    public enum Goal: Sendable {
        /// The final result.
        case finalResult
        /// The final result, and the outcome of every call that the hub has accepted. Of a request that was sent in parts, each part has
        /// outcomes under an id of its own, and none is awaited.
        case outcomes
        /// Any final result or outcome of the id, for whoever keeps the results itself.
        case nextResult
    }

    /// The progress towards the goal.
    public enum Standing: Sendable, Equatable {
        /// Something is still to come.
        case incomplete
        /// There is a `duplicate`. The result of the first record with the id may still come, or came before the wait began.
        case settling
        /// Nothing more is to come that would change anything.
        case complete
    }

    /// The most outcomes that are kept and awaited. A request that is sent at once has fewer calls.
    public static let maximumOutcomeCount = 1000

    /// The goal of the wait.
    public let goal: Goal
    /// The final result that counts, or nil until one came.
    public private(set) var finalResult: ResultRecord?
    /// The call that each outcome is of.
    private var calls: [Call: Int] = [:]
    private var known: [ResultRecord] = []
    /// The accepted calls, as the final result names them.
    private var accepted: (place: String?, count: Int) = (nil, 0)

    /// A call of a request: where the request stands, and the call's index.
    private struct Call: Hashable, Sendable {
        let place: String?
        let index: Int64
    }

    /// True for a result of the request. Others may have published under its id.
    private let isOwn: @Sendable (ResultRecord) -> Bool

    /// Nothing is known yet.
    ///
    /// - Parameters:
    ///   - goal: The goal of the wait.
    ///   - isOwn: Says if a result of the id is of the request. The default takes all.
    public init(_ goal: Goal, isOwn: @escaping @Sendable (ResultRecord) -> Bool = { _ in true }) {
        self.goal = goal
        self.isOwn = isOwn
    }

    /// The outcomes of the calls of the final result, by their calls' index. Before the final result, all that came.
    public var outcomes: [ResultRecord] {
        calls.filter { finalResult == nil || $0.key.place == accepted.place }.sorted { $0.key.index < $1.key.index }
            .map { known[$0.value] }
    }

    /// The progress towards the goal.
    public var standing: Standing {
        if goal == .nextResult { return finalResult == nil && known.isEmpty ? .incomplete : .complete }
        guard let finalResult else { return .incomplete }
        if finalResult.repeatsItsID { return .settling }
        guard goal == .outcomes else { return .complete }
        let count = calls.count { $0.key.place == accepted.place }
        return count >= min(accepted.count, Self.maximumOutcomeCount) ? .complete : .incomplete
    }

    /// Takes a result of its id. One of another kind, or of another request, changes nothing.
    ///
    /// - Returns: Whether all that is wanted is known now.
    @discardableResult
    public mutating func take(_ result: ResultRecord) -> Standing {
        guard isOwn(result) else { return standing }
        switch result.kind {
        case "final": takeFinal(result)
        case "outcome": if goal != .finalResult { takeOutcome(result) }
        default: break
        }
        return standing
    }

    private mutating func takeFinal(_ result: ResultRecord) {
        guard finalResult.map({ $0.isRepetition && !result.isRepetition }) ?? true else { return }
        finalResult = result
        guard goal == .outcomes else { return }
        var document = JSONDocument()
        guard document.readResult(result.json.span) else { return }
        let isInParts = document.member("parts", of: document.root) != nil
        let targets = isInParts ? nil : document.member("targets", of: document.root)
        let count = targets.flatMap { document.integer("accepted", of: $0) } ?? 0
        accepted = (Self.place(document), Int(clamping: count))
    }

    private mutating func takeOutcome(_ result: ResultRecord) {
        var document = JSONDocument()
        guard known.count < Self.maximumOutcomeCount, document.readResult(result.json.span),
            let sends = document.member("sends", of: document.root)
        else { return }
        var index: Int64?
        document.forEachElement(of: sends) { send in if index == nil { index = document.integer("index", of: send) } }
        guard let index else { return }
        let call = Call(place: Self.place(document), index: index)
        guard calls[call] == nil else { return }
        calls[call] = known.count
        known.append(result)
    }

    /// The place of the request, as a result names it: topic, partition and offset.
    private static func place(_ document: JSONDocument) -> String? {
        guard let origin = document.member("origin", of: document.root), let topic = document.text("topic", of: origin),
            let partition = document.integer("partition", of: origin), let offset = document.text("offset", of: origin)
        else { return nil }
        return "\(topic):\(partition):\(offset)"
    }
}
