import Basics
import PushModel

/// The requests of one partition that share ordering keys: of each key at most one is in work, and it is the one that was published first.
///
/// A request is here until it has its end. Its record is kept beside it while it waits. While it is in work, or on its way to the topic
/// of held requests, only its place in the order is. The order of a key is that of the offsets at which its requests were published,
/// wherever their records stand by now. So it does not matter in which order they are held, or written again there, and nothing about the
/// order has to be stored. Who takes the partition over reads what is held to its end, and then knows of each key what comes first.
struct KeyQueues<Record> {
    /// The record that a request was published with. The time sets records of a recreated partition apart from those before.
    struct Origin: Hashable {
        var offset: Int64
        var timestamp: Timestamp
    }

    /// The place of a request's record.
    enum Place: Equatable {
        /// The place where it was published.
        case published(Int64)
        /// On the topic of held requests.
        case held(Int64)
        /// It is being written there, and was not read there yet.
        case moving
    }

    /// One request.
    struct Request {
        let origin: Origin
        var place: Place
        /// The record that it was read from. Nil while it is in work, and while it moves.
        var record: Record?
        /// The time before which it must not go on, or `past` for at once.
        var due: Timestamp
        /// The memory that its record takes, about.
        let byteCount: Int
        /// Its tenant, which counts while it is held, or waits where it was published.
        var tenant = TenantID.none

        /// The request while it is being written to the topic of held requests.
        func moving(byteCount: Int, tenant: TenantID) -> Request {
            Request(origin: origin, place: .moving, record: nil, due: .never, byteCount: byteCount, tenant: tenant)
        }

        /// True if its record lies where it was published.
        var isPublished: Bool { if case .published = place { true } else { false } }
        /// True if it waits there, for no moment of its own.
        var isExcess: Bool { isPublished && record != nil }
    }

    typealias Key = RequestIdentity

    /// True if all is known that is held of this partition's keys. Until then none of them begins.
    private(set) var isComplete: Bool
    /// The requests that are here.
    private(set) var count = 0
    /// The memory that the records take that are here, about.
    private(set) var byteCount = 0
    /// The part of those that lie where they were published.
    private(set) var publishedByteCount = 0
    /// The requests whose records are held, or move there, those in work included, and their bytes.
    private var held = HeldShares()
    var heldCount: Int { held.all.count }
    var heldByteCount: Int { held.all.byteCount }

    private(set) var queues: [Key: Queue] = [:]
    /// Keys whose first request may begin.
    private var turns = FIFO<Key>()
    /// Keys whose first request waits for its moment.
    private var waits = MomentHeap<Timestamp, Key>()
    /// These, those whose first request moves, and some that were either. What waits for a moment is looked for among them alone.
    private var later: Set<Key> = []

    /// It is complete if nothing can be held of this partition's keys.
    init(isComplete: Bool) { self.isComplete = isComplete }

    /// True if a request of the key that was published just now may begin at once.
    func isFree(_ key: Key) -> Bool { isComplete && (count == 0 || queues[key] == nil) }

    /// Notes that a request of a free key begins.
    mutating func begin(_ key: Key, origin: Origin, at offset: Int64) {
        var queue = Queue()
        queue.isBusy = true
        queue.insert(Request(origin: origin, place: .published(offset), record: nil, due: .past, byteCount: 0))
        queues[key] = queue
        count += 1
    }

    /// Adds a request that waits for its turn. Returns false for a copy of one that is here already, of which only one is to go
    /// on.
    mutating func add(_ key: Key, request: Request) -> Bool {
        let before = change(key) { queue -> Request? in
            guard let index = queue.index(of: request.origin) else {
                queue.insert(request)
                return nil
            }
            let known = queue.requests[index]
            if known.place == .moving, case .held = request.place { queue.requests[index] = request }
            return known
        }
        switch before {
        case nil:
            var queue = Queue()
            queue.insert(request)
            queues[key] = queue
            count += 1
        case .some(nil): count += 1
        case .some(let known?):
            // What moved has arrived; everything else is a copy.
            guard known.place == .moving, case .held = request.place else { return false }
            noteHeld(known, sign: -1)
        }
        noteHeld(request, sign: 1)
        noteRecord(request, sign: 1)
        if isFirst(key, origin: request.origin) { consider(key) }
        return true
    }

    /// Notes that the key's request in work has its end.
    mutating func finish(_ key: Key) {
        let change = change(key) { queue -> (request: Request, isLast: Bool)? in
            guard queue.isBusy, let request = queue.requests.popFirst() else { return nil }
            queue.isBusy = false
            return (request, queue.isEmpty)
        }
        guard let (request, isLast) = change ?? nil else { return }
        count -= 1
        noteHeld(request, sign: -1)
        if isLast { forget(key) } else { consider(key) }
    }

    /// Notes that the key's request in work has to wait, and was written to the topic of held requests.
    mutating func moved(_ key: Key, byteCount size: Int, tenant: TenantID = .none) {
        let change = change(key) { queue -> (before: Request, after: Request)? in
            guard queue.isBusy else { return nil }
            queue.isBusy = false
            let request = queue.first
            queue.first = request.moving(byteCount: size, tenant: tenant)
            return (request, queue.first)
        }
        guard let (before, after) = change ?? nil else { return }
        noteHeld(before, sign: -1)
        noteHeld(after, sign: 1)
        later.insert(key)
    }

    /// Notes that a request that moves will not be read where it went.
    mutating func neverArrives(publishedAt offset: Int64) {
        for key in Array(queues.keys) {
            let change = change(key) { queue -> (request: Request, isLast: Bool)? in
                queue.removeMoving(publishedAt: offset).map { ($0, queue.isEmpty) }
            }
            guard let (request, isLast) = change ?? nil else { continue }
            count -= 1
            noteHeld(request, sign: -1)
            if isLast { forget(key) } else { consider(key) }
            return
        }
    }

    /// Notes that everything is known that is held.
    mutating func complete() {
        guard !isComplete else { return }
        isComplete = true
        considerAll()
    }

    /// Whose turn it is: a request whose key has none in work, with its record. It is in work from then on.
    mutating func next(now: Timestamp) -> (key: Key, request: Request)? {
        while let key = waits.removeDue(now) { list(key, at: now) }
        while let key = turns.popFirst() {
            let taken = change(key) { queue -> Request? in
                queue.isListed = false
                let first = queue.first
                guard !queue.isBusy, first.record != nil, first.due <= now else { return nil }
                queue.isBusy = true
                queue.first.record = nil
                return first
            }
            guard let first = taken ?? nil else {
                consider(key)
                continue
            }
            noteRecord(first, sign: -1)
            return (key, first)
        }
        return nil
    }

    /// The time when `next` can have something: `past` for at once, nil while all wait for something else than time.
    var nextMoment: Timestamp? { turns.isEmpty ? waits.first : .past }

    /// Calls `body` with the records that come first of their keys, and wait for nothing of their own.
    func forEachDue(at now: Timestamp, perform body: (Record) -> Void) {
        let candidates = isComplete ? (Array(turns) + later).compactMap { queues[$0] } : Array(queues.values)
        for queue in candidates where !queue.isBusy && queue.first.due <= now {
            if let record = queue.first.record { body(record) }
        }
    }

    /// Lets requests go on whose keys wait for their moments.
    mutating func hurry(_ isMeant: (Record) -> Bool) {
        for key in later {
            guard let queue = queues[key], !queue.isBusy, queue.first.due > .past, queue.first.record.map(isMeant) ?? false
            else { continue }
            change(key) { queue in queue.first.due = .past }
            consider(key)
        }
    }

    /// True if a tenant may have another request held, in a partition of that window.
    func hasShare(_ tenant: TenantID, byteCount: Int, window: Int) -> Bool {
        held.hasShare(tenant, byteCount: byteCount, window: window)
    }

    /// Takes out what follows requests that wait for their moment and lies where it was published, the oldest first: it must be
    /// held. They move. With the window of the partition that holds them, no tenant gets more than its share.
    mutating func removeFollowers(
        now: Timestamp, limit: (count: Int, bytes: Int), window: Int? = nil
    ) -> [(key: Key, request: Request)] {
        var found: [(key: Key, offset: Int64, origin: Origin, tenant: TenantID)] = []
        for key in later {
            // What moves is not due before it has arrived.
            guard let queue = queues[key], !queue.isBusy, !queue.isListed, queue.first.due > now else { continue }
            for request in queue.requests where request.record != nil {
                if case .published(let offset) = request.place { found.append((key, offset, request.origin, request.tenant)) }
            }
        }
        var taken: [(key: Key, request: Request)] = []
        var bytes = 0
        for place in found.sorted(by: { $0.offset < $1.offset }) where taken.count < limit.count {
            guard let size = byteCount(of: place.key, origin: place.origin) else { continue }
            if let window, !hasShare(place.tenant, byteCount: size, window: window) { continue }
            bytes += size
            guard bytes <= limit.bytes, let request = startMoving(place.key, origin: place.origin) else { break }
            taken.append((place.key, request))
        }
        return taken
    }

    /// Takes out what lies where it was published behind a held request that waits beyond a moment, and that `isMeant` accepts: of the
    /// tenant whose such requests take the most memory, those of its keys whose first is the oldest. It has its end, for there is no place
    /// to wait for it.
    mutating func removeExcess(beyond moment: Timestamp, limit: Int, behind isMeant: (Record) -> Bool) -> [Request] {
        var tenants: [TenantID: (byteCount: Int, keys: [(key: Key, offset: Int64)])] = [:]
        for key in later {
            guard let queue = queues[key], !queue.isBusy, !queue.isListed, queue.first.due > moment,
                queue.first.record.map(isMeant) ?? false
            else { continue }
            let found = queue.requests.filter(\.isExcess)
            guard let first = found.first else { continue }
            tenants[first.tenant, default: (0, [])].byteCount += found.reduce(0) { $0 + $1.byteCount }
            tenants[first.tenant]?.keys.append((key, first.origin.offset))
        }
        var taken: [Request] = []
        let greediest = tenants.values.max { $0.byteCount < $1.byteCount }
        for (key, _) in (greediest?.keys ?? []).sorted(by: { $0.offset < $1.offset }) where taken.count < limit {
            let room = limit - taken.count
            let found = change(key) { queue in
                let found = Array(queue.requests.filter(\.isExcess).prefix(room))
                let origins = Set(found.map(\.origin))
                queue.requests.removeAll { origins.contains($0.origin) }
                return found
            }
            taken += found ?? []
        }
        for request in taken { noteRecord(request, sign: -1) }
        count -= taken.count
        return taken
    }

    /// Takes out what waits and is held, of records at an offset that `isMeant` accepts: it must be written again. They move.
    mutating func removeHeld(limit: Int, where isMeant: (Int64, Record) -> Bool) -> [(key: Key, request: Request)] {
        var found: [(key: Key, offset: Int64, origin: Origin)] = []
        for (key, queue) in queues {
            for (index, request) in queue.requests.enumerated() {
                // One that is about to begin moves by itself.
                if queue.isListed && index == 0 { continue }
                guard case .held(let place) = request.place, request.record.map({ isMeant(place, $0) }) ?? false else { continue }
                found.append((key, place, request.origin))
            }
        }
        return found.sorted { $0.offset < $1.offset }.prefix(limit).compactMap { place in
            startMoving(place.key, origin: place.origin).map { (place.key, $0) }
        }
    }

    private func isFirst(_ key: Key, origin: Origin) -> Bool {
        queues[key]?.requests.first?.origin == origin
    }

    private func byteCount(of key: Key, origin: Origin) -> Int? {
        guard let queue = queues[key], let index = queue.index(of: origin) else { return nil }
        return queue.requests[index].byteCount
    }

    private mutating func startMoving(_ key: Key, origin: Origin) -> Request? {
        let change = change(key) { queue -> Request? in
            guard let index = queue.index(of: origin) else { return nil }
            let request = queue.requests[index]
            queue.requests[index] = request.moving(byteCount: request.byteCount, tenant: request.tenant)
            return request
        }
        guard let request = change ?? nil else { return nil }
        later.insert(key)
        noteHeld(request, sign: -1)
        noteHeld(request.moving(byteCount: request.byteCount, tenant: request.tenant), sign: 1)
        noteRecord(request, sign: -1)
        return request
    }

    /// Changes the queue of a key where it is, so that nothing of it is copied. Nil if there is none.
    @discardableResult
    private mutating func change<Result>(_ key: Key, perform body: (inout Queue) -> Result) -> Result? {
        queues.index(forKey: key).map { body(&queues.values[$0]) }
    }

    private mutating func noteHeld(_ request: Request, sign: Int) {
        if !request.isPublished { held.note(request.tenant, byteCount: request.byteCount, sign: sign) }
    }

    private mutating func noteRecord(_ request: Request, sign: Int) {
        byteCount += sign * request.byteCount
        if request.isPublished { publishedByteCount += sign * request.byteCount }
    }

    /// Gives every key its turn whose first request may begin, in the order of publishing.
    private mutating func considerAll() {
        let firsts = queues.map { (key: $0, offset: $1.first.origin.offset) }
        for first in firsts.sorted(by: { $0.offset < $1.offset }) { consider(first.key) }
    }

    /// Gives the key its turn when its first request may begin.
    private mutating func consider(_ key: Key) {
        guard let queue = queues[key], !queue.isBusy, !queue.isListed else { return }
        let due = queue.first.due
        if due > .past { later.insert(key) }
        guard isComplete, queue.first.record != nil else { return }
        if due == .past { list(key, at: due) } else { waits.add(key, at: due) }
    }

    private mutating func list(_ key: Key, at now: Timestamp) {
        guard let queue = queues[key], !queue.isBusy, !queue.isListed, queue.first.record != nil, queue.first.due <= now
        else { return }
        queues[key]?.isListed = true
        turns.append(key)
        if !later.isEmpty { later.remove(key) }
    }

    /// Forgets a key that has no requests, and gives its memory back: a dictionary would keep that of a burst.
    private mutating func forget(_ key: Key) {
        queues[key] = nil
        if !later.isEmpty { later.remove(key) }
        guard queues.capacity > 64, queues.count < queues.capacity / 8 else { return }
        queues = Dictionary(uniqueKeysWithValues: queues.lazy.map { ($0, $1) })
    }

    /// The requests of one key, in their order. As long as it is among `queues`, there is at least one.
    struct Queue {
        var requests = FIFO<Request>()
        /// True while the first one is in work.
        var isBusy = false
        /// True while the key stands in the list of turns.
        var isListed = false

        var isEmpty: Bool { requests.isEmpty }

        var first: Request {
            get { requests[0] }
            set { requests[0] = newValue }
        }

        func index(of origin: Origin) -> Int? {
            var low = 0
            var high = requests.count
            while low < high {
                let middle = (low + high) / 2
                if requests[middle].origin.offset < origin.offset { low = middle + 1 } else { high = middle }
            }
            while low < requests.count, requests[low].origin.offset == origin.offset {
                if requests[low].origin == origin { return low }
                low += 1
            }
            return nil
        }

        /// Most come in order, and go to the end. Nothing goes before what is in work.
        mutating func insert(_ request: Request) {
            var index = requests.count
            while index > (isBusy ? 1 : 0), requests[index - 1].origin.offset > request.origin.offset { index -= 1 }
            requests.insert(request, at: index)
        }

        mutating func removeMoving(publishedAt offset: Int64) -> Request? {
            requests.firstIndex { $0.origin.offset == offset && $0.place == .moving }.flatMap { requests.remove(at: $0) }
        }
    }
}
