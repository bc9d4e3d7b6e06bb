import Delivery
import FanOut
import PushModel

/// Puts large requests into a batch: their parts step by step, the record by which these are counted, and what became of each of them.
struct ExpansionRecorder {
    /// The partitions of the topic of parents, which is there when the producer is ready.
    var partitionCount: Int32 = 0

    /// Adds parts of a request, and its record in the topic of parents if they are the first: one step of `RemainingParts`, in
    /// about `room` bytes. Returns the number of parts of the whole. Throws `recordTooLarge`, with nothing added, when too much
    /// would stand in every part.
    func record(
        _ flight: Flight, body: JSONDocument.Node, using planner: FanOutPlanner, over spread: HubSpread?, room: Int,
        into batch: inout OutcomeBatch
    ) throws(RequestFault) -> Int {
        let request = flight.request
        if request.remaining != nil {
            guard let whole = PartReference(of: request), let parts = RemainingParts(of: request, body: body) else {
                throw RequestFault(.internal, at: "/parent/remaining", message: "The parts behind this one cannot be read.")
            }
            let writer = PartWriter(request, body: body, platforms: request.platforms, of: whole)
            write(parts, with: writer, of: flight, key: whole.key, room: room, into: &batch)
            return whole.chunks
        }
        let (parts, calls) = divide(flight, using: planner, over: spread)
        let key = ParentKey(of: flight.place.origin, id: request.document.span(request.id))
        let partition = key.partition(of: partitionCount)
        let writer = PartWriter(
            request, body: body, platforms: Self.platforms(of: request, using: planner), key: key, partition: partition,
            chunks: parts.count, publishedAt: flight.place.origin.timestamp)
        try checkSize(writer, chunks: parts.count)
        batch.add(.parents(partition), of: flight.place.source) { record in
            record.setKey { key.append(.parent, to: &$0) }
            record.setValue {
                ParentRecord.append(
                    request, chunks: parts.count, calls: calls, origin: (flight.place.origin, flight.report.consumedAt), to: &$0)
            }
        }
        write(parts, with: writer, of: flight, key: key, room: room, into: &batch)
        return parts.count
    }

    /// All parts of a request that was planned, and their calls.
    private func divide(
        _ flight: Flight, using planner: FanOutPlanner, over spread: HubSpread?
    ) -> (parts: RemainingParts, calls: Int) {
        let (request, plan) = (flight.request, flight.work.plan)
        var parts = RemainingParts()
        if let spread {
            let spreadParts = planner.parts(of: plan, for: request, over: spread)
            for chunk in 0..<spreadParts.count {
                parts.add(hub: spread.hubs[spreadParts.hub(of: chunk)]) {
                    spreadParts.appendAudience(of: chunk, in: plan, for: request, to: &$0)
                }
            }
            return (parts, spreadParts.callCount)
        }
        let expansion = planner.expansion(of: plan, for: request)
        for chunk in 0..<expansion.count { parts.add { plan.appendAudience(of: chunk, in: expansion, for: request, to: &$0) } }
        return (parts, expansion.callCount)
    }

    /// Adds as many parts as have room, and the continuation for the others. Each goes to the partition that its number says.
    private func write(
        _ parts: RemainingParts, with writer: PartWriter, of flight: Flight, key: ParentKey, room: Int,
        into batch: inout OutcomeBatch
    ) {
        let request = flight.request
        let source = flight.place.source
        let first = UInt32(truncatingIfNeeded: key.digest) &+ UInt32(truncatingIfNeeded: parts.first)
        let step = parts.stepCount(repeated: writer.repeatedByteCount, room: room)
        for index in 0..<min(step + 1, parts.count) {
            batch.add(.own(first &+ UInt32(truncatingIfNeeded: index)), of: source) { record in
                record.setValue { value in
                    if index < step {
                        writer.append(index, of: parts, to: &value)
                    } else {
                        writer.appendContinuation(from: index, of: parts, to: &value)
                    }
                }
                addHeaders(of: request, to: &record)
            }
        }
    }

    /// The bytes that the parts of a request may repeat together.
    private static let largestExpansion = 32 << 20

    private func checkSize(_ writer: PartWriter, chunks: Int) throws(RequestFault) {
        let size = writer.repeatedByteCount
        let largestPart = PartWriter.maximumRepeatedByteCount
        guard size > min(largestPart, Self.largestExpansion / max(chunks, 1)) else { return }
        throw RequestFault(
            .recordTooLarge, at: "",
            message: "The request is sent in \(chunks) parts, each of which would repeat \(size) bytes that are not its audience;"
                + " \(largestPart) are allowed, and \(Self.largestExpansion) in all parts.")
    }

    /// A template has no platform, and handles bring their own.
    private static func platforms(of request: PushRequest, using planner: FanOutPlanner) -> PlatformSet {
        if case .devices = request.audience { return [] }
        return request.template == nil ? planner.platforms(of: request) : []
    }

    /// The media type, and the trace, which parts carry on.
    private func addHeaders(of request: PushRequest, to record: inout OutcomeBatch.Builder) {
        record.addHeader("content-type") { $0.append("application/json") }
        guard let parent = request.traceParent else { return }
        record.addHeader("traceparent") { $0.append(request.document.span(parent)) }
        if let state = request.traceState { record.addHeader("tracestate") { $0.append(request.document.span(state)) } }
    }

    /// Adds what the part that `flight` carries came to, beside its result.
    func record(_ conclusion: Conclusion, of flight: Flight, into batch: inout OutcomeBatch) {
        guard let part = PartReference(of: flight.request) else { return }
        let tally = PartTally(chunk: part.chunk, conclusion: conclusion, report: flight.report)
        record(tally, ofPartsIn: flight.request, from: flight.place.source, into: &batch)
    }

    /// Adds one tally for each part that a request carries, if it is a part.
    func record(
        _ tally: PartTally, ofPartsIn request: borrowing PushRequest, from source: OutcomeBatch.Origin,
        into batch: inout OutcomeBatch
    ) {
        guard let part = PartReference(of: request) else { return }
        for chunk in part.carried(by: request) {
            batch.add(.parents(part.partition), of: source) { record in
                record.setKey { part.key.append(.part(chunk), to: &$0) }
                record.setValue { tally.append(to: &$0) }
            }
        }
    }

    /// Adds what deletes the records of a request that is finished. How far its file was read stays, so that it is not enqueued again.
    func close(
        _ parent: OpenParents.Finished, partition: Int32, from source: OutcomeBatch.Origin, into batch: inout OutcomeBatch
    ) {
        batch.add(.parents(partition), of: source) { record in record.setKey { parent.key.append(.parent, to: &$0) } }
        for chunk in 0..<parent.chunks { delete(chunk, of: parent.key, partition: partition, from: source, into: &batch) }
    }

    /// Adds what deletes the record of a part.
    func delete(
        _ chunk: Int, of key: ParentKey, partition: Int32, from source: OutcomeBatch.Origin, into batch: inout OutcomeBatch
    ) {
        batch.add(.parents(partition), of: source) { record in record.setKey { key.append(.part(chunk), to: &$0) } }
    }
}
