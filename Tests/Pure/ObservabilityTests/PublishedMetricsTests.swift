import Foundation
import Observability
import Testing

@Suite struct PublishedMetricsTests {
    static func filled() -> PushfanMetrics {
        let metrics = PushfanMetrics(build: BuildFacts(version: "1.0", swift: "6.3")) {
            var readings = ProcessReadings()
            readings.readiness = 1
            readings.kafkaUnreachableSeconds = 12.5
            readings.cpuSeconds = 1.25
            readings.residentMemoryBytes = 4096
            readings.openFileDescriptors = 12
            readings.maximumFileDescriptors = 1024
            readings.startTimeSeconds = 1_790_000_000.5
            return readings
        }
        metrics.recordsConsumed.series(["push.requests.v1"]).increment()
        metrics.recordsRejected.series(["push.requests.v1", "schema"]).increment()
        metrics.requestsFinished.series(["demo", "success"]).increment()
        metrics.sends.series(["demo", "apple", "2xx"]).increment()
        metrics.sendDuration.series(["demo", "apple"]).observe(.milliseconds(12))
        metrics.publishToFinal.series(["a \"hub\"\\\n"]).observe(.seconds(31))
        metrics.oldestWaiting.series(["demo"]).set(1.5)
        metrics.consumerLagRecords.series(["push.requests.v1", "0"]).set(3)
        metrics.consumerLagSeconds.series(["push.requests.v1"]).set(.nan)
        metrics.topicRetention.series(["push.requests.v1"]).set(604_800)
        metrics.topicRetentionLeft.series(["push.requests.v1"]).set(604_000)
        metrics.inflightSends.series(["demo"]).set(3)
        metrics.sendLimit.series(["demo"]).set(64)
        metrics.rateLimit.series(["demo"]).set(125)
        metrics.rateWait.series(["demo"]).add(nanoseconds: 1_500_000_000)
        metrics.circuitState.series(["demo"]).set(2)
        metrics.limitedBy.series(["demo", "rate_limit"]).set(1)
        metrics.hubKeyRefused.series(["demo"]).set(1)
        metrics.connectionsOpened.series(["demo"]).increment()
        metrics.connectionsRetired.series(["demo"]).increment()
        metrics.sendsMoved.series(["demo"]).increment()
        metrics.throttledTime.series(["demo"]).add(nanoseconds: 2_500_000_000)
        metrics.retriesScheduled.series(["demo", "throttled"]).increment()
        metrics.retryQueue.series(["demo"]).set(1)
        metrics.unknownHubWaiting.series(["shpo"]).set(5)
        metrics.holdAge.series(["hold"]).set(90)
        metrics.heldWaiting.series(["h-abcdefgh", "hold"]).set(12)
        metrics.holdExpiring.series(["hold"]).set(300)
        metrics.expiredOnHold.series(["demo"]).increment()
        metrics.delayed.series(["1h"]).increment()
        metrics.outcomePolls.series(["demo", "404"]).increment()
        metrics.outcomes.series(["demo", "delivered"]).increment()
        metrics.errorDetails.series(["demo", "read"]).increment()
        metrics.orders.series(["hold"]).set(1)
        metrics.ordersRefused.series(["unreadable"]).increment()
        metrics.deadLetters.series(["invalid_json"]).increment()
        for counter in [
            metrics.resultsPublished, metrics.resultsFailed, metrics.rebalances, metrics.commitFailures, metrics.unknownFields,
            metrics.requestsElsewhere,
        ] {
            counter.increment()
        }
        metrics.assignedPartitions.set(6)
        metrics.certificateEnd.series(["kafka"]).set(1_795_262_400)
        return metrics
    }

    static func exposition(_ registry: MetricsRegistry) -> [UInt8] {
        var bytes: [UInt8] = []
        registry.write(into: &bytes)
        return bytes
    }

    /// Prometheus' own checker; a machine without it fails the test.
    private func promtool(_ input: [UInt8]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["promtool", "check", "metrics"]
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).prom")
        try Data(input).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    @Test func promtoolHasNothingToSayAboutTheText() throws {
        let (status, output) = try promtool(Self.exposition(Self.filled().registry))
        #expect(output == "", "install Debian's package prometheus where promtool is missing")
        #expect(status == 0)
    }

    @Test func promtoolAcceptsAProcessThatHasDoneNothingYet() throws {
        let idle = PushfanMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
        let (status, output) = try promtool(Self.exposition(idle.registry))
        #expect(output == "")
        #expect(status == 0)
    }

    @Test func promtoolWouldSeeAFault() throws {
        let registry = MetricsRegistry()
        _ = registry.counter("pushfan_badly_named", help: "A counter without its suffix.")
        var bytes: [UInt8] = []
        registry.write(into: &bytes)
        let (status, output) = try promtool(bytes)
        #expect(output.contains("pushfan_badly_named counter metrics should have \"_total\" suffix"))
        #expect(status != 0)
    }

    /// Name, type and labels of everything that dashboards may rely on.
    static let published: [(name: String, type: String, labels: [String])] = [
        ("pushfan_build_info", "gauge", ["version", "commit", "swift"]),
        ("pushfan_records_consumed_total", "counter", ["topic"]),
        ("pushfan_records_rejected_total", "counter", ["topic", "reason"]),
        ("pushfan_requests_finished_total", "counter", ["hub", "outcome"]),
        ("pushfan_sends_total", "counter", ["hub", "platform", "code"]),
        ("pushfan_send_duration_seconds", "histogram", ["hub", "platform", "le"]),
        ("pushfan_publish_to_final_seconds", "histogram", ["hub", "le"]),
        ("pushfan_oldest_waiting_seconds", "gauge", ["hub"]),
        ("pushfan_consumer_lag_records", "gauge", ["topic", "partition"]),
        ("pushfan_consumer_lag_seconds", "gauge", ["topic"]),
        ("pushfan_topic_retention_seconds", "gauge", ["topic"]),
        ("pushfan_topic_retention_left_seconds", "gauge", ["topic"]),
        ("pushfan_inflight_sends", "gauge", ["hub"]),
        ("pushfan_send_limit", "gauge", ["hub"]),
        ("pushfan_rate_limit", "gauge", ["hub"]),
        ("pushfan_limited_by", "gauge", ["hub", "reason"]),
        ("pushfan_rate_wait_seconds_total", "counter", ["hub"]),
        ("pushfan_circuit_state", "gauge", ["hub"]),
        ("pushfan_hub_key_refused", "gauge", ["hub"]),
        ("pushfan_connections_opened_total", "counter", ["hub"]),
        ("pushfan_connections_retired_total", "counter", ["hub"]),
        ("pushfan_sends_moved_total", "counter", ["hub"]),
        ("pushfan_throttled_seconds_total", "counter", ["hub"]),
        ("pushfan_retries_scheduled_total", "counter", ["hub", "reason"]),
        ("pushfan_retry_queue_records", "gauge", ["hub"]),
        ("pushfan_unknown_hub_waiting", "gauge", ["hub"]),
        ("pushfan_hold_age_seconds", "gauge", ["kind"]),
        ("pushfan_held_waiting", "gauge", ["order", "kind"]),
        ("pushfan_hold_expiring_seconds", "gauge", ["kind"]),
        ("pushfan_expired_on_hold_total", "counter", ["hub"]),
        ("pushfan_delayed_total", "counter", ["lane"]),
        ("pushfan_outcome_polls_total", "counter", ["hub", "code"]),
        ("pushfan_outcomes_total", "counter", ["hub", "reason"]),
        ("pushfan_error_details_total", "counter", ["hub", "reason"]),
        ("pushfan_cancellations", "gauge", []),
        ("pushfan_requests_expanded_total", "counter", []),
        ("pushfan_parents_open", "gauge", []),
        ("pushfan_cancellations_forgotten_total", "counter", []),
        ("pushfan_orders", "gauge", ["kind"]),
        ("pushfan_orders_refused_total", "counter", ["reason"]),
        ("pushfan_dead_letters_total", "counter", ["reason"]),
        ("pushfan_results_published_total", "counter", []),
        ("pushfan_results_failed_total", "counter", []),
        ("pushfan_rebalances_total", "counter", []),
        ("pushfan_assigned_partitions", "gauge", []),
        ("pushfan_commit_failures_total", "counter", []),
        ("pushfan_unknown_fields_total", "counter", []),
        ("pushfan_requests_elsewhere_total", "counter", []),
        ("pushfan_certificate_not_after_seconds", "gauge", ["use"]),
        ("pushfan_ready", "gauge", []),
        ("pushfan_kafka_unreachable_seconds", "gauge", []),
        ("process_cpu_seconds_total", "counter", []),
        ("process_resident_memory_bytes", "gauge", []),
        ("process_open_fds", "gauge", []),
        ("process_max_fds", "gauge", []),
        ("process_start_time_seconds", "gauge", []),
    ]

    @Test(arguments: published)
    func metricHasItsPublishedTypeAndLabels(_ metric: (name: String, type: String, labels: [String])) throws {
        let lines = String(decoding: Self.exposition(Self.filled().registry), as: UTF8.self).split(separator: "\n")
        #expect(lines.contains("# TYPE \(metric.name) \(metric.type)"))
        #expect(lines.contains { $0.hasPrefix("# HELP \(metric.name) ") })
        let sampleName = metric.type == "histogram" ? metric.name + "_bucket" : metric.name
        let sample = try #require(lines.first { $0.hasPrefix(sampleName + "{") || $0.hasPrefix(sampleName + " ") })
        let labels = sample.matches(of: /[{,]([a-z]+)="/).map { String($0.output.1) }
        #expect(labels == metric.labels)
    }

    @Test func nothingIsPublishedBesides() {
        let text = String(decoding: Self.exposition(Self.filled().registry), as: UTF8.self)
        let names = text.matches(of: #/[#] TYPE ([a-z_]+)/#).map { String($0.output.1) }
        #expect(names == Self.published.map(\.name))
    }

    /// The gateway's own, beside those of the process.
    static let gateway: [(name: String, type: String)] = [
        ("pushfan_gateway_requests_total", "counter"), ("pushfan_gateway_request_duration_seconds", "histogram"),
        ("pushfan_gateway_ack_seconds", "histogram"), ("pushfan_gateway_sign_ins_total", "counter"),
        ("pushfan_gateway_key_checks_total", "counter"), ("pushfan_gateway_key_last_used_seconds", "gauge"),
        ("pushfan_gateway_hub_calls_total", "counter"), ("pushfan_gateway_hub_call_duration_seconds", "histogram"),
        ("pushfan_gateway_hub_key_refused", "gauge"),
        ("pushfan_gateway_idempotency_keys_total", "counter"), ("pushfan_gateway_idempotency_lost_total", "counter"),
        ("pushfan_gateway_idempotency_file_usable", "gauge"),
        ("pushfan_gateway_waiting_requests", "gauge"), ("pushfan_gateway_waiting_sends", "gauge"),
        ("pushfan_gateway_token_keys_age_seconds", "gauge"),
        ("pushfan_gateway_queue_age_seconds", "gauge"), ("pushfan_gateway_queue_refusals_total", "counter"),
    ]

    static func filledGateway() -> GatewayMetrics {
        let metrics = GatewayMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
        metrics.requests.series(["notify", "200"]).increment()
        metrics.requestDuration.series(["notify"]).observe(.milliseconds(12))
        metrics.ack.series(["persisted"]).observe(.milliseconds(3))
        metrics.signIns.series(["refused"]).increment()
        metrics.keyChecks.series(["refused"]).increment()
        metrics.keyLastUsed.series(["k3v9x2ab"]).set(1_795_262_400)
        metrics.hubCalls.series(["installation.get", "ok"]).increment()
        metrics.hubCallDuration.series(["installation.get"]).observe(.milliseconds(5))
        metrics.idempotencyKeys.series(["first"]).increment()
        metrics.idempotencyLost.increment()
        metrics.idempotencyFile.series([]).set(1)
        metrics.certificateEnd.series(["kafka"]).set(1_795_262_400)
        metrics.readWaiting { 3 }
        metrics.readWaitingSends { 2 }
        metrics.readTokenKeys { 2_500_000_000 }
        metrics.readQueue { (age: 1_500_000_000, refusedCount: 4) }
        return metrics
    }

    @Test func theGatewaysMetricsAreThoseThatArePublished() throws {
        let bytes = Self.exposition(Self.filledGateway().registry)
        let text = String(decoding: bytes, as: UTF8.self)
        let types = text.matches(of: #/[#] TYPE (pushfan_gateway_[a-z_]+ [a-z]+)/#).map { String($0.output.1) }
        #expect(types == Self.gateway.map { "\($0.name) \($0.type)" })
        #expect(text.contains("# TYPE pushfan_certificate_not_after_seconds gauge\n"))
        #expect(text.contains("pushfan_gateway_waiting_requests 3\n"))
        #expect(text.contains("pushfan_gateway_waiting_sends 2\n"))
        #expect(text.contains("pushfan_gateway_token_keys_age_seconds 2.5\n"))
        #expect(text.contains("pushfan_gateway_queue_age_seconds 1.5\n") && text.contains("queue_refusals_total 4\n"))
        let (status, output) = try promtool(bytes)
        #expect(output == "" && status == 0)
    }

    /// Those of the service that calls receivers, beside those of the process.
    static let callbacks: [(name: String, type: String)] = [
        ("pushfan_callbacks_calls_total", "counter"), ("pushfan_callbacks_call_seconds", "histogram"),
        ("pushfan_callbacks_taken_total", "counter"), ("pushfan_callbacks_dead_letters_total", "counter"),
        ("pushfan_callbacks_lost_total", "counter"), ("pushfan_callbacks_waiting", "gauge"),
        ("pushfan_callbacks_oldest_waiting_seconds", "gauge"), ("pushfan_callbacks_behind", "gauge"),
        ("pushfan_callbacks_retention_left_seconds", "gauge"), ("pushfan_callbacks_in_flight", "gauge"),
        ("pushfan_callbacks_state", "gauge"),
    ]

    static func filledCallbacks() -> CallbackMetrics {
        let metrics = CallbackMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
        metrics.calls.series(["shop", "2xx"]).increment()
        metrics.callDuration.series(["shop"]).observe(.milliseconds(12))
        for counter in [metrics.taken, metrics.deadLetters, metrics.lost] { counter.series(["shop"]).increment() }
        for gauge in [metrics.waiting, metrics.oldestWaiting, metrics.behind, metrics.retentionLeft, metrics.inFlight] {
            gauge.series(["shop"]).set(2)
        }
        metrics.state.series(["shop", "running"]).set(1)
        metrics.certificateEnd.series(["kafka"]).set(1_795_262_400)
        return metrics
    }

    @Test func theMetricsOfCallbacksAreThoseThatArePublished() throws {
        let bytes = Self.exposition(Self.filledCallbacks().registry)
        let text = String(decoding: bytes, as: UTF8.self)
        let types = text.matches(of: #/[#] TYPE (pushfan_callbacks_[a-z_]+ [a-z]+)/#).map { String($0.output.1) }
        #expect(types == Self.callbacks.map { "\($0.name) \($0.type)" })
        #expect(text.contains("pushfan_callbacks_calls_total{receiver=\"shop\",answer=\"2xx\"} 1\n"))
        let (status, output) = try promtool(bytes)
        #expect(output == "" && status == 0)
    }

    /// Those of a hub of one's own, beside those of the process.
    static let hub: [(name: String, type: String)] = [
        ("pushfan_hub_requests_total", "counter"), ("pushfan_hub_request_seconds", "histogram"),
        ("pushfan_hub_devices", "gauge"), ("pushfan_hub_registrations", "gauge"), ("pushfan_hub_messages_total", "counter"),
        ("pushfan_hub_messages_waiting", "gauge"), ("pushfan_hub_oldest_waiting_seconds", "gauge"),
        ("pushfan_hub_pushes_total", "counter"), ("pushfan_hub_first_push_seconds", "histogram"),
        ("pushfan_hub_message_seconds", "histogram"), ("pushfan_hub_store_changes_total", "counter"),
        ("pushfan_hub_store_batches_total", "counter"), ("pushfan_hub_store_commit_seconds", "histogram"),
        ("pushfan_hub_store_bytes", "gauge"), ("pushfan_hub_store_free_ratio", "gauge"),
        ("pushfan_hub_store_failing", "gauge"),
    ]

    static func filledHub() -> HubMetrics {
        let metrics = HubMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
        metrics.requests.series(["shop", "201"]).increment()
        metrics.pushes.series(["shop", "apple", "Success"]).increment()
        for counter in [metrics.messages, metrics.changes, metrics.batches] { counter.series(["shop"]).increment() }
        for histogram in [metrics.requestDuration, metrics.firstPush, metrics.messageDuration, metrics.commitDuration] {
            histogram.series(["shop"]).observe(.milliseconds(12))
        }
        for gauge in [
            metrics.devices, metrics.registrations, metrics.waiting, metrics.oldestWaiting, metrics.fileSize, metrics.diskFree,
            metrics.failing,
        ] {
            gauge.series(["shop"]).set(2)
        }
        metrics.certificateEnd.series(["hub"]).set(1_795_262_400)
        return metrics
    }

    @Test func theMetricsOfHubsAreThoseThatArePublished() throws {
        let metrics = Self.filledHub()
        let bytes = Self.exposition(metrics.registry)
        let text = String(decoding: bytes, as: UTF8.self)
        let types = text.matches(of: #/[#] TYPE (pushfan_hub_[a-z_]+ [a-z]+)/#).map { String($0.output.1) }
        #expect(types == Self.hub.map { "\($0.name) \($0.type)" })
        #expect(text.contains("pushfan_hub_pushes_total{hub=\"shop\",platform=\"apple\",outcome=\"Success\"} 1\n"))
        let (status, output) = try promtool(bytes)
        #expect(output == "" && status == 0)
        metrics.forget("shop")
        #expect(!String(decoding: Self.exposition(metrics.registry), as: UTF8.self).contains("pushfan_hub_devices{"))
    }
}
