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
        for (source, event) in [(outside, EventSources.Event.wakeUp), (sources.consumer, .consumer)] {
            source.signal()
            source.signal()
            #expect(try Self.events(of: sources) == [event])
            #expect(try Self.events(of: sources) == [], "its signals are taken with it")
        }
    }

    /// The numbers of a pipe are taken by whoever has its partitions, and it is an event until then.
    @Test func aPipeIsItsEventUntilItsNumbersAreTaken() throws {
        let sources = try EventSources(wakeUp: try WakeUp())
        for (pipe, event) in [(sources.requests, EventSources.Event.requests), (sources.reader, .reader)] {
            pipe.add(7)
            pipe.add(3)
            #expect(try Self.events(of: sources) == [event])
            #expect(try Self.events(of: sources) == [event])
            var numbers: [UInt32] = []
            #expect(pipe.drain { numbers.append($0) })
            #expect(numbers == [7, 3])
            #expect(try Self.events(of: sources) == [])
        }
    }

    @Test func oneTakenEventLeavesTheOthers() throws {
        let outside = try WakeUp()
        let sources = try EventSources(wakeUp: outside)
        outside.signal()
        sources.consumer.signal()
        sources.requests.add(0)
        let range = try sources.wait(until: .past)
        #expect(range.count == 3)
        let first = sources.takeEvent(at: range.lowerBound)
        let rest = try Self.events(of: sources)
        #expect(rest.contains(.requests) && (first == .requests || !rest.contains(first)))
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
