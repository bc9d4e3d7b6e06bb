import Delivery

/// A sizing as it is written: each figure with its arithmetic.
struct SizeReport: Codable, Equatable {
    /// One figure.
    struct Figure: Codable, Equatable {
        /// A name, or the setting that the figure is for.
        var name: String
        var value: Double
        /// The figure with its unit, as a person reads it.
        var text: String
        /// The arithmetic.
        var because: String
    }

    var demand: Demand
    var cost: CallCost
    var figures: [Figure]
    var topics: [TopicSize]

    /// The figures of a sizing, in the order in which each follows from those before it.
    init(_ sizing: Sizing) {
        (demand, cost) = (sizing.demand, sizing.cost)
        topics = TopicSize.all(sizing)
        figures =
            Self.calls(sizing) + Self.workers(sizing) + Self.memory(sizing) + Self.surroundings(sizing)
            + [
                Figure(
                    name: "Kafka's disk", value: topics.reduce(0) { $0 + ($1.bytes ?? 0) }, form: SizeText.bytes,
                    because: "the topics below whose size can be known, on all brokers together")
            ]
    }

    private static func calls(_ sizing: Sizing) -> [Figure] {
        let demand = sizing.demand
        let rate = SizeText.number(sizing.callsPerSecond)
        return [
            Figure(
                name: "calls a second", value: sizing.callsPerSecond,
                because: "\(SizeText.number(demand.peakPerSecond)) requests/s at the peak × "
                    + "\(SizeText.counted(demand.platforms, of: "platform")) × \(SizeText.number(1 + demand.retries)) with retries"
            ),
            Figure(
                name: "calls in flight", value: sizing.callsInFlight,
                because: "\(rate)/s × \(SizeText.time(milliseconds: demand.hubMilliseconds))"),
            Figure(
                name: "loops", value: sizing.loops,
                because: "processor: \(rate)/s × \(SizeText.number(sizing.cost.microseconds)) µs ÷ "
                    + "\(SizeText.percent(demand.utilisation)) = \(SizeText.number(sizing.loopShares.processor)); calls: "
                    + "\(SizeText.number(sizing.callsInFlight)) ÷ \(SizeText.grouped(Sizing.mostInFlight)) ÷ "
                    + "\(SizeText.percent(demand.utilisation)) = \(SizeText.number(sizing.loopShares.inFlight)); the larger, rounded up"
            ),
        ]
    }

    private static func workers(_ sizing: Sizing) -> [Figure] {
        let loops = SizeText.counted(sizing.loops, of: "loop")
        return [
            Figure(
                name: "worker.loops", value: sizing.loopsOfWorker,
                because:
                    "a loop for each processor of a worker, \(SizeText.grouped(sizing.demand.cores)), and no more than are needed"
            ),
            Figure(
                name: "workers", value: sizing.workers,
                because: "\(loops) ÷ \(SizeText.grouped(sizing.loopsOfWorker)) a worker, rounded up, and one in case one is lost"),
            Figure(
                name: "worker.max_in_flight", value: sizing.maxInFlight,
                because: "\(SizeText.number(sizing.callsInFlight)) ÷ \(loops) ÷ \(SizeText.percent(sizing.demand.utilisation)), "
                    + "in steps of \(Sizing.step)"),
            Figure(
                name: "connections to the hub", value: sizing.workers * sizing.loopsOfWorker * sizing.maxInFlight,
                because: "at most: \(SizeText.grouped(sizing.workers)) × \(SizeText.grouped(sizing.loopsOfWorker)) × "
                    + SizeText.grouped(sizing.maxInFlight)),
        ]
    }

    private static func memory(_ sizing: Sizing) -> [Figure] {
        let platforms = sizing.demand.platforms
        let (loops, memory) = (SizeText.counted(sizing.loopsOfWorker, of: "loop"), SizeText.grouped(sizing.loopMemory))
        return [
            Figure(
                name: "worker.memory", value: sizing.loopMemory,
                because: "\(SizeText.grouped(sizing.maxInFlight)) calls ÷ \(SizeText.grouped(platforms)) × "
                    + "\(SizeText.number(sizing.requestBytes)) bytes × 8/3, in steps of \(Sizing.step) MiB, "
                    + "\(Sizing.memoryRange.lowerBound) at least"),
            Figure(
                name: "memory of a worker", value: Double(sizing.workerMemory), form: { "\(SizeText.number($0)) MiB" },
                because: "40 + (1.4 × \(memory) + 0.1 × \(SizeText.grouped(sizing.maxInFlight)) connections) × \(loops)"),
        ]
    }

    private static func surroundings(_ sizing: Sizing) -> [Figure] {
        let loops = sizing.workers * sizing.loopsOfWorker
        let range = Sizing.partitionRange
        var figures = [
            Figure(
                name: "partitions", value: sizing.partitions,
                because:
                    "\(Sizing.partitionsOfLoop) × \(SizeText.counted(loops, of: "loop")), \(range.lowerBound) at least, "
                    + "\(SizeText.grouped(range.upperBound)) at most: `pushfan topics create --partitions \(sizing.partitions)`"),
            Figure(
                name: "gateways", value: Sizing.gateways,
                because: "one, and one in case it is lost; `Tests/Benchmarks/publish` measures what one of yours takes"),
        ]
        if let largeRequest = sizing.largeRequest {
            figures.append(
                Figure(
                    name: "large request", value: largeRequest.milliseconds / 1000,
                    form: { SizeText.time(milliseconds: $0 * 1000) },
                    because:
                        "\(SizeText.number(sizing.demand.users)) users ÷ \(Sizing.usersOfCall) a call × \(sizing.demand.platforms) = "
                        + "\(SizeText.number(largeRequest.calls)) calls, at \(SizeText.number(sizing.callsPerSecond))/s with nothing beside; "
                        + "\(SizeText.number(largeRequest.parts)) parts"))
        }
        return figures
    }
}

extension SizeReport.Figure {
    fileprivate init(name: String, value: Double, form: (Double) -> String = SizeText.number, because: String) {
        self.init(name: name, value: value, text: form(value), because: because)
    }

    fileprivate init(name: String, value: Int, because: String) {
        self.init(name: name, value: Double(value), text: SizeText.grouped(value), because: because)
    }
}
