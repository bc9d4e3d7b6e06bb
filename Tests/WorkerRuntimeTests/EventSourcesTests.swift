import Basics
import Delivery
import EventLoop
import Testing

@testable import WorkerRuntime

/// Which event each descriptor of a loop stands for.
@Suite struct EventSourcesTests {
    private static func events(of sources: EventSources) throws -> [EventSources.Event] {
        try sources.wait(until: .past).map { sources.takeEvent(at: $0) }
    }

    @Test func aWakeUpIsItsOwnEventOnce() throws {
        let outside = try WakeUp()
        let sources = try EventSources(wakeUp: outside)
        #expect(try Self.events(of: sources) == [])
        let pairs: [(WakeUp, EventSources.Event)] =
            [(outside, .wakeUp), (sources.consumer, .consumer), (sources.reader, .reader)]
            + sources.lanes.enumerated().map { ($1, .lane($0)) }
        #expect(sources.lanes.count == Lane.allCases.count)
        for (source, event) in pairs {
            source.signal()
            source.signal()
            #expect(try Self.events(of: sources) == [event])
            #expect(try Self.events(of: sources) == [], "its signals are taken with it")
        }
    }

    @Test func oneTakenEventLeavesTheOthers() throws {
        let sources = try EventSources(wakeUp: try WakeUp())
        for source in sources.lanes { source.signal() }
        let range = try sources.wait(until: .past)
        #expect(range.count == Lane.allCases.count)
        let first = sources.takeEvent(at: range.lowerBound)
        let rest = try Self.events(of: sources)
        #expect(rest.count == Lane.allCases.count - 1 && !rest.contains(first))
    }

    @Test(arguments: [0, 1, HubPort.maximumCount - 1]) func aConnectionIsOfItsHubOrForDetails(_ number: Int) throws {
        let sources = try EventSources(wakeUp: try WakeUp())
        let (hub, details) = (try WakeUp(), try WakeUp())
        let (token, other) = (HubPort.tokenBase(of: number) + 7, LoopToken.details + UInt64(number) << 32 + 7)
        try sources.poller.add(hub.fileDescriptor, token: token, interest: .readable)
        try sources.poller.add(details.fileDescriptor, token: other, interest: .readable)
        hub.signal()
        #expect(try Self.events(of: sources) == [.hub(number, .init(token: token, readiness: .readable))])
        hub.drain()
        details.signal()
        #expect(try Self.events(of: sources) == [.details(.init(token: other, readiness: .readable))])
    }
}
