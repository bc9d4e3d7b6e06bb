public import PushModel

/// Counts failed results by what they failed of.
public struct FailureTally: Sendable {
    /// What results have in common that failed of the same.
    public struct Cause: Sendable, Hashable {
        /// The error code; empty when the result names none.
        public var code: String
        /// The hub; empty when the result names none.
        public var hub: String
        /// The platforms on which it failed, in the order of the result; none when no call was planned.
        public var platforms: [String]
    }

    /// The results of one cause.
    public struct Group: Sendable, Equatable {
        /// What they failed of.
        public let cause: Cause
        /// How many there are.
        public fileprivate(set) var count = 0
        /// When the first was written, in milliseconds since 1970.
        public fileprivate(set) var first = Int64.max
        /// When the last was written.
        public fileprivate(set) var last = Int64.min
        /// How many may be replayed how; results of later versions may add other words.
        public fileprivate(set) var safety: [ReplaySafety: Int] = [:]
        /// The request of the last one.
        public fileprivate(set) var latestRequest = ""
    }

    private var byCause: [Cause: Group] = [:]
    /// The number of results.
    public private(set) var count = 0

    /// No results yet.
    public init() {}

    /// Counts a result.
    ///
    /// - Parameters:
    ///   - document: The result.
    ///   - time: When it was written, in milliseconds since 1970.
    public mutating func add(_ document: JSONDocument, writtenAt time: Int64) {
        add(document, count: 1, from: time, to: time, latest: document.text("request_id", of: document.root) ?? "")
    }

    /// Counts results that ended alike.
    ///
    /// - Parameters:
    ///   - ending: One of the results, or what `ResultFacet.ending` keeps of it.
    ///   - number: How many they are.
    ///   - first: When the first was written, in milliseconds since 1970.
    ///   - last: When the last was written.
    ///   - latest: The request of the last one; of several at that moment, the greatest.
    public mutating func add(
        _ ending: JSONDocument, count number: Int, from first: Int64, to last: Int64, latest: @autoclosure () -> String
    ) {
        let cause = Cause(ending)
        count += number
        byCause[cause, default: Group(cause: cause)].add(ending, number, first, last, latest)
    }

    /// The groups, the largest first.
    public var groups: [Group] {
        byCause.values.sorted { left, right in
            if left.count != right.count { return left.count > right.count }
            return left.cause < right.cause
        }
    }
}

extension FailureTally.Group {
    fileprivate mutating func add(
        _ ending: JSONDocument, _ number: Int, _ first: Int64, _ last: Int64, _ latest: () -> String
    ) {
        count += number
        if let word = ending.text("replay_safety", of: ending.root).flatMap(ReplaySafety.init(rawValue:)) {
            safety[word, default: 0] += number
        }
        self.first = min(self.first, first)
        guard last >= self.last else { return }
        // Partitions are read in no order: of two that were written at the same moment, it is always the same one.
        latestRequest = last > self.last ? latest() : max(latestRequest, latest())
        self.last = last
    }
}

extension FailureTally.Cause: Comparable {
    /// Reads what a result failed of.
    init(_ document: JSONDocument) {
        let root = document.root
        code = document.member("error", of: root).flatMap { document.text("code", of: $0) } ?? ""
        hub = document.text("hub", of: root) ?? ""
        var failed: [String] = []
        if let sends = document.member("sends", of: root) {
            document.forEachElement(of: sends) { send in
                guard let outcome = document.member("outcome", of: send), document.kind(of: outcome) == .string,
                    !document.equals(document.text(of: outcome), "success" as StaticString),
                    let platform = document.text("platform", of: send), !failed.contains(platform)
                else { return }
                failed.append(platform)
            }
        }
        platforms = failed
    }

    /// By code, then hub, then platforms.
    public static func < (left: Self, right: Self) -> Bool {
        if left.code != right.code { return left.code < right.code }
        if left.hub != right.hub { return left.hub < right.hub }
        return left.platforms.lexicographicallyPrecedes(right.platforms)
    }
}
