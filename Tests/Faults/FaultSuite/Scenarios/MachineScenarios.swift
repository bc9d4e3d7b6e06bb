import FaultOracle
import Foundation
import Glibc

/// Disks and clocks.
extension Catalogue {
    static let machineScenarios = [diskFull, clockJump]

    private static let diskFull = Scenario("disk-full", "a broker whose disk is full stops everything and loses nothing") {
        stage in
        Clock.pause(.seconds(4))
        let filler = "\(stage.folder)/kafka/filler"
        stage.note("the disk is full")
        stage.beginOutage()
        fill(filler)
        Clock.pause(.seconds(8))
        unlink(filler)
        // Kafka halts when it cannot write; what still runs is made to begin anew as well.
        try stage.killBroker()
        try stage.resumeBroker()
        stage.endOutage()
    }.with { scenario in
        scenario.broker = .own(settings: calmBroker)
        scenario.workload = Workload(6_000, rate: 200)
        scenario.deadline = .seconds(180)
        scenario.prepare = { folder in
            let disk = "\(folder)/kafka"
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            guard mount("tmpfs", disk, "tmpfs", 0, "size=700m") == 0 else {
                throw SuiteError.unavailable(
                    "a small disk for the broker cannot be mounted here (error \(errno)); run it as root")
            }
            Housekeeping.shared.add(mount: disk)
        }
        scenario.tidy = { Housekeeping.shared.unmount("\($0)/kafka") }
    }

    /// Writes a file until nothing more fits.
    static func fill(_ path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var size = 1 << 20
        while size > 0 {
            let piece = [UInt8](repeating: 0, count: size)
            if write(descriptor, piece, size) <= 0 { size /= 2 }
        }
    }

    private static let clockJump = Scenario(
        "clock-jump", "workers whose clocks jump by 40 minutes, forwards and backwards, lose nothing and repeat nothing"
    ) { stage in
        let clock = try MovableClock(folder: stage.folder, environment: stage.suite.environment)
        for worker in stage.crew { try worker.start(clock.variables) }
        for minutes in [40, -40, 0] {
            Clock.pause(.seconds(4))
            stage.note("the clocks are \(minutes) minutes off")
            try clock.set(.seconds(minutes * 60))
            stage.watch.mark()
        }
    }.with { scenario in
        scenario.startsCrew = false
        scenario.workers = 2
        scenario.isScaled = false
        scenario.workload = Workload(4_000, rate: 200)
    }
}
