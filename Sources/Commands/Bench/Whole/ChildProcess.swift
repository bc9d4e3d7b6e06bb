import Foundation
import Glibc

/// This program once more, as a process of its own, so that its use is measured apart from the bench's.
final class ChildProcess {
    private let process = Process()
    private let log: URL
    private let logHandle: FileHandle

    /// Starts `pushfan` with arguments and an environment; what it says goes to a file that is removed at the end.
    init(_ arguments: [String], environment: [String: String], name: String) throws {
        log = FileManager.default.temporaryDirectory.appendingPathComponent("\(name).log")
        guard FileManager.default.createFile(atPath: log.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown)
        }
        logHandle = try FileHandle(forWritingTo: log)
        process.executableURL = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = logHandle
        process.standardError = logHandle
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    var said: String { (try? String(decoding: Data(contentsOf: log), as: UTF8.self)) ?? "" }

    var saidByteCount: Int {
        (try? FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int) ?? 0
    }

    /// Processor time so far, with the kernel's ticks as precision (proc(5), /proc/PID/stat, fields 14 and 15).
    var processorTime: ProcessorTime {
        guard let stat = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return ProcessorTime() }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Int64(fields[11]), let system = Int64(fields[12]) else { return ProcessorTime() }
        let tick = 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return ProcessorTime(user: user * tick, system: system * tick)
    }

    /// The most memory that it has had so far, in bytes (proc(5), /proc/PID/status, VmHWM).
    var peakResidentByteCount: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).compactMap { Int($0) }.first ?? 0
        return kibibytes * 1024
    }

    /// Asks the process to end, and makes it after 15 s.
    func stop() {
        if process.isRunning { process.terminate() }
        let deadline = ContinuousClock.now + .seconds(15)
        while process.isRunning && ContinuousClock.now < deadline { usleep(20_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? logHandle.close()
        try? FileManager.default.removeItem(at: log)
    }
}
