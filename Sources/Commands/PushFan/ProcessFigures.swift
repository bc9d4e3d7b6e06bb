import Basics
import EventLoop
import Glibc
import Kafka
import Observability

/// The process's own figures, read from the kernel for each scrape.
enum ProcessFigures {
    private static let startTime: Double = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }()

    /// Notes the start. Called once, early.
    static func begin() { _ = startTime }

    static func read(_ health: Health, watch: BrokerWatch? = nil) -> ProcessReadings {
        var readings = ProcessReadings()
        readings.kafkaUnreachableSeconds = watch.map { $0.silence / .seconds(1) }
        readings.readiness = health.report(.ready, now: MonotonicTime.now().nanoseconds).passes ? 1 : 0
        var usage = rusage()
        if getrusage(RUSAGE_SELF.rawValue, &usage) == 0 {
            let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
            let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
            readings.cpuSeconds = Double(seconds) + Double(microseconds) / 1e6
        }
        readings.residentMemoryBytes = residentBytes()
        readings.openFileDescriptors = openFileDescriptors()
        readings.maximumFileDescriptors = DescriptorLimit.current().map { Double($0.soft) }
        readings.startTimeSeconds = startTime
        return readings
    }

    /// The second field of /proc/self/statm, in pages (proc(5)).
    private static func residentBytes() -> Double? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Double(fields[1]) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The size of the folder says it since Linux 6.2 (proc_pid_fd(5)). Before that its entries are counted, which takes a millisecond for
    /// some thousand.
    private static func openFileDescriptors() -> Double? {
        var facts = stat()
        if stat("/proc/self/fd", &facts) == 0, facts.st_size > 0 { return Double(facts.st_size) }
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without ".", ".." and the descriptor of the listing itself.
        return Double(count - 3)
    }
}
