public import PushModel

/// Counts failed results by what they failed of.
public struct FailureTally: Sendable {
    /// The common ground of results that failed of the same.
    public struct Cause: Sendable, Hashable {
        /// The error code. Empty when the result names none.
        public var code: String
        /// The hub. Empty when the result names none.
        public var hub: String
        /// The platforms on which it failed, in the order of the result. None when no call was planned.
        public var platforms: [String]
    }

    /// The fate of a failed request since.
    public enum Standing: String, Sendable, CaseIterable {
        /// No replay has repeated all that failed of it.
        case open
        /// Its replay was written, and has no result yet.
        case beingRepaired = "being_repaired"
        /// Replays have delivered all that failed of it.
        case repaired
        /// Its replay ended otherwise, and counts as a request of its own.
        case failedAgain = "failed_again"
    }

    /// The results of one cause.
    public struct Group: Sendable, Equatable {
        /// The cause of their failure.
        public let cause: Cause
        /// Their numbers, by what became of them since.
        public fileprivate(set) var standings: [Standing: Int] = [:]
        /// The moment of writing of the first, in milliseconds since 1970.
        public fileprivate(set) var first = Int64.max
        /// The moment of writing of the last.
        public fileprivate(set) var last = Int64.min
        /// The numbers of open ones, by how they may be replayed. Results of later versions may add other words.
        public fileprivate(set) var safety: [ReplaySafety: Int] = [:]
        /// The request of the last one, or of the last that is open, if one is.
        public fileprivate(set) var latestRequest = ""
        /// The moment of writing of the result of the request that `latestRequest` names, and whether it is open.
        fileprivate var latest = (isOpen: false, time: Int64.min)

        /// Their number.
        public var count: Int { standings.values.reduce(0, +) }
        /// The number of those that no replay has repeated.
        public var openCount: Int { standings[.open] ?? 0 }

        /// True if both say the same of the same cause.
        public static func == (left: Self, right: Self) -> Bool {
            left.cause == right.cause && left.standings == right.standings && left.first == right.first
                && left.last == right.last && left.safety == right.safety && left.latestRequest == right.latestRequest
        }
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
    ///   - standing: What became of the request since.
    public mutating func add(_ document: JSONDocument, writtenAt time: Int64, as standing: Standing = .open) {
        add(document, count: 1, from: time, to: time, latest: document.text("request_id", of: document.root) ?? "", as: standing)
    }

    /// Counts results that ended alike.
    ///
    /// - Parameters:
    ///   - ending: One of the results, or what `ResultFacet.ending` keeps of it.
    ///   - number: How many they are.
    ///   - first: When the first was written, in milliseconds since 1970.
    ///   - last: When the last was written.
    ///   - latest: The request of the last one; of several at that moment, the greatest.
    ///   - standing: What became of the requests since.
    public mutating func add(
        _ ending: JSONDocument, count number: Int, from first: Int64, to last: Int64, latest: @autoclosure () -> String,
        as standing: Standing = .open
    ) {
        // The parts of a large request have results of their own, which replays repair.
        guard ending.member("parts", of: ending.root) == nil else { return }
        add(Batch(ending, count: number, from: first, to: last), as: standing, latest: latest())
    }

    /// Results of one cause that may be replayed alike.
    public struct Batch: Sendable {
        let cause: Cause
        let safety: ReplaySafety?
        let count: Int
        let first: Int64
        let last: Int64

        /// One result, which is counted later.
        ///
        /// - Parameters:
        ///   - document: The result.
        ///   - time: When it was written, in milliseconds since 1970.
        public init(_ document: JSONDocument, writtenAt time: Int64) {
            self.init(document, count: 1, from: time, to: time)
        }

        init(_ ending: JSONDocument, count: Int, from first: Int64, to last: Int64) {
            cause = Cause(ending)
            safety = ending.text("replay_safety", of: ending.root).flatMap(ReplaySafety.init(rawValue:))
            self.count = count
            self.first = first
            self.last = last
        }
    }

    /// Counts results.
    ///
    /// - Parameters:
    ///   - batch: The results.
    ///   - standing: What became of their requests since.
    ///   - latest: The request of the last one.
    public mutating func add(_ batch: Batch, as standing: Standing, latest: @autoclosure () -> String) {
        count += batch.count
        byCause[batch.cause, default: Group(cause: batch.cause)].add(batch, as: standing, latest: latest)
    }

    /// The groups: those with most open requests first, and of these the largest.
    public var groups: [Group] {
        byCause.values.sorted { left, right in
            if left.openCount != right.openCount { return left.openCount > right.openCount }
            return left.count != right.count ? left.count > right.count : left.cause < right.cause
        }
    }

    /// The number of results whose requests became that.
    public func count(of standing: Standing) -> Int { byCause.values.reduce(0) { $0 + ($1.standings[standing] ?? 0) } }
}

extension FailureTally.Group {
    fileprivate mutating func add(
        _ batch: FailureTally.Batch, as standing: FailureTally.Standing, latest request: () -> String
    ) {
        standings[standing, default: 0] += batch.count
        if let word = batch.safety, standing == .open { safety[word, default: 0] += batch.count }
        first = min(first, batch.first)
        last = max(last, batch.last)
        let new = (isOpen: standing == .open, time: batch.last)
        guard (new.isOpen ? 1 : 0, new.time) >= (latest.isOpen ? 1 : 0, latest.time) else { return }
        // Partitions are read in no order: of two that were written at the same moment, it is always the same one.
        latestRequest = new == latest ? max(latestRequest, request()) : request()
        latest = new
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
                    !document.isEqual(document.text(of: outcome), to: "success" as StaticString),
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
