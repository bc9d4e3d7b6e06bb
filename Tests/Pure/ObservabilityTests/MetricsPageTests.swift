import Observability
import TestSupport
import Testing

@Suite struct MetricsPageTests {
    @Test func pageMonitoringHasTheMetricsOfTheRegistries() throws {
        let page = try GeneratedPage("Monitoring")
        #expect(page.parts(of: "metrics") == ["worker", "gateway", "callbacks", "hub", "process"])
        let worker = Self.rows(PublishedMetricsTests.filled().registry)
        let gateway = Self.rows(PublishedMetricsTests.filledGateway().registry)
        let callbacks = Self.rows(PublishedMetricsTests.filledCallbacks().registry)
        let hub = Self.rows(PublishedMetricsTests.filledHub().registry)
        let difference = try page.difference("metrics") { part in
            let rows: [[String]] =
                switch part {
                case "worker": worker.filter { !Self.isOfTheProcess($0) }
                case "gateway": gateway.filter { !Self.isOfTheProcess($0) }
                case "callbacks": callbacks.filter { !Self.isOfTheProcess($0) }
                case "hub": hub.filter { !Self.isOfTheProcess($0) }
                default: worker.filter(Self.isOfTheProcess)
                }
            return GeneratedPage.table(["Metric", "Type", "Labels", "Description"], rows)
        }
        #expect(difference == nil)
    }

    private static func isOfTheProcess(_ row: [String]) -> Bool {
        row[0].hasPrefix("`process_") || ["`pushfan_ready`", "`pushfan_kafka_unreachable_seconds`"].contains(row[0])
    }

    /// Name, type, labels and help of each metric, in the order in which they are published.
    private static func rows(_ registry: MetricsRegistry) -> [[String]] {
        let lines = String(decoding: PublishedMetricsTests.exposition(registry), as: UTF8.self).split(separator: "\n")
        return lines.filter { $0.hasPrefix("# HELP ") }.map { line -> [String] in
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            let name = words[2]
            let type = lines.first { $0.hasPrefix("# TYPE \(name) ") }.map { String($0.dropFirst("# TYPE \(name) ".count)) }
            let sample = lines.first { $0.hasPrefix(name + "{") || $0.hasPrefix(name + "_bucket{") } ?? ""
            let labels = sample.matches(of: /[{,]([a-z]+)="/).map { "`\($0.output.1)`" }.filter { $0 != "`le`" }
            return ["`\(name)`", type ?? "", labels.joined(separator: ", "), words[3]]
        }
    }
}
