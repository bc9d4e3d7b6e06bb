import FaultOracle
import Kafka

/// What a stranger who may publish can make a worker hold.
extension Catalogue {
    static let memoryScenarios = [memoryValues, memoryRecords, memoryPacked, memoryHubs]

    /// The bytes of a record that is as large as those that are still read.
    private static let large = 490_000

    private static let memoryValues = memory(
        "memory-values", "requests that wait, each with a quarter of a million numbers, stay within a worker's memory",
        Workload.plain(150, rate: 17)
    ) { stage in
        try Clock.wait(for: "the requests to be published", within: .seconds(60)) { stage.isPublished }
    }.with { scenario in
        scenario.isFast = true
        scenario.workload.waitEvery = 1
        scenario.workload.valuesByteCount = large
    }

    private static let memoryRecords = memory(
        "memory-records", "24 partitions full of large requests, behind a slow hub, stay within a worker's memory",
        Workload.plain(360, rate: nil)
    ) { stage in
        try stage.setHubFaults(["delay=1000ms"])
        stage.publish()
        try Clock.wait(for: "the requests to be published", within: .seconds(120)) { stage.isPublished }
        try stage.startCrew()
        stage.watch.mark()
        Clock.pause(.seconds(15))
        try stage.setHubFaults([])
    }.with { scenario in
        scenario.startsCrew = false
        scenario.publishes = false
        scenario.partitions = 24
        scenario.workload.fillerByteCount = large
    }

    private static let memoryPacked = memory(
        "memory-packed", "brokers refuse batches that are small as gzip and large when unpacked, to topics that pushfan created",
        Workload.plain(400, rate: 20)
    ) { stage in
        // All places are taken, so that nothing more is read, and what is fetched stays in the library.
        try stage.setHubFaults(["delay=2000ms"])
        Clock.pause(.seconds(5))
        let taken = try publishZeros(stage, count: 48)
        guard taken == 0 else {
            Clock.pause(.seconds(10))
            stage.noteMemory(of: Array(stage.crew))
            throw SuiteError.failed("brokers took \(taken) of 48 batches that are too large when unpacked; see events.log")
        }
        try stage.setHubFaults([])
    }.with { scenario in
        scenario.partitions = 24
        scenario.maxInFlight = 1
    }

    private static let memoryHubs = memory(
        "memory-hubs", "large requests that wait for a hub that is out stay within a worker's memory",
        Workload.plain(300, rate: 20)
    ) { stage in
        try stage.setSecondHubFaults(["status=503"])
        try Clock.wait(for: "the requests to be published", within: .seconds(120)) { stage.isPublished }
        Clock.pause(.seconds(10))
        try stage.setSecondHubFaults([])
    }.with { scenario in
        scenario.hasSecondHub = true
        scenario.workload.secondHubEvery = 2
        scenario.workload.fillerByteCount = large
    }

    /// One worker with its default memory, whose peak is judged; all requests must have their results.
    private static func memory(
        _ name: String, _ claim: String, _ workload: Workload, act: @escaping @Sendable (Stage) throws -> Void
    ) -> Scenario {
        Scenario(name, claim, act: act).with { scenario in
            scenario.broker = .own()
            scenario.isScaled = false
            scenario.workers = 1
            scenario.workload = workload
            scenario.deadline = .seconds(300)
            scenario.check = { stage, _ in [Catalogue.peak(stage)] }
        }
    }

    /// The most that the worker had, of 400 MB: 256 MiB are its setting, and the library's queues and the process come on top.
    private static func peak(_ stage: Stage) -> Finding {
        Finding(
            .memory, measured: Double((stage.peakMemory ?? .max) / 1_000_000), allowed: 400,
            examples: stage.peakMemory == nil ? ["no worker ran to the end"] : [])
    }

    /// Publishes records of 30 MB of zeros as gzip, one by one.
    ///
    /// - Returns: How many the brokers took.
    private static func publishZeros(_ stage: Stage, count: Int) throws -> Int {
        let packing = KafkaConfiguration(
            bootstrapServers: stage.broker.direct, clientID: "faults",
            properties: [.init(key: "compression.type", value: "gzip"), .init(key: "message.max.bytes", value: "100000000")])
        let producer = try Producer(packing, transactionalID: nil, enqueueTimeout: .seconds(120))
        defer { producer.close(timeout: .zero) }
        let topic = try producer.warmUp(topics: [stage.topics.requests], timeout: .seconds(20))[0]
        let zeros = [UInt8](repeating: 0, count: 30_000_000)
        for number in 0..<count {
            let partition = Int32(number % stage.scenario.partitions)
            try producer.produce(to: topic, partition: partition, key: nil, value: zeros.span)
            try producer.flush(timeout: .seconds(60))
        }
        return count - producer.failedDeliveries.count
    }
}
