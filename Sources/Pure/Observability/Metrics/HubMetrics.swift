/// Every metric of a hub of one's own, under its published name.
///
/// The names are a contract with dashboards and alerts. The labels are `hub`, which is a name of the file of hubs, `status`, `platform`,
/// `outcome` and `use`. All have few values, never a device, a tag, a user or a key.
public struct HubMetrics: Sendable {
    /// The most hubs with series of their own.
    private static let mostHubs = 100

    /// Writes all of this as text.
    public let registry: MetricsRegistry

    /// Requests, by hub and status. `none` stands for a path of no hub.
    public let requests: Family<Counter, 2>
    /// From a request to its answer, by hub.
    public let requestDuration: Family<Histogram, 1>
    /// Devices with a registration, by hub.
    public let devices: Family<Gauge, 1>
    /// Registrations, those of installations included, by hub.
    public let registrations: Family<Gauge, 1>
    /// Accepted notifications, by hub.
    public let messages: Family<Counter, 1>
    /// Notifications that are due and not at their end, by hub.
    public let waiting: Family<Gauge, 1>
    /// The wait of the oldest notification that is due and not at its end, by hub. 0 where none waits.
    public let oldestWaiting: Family<Gauge, 1>
    /// Pushes, by hub, platform and outcome.
    public let pushes: Family<Counter, 3>
    /// From the time of a notification to the hand-over of its first push to a push service, by hub. Test sends are left out.
    public let firstPush: Family<Histogram, 1>
    /// From the time of a notification to its end, by hub.
    public let messageDuration: Family<Histogram, 1>
    /// Changes of the file, by hub.
    public let changes: Family<Counter, 1>
    /// Transactions in which changes were written, by hub.
    public let batches: Family<Counter, 1>
    /// The duration of a commit, by hub.
    public let commitDuration: Family<Histogram, 1>
    /// The size of the file and its log, by hub.
    public let fileSize: Family<Gauge, 1>
    /// The free part of the file system that the file is on, 0 to 1, by hub.
    public let diskFree: Family<Gauge, 1>
    /// 1 while the file of a hub cannot be written or opened, else 0, by hub.
    public let failing: Family<Gauge, 1>
    /// The end of a certificate, in seconds since 1970, by use (`hub`).
    public let certificateEnd: Family<Gauge, 1>

    /// Declares every metric, once, and reads the process's own figures for each exposition.
    public init(
        registry: MetricsRegistry = MetricsRegistry(), build: BuildFacts, process: @escaping @Sendable () -> ProcessReadings
    ) {
        self.registry = registry
        let most = Self.mostHubs
        PushfanMetrics.declare(build, in: registry)
        requests = registry.counters(
            "hub_requests_total", help: "Requests answered.", labels: ["hub", "status"], limit: 16 * most)
        requestDuration = registry.durations(
            "hub_request_seconds", help: "From a request to its answer.", labels: ["hub"], bounds: Histogram.requestBounds,
            limit: most)
        devices = registry.gauges("hub_devices", help: "Devices with a registration.", labels: ["hub"], limit: most)
        registrations = registry.gauges(
            "hub_registrations", help: "Registrations, those of installations included.", labels: ["hub"], limit: most)
        messages = registry.counters("hub_messages_total", help: "Notifications accepted.", labels: ["hub"], limit: most)
        waiting = registry.gauges(
            "hub_messages_waiting", help: "Notifications that are due and not at their end.", labels: ["hub"], limit: most)
        oldestWaiting = registry.gauges(
            "hub_oldest_waiting_seconds", help: "How long the oldest notification has waited that is due and not at its end.",
            labels: ["hub"], limit: most)
        pushes = registry.counters(
            "hub_pushes_total", help: "Pushes, by what became of them.", labels: ["hub", "platform", "outcome"], limit: 32 * most)
        firstPush = registry.durations(
            "hub_first_push_seconds", help: "From the time of a notification to the hand-over of its first push.",
            labels: ["hub"], bounds: Histogram.journeyBounds, limit: most)
        messageDuration = registry.durations(
            "hub_message_seconds", help: "From the time of a notification to its end.", labels: ["hub"],
            bounds: Histogram.journeyBounds, limit: most)
        changes = registry.counters("hub_store_changes_total", help: "Changes of the file.", labels: ["hub"], limit: most)
        batches = registry.counters(
            "hub_store_batches_total", help: "Transactions in which changes were written.", labels: ["hub"], limit: most)
        commitDuration = registry.durations(
            "hub_store_commit_seconds", help: "How long a commit takes.", labels: ["hub"], bounds: Histogram.requestBounds,
            limit: most)
        fileSize = registry.gauges(
            "hub_store_bytes", help: "Size of the file and its log, in bytes.", labels: ["hub"], limit: most)
        diskFree = registry.gauges(
            "hub_store_free_ratio", help: "Free part of the file system that the file is on, 0 to 1.", labels: ["hub"],
            limit: most)
        failing = registry.gauges(
            "hub_store_failing", help: "Whether the file cannot be written or opened (1) or can (0).", labels: ["hub"],
            limit: most)
        certificateEnd = registry.certificateEnds()
        PushfanMetrics.declare(process, in: registry)
    }

    /// Takes the gauges of a hub out of the exposition, when it is served no more.
    public func forget(_ hub: String) {
        for gauge in [devices, registrations, waiting, oldestWaiting, fileSize, diskFree, failing] { gauge.remove([hub]) }
    }
}
