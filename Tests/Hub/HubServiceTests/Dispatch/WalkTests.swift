import FanOut
import Testing

@testable import HubServer
@testable import HubService

@Suite("A walk")
struct WalkTests {
    private let stage = DispatchStage()
    private let now = DispatchStage.start

    private func message(_ notification: Notification, place: DevicePlace? = nil, counted: String? = nil) -> JournaledMessage {
        var counts = OutcomeCounts()
        if let counted { counts.add(counted, on: .fcmv1) }
        return JournaledMessage(
            number: 5, notification: notification, acceptedAt: now, due: now, deadline: now + 1000, end: nil, place: place,
            counts: counts)
    }

    private func page(of walk: Walk, limit: Int) throws -> WalkPage {
        let notification = walk.message.notification
        guard let audience = notification.devices(at: now) else {
            return WalkPage(after: walk.cursor, limit: limit, ofHandlesOf: notification)
        }
        let found = try stage.devices.read { (book) throws(RefusedCall) in
            try book.devices(of: audience, after: walk.cursor, limit: limit)
        }
        return WalkPage(found, of: audience, of: notification)
    }

    private func successes(_ count: Int) -> [PushOutcome] { [PushOutcome](repeating: .success, count: count) }

    @Test("gives steps in the order of its pages, whatever order their outcomes have")
    func stepOrder() throws {
        try stage.register(5)
        var walk = Walk(message(try .sample("a")))
        let first = walk.take(try page(of: walk, limit: 3), at: now, isOver: false)
        #expect(walk.takesPage(limit: 2))
        #expect(!walk.takesPage(limit: 1))
        let second = walk.take(try page(of: walk, limit: 3), at: now, isOver: false)
        #expect(!walk.takesPage(limit: 9))
        walk.settle(second.page.deliveries, of: second.number, as: successes(2), at: now)
        #expect(walk.nextStep(at: now) == nil)
        walk.settle(first.page.deliveries, of: first.number, as: successes(3), at: now)
        let step = try walk.step(at: now + 7)
        #expect((step.place?.number, step.at, step.ending) == (3, now + 7, nil))
        #expect(walk.nextStep(at: now) == nil)
        walk.noteKept()
        let last = try walk.step(at: now)
        #expect((last.place?.number, last.ending) == (5, .completed))
        #expect(walk.ending == nil)
        walk.noteKept()
        #expect(walk.ending == .completed)
    }

    @Test("gives a step again that is not kept, with nothing added")
    func failedStep() throws {
        try stage.register(2)
        var walk = Walk(message(try .sample("a")))
        let (number, page) = walk.take(try page(of: walk, limit: 9), at: now, isOver: false)
        walk.settle(page.deliveries, of: number, as: successes(2), at: now)
        let step = try walk.step(at: now)
        walk.noteFailed()
        let again = try walk.step(at: now + 1)
        #expect(again.counts == step.counts)
        #expect(again.counts.entries.map(\.count) == [2])
        #expect(again.place == step.place)
    }

    @Test("has an outcome for each push of which its service says none")
    func missingOutcomes() throws {
        try stage.register(3)
        var walk = Walk(message(try .sample("a")))
        let (number, page) = walk.take(try page(of: walk, limit: 9), at: now, isOver: false)
        walk.settle(page.deliveries, of: number, as: successes(1), at: now)
        let step = try walk.step(at: now)
        #expect(step.counts.entries.map { "\($0.name) \($0.count)" } == ["Success 1", "UnknownError 2"])
        #expect(step.refused.isEmpty)
    }

    @Test("counts what its deadline leaves over, and is abandoned")
    func deadline() throws {
        try stage.register(3)
        var walk = Walk(message(try .sample("a")))
        let (_, page) = walk.take(try page(of: walk, limit: 9), at: now, isOver: true)
        #expect(page.deliveries.isEmpty)
        let step = try walk.step(at: now)
        #expect(step.counts.entries.map { "\($0.name) \($0.count)" } == ["AbandonedNotificationMessages 3"])
        #expect(step.ending == .abandoned)
    }

    @Test(
        "ends without target only if no device was there, and abandoned only if a device was left over",
        arguments: [
            (devices: 0, place: Int64?.none, counted: String?.none, isOver: false, ending: WalkStep.Ending.noTarget),
            (devices: 0, place: nil, counted: nil, isOver: true, ending: .noTarget),
            (devices: 0, place: 7, counted: nil, isOver: false, ending: .noTarget),
            (devices: 2, place: nil, counted: nil, isOver: false, ending: .completed),
            (devices: 2, place: 2, counted: "Success", isOver: false, ending: .completed),
            (devices: 2, place: 2, counted: "Success", isOver: true, ending: .completed),
            (devices: 2, place: 1, counted: "Success", isOver: true, ending: .abandoned),
            (devices: 2, place: 2, counted: "AbandonedNotificationMessages", isOver: true, ending: .abandoned),
        ])
    func endings(devices: Int, place: Int64?, counted: String?, isOver: Bool, ending: WalkStep.Ending) throws {
        try stage.register(devices)
        let kept = place.map { DevicePlace(platform: .fcmv1, number: $0) }
        var walk = Walk(message(try .sample("a"), place: kept, counted: counted))
        let (number, page) = walk.take(try page(of: walk, limit: 9), at: now, isOver: isOver)
        walk.settle(page.deliveries, of: number, as: successes(page.deliveries.count), at: now)
        #expect(walk.nextStep(at: now)?.ending == ending)
    }

    @Test(
        "counts registrations that cannot be read as not known, on the platform of their page",
        arguments: [
            (meant: HubPlatform.apple, next: HubPlatform?.none, counted: HubPlatform.apple), (nil, .gcm, .gcm),
        ] as [(HubPlatform?, HubPlatform?, HubPlatform)])
    func unreadableRegistrations(meant: HubPlatform?, next: HubPlatform?, counted: HubPlatform) throws {
        let notification = try Notification.sample("a")
        let audience = DeviceAudience(expression: nil, platform: meant, now: now)
        let place = next.map { DevicePlace(platform: $0, number: 9) }
        var walk = Walk(message(notification))
        let found = AudiencePage(devices: [], next: place, unreadableCount: 2)
        _ = walk.take(WalkPage(found, of: audience, of: notification), at: now, isOver: false)
        let step = try walk.step(at: now)
        #expect(step.counts.entries == [.init(platform: counted, name: "UnknownError", count: 2)])
        #expect(step.place == place)
        #expect(step.ending == (next == nil ? .completed : nil))
        #expect(walk.isUnread == (next != nil))
    }

    @Test("goes on behind a page without devices")
    func emptyPage() throws {
        let notification = try Notification.sample("a")
        let audience = DeviceAudience(expression: nil, platform: .fcmv1, now: now)
        let place = DevicePlace(platform: .fcmv1, number: 9)
        var walk = Walk(message(notification))
        for next in [place, nil] {
            _ = walk.take(
                WalkPage(AudiencePage(devices: [], next: next), of: audience, of: notification), at: now, isOver: false)
            #expect(walk.cursor == place)
            let step = try walk.step(at: now)
            #expect(step.place == next)
            #expect(step.ending == (next == nil ? .noTarget : nil))
            walk.noteKept()
        }
    }

    @Test("names a device that is gone once, with the time since when")
    func goneDevices() throws {
        try stage.register(2)
        var walk = Walk(message(try .sample("a")))
        let (number, page) = walk.take(try page(of: walk, limit: 9), at: now, isOver: false)
        let gone = PushOutcome("ExpiredChannel", isGone: true, goneSince: 77)
        let twice = [page.deliveries[0], page.deliveries[0]]
        walk.settle(twice, of: number, as: [gone, gone], at: now)
        let step = try walk.step(at: now)
        #expect(step.gone.map(\.device.handle) == ["fcmv1-0"])
        #expect(step.gone.map(\.before) == [77])
        #expect(step.refused.map(\.outcome) == ["ExpiredChannel", "ExpiredChannel"])
    }

    @Test("takes handles in parts, each once", arguments: [1, 2, 3, 7, 100])
    func handles(limit: Int) throws {
        let handles = ["a", "b", "a", "c", "d", "b", "e"]
        let notification = try Notification.sample("a", to: .handles(handles))
        var walk = Walk(message(notification))
        var (met, counts, places) = ([String](), [String: Int](), [Int64]())
        while walk.takesPage(limit: 1) {
            let (number, page) = walk.take(try page(of: walk, limit: limit), at: now, isOver: false)
            met += page.deliveries.map(\.handle)
            walk.settle(page.deliveries, of: number, as: successes(page.deliveries.count), at: now)
            let step = try walk.step(at: now)
            for entry in step.counts.entries { counts[entry.name, default: 0] += entry.count }
            if let place = step.place { places.append(place.number) }
            walk.noteKept()
        }
        #expect(met == ["a", "b", "c", "d", "e"])
        #expect(counts == ["Success": 5, "Skipped": 2])
        #expect(places == places.sorted())
        #expect(places.last == 5)
        #expect(walk.ending == .completed)
    }

    @Test("hands over no push that breaks a rule of its push service")
    func brokenRule() throws {
        try stage.register(2, on: .apple)
        let notification = try Notification.sample("a", format: "apple", body: #"{"aps":{"badge":"no number"}}"#)
        var walk = Walk(message(notification))
        let (_, page) = walk.take(try page(of: walk, limit: 9), at: now, isOver: false)
        #expect(page.deliveries.isEmpty)
        let step = try walk.step(at: now)
        #expect(step.counts.entries.map { "\($0.name) \($0.count)" } == ["InvalidNotificationFormat 2"])
        #expect(step.refused.count == 2)
        #expect(step.ending == .completed)
    }
}

extension Walk {
    /// The next step, which must be there.
    fileprivate mutating func step(at now: Int64) throws -> WalkStep {
        let step = nextStep(at: now)
        return try #require(step)
    }
}
