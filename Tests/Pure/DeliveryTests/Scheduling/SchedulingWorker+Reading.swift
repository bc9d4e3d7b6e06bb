import Basics
import PushModel

@testable import Delivery

/// Reading requests, delay lanes and held requests.
extension SchedulingWorker {
    func key(of request: SchedulingBroker.Request) -> RequestIdentity? {
        guard let number = request.key, sabotage != .ignoresKeys else { return nil }
        var key = RequestIdentity(seed: 0)
        key.add(UInt64(number))
        return key
    }

    private func origin(of request: SchedulingBroker.Request) -> RecordOrigin {
        RecordOrigin(topic: "r", partition: Int32(request.partition), offset: request.offset, timestamp: request.publishedAt)
    }

    func record(_ flight: Flight, at broker: SchedulingBroker) -> BufferedRecord {
        let request = broker.requests[flight.request]
        return BufferedRecord(
            slot: flight.slot, offset: flight.offset, lane: .normal, origin: origin(of: request), receivedAt: broker.monotonic,
            waitingSince: broker.now, key: flight.key, envelope: RecordEnvelope(), value: ByteWriter(),
            writtenAt: places[flight.slot].isHeld ? copy(flight.slot, flight.offset, broker)?.writtenAt ?? .never : .never)
    }

    func copy(_ slot: Int, _ offset: Int64, _ broker: SchedulingBroker) -> Copy? {
        broker.records(at: places[slot]).records[offset]
    }

    /// Makes a flight of a record that was buffered.
    mutating func resume(_ record: BufferedRecord, at broker: SchedulingBroker) -> Flight? {
        guard let copy = copy(record.slot, record.offset, broker) else {
            fault = "record \(record.offset) of \(places[record.slot]) waits though it is finished"
            return nil
        }
        return Flight(
            request: copy.request, slot: record.slot, offset: record.offset, due: copy.due, ownDue: copy.ownDue,
            calls: copy.calls,
            key: record.key)
    }

    func isTaken(_ slot: Int, _ offset: Int64) -> Bool { isFinished.contains([Int64(slot), offset]) }

    /// True if the window of a partition has to move before it can be read on.
    func isBlocked(_ slot: Int, _ broker: SchedulingBroker) -> Bool {
        let window = places[slot].isHeld ? Int64(Self.heldWindow) : Self.window
        return positions[slot] - lowWaterMark(slot, broker) >= window
    }

    private func lowWaterMark(_ slot: Int, _ broker: SchedulingBroker) -> Int64 {
        let log = broker.records(at: places[slot])
        return log.records.keys.filter { !isTaken(slot, $0) && $0 < positions[slot] }.min() ?? positions[slot]
    }

    /// The next record of a partition, or nil.
    mutating func read(_ slot: Int, _ broker: SchedulingBroker) -> Flight? {
        let log = broker.records(at: places[slot])
        while positions[slot] < log.end, !isBlocked(slot, broker) {
            let offset = positions[slot]
            positions[slot] += 1
            guard let copy = log.records[offset] else { continue }
            return Flight(
                request: copy.request, slot: slot, offset: offset, due: copy.due, ownDue: copy.ownDue, calls: copy.calls)
        }
        return nil
    }

    mutating func readHeld(_ broker: SchedulingBroker, most: Int) {
        for slot in scheduler.heldSlots {
            for _ in 0..<most {
                guard let flight = read(slot, broker), let key = key(of: broker.requests[flight.request]) else { break }
                let written = copy(flight.slot, flight.offset, broker)?.writtenAt ?? .never
                let mayGoOn = broker.requests[flight.request].isCancelled || broker.waitedForRelease(written)
                if !scheduler.offer(record(flight, at: broker), of: key, due: mayGoOn ? .past : flight.due) { settle(flight) }
            }
            let isAtEnd = positions[slot] == broker.records(at: places[slot]).end
            if scheduler.isReadingHeld(slot), isAtEnd || sabotage == .startsKeysBeforeAllIsRead { scheduler.heldIsRead(slot) }
            let mark = lowWaterMark(slot, broker)
            for move in scheduler.relocate(in: slot, lowWaterMark: mark, position: positions[slot]) {
                counts.relocated += 1
                perform(move, at: broker)
            }
        }
    }

    /// Begins what `WorkerLoop.beginSweep` does.
    mutating func beginSweep(_ broker: SchedulingBroker) {
        if !sweep.isConsidered {
            let age = broker.now.milliseconds(since: bornAt)
            let youth = LaneSweep.youth / 1_000_000
            let isNeeded =
                age < youth ? broker.mayHaveWaiting : heardAt.map { broker.now.milliseconds(since: $0) < youth } ?? false
            sweep.consider(isNeeded: isNeeded && sabotage != .sweepsOnlyWhatItHears, now: broker.monotonic)
        }
        if let release = broker.release, release.at > heardRelease {
            heardRelease = release.at
            heardAt = broker.now
            sweep.request(now: broker.monotonic)
        }
        guard sabotage != .neverSweeps, sweep.begins(now: broker.monotonic, at: broker.now) else { return }
        counts.swept += 1
        scheduler.hurry { heldSlots.contains($0.slot) }
    }

    private var heldSlots: Range<Int> { scheduler.heldSlots }

    mutating func readDelayed(_ broker: SchedulingBroker, most: Int) {
        for slot in places.indices {
            guard case .delay(let lane) = places[slot] else { continue }
            for _ in 0..<most {
                guard let flight = heads.removeValue(forKey: slot) ?? read(slot, broker) else { break }
                let written = copy(flight.slot, flight.offset, broker)?.writtenAt ?? broker.now
                let recheck = DelayLanes.recheckTime(in: lane, written: written, due: flight.due, now: broker.now)
                let isSwept = sweep.covers(recordWrittenAt: written, in: slot)
                if recheck > broker.now, !isSwept, !broker.requests[flight.request].isCancelled, sabotage != .ignoresTheTime {
                    heads[slot] = flight
                    break
                }
                if !broker.requests[flight.request].isCancelled, !isSwept,
                    let next = scheduler.delays.nextLane(until: flight.due, expiresAt: nil, now: broker.now)
                {
                    counts.handedOn += 1
                    write(flight, to: .delay(next), due: flight.due, ownDue: flight.ownDue)
                } else {
                    start(flight, at: broker)
                }
            }
        }
    }

    mutating func readRequests(_ broker: SchedulingBroker, most: Int) {
        for slot in places.indices {
            guard case .requests = places[slot] else { continue }
            for _ in 0..<most {
                guard var flight = read(slot, broker) else { break }
                let request = broker.requests[flight.request]
                if let key = key(of: request) {
                    guard scheduler.takeTurn(of: key, in: slot, origin: origin(of: request)) else {
                        counts.behindKeys += 1
                        if !scheduler.offer(record(flight, at: broker), of: key) { settle(flight) }
                        continue
                    }
                    flight.key = key
                }
                seat(flight, at: broker)
            }
        }
    }
}
