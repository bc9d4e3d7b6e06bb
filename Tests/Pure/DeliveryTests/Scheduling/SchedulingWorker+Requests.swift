import Basics
import PushModel

@testable import Delivery

/// A request from its start to its end: it waits for its time, is sent, and is settled.
extension SchedulingWorker {
    mutating func start(_ flight: Flight, at broker: SchedulingBroker) {
        let request = broker.requests[flight.request]
        if request.isCancelled { return end(flight) }
        let isFirst = if case .requests = places[flight.slot] { true } else { false }
        if isFirst, request.notBefore > broker.now, delay(flight, until: request.notBefore, at: broker) { return }
        if let until = held(flight, broker), delay(flight, until: until, at: broker, ownDue: flight.ownDue) { return }
        if flight.mustDefer,
            delay(flight, until: DelayPolicy.deferral(publishedAt: request.publishedAt, now: broker.now), at: broker)
        {
            return
        }
        var flight = flight
        flight.due = max(flight.ownDue, request.notBefore)
        if flight.due > broker.now, sabotage != .ignoresTheTime {
            // A held one is held again, and one that was examined before its time goes back to a lane.
            if !delay(flight, until: flight.due, at: broker) { waiting.append(flight) }
        } else {
            makeReady(flight, at: broker)
        }
    }

    /// The end of the hold that concerns a request, or nil.
    private func held(_ flight: Flight, _ broker: SchedulingBroker) -> Timestamp? {
        sabotage == .ignoresHolds ? nil : broker.heldUntil(flight.request)
    }

    mutating func makeReady(_ flight: Flight, at broker: SchedulingBroker) {
        if broker.requests[flight.request].isCancelled { return end(flight) }
        ready[broker.requests[flight.request].tenant, default: []].append(flight)
    }

    /// Puts a request where it waits. False if it waits in memory.
    mutating func delay(
        _ flight: Flight, until due: Timestamp, at broker: SchedulingBroker, isLeft: Bool = false, ownDue: Timestamp? = nil
    ) -> Bool {
        if let key = flight.key {
            guard let number = scheduler.hold(key, in: flight.slot, until: due, byteCount: 100, isLeft: isLeft, now: broker.now)
            else { return false }
            counts.held += 1
            var flight = flight
            flight.key = nil
            write(flight, to: .held(Int(number) / Topics.heldLanes), due: due, ownDue: ownDue)
        } else {
            guard let lane = scheduler.delays.lane(until: due, expiresAt: nil, isLeft: isLeft, now: broker.now) else {
                return false
            }
            counts.delayed += 1
            write(flight, to: .delay(lane), due: due, ownDue: ownDue)
        }
        return true
    }

    mutating func write(_ flight: Flight, to place: Place, due: Timestamp, ownDue: Timestamp? = nil) {
        var calls = flight.calls
        if sabotage == .forgetsWhatIsDone { calls = calls.map { $0.isDone ? .init() : $0 } }
        let copy = Copy(request: flight.request, due: due, ownDue: ownDue ?? due, calls: calls, writtenAt: .past)
        writes.append((flight.slot, flight.offset, .init(place: place, copy: copy)))
        settle(flight)
    }

    mutating func settle(_ flight: Flight) {
        if let key = flight.key, sabotage != .keepsTheTurn { scheduler.completed(key, in: flight.slot) }
        if !isFinished.insert([Int64(flight.slot), flight.offset]).inserted {
            fault = "record \(flight.offset) of \(places[flight.slot]) ends twice"
        }
        finished.append((flight.slot, flight.offset))
    }

    mutating func end(_ flight: Flight) {
        results.append(flight.request)
        settle(flight)
    }

    /// Makes the call of a tenant whose turn it is.
    mutating func send(_ broker: inout SchedulingBroker, value: Int, others: Set<Int>) {
        let tenants = ready.keys.sorted()
        guard isAlive, !tenants.isEmpty, inFlight.count < Self.most else { return }
        let tenant = tenants[value % tenants.count]
        guard var flight = ready[tenant]?.removeFirst() else { return }
        if ready[tenant]?.isEmpty ?? false { ready[tenant] = nil }
        let request = broker.requests[flight.request]
        if request.isCancelled { return end(flight) }
        if let until = held(flight, broker) {
            counts.keptBack += 1
            if delay(flight, until: until, at: broker, ownDue: flight.ownDue) { return }
            flight.due = broker.now.adding(milliseconds: 1000)
            return waiting.append(flight)
        }
        if broker.heldUntil(flight.request) != nil { fault = "\(request) is sent while it is held" }
        if broker.now < max(request.notBefore, flight.due) { fault = "\(request) is sent before its time" }
        if let key = request.key {
            let earlier = broker.requests.indices.first { index in
                let other = broker.requests[index]
                return other.key == key && other.partition == request.partition && other.offset < request.offset
                    && other.results == 0
                    && !results.contains(index)
            }
            if let earlier { fault = "\(request) is sent before \(broker.requests[earlier])" }
            if others.contains(where: { broker.requests[$0].key == key && broker.requests[$0].partition == request.partition }) {
                fault = "\(request) is sent while another of its key is in flight"
            }
        }
        let call = flight.next
        if flight.calls[call].isDone { fault = "a call of \(request) is made that is done" }
        flight.calls[call].attempts += 1
        broker.requests[flight.request].attempts[call] += 1
        let none = (flight.request, flight.calls.map { _ in 0 })
        attempts[[Int64(flight.slot), flight.offset], default: none].counts[call] += 1
        inFlight.append((flight, call))
    }

    /// The requests in flight.
    var requestsInFlight: [Int] { inFlight.map(\.flight.request) }

    /// A call ends. The request ends with its last one. Before, it makes a call that was not tried yet, or waits for its next attempt.
    mutating func complete(_ broker: inout SchedulingBroker, value: Int) {
        guard !inFlight.isEmpty else { return }
        var (flight, call) = inFlight.remove(at: value % inFlight.count)
        let request = broker.requests[flight.request]
        flight.calls[call].isDone = flight.calls[call].attempts > request.failures[call]
        if request.isCancelled { return end(flight) }
        if flight.calls.allSatisfy(\.isDone) {
            if flight.calls.map(\.attempts) != request.failures.map({ $0 + 1 }) { fault = "\(request) tells other attempts" }
            return end(flight)
        }
        if flight.calls[flight.next].attempts == 0 { return makeReady(flight, at: broker) }
        flight.due = broker.now.adding(milliseconds: request.wait)
        if !delay(flight, until: flight.due, at: broker) { waiting.append(flight) }
    }
}
