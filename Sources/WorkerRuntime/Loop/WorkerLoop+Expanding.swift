import Delivery
import FanOut
import HubREST
import Kafka
import Observability
import PushModel

/// Requests that need more calls than one may make: they become requests of their own in our own lane, in the transaction that counts
/// them as read. They have their result when the last of these has ended.
extension WorkerLoop {
    /// Divides a large request, unless it is too early or it is cancelled.
    func startLarge(_ flight: Flight) {
        if flight.request.options.dryRun {
            endWhole(flight, message: "dry run: nothing was sent")
            return
        }
        if let delayed = flight.delayed {
            flight.report.consumedAt = delayed.report.consumedAt
        } else if flight.cancellation == nil, delayStart(flight) {
            // One record waits, not hundreds.
            return
        }
        if let cancellation = flight.cancellation {
            endWhole(flight, message: cancellation.reason.map { "cancelled: \($0)" } ?? "cancelled")
            return
        }
        expand(flight)
    }

    /// Ends a request of which no part was written.
    private func endWhole(_ flight: Flight, message: String) {
        flight.report.faults.append(RequestFault(.cancelled, at: "", message: message))
        finish(flight)
    }

    /// Writes parts of a large request, as many as one commit should have, and what continues it if there are more. A continuation is
    /// divided even if it is cancelled or comes too late: each of its parts has an end of its own.
    func expand(_ flight: Flight) {
        headers.removeAll()
        flight.envelope.forEachHeader { name, value in if let value { headers.add(name: name, value: value) } }
        guard let body = ownReader.body(of: flight.request.document, headers: headers) else {
            flight.report.faults.append(RequestFault(.internal, at: "", message: "The request cannot be divided."))
            finish(flight)
            return
        }
        let count: Int
        do throws(RequestFault) {
            count = try recorders.expansions.record(
                flight, body: body, using: planner, over: flight.spread.map { routes.spreads[$0].hubs },
                room: cycle.roomOfUnit, into: &outbox)
        } catch {
            flight.report.faults.append(error)
            reject(flight)
            return
        }
        if flight.request.remaining == nil {
            metrics.requestsExpanded.increment()
            log.info(
                .requestExpanded, "a large request was divided into parts",
                [.requestID: .string(flight.request.document.string(flight.request.id)), .count: LogValue(count)])
        }
        settle(flight)
    }
}
