import PushModel
import TestSupport
import Testing

/// The memory that a report takes.
struct ReportMemoryTests {
    private static func keep(_ text: String, in report: inout DeliveryReport) -> DeliveryReport.Text? {
        report.keep(Array(text.utf8).span)
    }

    /// Texts of attempts that were replaced took 768 bytes each, for a request that is tried for days.
    @Test(arguments: [1, 2, 16]) func howeverManyAttemptsFailTheTextsOfTheLastOnesAreAllThatIsKept(_ calls: Int) {
        var report = DeliveryReport()
        for _ in 0..<calls { report.calls.append(.init(platform: .apple)) }
        var most = 0
        for number in 1...400 {
            for call in 0..<calls {
                let texts = ["n", "t", "d"].map { "\($0)\(number)-\(call)" + String(repeating: "x", count: 240) }
                report.calls[call].notificationID = Self.keep(texts[0], in: &report)
                report.calls[call].trackingID = Self.keep(texts[1], in: &report)
                report.calls[call].detail = Self.keep(texts[2], in: &report)
                report.add(.init(number: number, call: call, startedAt: 0))
            }
            most = max(most, report.byteCount)
            for (index, call) in report.calls.enumerated() {
                let kept = [call.notificationID, call.trackingID, call.detail].map { text in
                    text.map { String(decoding: report.bytes(of: $0), as: UTF8.self).prefix(1 + "\(number)-\(index)".count) }
                }
                #expect(kept == ["n", "t", "d"].map { "\($0)\(number)-\(index)"[...] })
            }
        }
        #expect(most <= 8 << 10 + calls * 4096, "\(most)")
        #expect(report.attempts.count == DeliveryReport.maximumAttempts && report.attemptCount == 400)
    }
}

extension DeliveryReport {
    /// The bytes of a kept text.
    fileprivate func bytes(of text: Text) -> [UInt8] {
        let span = span(text)
        return span.indices.map { span[$0] }
    }
}
