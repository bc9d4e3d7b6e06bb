public import PushModel

/// The sends that earlier replays repeated, and which of them were delivered. Both are read from the records of jobs and the
/// results of replays.
///
/// A send that was replayed once is never replayed again: what became of it since is in the result of the new request. If that failed, it
/// is that request which is replayed. So every chain of replays has one end, and nothing rings twice.
public struct ReplayHistory: Sendable {
    private struct Entry: Sendable {
        let original: Original
        var replayed = SendSet()
        var delivered = SendSet()
        var endedSends = SendSet()
    }

    /// A place has several entries where records name more or less of the request, or other ones.
    private var entries: [RecordPlace: [Entry]] = [:]
    /// The jobs that the topic of replays tells of.
    private var jobs: Set<String> = []
    /// The number of results that say they are of a replay which no known job has made. They do not count.
    public private(set) var unknownCount = 0

    /// Nothing was replayed yet.
    public init() {}

    /// Notes that there is a job.
    public mutating func noteJob(_ id: String) { jobs.insert(id) }

    /// Notes that a job has written a request for these sends.
    public mutating func noteReplay(of sends: SendSet, in original: Original) {
        change(original) { $0.replayed = $0.replayed.union(sends) }
    }

    private mutating func change(_ original: Original, by body: (inout Entry) -> Void) {
        func change(_ list: inout [Entry]) {
            if let index = list.firstIndex(where: { $0.original == original }) { return body(&list[index]) }
            var entry = Entry(original: original)
            body(&entry)
            list.append(entry)
        }
        change(&entries[original.place, default: []])
    }

    private static let block = ByteWord("\"replay\"")

    /// True if a result can be that of a replay. The look costs less than reading it.
    public static func mayConcern(_ json: Span<UInt8>) -> Bool { block.isIn(json) }

    /// Notes what the result of a replay says of the request that it repeats. Other results say nothing.
    ///
    /// A replay that was delivered in part leaves the rest to its own result, which tells of its own sends only. Only results of jobs that
    /// were noted count: whoever can write a result, or could once, must not make a request that failed look as if it was repeated.
    ///
    /// - Parameters:
    ///   - document: The result.
    ///   - addsPlaces: Whether it also counts for a request of which no record of a job says that it was repeated.
    public mutating func noteResult(_ document: JSONDocument, addsPlaces: Bool = true) {
        guard let replay = document.member("replay", of: document.root),
            let original = Original(parentOf: replay, in: document)
        else { return }
        guard document.text("job_id", of: replay).map(jobs.contains) ?? false else {
            unknownCount += 1
            return
        }
        guard addsPlaces || !replayed(original).isEmpty else { return }
        let sends = Self.sends(document, of: replay)
        let hasEnded = document.text("kind", of: document.root) != "interim"
        let isDelivered = document.text("state", of: document.root) == "sent"
        change(original) {
            $0.replayed = $0.replayed.union(sends)
            if hasEnded { $0.endedSends = $0.endedSends.union(sends) }
            if isDelivered { $0.delivered = $0.delivered.union(sends) }
        }
    }

    /// The sends that a lineage says it repeats, or all when it names none.
    static func sends(_ document: JSONDocument, of lineage: JSONDocument.Node) -> SendSet {
        guard let list = document.member("sends", of: lineage) else { return .all }
        var sends = SendSet()
        document.forEachElement(of: list) { element in
            if let index = document.integer(at: element).flatMap({ Int(exactly: $0) }) { sends.insert(index) }
        }
        return sends
    }

    /// The sends of a request that were replayed.
    public func replayed(_ original: Original) -> SendSet { sends(of: original, in: \.replayed) }

    /// Those of them that were delivered since.
    public func delivered(_ original: Original) -> SendSet { sends(of: original, in: \.delivered) }

    /// Those of them of which a replay has its result.
    public func endedSends(_ original: Original) -> SendSet { sends(of: original, in: \.endedSends) }

    private func sends(of original: Original, in kind: (Entry) -> SendSet) -> SendSet {
        guard let list = entries[original.place] else { return SendSet() }
        return list.reduce(SendSet()) { $1.original.mayBe(original) ? $0.union(kind($1)) : $0 }
    }

    /// The places of the requests of which something was replayed, in no order.
    public var places: some Collection<RecordPlace> { entries.keys }

    /// True if there is a job of this id.
    public func knows(job id: String) -> Bool { jobs.contains(id) }
}
