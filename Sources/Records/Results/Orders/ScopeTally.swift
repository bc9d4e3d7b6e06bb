import Delivery
import JobSupport
import PushModel

/// Counts the requests of a scope by the records that there are of them. Without effects.
///
/// Records come in this order: those of lanes, those that wait behind them, and results. So what went on meanwhile is counted where it was
/// seen last. A large request counts once as a whole, and its parts as soon as they are written. Then its own result does not count.
struct ScopeTally {
    /// The most requests whose places are remembered. With these, 1,000,000, some 50 MB are used.
    static let maximumPlaces = 1_000_000

    /// The place of the record that a request was published with, in 16 bytes.
    private struct Place: Hashable {
        let topic: Int32
        let partition: Int32
        let offset: Int64
    }

    private enum Standing: UInt8 {
        case waiting, running, delayed
        /// The group is done with its record, and no result was seen.
        case done
        /// It was counted by a result.
        case ended
    }

    private struct Entry {
        var standing: Standing
        var count: Int32
    }

    /// The counts up to now.
    private(set) var counts = ScopeCounts()

    private let scope: OrderScope
    private let topics: Topics
    private let hubs: HubNames?
    private let moments: ClosedRange<Timestamp>
    private let limit: Int
    private var numbers: [String: Int32] = [:]
    private var entries: [Place: Entry] = [:]
    private var request = PushRequest()
    private var result = JSONDocument()

    /// Counts what was published from a moment to another.
    init(
        _ scope: OrderScope, topics: Topics, hubs: HubNames? = nil, from: Timestamp?, until: Timestamp,
        limit: Int = Self.maximumPlaces
    ) {
        (self.scope, self.topics, self.hubs, self.limit) = (scope, topics, hubs, limit)
        moments = min(from ?? .past, until)...until
    }

    /// True if results do not say whether they are in the scope: then what is done counts, too.
    var needsDone: Bool { scope.user != nil }

    /// Notes that something was not read.
    mutating func noteGap() { counts.isComplete = false }

    /// Takes in a record of a lane.
    mutating func take(
        _ value: Span<UInt8>, headers: borrowing PushModel.RecordHeaders, at origin: RecordOrigin, reading: FoundRequest.Reading
    ) {
        guard reading != .done || needsDone, let count = count(value, headers: headers, of: origin) else { return }
        switch reading {
        case .unread: add(count, as: .waiting, at: place(of: origin.topic, partition: origin.partition, offset: origin.offset))
        case .read: add(count, as: .running, at: place(of: origin.topic, partition: origin.partition, offset: origin.offset))
        case .done: add(count, as: .done, at: place(of: origin.topic, partition: origin.partition, offset: origin.offset))
        }
    }

    /// Takes in a record of a delay lane, or a held one, by the record that its request was published with.
    mutating func takeDelayed(_ value: Span<UInt8>, headers: borrowing PushModel.RecordHeaders, from origin: RecordOrigin) {
        guard let count = count(value, headers: headers, of: origin) else { return }
        let place = place(of: origin.topic, partition: origin.partition, offset: origin.offset)
        if let entry = entries[place] {
            guard entry.standing != .delayed else { return }
            remove(entry)
        }
        add(count, as: .delayed, at: place)
    }

    /// Takes in a record of the results topic.
    mutating func takeResult(_ value: Span<UInt8>) {
        do { try result.read(value, namingDuplicates: false) } catch { return }
        let root = result.root
        guard has("final", as: "kind") else { return }
        var (place, entry): (Place?, Entry?) = (nil, nil)
        if let node = result.member("origin", of: root), let topic = result.text("topic", of: node),
            let partition = result.integer("partition", of: node).flatMap({ Int32(exactly: $0) }),
            let offset = result.text("offset", of: node).flatMap({ Int64($0) })
        {
            guard scope.lane == nil || topics.lane(of: topic)?.name == scope.lane else { return }
            let found = self.place(of: topic, partition: partition, offset: offset)
            (place, entry) = (found, entries[found])
        } else if scope.lane != nil {
            return
        }
        guard entry != nil || !needsDone && isInScope, entry?.standing != .ended else { return }
        if let place, let entry {
            remove(entry)
            entries[place]?.standing = .ended
        }
        // Its parts have results of their own.
        guard result.member("parts", of: root) == nil else { return }
        if has("sent", as: "state") || has("partial", as: "state") { counts.sent += 1 } else { counts.other += 1 }
    }

    /// The number of requests that a record holds which are in the scope, or nil for none: a continuation holds several parts.
    private mutating func count(
        _ value: Span<UInt8>, headers: borrowing PushModel.RecordHeaders, of origin: RecordOrigin
    ) -> Int? {
        let lane = topics.lane(of: origin.topic)
        let reader = RequestReader(from: lane == .own ? .own : .open)
        guard reader.read(value, headers: headers, origin: origin, into: &request) == .request else { return nil }
        let part = PartReference(of: request)
        guard moments.contains(part?.publishedAt ?? origin.timestamp) else { return nil }
        let hub = hubs.map { $0.name(of: request) } ?? request.hub.map { request.document.string($0) }
        guard scope.concerns(request, hub: hub, lane: lane?.name ?? "") else {
            // It may go to the hub of the scope.
            if hub == nil, let wanted = scope.hub, scope.concerns(request, hub: wanted, lane: lane?.name ?? "") { noteGap() }
            return nil
        }
        return part?.carried(by: request).count ?? 1
    }

    private mutating func place(of topic: String, partition: Int32, offset: Int64) -> Place {
        let number = numbers[topic] ?? Int32(numbers.count)
        // Results may name any topics. Those of requests are few.
        if numbers.count < 1000 { numbers[topic] = number }
        return Place(topic: number, partition: partition, offset: offset)
    }

    private mutating func add(_ count: Int, as standing: Standing, at place: Place) {
        if entries[place] != nil || entries.count < limit {
            entries[place] = Entry(standing: standing, count: Int32(clamping: count))
        } else {
            noteGap()
        }
        change(standing, by: count)
    }

    private mutating func remove(_ entry: Entry) { change(entry.standing, by: -Int(entry.count)) }

    private mutating func change(_ standing: Standing, by count: Int) {
        switch standing {
        case .waiting: counts.waiting += count
        case .running: counts.running += count
        case .delayed: counts.delayed += count
        case .done, .ended: break
        }
    }
}

// The scope and a result.
extension ScopeTally {
    private var isInScope: Bool {
        for (name, wanted): (StaticString, String?) in [("hub", scope.hub), ("tenant", scope.tenant), ("source", scope.source)] {
            if let wanted, !has(wanted, as: name) { return false }
        }
        if let id = scope.request, !means(id) { return false }
        guard moment.map(moments.contains) ?? true else { return false }
        guard !scope.labels.isEmpty else { return true }
        guard let labels = result.member("labels", of: result.root) else { return false }
        return scope.labels.allSatisfy { label in
            var isThere = false
            result.forEachMember(of: labels) { name, value in
                if result.isEqual(name, to: label.name), result.isEqual(result.text(of: value), to: label.value) {
                    isThere = true
                }
            }
            return isThere
        }
    }

    /// The moment of publication, of a part that of its whole.
    private var moment: Timestamp? {
        let parent = result.member("parent", of: result.root).flatMap { result.member("published_at", of: $0) }
        let own = result.member("timings", of: result.root).flatMap { result.member("published_at", of: $0) }
        return (parent ?? own).flatMap { Timestamp(result.span(result.text(of: $0))) }
    }

    /// True if it is a result of the request with an id, of a part of it, or of what replays it.
    private func means(_ id: String) -> Bool {
        if has(id, as: "request_id") { return true }
        if let parent = result.member("parent", of: result.root) { return result.text("id", of: parent) == id }
        guard let replay = result.member("replay", of: result.root) else { return false }
        return result.text("root_request_id", of: replay) == id || result.text("parent_request_id", of: replay) == id
    }

    private func has(_ text: String, as name: StaticString) -> Bool {
        result.member(name, of: result.root).map { result.isEqual(result.text(of: $0), to: text) } ?? false
    }
}
