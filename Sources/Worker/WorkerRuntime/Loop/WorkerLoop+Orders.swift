import Delivery
import PushModel

/// The orders that stand, asked about a request. While a hold stands, nothing in its scope is begun.
///
/// A request that a hold concerns waits like one that must not be sent yet, in a delay lane or, with an ordering key, in the topic of held
/// requests, until the hold ends. So it takes no room of what passes. Without a lane it waits in memory, with its partition behind it.
/// A request in memory is found when the turn of one of its calls has come. A hold that ends before its time leaves records in lanes that
/// wait for that time: the lanes are swept, each record once.
extension WorkerLoop {
    /// The present moment by which orders stand and end. It goes on where the machine's clock jumps.
    var orderTime: Timestamp { controlTopic.time(wall: wallClock, now: now) }

    /// The hold that concerns a request whose hub is known, or nil.
    func hold(of flight: Flight) -> OrderRecord? {
        guard controlTopic.orders.slowsRequests else { return nil }
        let (hub, lane) = (hubName(of: flight), flight.route.lane.name)
        return lend(&flight.request) { controlTopic.orders.hold(of: $0, hub: hub, lane: lane, now: orderTime) }
    }

    /// The cancellation of a request, or nil if nothing cancels it.
    func cancellation(of flight: Flight) -> Cancellations.Cancellation? {
        guard !controlTopic.cancellations.isEmpty || controlTopic.orders.cancelsRequests else { return nil }
        let published = flight.place.origin.timestamp
        return lend(&flight.request) { request in
            controlTopic.cancellations.cancellation(of: request, published: published)
                ?? orderedCancellation(of: request, published: published, hub: hubName(of: flight), lane: flight.route.lane)
        }
    }

    /// The cancellation of a request by an order, or nil if none cancels it.
    func orderedCancellation(
        of request: borrowing PushRequest, published: Timestamp, hub: String?, lane: Lane
    ) -> Cancellations.Cancellation? {
        guard controlTopic.orders.cancelsRequests else { return nil }
        // A part was published with its whole, and a replay by itself.
        let moment = PartReference(of: request)?.publishedAt ?? published
        return controlTopic.orders.cancellation(of: request, published: moment, hub: hub, lane: lane.name).map {
            Cancellations.Cancellation(moment: $0.since, reason: $0.reason)
        }
    }

    /// The name of the hub that a request's calls go to, or nil for none, or several.
    private func hubName(of flight: Flight) -> String? {
        flight.route.fault == nil && flight.route.spread == nil ? ports.peek(at: flight.route.port).name : nil
    }

    /// True if a hold concerned a request at a moment, also one that has ended since.
    func wasHeld(_ flight: Flight, at moment: Timestamp?) -> Bool {
        guard let moment, controlTopic.orders.mayHold(at: moment) else { return false }
        let (hub, lane) = (hubName(of: flight), flight.route.lane.name)
        return lend(&flight.request) { controlTopic.orders.held($0, hub: hub, lane: lane, at: moment) }
    }

    /// True if the first record of a delay lane's partition is examined before its time.
    func isSwept(_ slot: Int) -> Bool {
        guard delayedPartitions.sweep.isSweeping(slot),
            let written = partitions[slot].head?.wait.writtenAt ?? partitions[slot].unread?.writtenAt
        else { return false }
        return delayedPartitions.sweep.covers(recordWrittenAt: written, in: slot)
    }

    /// The same of a record that was read.
    func isSwept(_ flight: Flight) -> Bool {
        flight.wait.writtenAt.map { delayedPartitions.sweep.covers(recordWrittenAt: $0, in: flight.place.slot) } ?? false
    }
}
