import Delivery
import FanOut
import Kafka
import PushModel

/// Puts large requests into a batch: their parts, the record by which these are counted, and what became of each of them.
struct ExpansionRecorder {
    /// Adds the parts of a request, and its record in the topic of parents.
    ///
    /// - Parameters:
    ///   - flight: The request, planned.
    ///   - body: The object of its document that holds its fields.
    ///   - planner: What planned it.
    ///   - spread: The hubs that it goes to, when they are several: each part names its own.
    ///   - partitionCount: The partitions of the topic of parents.
    ///   - batch: Gets the records.
    /// - Returns: The number of parts.
    /// - Throws: `recordTooLarge` when too much would stand in every part; nothing was added then.
    func record(
        _ flight: Flight, body: JSONDocument.Node, _ planner: FanOutPlanner, over spread: HubSpread?, partitionCount: Int32,
        into batch: inout OutcomeBatch
    ) throws(RequestFault) -> Int {
        let (request, plan) = (flight.request, flight.plan)
        if let spread {
            let parts = planner.parts(of: plan, request, over: spread)
            try write(flight, body: body, planner, parts.count, calls: parts.callCount, partitionCount, into: &batch) {
                chunk, writer, value in
                writer.append(chunk, hub: spread.hubs[parts.hub(of: chunk)], to: &value) {
                    parts.appendAudience(of: chunk, plan, request, to: &$0)
                }
            }
            return parts.count
        }
        let expansion = planner.expansion(of: plan, request)
        try write(flight, body: body, planner, expansion.count, calls: expansion.callCount, partitionCount, into: &batch) {
            chunk, writer, value in
            writer.append(chunk, to: &value) { plan.appendAudience(of: chunk, in: expansion, request, to: &$0) }
        }
        return expansion.count
    }

    private func write(
        _ flight: Flight, body: JSONDocument.Node, _ planner: FanOutPlanner, _ chunks: Int, calls: Int, _ partitionCount: Int32,
        into batch: inout OutcomeBatch, part: (Int, PartWriter, inout ByteWriter) -> Void
    ) throws(RequestFault) {
        let request = flight.request
        let key = ParentKey(of: flight.origin)
        let partition = key.partition(of: partitionCount)
        let source = OutcomeBatch.Origin(slot: flight.slot, offset: flight.offset)
        let writer = PartWriter(
            request, body: body, platforms: Self.platforms(of: request, planner), key: key, partition: partition,
            chunks: chunks, publishedAt: flight.origin.timestamp)
        try checkSize(writer, chunks)
        batch.add(.parents(partition), of: source) { record in
            record.setKey { key.append(.parent, to: &$0) }
            record.setValue {
                ParentRecord.append(
                    request, chunks: chunks, calls: calls, origin: (flight.origin, flight.report.consumedAt), to: &$0)
            }
        }
        let first = UInt32(truncatingIfNeeded: key.digest)
        for chunk in 0..<chunks {
            batch.add(.own(first &+ UInt32(chunk)), of: source) { record in
                record.setValue { part(chunk, writer, &$0) }
                addHeaders(of: request, to: &record)
            }
        }
    }

    /// What the parts of a request may repeat together, bytes: they are written in one transaction.
    private static let largestExpansion = 32 << 20

    private func checkSize(_ writer: PartWriter, _ chunks: Int) throws(RequestFault) {
        let size = writer.repeatedByteCount
        let largestPart = PartWriter.maximumRepeatedByteCount
        guard size > min(largestPart, Self.largestExpansion / max(chunks, 1)) else { return }
        throw RequestFault(
            .recordTooLarge, "",
            "The request is sent in \(chunks) parts, each of which would repeat \(size) bytes that are not its audience;"
                + " \(largestPart) are allowed, and \(Self.largestExpansion) in all parts.")
    }

    /// A template has no platform, and handles bring their own.
    private static func platforms(of request: PushRequest, _ planner: FanOutPlanner) -> PlatformSet {
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

    /// Adds what became of a part.
    func record(_ tally: PartTally, of part: PartReference, from source: OutcomeBatch.Origin, into batch: inout OutcomeBatch) {
        batch.add(.parents(part.partition), of: source) { record in
            record.setKey { part.key.append(.part(part.chunk), to: &$0) }
            record.setValue { tally.append(to: &$0) }
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
