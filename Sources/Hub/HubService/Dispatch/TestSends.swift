import Basics
import Dispatch
import HubServer
import Synchronization

/// Sends to a few devices that are chosen at random, whose outcomes are waited for on the thread of the call.
final class TestSends: Sendable {
    /// The most devices of a test send.
    private static let deviceCount = 10
    /// An audience below this number is read as a whole. Of another one, random places are looked at.
    private static let wholeCount = 1000
    /// The most calls in a minute.
    private static let callCount = 10

    private struct State: Sendable {
        var identifiers: HubIdentifiers
        /// The times of the newest calls, in milliseconds since 1970.
        var calls: [Int64] = []
    }

    private let devices: any DeviceStore
    private let services: [HubPlatform: any PushService]
    /// Protects random choices and the count of calls. Nothing else is locked while it is held.
    private let state: Mutex<State>

    init(devices: any DeviceStore, services: [HubPlatform: any PushService], seed: UInt64) {
        (self.devices, self.services) = (devices, services)
        state = Mutex(State(identifiers: HubIdentifiers(seed: seed)))
    }

    /// Sends, and waits for the outcomes.
    ///
    /// - Returns: The outcomes, or nil if there were too many calls in the last minute.
    func send(_ notification: Notification, of call: HubCall, by terms: DispatchTerms) throws(RefusedCall) -> Reach? {
        let now = call.moment.milliseconds
        let isAllowed = state.withLock { state in
            state.calls.removeAll { !(0..<60_000).contains(now.subtractingReportingOverflow($0).partialValue) }
            guard state.calls.count < Self.callCount else { return false }
            state.calls.append(now)
            return true
        }
        guard isAllowed else { return nil }
        var reach = try reach(of: notification, now: now)
        if reach.rung.count > Self.deviceCount {
            shuffle(&reach.rung)
            reach.rung.removeSubrange(Self.deviceCount...)
        }
        reach.refuseBroken()
        guard !reach.rung.isEmpty else { return reach }
        var sent = notification
        if sent.id.isEmpty { sent.id = state.withLock { $0.identifiers.notificationID(at: call.moment) } }
        let pushed = PushedMessage(
            sent, acceptedAt: now, deadline: now.addingReportingOverflow(terms.testLimit.wholeMilliseconds).partialValue)
        let deliveries = reach.rung
        let outcomes = outcomes(of: deliveries, message: pushed, limit: terms.testLimit)
        forgetGone(zip(deliveries, outcomes))
        reach.rung = []
        for (delivery, outcome) in zip(deliveries, outcomes) {
            if outcome.name == OutcomeCounts.success {
                reach.rung.append(delivery)
            } else {
                reach.refused.append(Reach.RefusedDelivery(delivery: delivery, outcome: outcome.name))
            }
        }
        return reach
    }

    /// Forgets devices whose handles are gone. A store that cannot do it now hears of them at the next push.
    private func forgetGone(_ outcomes: some Sequence<(Delivery, PushOutcome)>) {
        let gone = outcomes.filter(\.1.isGone).map { WalkStep.Gone(device: $0.0.device, before: $0.1.goneSince) }
        guard !gone.isEmpty else { return }
        try? devices.change { (book) throws(RefusedCall) in
            for gone in gone { try book.expire(gone.device, before: gone.before) }
        }
    }

    private func shuffle<Element>(_ elements: inout [Element]) {
        var generator = HubIdentifiers(seed: state.withLock { $0.identifiers.next() })
        elements.shuffle(using: &generator)
    }

    // MARK: Devices

    /// The deliveries to devices of a notification, to all of them if they are few.
    private func reach(of notification: Notification, now: Int64) throws(RefusedCall) -> Reach {
        guard let audience = notification.devices(at: now) else { return notification.directReach }
        let seed = state.withLock { $0.identifiers.next() }
        let found = try devices.read { (book) throws(RefusedCall) in
            let first = try book.devices(of: audience, after: nil, limit: Self.wholeCount)
            guard first.next != nil else { return first.devices }
            return try Self.choice(of: audience, first: first.devices, in: book, seed: seed)
        }
        var reach = Reach()
        for device in found { notification.add(device, to: &reach) }
        return reach
    }

    /// Devices behind random places, filled up with those of the first page.
    private static func choice(
        of audience: DeviceAudience, first: [AudienceDevice], in book: any DeviceBook, seed: UInt64
    ) throws(RefusedCall) -> [AudienceDevice] {
        var generator = HubIdentifiers(seed: seed)
        let end = max(1, try book.end())
        var chosen: [DevicePlace: AudienceDevice] = [:]
        for _ in 0..<deviceCount {
            guard let platform = audience.platform ?? HubPlatform.allCases.randomElement(using: &generator) else { break }
            let place = DevicePlace(platform: platform, number: Int64.random(in: 0..<end, using: &generator))
            guard let device = try book.devices(of: audience, after: place, limit: 1).devices.first else { continue }
            chosen[device.place] = device
        }
        for device in first.shuffled(using: &generator) where chosen.count < deviceCount { chosen[device.place] = device }
        return chosen.keys.sorted().compactMap { chosen[$0] }
    }

    // MARK: Outcomes

    /// The outcomes that come within a limit. The others are not known.
    private func outcomes(of deliveries: [Delivery], message: PushedMessage, limit: Duration) -> [PushOutcome] {
        let (found, signal) = (FoundOutcomes(), DispatchSemaphore(value: 0))
        let parts = Dictionary(grouping: deliveries.indices) { deliveries[$0].device.platform }
        for indices in parts.values {
            services.push(indices.map { deliveries[$0] }, of: message) { outcomes in
                found.add(outcomes, at: indices)
                signal.signal()
            }
        }
        let end = DispatchTime.now() + .nanoseconds(Int(clamping: limit.wholeNanoseconds))
        for _ in parts where signal.wait(timeout: end) == .timedOut { break }
        return found.outcomes(count: deliveries.count)
    }
}

/// The outcomes of a test send, from any thread.
private final class FoundOutcomes: Sendable {
    private let found = Mutex<[Int: PushOutcome]>([:])

    func add(_ outcomes: [PushOutcome], at indices: [Int]) {
        found.withLock { found in
            for (index, outcome) in zip(indices, outcomes) { found[index] = outcome }
        }
    }

    func outcomes(count: Int) -> [PushOutcome] {
        found.withLock { found in (0..<count).map { found[$0] ?? PushOutcome(Walk.unknown) } }
    }
}
