extension MetricsRegistry {
    func counters<let labelCount: Int>(
        _ name: String, help: String, labels: InlineArray<labelCount, String>, limit: Int = 512
    ) -> Family<Counter, labelCount> {
        family("pushfan_" + name, help: help, labels: labels, limit: limit) { Counter() }
    }

    func gauges<let labelCount: Int>(
        _ name: String, help: String, labels: InlineArray<labelCount, String>, limit: Int = 512
    ) -> Family<Gauge, labelCount> {
        family("pushfan_" + name, help: help, labels: labels, limit: limit) { Gauge() }
    }

    /// The ends of certificates, of each service alike.
    func certificateEnds() -> Family<Gauge, 1> {
        gauges("certificate_not_after_seconds", help: "When a certificate ends, in seconds since 1970.", labels: ["use"])
    }

    func durations<let labelCount: Int>(
        _ name: String, help: String, labels: InlineArray<labelCount, String>, bounds: [Duration], limit: Int = 512
    ) -> Family<Histogram, labelCount> {
        family("pushfan_" + name, help: help, labels: labels, limit: limit) { Histogram(bounds: bounds) }
    }
}

extension PushfanMetrics {
    static func declare(_ build: BuildFacts, in registry: MetricsRegistry) {
        let info: Family<Gauge, 3> = registry.gauges(
            "build_info", help: "What is running; always 1.", labels: ["version", "commit", "swift"])
        info.series([build.version, build.commit, build.swift]).set(1)
    }

    static func declare(_ process: @escaping @Sendable () -> ProcessReadings, in registry: MetricsRegistry) {
        registry.reading("pushfan_ready", help: "Whether the process can work (1) or not (0), as `/readyz` says.", type: .gauge) {
            process().readiness
        }
        registry.reading(
            "pushfan_kafka_unreachable_seconds", help: "How long no broker has answered; 0 while one does.", type: .gauge
        ) { process().kafkaUnreachableSeconds }
        registry.reading("process_cpu_seconds_total", help: "Processor time used, in seconds.", type: .counter) {
            process().cpuSeconds
        }
        registry.reading("process_resident_memory_bytes", help: "Memory held in RAM, in bytes.", type: .gauge) {
            process().residentMemoryBytes
        }
        registry.reading("process_open_fds", help: "Open file descriptors.", type: .gauge) {
            process().openFileDescriptors
        }
        registry.reading("process_max_fds", help: "File descriptors that may be open.", type: .gauge) {
            process().maximumFileDescriptors
        }
        registry.reading("process_start_time_seconds", help: "When the process started, in seconds since 1970.", type: .gauge) {
            process().startTimeSeconds
        }
    }
}
