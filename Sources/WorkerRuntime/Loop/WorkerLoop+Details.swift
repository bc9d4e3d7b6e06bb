import Basics
import CurlHTTP
import Crypto
import HTTP1
import Observability
import Outcomes
import PushModel

/// Devices that push services refused: from the list that a notification's telemetry links to, to the topic of dead handles.
extension WorkerLoop {
    /// Begins to read the list of devices that were refused, if it can hold dead handles and there is a topic for them.
    ///
    /// - Returns: Whether it is being read; the outcome is recorded afterwards, in one transaction with what it lists.
    func beginDetails(_ flight: Flight, poll: OutcomePoll, outcome: CallOutcome) -> Bool {
        guard details.isWanted, let telemetry = outcome.telemetry, let link = telemetry.errorDetails,
            telemetry.counts.contains(where: { $0.count > 0 && $0.outcome.isHandleDead })
        else { return false }
        let port = ports[flight.port]
        let deadline = now + port.requestNanoseconds
        let id = ExchangeID(flight, call: 0).number
        guard details.read(link, like: port.settings.connections, id: id, deadline: deadline) else {
            port.metrics.readDetails("skipped")
            return false
        }
        poll.phase = .reading
        poll.outcome = outcome
        return true
    }

    /// Takes the lists that have come.
    func handleDetails() {
        while let completion = details.nextCompletion() {
            let (number, _, end) = completion.parts()
            let id = ExchangeID(number: number)
            let flight = flights[id.flight]
            guard id.isPoll(of: flight), let poll = flight.poll, let outcome = poll.outcome else { continue }
            switch consume end {
            case .answer(let answer): readDetails(flight, answer: answer)
            case .failure(let failure): noteDetailsFailure(failure.reason.label, of: flight)
            }
            finish(flight, poll: poll, outcome: outcome)
        }
    }

    private func readDetails(_ flight: Flight, answer: borrowing Answer) {
        guard answer.status == 200 else { return noteDetailsFailure("status \(answer.status)", of: flight) }
        let list = RefusedDeviceList(reading: answer.body)
        for device in list.devices where device.outcome.isHandleDead { record(device, of: flight) }
        if let fault = list.fault {
            noteDetailsFailure(fault.description, of: flight)
        } else {
            ports[flight.port].metrics.readDetails("read")
        }
    }

    private func record(_ device: RefusedDevice, of flight: Flight) {
        let hashed = DeviceToken.hashedForm(of: device.handle, on: Platform(name: device.platform))
        guard let fingerprint = try? SHA256.hexadecimalDigest(of: Array(hashed.utf8)) else {
            return noteDetailsFailure("no digest", of: flight)
        }
        let hub = ports[flight.port].name
        outbox.add(.handles, of: .init(slot: flight.slot, offset: flight.offset)) { record in
            record.copyKey(fingerprint.span)
            record.setValue {
                DeadHandle.append(device, fingerprint: fingerprint.span, hub: hub, at: wallClock, to: &$0)
            }
            record.addHeader("content-type") { $0.append("application/json") }
        }
    }

    private func noteDetailsFailure(_ reason: String, of flight: Flight) {
        let port = ports[flight.port]
        port.metrics.readDetails("failed")
        log.warning(
            .hubConnection, "a list of refused devices cannot be read; dead handles of it are not told",
            [.hub: .string(port.name), .reason: .string(reason)])
    }
}
