import HubServer
import Synchronization

/// A journal in memory, whose keeping a test may hold back or let fail. It outlives the dispatchers that use it, as a file does.
final class MemoryJournal: MessageJournal {
    /// A notification with all that is known of it.
    struct Entry: Sendable {
        let notification: Notification
        let acceptedAt: Int64
        let due: Int64?
        let deadline: Int64
        var end: DeviceNumber?
        var place: DevicePlace?
        var steps: [WalkStep] = []
        var isCanceled = false

        var ending: WalkStep.Ending? { steps.last?.ending }
        /// The outcomes of all steps.
        var outcomes: OutcomeCounts {
            steps.flatMap(\.counts.entries).reduce(into: OutcomeCounts()) { $0.add($1.name, on: $1.platform, count: $1.count) }
        }
        /// The number of devices by outcome, of all platforms.
        var counts: [String: Int] {
            steps.flatMap(\.counts.entries).reduce(into: [:]) { $0[$1.name, default: 0] += $1.count }
        }
    }

    private struct State: Sendable {
        var entries: [Int64: Entry] = [:]
        var held: [(step: WalkStep, done: @Sendable (RefusedCall?) -> Void)] = []
        var holdsSteps = false
        var isFailing = false
        var readCount = 0
        var forgetCount = 0
    }

    private let devices: any DeviceStore
    private let state = Mutex(State())

    init(devices: any DeviceStore) { self.devices = devices }

    // MARK: As a test sees it

    var entries: [Int64: Entry] { state.withLock { $0.entries } }

    func entry(_ id: String) -> Entry? { entries.values.first { $0.notification.id == id } }

    /// The looks for notifications that are due.
    var readCount: Int { state.withLock { $0.readCount } }

    /// The calls that asked it to forget.
    var forgetCount: Int { state.withLock { $0.forgetCount } }

    var heldCount: Int { state.withLock { $0.held.count } }

    /// Every call fails with 503 while it is set.
    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

    /// Steps wait for `release` while it is set.
    func holdSteps(_ holds: Bool) { state.withLock { $0.holdsSteps = holds } }

    /// Keeps a step that waits, or fails to.
    func release(_ index: Int = 0, failing: Bool = false) {
        guard let held = state.withLock({ state in index < state.held.count ? state.held.remove(at: index) : nil }) else {
            return
        }
        if !failing { apply(held.step) }
        held.done(failing ? .unavailable("The disk is full") : nil)
    }

    /// The process dies: a step that waits is kept or not, and nobody hears of it.
    func crash(keeping keeps: () -> Bool) {
        for held in state.withLock({ state in
            defer { state.held = [] }
            return state.held
        }) where keeps() { apply(held.step) }
    }

    private func apply(_ step: WalkStep) {
        state.withLock { state in
            state.entries[step.message]?.steps.append(step)
            if let place = step.place { state.entries[step.message]?.place = place }
        }
        guard !step.gone.isEmpty else { return }
        try? devices.change { (book) throws(RefusedCall) in
            for gone in step.gone { try book.expire(gone.device, before: gone.before) }
        }
    }

    private func check() throws(RefusedCall) {
        if state.withLock({ $0.isFailing }) { throw .unavailable("The disk is full") }
    }

    // MARK: As a dispatcher sees it

    func add(_ notification: Notification, of call: HubCall, due: Int64?, deadline: Int64) throws(RefusedCall) {
        try check()
        let end = due == nil ? try devices.read { (book) throws(RefusedCall) in try book.end() } : nil
        let entry = Entry(
            notification: notification, acceptedAt: call.moment.milliseconds, due: due, deadline: deadline, end: end)
        state.withLock { $0.entries[Int64($0.entries.count + 1)] = entry }
    }

    func cancel(_ id: String, now: Int64) -> Bool {
        state.withLock { state in
            guard let number = state.entries.first(where: { $0.value.notification.id == id && $0.value.steps.isEmpty })?.key
            else { return false }
            state.entries[number]?.isCanceled = true
            return true
        }
    }

    func unfinished(now: Int64, without numbers: Set<Int64>, limit: Int) throws(RefusedCall) -> [JournaledMessage] {
        try check()
        let end = try devices.read { (book) throws(RefusedCall) in try book.end() }
        return state.withLock { state in
            state.readCount += 1
            let found = state.entries.filter { number, entry in
                entry.ending == nil && !entry.isCanceled && !numbers.contains(number) && entry.due.map { $0 <= now } ?? true
            }
            return found.sorted { $0.key < $1.key }.prefix(limit).map { number, entry in
                if entry.end == nil { state.entries[number]?.end = end }
                return JournaledMessage(
                    number: number, notification: entry.notification, acceptedAt: entry.acceptedAt,
                    due: entry.due ?? entry.acceptedAt, deadline: entry.deadline, end: entry.end ?? end, place: entry.place,
                    counts: entry.outcomes)
            }
        }
    }

    func nextDue(after now: Int64) throws(RefusedCall) -> Int64? {
        try check()
        return entries.values.filter { $0.ending == nil && !$0.isCanceled }.compactMap(\.due).filter { $0 > now }.min()
    }

    func keep(_ step: WalkStep, done: @escaping @Sendable (RefusedCall?) -> Void) {
        let (isHeld, isFailing) = state.withLock { state in
            if state.holdsSteps && !state.isFailing { state.held.append((step, done)) }
            return (state.holdsSteps, state.isFailing)
        }
        if isFailing { return done(.unavailable("The disk is full")) }
        guard !isHeld else { return }
        apply(step)
        done(nil)
    }

    func telemetry(of id: String, now: Int64) -> MessageTelemetry? { nil }
    func refused(by id: String) -> [PNSFeedback]? { entry(id)?.steps.flatMap(\.refused) }
    func feedbackBlobs(from name: String, limit: Int) -> [FeedbackBlob.Head] { [] }
    func feedbackBlob(_ name: String) -> [UInt8]? { nil }

    func forget(endedBefore time: Int64) throws(RefusedCall) -> Int {
        try check()
        return state.withLock { state in
            state.forgetCount += 1
            let old = state.entries.filter { $0.value.ending != nil && ($0.value.steps.last?.at ?? .max) < time }.keys.sorted()
            for number in old.prefix(2) { state.entries[number] = nil }
            return min(2, old.count)
        }
    }

    func oldestDue() throws(RefusedCall) -> Int64? {
        try check()
        return entries.values.filter { $0.ending == nil && !$0.isCanceled }.map { $0.due ?? $0.acceptedAt }.min()
    }

    func unfinishedCount() -> Int { entries.values.count { $0.ending == nil && !$0.isCanceled && $0.due == nil } }
}
