import Observability
import TestSupport
import Testing

@Suite(.tags(.threads)) struct MetricsTests {
    private func text(_ registry: MetricsRegistry) -> String {
        var bytes: [UInt8] = []
        registry.write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func counterCountsFromManyThreadsWithoutLoss() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<10_000 { counter.increment() } } }
        }
        counter.increment(by: 5)
        #expect(counter.value == 40_005)
    }

    @Test func gaugeAddsFromManyThreadsWithoutLoss() async {
        let gauge = Gauge()
        gauge.set(10)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<10_000 { gauge.add(0.5) } } }
        }
        gauge.add(-1)
        #expect(gauge.value == 20_009)
    }

    @Test func aGaugeThatWasClearedHasNoSampleUntilItIsSet() {
        let registry = MetricsRegistry()
        let family = registry.family("g", help: "G.", labels: ["topic"]) { Gauge() }
        let (one, other) = (family.series(["a"]), family.series(["b"]))
        one.set(5)
        other.clear()
        #expect(!text(registry).contains("b") && text(registry).contains("g{topic=\"a\"} 5\n") && other.value.isNaN)
        one.set(.nan)
        other.set(0)
        #expect(text(registry).contains("g{topic=\"a\"} NaN\n") && text(registry).contains("g{topic=\"b\"} 0\n"))
    }

    @Test func secondsCounterNeverFalls() {
        let counter = SecondsCounter()
        counter.add(nanoseconds: 1_500_000_000)
        counter.add(nanoseconds: -7)
        #expect(counter.nanoseconds == 1_500_000_000)
    }

    @Test func histogramSortsEachDurationIntoEveryBucketThatHoldsIt() throws {
        let registry = MetricsRegistry()
        let family = registry.family("d_seconds", help: "D.", labels: ["hub"]) {
            Histogram(bounds: [.seconds(1), .milliseconds(5), .seconds(1)])
        }
        let histogram = family.series(["h"])
        for duration in [Duration.zero, .milliseconds(5), .nanoseconds(5_000_001), .seconds(1), .seconds(90)] {
            histogram.observe(duration)
        }
        histogram.observe(nanoseconds: -3)
        histogram.observe(.seconds(Int64.max))
        #expect(histogram.count == 7)
        let lines = text(registry).split(separator: "\n").map(String.init)
        try #require(lines.count == 7)
        #expect(lines[2] == #"d_seconds_bucket{hub="h",le="0.005"} 3"#)
        #expect(lines[3] == #"d_seconds_bucket{hub="h",le="1"} 5"#)
        #expect(lines[4] == #"d_seconds_bucket{hub="h",le="+Inf"} 7"#)
        #expect(lines[6] == #"d_seconds_count{hub="h"} 7"#)
    }

    @Test func histogramSumIsExactSeconds() {
        let registry = MetricsRegistry()
        let family = registry.family("d_seconds", help: "D.", labels: ["hub"]) { Histogram(bounds: [.seconds(1)]) }
        family.series(["h"]).observe(.nanoseconds(1_000_000_001))
        family.series(["h"]).observe(.milliseconds(250))
        #expect(text(registry).contains("d_seconds_sum{hub=\"h\"} 1.250000001\n"))
    }

    @Test func sameLabelValuesGiveTheSameInstrument() {
        let family = MetricsRegistry().family("x_total", help: "X.", labels: ["hub", "code"]) { Counter() }
        #expect(family.series(["a", "b"]) === family.series(["a", "b"]))
        #expect(family.series(["a", "b"]) !== family.series(["b", "a"]))
        #expect(family.seriesCount == 2)
    }

    @Test func fullFamilySharesOneSeriesForEverythingFurther() {
        let registry = MetricsRegistry()
        let family = registry.family("x_total", help: "X.", labels: ["hub", "code"], limit: 2) { Counter() }
        for number in 0..<50 { family.series(["h", String(number)]).increment() }
        #expect(family.seriesCount == 2)
        #expect(
            text(registry) == """
                # HELP x_total X.
                # TYPE x_total counter
                x_total{hub="h",code="0"} 1
                x_total{hub="h",code="1"} 1
                x_total{hub="other",code="other"} 48

                """)
    }

    @Test func removedSeriesLeavesTheTextAndItsNeighboursStay() {
        let registry = MetricsRegistry()
        let family = registry.family("lag", help: "L.", labels: ["partition"]) { Gauge() }
        for partition in ["0", "1", "2"] { family.series([partition]).set(7) }
        family.remove(["0"])
        family.remove(["9"])
        family.series(["2"]).set(8)
        #expect(text(registry) == "# HELP lag L.\n# TYPE lag gauge\nlag{partition=\"1\"} 7\nlag{partition=\"2\"} 8\n")
    }

    static let escapes: [(String, String)] = [
        ("plain", "plain"), ("a\"b", #"a\"b"#), ("a\\b", #"a\\b"#), ("a\nb", #"a\nb"#), ("\\n", #"\\n"#), ("", ""),
        ("emoji 🔔 ä", "emoji 🔔 ä"), ("}", "}"),
    ]

    @Test(arguments: escapes) func labelValueIsEscaped(_ value: String, _ written: String) {
        let registry = MetricsRegistry()
        registry.family("x_total", help: "X.", labels: ["hub"]) { Counter() }.series([value]).increment()
        #expect(text(registry).hasSuffix("\nx_total{hub=\"\(written)\"} 1\n"))
    }

    @Test func helpIsEscapedButKeepsItsQuotes() {
        let registry = MetricsRegistry()
        _ = registry.counter("x_total", help: "a \"b\"\nc\\d")
        #expect(text(registry) == "# HELP x_total a \"b\"\\nc\\\\d\n# TYPE x_total counter\nx_total 0\n")
    }

    static let numbers: [(Double, String)] = [
        (0, "0"), (-3, "-3"), (1.5, "1.5"), (1e15, "1000000000000000"), (1e300, "1e+300"), (1e-7, "1e-07"),
        (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
    ]

    @Test(arguments: numbers) func gaugeIsWrittenAsPrometheusReadsNumbers(_ value: Double, _ written: String) {
        let registry = MetricsRegistry()
        registry.gauge("g", help: "G.").set(value)
        #expect(text(registry).hasSuffix("\ng \(written)\n"))
    }

    @Test func unknownReadingIsNotWritten() {
        let registry = MetricsRegistry()
        registry.reading("process_open_fds", help: "Open.", type: .gauge) { nil }
        registry.reading("process_max_fds", help: "Max.", type: .gauge) { 1024 }
        #expect(text(registry) == "# HELP process_max_fds Max.\n# TYPE process_max_fds gauge\nprocess_max_fds 1024\n")
    }

    @Test func writingKeepsWhatTheBufferHeld() {
        var bytes = Array("before\n".utf8)
        let registry = MetricsRegistry()
        registry.gauge("g", help: "G.").set(1)
        registry.write(into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "before\n# HELP g G.\n# TYPE g gauge\ng 1\n")
    }
}
