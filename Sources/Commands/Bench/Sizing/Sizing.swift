import FanOut

/// A fleet that is large enough for a demand.
///
/// It takes any demand. Counts end at a billion, so nothing traps.
struct Sizing {
    /// A request to all users, which is sent in parts.
    struct LargeRequest {
        let calls: Double
        let parts: Double
        /// The time that it takes at the peak's rate, in milliseconds.
        let milliseconds: Double
    }

    let demand: Demand
    let cost: CallCost
    /// Hub calls a second at the peak.
    let callsPerSecond: Double
    /// Hub calls in flight at the peak, by Little's law.
    let callsInFlight: Double
    /// Loops that the processor time of the calls needs, and loops that their number in flight needs.
    let loopShares: (processor: Double, inFlight: Double)
    /// Loops that are needed at the peak.
    let loops: Int
    /// Loops of each worker (`worker.loops`).
    let loopsOfWorker: Int
    /// Workers, with a spare one.
    let workers: Int
    /// Calls that a loop may have in flight (`worker.max_in_flight`).
    let maxInFlight: Int
    /// Bytes of a request in work.
    let requestBytes: Double
    /// Memory of a loop for requests and results in MiB (`worker.memory`).
    let loopMemory: Int
    /// Memory of a worker's process in MiB.
    let workerMemory: Int
    /// Partitions of the topics of requests.
    let partitions: Int
    /// The large request to all users, or nil without users.
    let largeRequest: LargeRequest?

    /// The most calls that a loop may have in flight.
    static let mostInFlight = 4096
    /// Steps of `worker.max_in_flight`, and of `worker.memory` in MiB.
    static let step = 64
    /// The default of `worker.memory`, and its most, in MiB.
    static let memoryRange = 256...65_536
    /// The default of `topics create`, and the most partitions that it makes.
    static let partitionRange = 12...10_000
    /// Partitions for each loop, because they are assigned whole.
    static let partitionsOfLoop = 4
    /// Gateways, one of them in case the other is lost.
    static let gateways = 2
    /// Users whose tags one call has.
    static let usersOfCall = TagExpression.maxTagsJoinedByOr

    /// Sizes a fleet.
    init(_ demand: Demand, cost: CallCost) {
        (self.demand, self.cost) = (demand, cost)
        let platforms = Double(demand.platforms)
        callsPerSecond = demand.peakPerSecond * platforms * (1 + demand.retries)
        callsInFlight = callsPerSecond * demand.hubMilliseconds / 1000
        loopShares = (
            callsPerSecond * cost.microseconds / 1e6 / demand.utilisation,
            callsInFlight / (Double(Self.mostInFlight) * demand.utilisation)
        )
        loops = Self.count(max(loopShares.processor, loopShares.inFlight))
        loopsOfWorker = min(loops, max(1, demand.cores))
        workers = Self.count(Double(loops) / Double(loopsOfWorker)) + 1
        let share = callsInFlight / Double(loops) / demand.utilisation
        maxInFlight = min(Self.stepped(share), Self.mostInFlight)
        requestBytes = 2048 + (2 + platforms) * demand.payloadBytes
        let inWork = Double(maxInFlight) / platforms * requestBytes / 0x1p20
        loopMemory = min(max(Self.stepped(inWork * 8 / 3), Self.memoryRange.lowerBound), Self.memoryRange.upperBound)
        workerMemory = Self.count(40 + (1.4 * Double(loopMemory) + 0.1 * Double(maxInFlight)) * Double(loopsOfWorker))
        partitions = min(
            max(Self.partitionsOfLoop * workers * loopsOfWorker, Self.partitionRange.lowerBound), Self.partitionRange.upperBound)
        largeRequest = demand.users > 0 ? LargeRequest(demand, callsPerSecond: callsPerSecond) : nil
    }

    /// The next whole number from 1 to a billion. No number at all is 1.
    private static func count(_ number: Double) -> Int { number >= 1 ? Int(min(number.rounded(.up), 1e9)) : 1 }

    /// The next multiple of a step.
    private static func stepped(_ number: Double) -> Int { count(number / Double(step)) * step }
}

extension Sizing.LargeRequest {
    /// Tags of users go 20 into a call, and so many calls into a part as one request makes itself.
    fileprivate init(_ demand: Demand, callsPerSecond: Double) {
        let platforms = max(1, demand.platforms)
        let callsOfPart = max(1, FanOutPlanner.Configuration().maximumCalls / platforms)
        calls = (demand.users / Double(Sizing.usersOfCall)).rounded(.up) * Double(platforms)
        parts = (demand.users / Double(callsOfPart * Sizing.usersOfCall)).rounded(.up)
        milliseconds = calls / callsPerSecond * 1000
    }
}
