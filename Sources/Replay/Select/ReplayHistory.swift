public import PushModel
import ResultQuery

/// The sends that earlier replays repeated, and which of them were delivered. Both are read from the records of jobs and the
/// results of replays.
///
/// A send that was replayed once is never replayed again: what became of it since is in the result of the new request. If that failed, it
/// is that request which is replayed. So every chain of replays has one end, and nothing rings twice.
public struct ReplayHistory: Sendable {
    private struct Entry: Sendable {
        var replayed = SendSet()
        var delivered = SendSet()
        var endedSends = SendSet()
    }

    private var entries: [RecordPlace: Entry] = [:]
    /// The jobs that the topic of replays tells of.
    private var jobs: Set<String> = []
    /// The number of results that say they are of a replay which no known job has made. They do not count.
    public private(set) var unknownCount = 0

    /// Nothing was replayed yet.
    public init() {}

    /// Notes that there is a job.
    public mutating func noteJob(_ id: String) { jobs.insert(id) }

    /// Notes that a job has written a request for these sends.
    public mutating func noteReplay(of sends: SendSet, at place: RecordPlace) {
        let known = entries[place]?.replayed ?? SendSet()
        entries[place, default: Entry()].replayed = known.union(sends)
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
            let place = document.text("parent_origin", of: replay).flatMap(RecordPlace.init)
        else { return }
        guard document.text("job_id", of: replay).map(jobs.contains) ?? false else {
            unknownCount += 1
            return
        }
        guard addsPlaces || entries[place] != nil else { return }
        let sends = Self.sends(document, of: replay)
        noteReplay(of: sends, at: place)
        if document.text("kind", of: document.root) != "interim" {
            entries[place, default: Entry()].endedSends = endedSends(place).union(sends)
        }
        guard document.text("state", of: document.root) == "sent" else { return }
        let known = entries[place]?.delivered ?? SendSet()
        entries[place, default: Entry()].delivered = known.union(sends)
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
    public func replayed(_ place: RecordPlace) -> SendSet { entries[place]?.replayed ?? SendSet() }

    /// Those of them that were delivered since.
    public func delivered(_ place: RecordPlace) -> SendSet { entries[place]?.delivered ?? SendSet() }

    /// Those of them of which a replay has its result.
    public func endedSends(_ place: RecordPlace) -> SendSet { entries[place]?.endedSends ?? SendSet() }

    /// The requests of which something was replayed, in no order.
    public var places: some Collection<RecordPlace> { entries.keys }

    /// True if there is a job of this id.
    public func knows(job id: String) -> Bool { jobs.contains(id) }
}
