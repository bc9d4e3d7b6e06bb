import HubEmulator
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// The main job on both brokers: a record becomes a correct hub call and one final result.
@Suite(.serialized, .tags(.threads))
struct MainJobTests {
    @Test(arguments: brokers) func aRequestForAUserRingsTheUsersDeviceAndHasOneResult(_ broker: Bench.Broker) throws {
        let bench = try Bench(broker)
        try bench.hub.register(
            EmulatedDevice(id: "d1", platform: "apns", handle: String(repeating: "AB", count: 32), tags: ["username:alice"]))
        let worker = try bench.startWorker()
        try bench.publish(
            #"{"id":"r1","audience":{"users":["alice"]},"platforms":["apple"],"message":{"title":"Order shipped","body":"On its way"}}"#
        )
        let results = try bench.results(1)
        try worker.stop()
        #expect(results.count == 1)
        #expect(results.first?.requestID == "r1")
        #expect(results.first?.summary == "sent success - 1")
        #expect(bench.hub.devices().first?.rungCount == 1)
        let call = bench.hub.calls().first
        #expect(call?.tags == "username:alice")
        #expect(call?.status == 201)
    }
}

let brokers: [Bench.Broker] = TestVariables.kafka == nil ? [.embedded] : [.embedded, .real]
