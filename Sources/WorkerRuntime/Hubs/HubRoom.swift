import Basics
import Delivery
import PushModel

/// The room that hubs have for requests that wait, at a moment. Each has its part of the buffers and of the memory for requests in work,
/// and some calls from delay lanes may wait there.
///
/// What finds no room is not read at first, for that costs nothing. A hub that is out must not cause head-of-line blocking for others, nor
/// one whose room stays full while much is unread and another hub has nothing to do: what finds no room there is deferred, until half of
/// its room is free.
struct HubRoom {
    let ports: HubPorts
    let buffers: HubBuffers
    let memory: MemoryBudget
    /// The memory that requests in work take, by the hubs' numbers.
    let byteCounts: [Int]
    /// True if there are delay lanes.
    let canDefer: Bool
    /// True if so many records are unread that those behind them wait for long.
    let isBehind: (inRequests: Bool, inDelays: Bool)
    let now: MonotonicTime

    /// True if a hub has memory for `flight`, or for another request.
    func hasShare(_ port: HubPort, for flight: Flight? = nil) -> Bool {
        ports.hasShare(port, for: flight, among: byteCounts, of: memory)
    }

    /// True if a hub could take calls at once but has none.
    func isIdle(_ port: HubPort) -> Bool {
        !port.isRetired && port.ready.isEmpty && buffers.count(at: port.number) == 0 && port.limits.waitEnd(now: now) == nil
    }

    private func defers(_ port: HubPort, of full: inout FullHubs, isBehind: Bool) -> Bool {
        guard canDefer else { return false }
        if port.limits.isOut(now: now) || full.isDeferring(port.number) { return true }
        guard isBehind, full.isOverdue(port.number, now: now), ports.contains(where: isIdle) else { return false }
        full.beginDeferral(port.number)
        return true
    }
}

// New requests.
extension HubRoom {
    private var mostBuffered: Int { memory.buffered / ports.count }

    /// Notes that more is buffered for a hub.
    func noteBuffered(at number: Int, in lane: Lane) {
        let used = buffers.byteCount(at: number, in: lane)
        ports.fullOfBuffered[lane.rawValue].note(number, holding: used, of: mostBuffered, now: now)
    }

    /// True if a request of a hub and lane is deferred rather than buffered.
    func isDeferred(at port: HubPort, in lane: Lane) -> Bool {
        buffers.byteCount(at: port.number, in: lane) >= mostBuffered
            && defers(port, of: &ports.fullOfBuffered[lane.rawValue], isBehind: isBehind.inRequests)
    }

    /// True if a lane is not read on, because what comes next may find no room and would not be deferred.
    func isHeldUp(_ lane: Lane) -> Bool {
        ports.fullOfBuffered[lane.rawValue].numbers.contains { number in
            noteBuffered(at: number, in: lane)
            let isFull = buffers.byteCount(at: number, in: lane) >= mostBuffered
            return isFull && !isDeferred(at: ports.peek(at: number), in: lane)
        }
    }
}

// Requests from delay lanes.
extension HubRoom {
    /// True if a request is deferred again, if it is one of those that must not wait here beside the others of its hub.
    func isDeferredAgain(_ flight: Flight, at port: HubPort) -> Bool {
        noteDelayed(at: port, hasShare: hasShare(port, for: flight)) && defersDelayed(port)
    }

    /// True if delay lanes are not read on, because what comes next may find no room and would not be deferred. Without lanes there is
    /// nothing to read.
    var areDelaysHeldUp: Bool {
        canDefer
            && ports.fullOfDelayed.numbers.contains { number in
                let port = ports.peek(at: number)
                return noteDelayed(at: port, hasShare: hasShare(port)) && !defersDelayed(port)
            }
    }

    private func defersDelayed(_ port: HubPort) -> Bool {
        defers(port, of: &ports.fullOfDelayed, isBehind: isBehind.inDelays)
    }

    /// Notes what waits at a hub. Returns true if there is no room for more.
    private func noteDelayed(at port: HubPort, hasShare: Bool) -> Bool {
        let used = max(port.ready.delayedCount, hasShare ? 0 : ReadyCalls.mostDelayed)
        ports.fullOfDelayed.note(port.number, holding: used, of: ReadyCalls.mostDelayed, now: now)
        return used >= ReadyCalls.mostDelayed
    }
}
