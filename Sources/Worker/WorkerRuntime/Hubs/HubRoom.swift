import Basics
import Delivery

/// The room that hubs have for requests that wait, at a moment. Each has its part of the buffers and of the memory for requests in work,
/// and some calls from delay lanes may wait there.
///
/// At first, a full hub holds up what is read, for that costs nothing. A hub that is out must not cause head-of-line blocking for others,
/// nor one that stays full while others would wait for long. What finds no room there is deferred.
struct HubRoom {
    /// The wait that is too long for any other hub, however busy or rarely used: a minute in seconds.
    private static let longWait = 60.0

    let ports: HubPorts
    let buffers: HubBuffers
    let memory: MemoryBudget
    /// The memory that requests in work take, by the hubs' numbers.
    let byteCounts: [Int]
    /// True if there are delay lanes.
    let canDefer: Bool
    let now: MonotonicTime

    /// True if a hub has memory for `flight`, or for another request.
    func hasShare(_ port: HubPort, for flight: Flight? = nil) -> Bool {
        ports.hasShare(port, for: flight, among: byteCounts, of: memory)
    }

    /// True if a hub could take calls at once but has none.
    func isIdle(_ port: HubPort) -> Bool {
        !port.isRetired && port.ready.isEmpty && buffers.count(at: port.number) == 0 && port.limits.waitEnd(now: now) == nil
    }

    /// Begins and ends deferral, once a second.
    ///
    /// - Parameter waits: The time that a new record of each lane would wait until it is read, in seconds.
    func update(waits: [Double]) {
        for port in ports { port.noteUse(now: now) }
        for lane in Lane.allCases {
            let full = ports.fullOfBuffered[lane.rawValue]
            ports.fullOfBuffered[lane.rawValue].update(
                now: now, isHalfFree: { buffers.byteCount(at: $0, in: lane) <= mostBuffered / 2 },
                holdsUpOthers: { _ in isAnotherHeldUp(by: full, waiting: waits[lane.rawValue]) })
        }
        let guaranteed = memory.hubs(ports.count).guaranteed
        ports.fullOfDelayed.update(
            now: now,
            isHalfFree: { number in
                let held = byteCounts.indices.contains(number) ? byteCounts[number] : 0
                return ports.peek(at: number).ready.delayedCount <= ReadyCalls.mostDelayed / 2 && held <= guaranteed / 2
            },
            // It is not known what else is due behind the first record of a partition.
            holdsUpOthers: { _ in true })
    }

    /// True if a hub that is not full would wait for too long: a minute, or less if it is in use and has nothing to do.
    private func isAnotherHeldUp(by full: FullHubs, waiting seconds: Double) -> Bool {
        guard seconds * 1e9 > Double(FullHubs.patience) else { return false }
        return ports.contains { port in
            !port.isRetired && !full.isFull(port.number)
                && (seconds > Self.longWait || isIdle(port) && port.isInUse(now: now))
        }
    }

    private func defers(_ number: Int, of full: FullHubs) -> Bool {
        canDefer && (full.isDeferring(number) || ports.peek(at: number).limits.isOut(for: FullHubs.patience, now: now))
    }
}

// New requests.
extension HubRoom {
    private var mostBuffered: Int { memory.buffered / ports.count }

    private func isFull(_ number: Int, in lane: Lane) -> Bool { buffers.byteCount(at: number, in: lane) >= mostBuffered }

    /// Notes that more is buffered for a hub.
    func noteBuffered(at number: Int, in lane: Lane) {
        if isFull(number, in: lane) { ports.fullOfBuffered[lane.rawValue].noteFull(number, now: now) }
    }

    /// True if a request of a hub and lane is deferred rather than buffered.
    func isDeferred(at port: HubPort, in lane: Lane) -> Bool {
        isFull(port.number, in: lane) && defers(port.number, of: ports.fullOfBuffered[lane.rawValue])
    }

    /// True if a lane is not read on, because what comes next may find no room and would not be deferred.
    func isHeldUp(_ lane: Lane) -> Bool {
        let full = ports.fullOfBuffered[lane.rawValue]
        return full.numbers.contains { isFull($0, in: lane) && !defers($0, of: full) }
    }
}

// Requests from delay lanes.
extension HubRoom {
    /// True if a request has no room beside the others of its hub that come from delay lanes, or the hub has none for another one.
    private func isFullOfDelayed(_ port: HubPort, for flight: Flight? = nil) -> Bool {
        port.ready.delayedCount >= ReadyCalls.mostDelayed || !hasShare(port, for: flight)
    }

    /// True if a request from a delay lane is deferred again. Notes that its hub has no room.
    func defersAgain(_ flight: Flight, at port: HubPort) -> Bool {
        guard isFullOfDelayed(port, for: flight) else { return false }
        ports.fullOfDelayed.noteFull(port.number, now: now)
        return defers(port.number, of: ports.fullOfDelayed)
    }

    /// True if delay lanes are not read on, because what comes next may find no room and would not be deferred. Without lanes there is
    /// nothing to read.
    var areDelaysHeldUp: Bool {
        canDefer
            && ports.fullOfDelayed.numbers.contains {
                isFullOfDelayed(ports.peek(at: $0)) && !defers($0, of: ports.fullOfDelayed)
            }
    }
}
