import FaultOracle
import Foundation
import Glibc

/// Gateways with callers that take their time, and with a disk that is full.
extension Catalogue {
    static let slowSenders = overHTTP(
        "gateway-slow-senders", "callers that never send a whole call hold up no other", HTTPLoad(5_000, rate: 200),
        expecting: [202]
    ) { _, crew in
        let port = crew.gateways[0].port
        let senders = try (0..<300).map { _ in try Socket.connected(port: port) }
        defer {
            for sender in senders { sender.close() }
        }
        // Half of them are within the head, and half within the body.
        for (index, sender) in senders.enumerated() {
            let call = HTTPLoad.call(of: 1_000_000 + index, port: port, apiKey: crew.key)
            _ = sender.write(Array(index % 2 == 0 ? call.prefix(60) : call.dropLast(40)))
        }
        // Fewer bytes than are missing.
        for _ in 0..<30 where !crew.publisher.isDone {
            Clock.pause(.seconds(1))
            for sender in senders { _ = sender.write([UInt8(ascii: " ")]) }
        }
    }.with { $0.check = allAccepted }

    static let answersDiskFull = overHTTP(
        "gateway-disk-full", "a full disk for the answers of a gateway fails no call", answersLoad, expecting: [202]
    ) { stage, crew in
        let filler = "\(stage.folder)/\(GatewayCrew.answers)/filler"
        Clock.pause(.seconds(4))
        fill(filler)
        stage.note("the disk is full")
        Clock.pause(.seconds(12))
        unlink(filler)
        stage.note("the disk has room")
    }.with { scenario in
        scenario.broker = .own(settings: calmBroker)
        scenario.check = allAccepted
        scenario.prepare = { folder in
            let disk = "\(folder)/\(GatewayCrew.answers)"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            guard mount("tmpfs", disk, "tmpfs", 0, "size=64m") == 0 else {
                throw SuiteError.unavailable(
                    "a small disk for the gateway cannot be mounted here (error \(errno)); run it as root")
            }
            Housekeeping.shared.add(mount: disk)
        }
        scenario.tidy = { Housekeeping.shared.unmount("\($0)/\(GatewayCrew.answers)") }
    }

    private static let answersLoad = {
        var load = HTTPLoad(6_000, rate: 200)
        load.rounds = 2
        load.keepsAnswers = true
        return load
    }()

    /// Calls that were answered otherwise than with 202.
    private static let allAccepted: @Sendable (Stage, Evidence) -> [Finding] = { _, evidence in
        let others = evidence.httpCalls.filter { !$0.isAccepted }
        let share = Double(others.count) * 1000 / Double(max(1, evidence.httpCalls.count))
        return [Finding(.goodAnswers, measured: share, examples: others.prefix(5).map(\.line))]
    }
}
