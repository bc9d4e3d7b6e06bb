import Console
import Foundation
import HubEmulator

/// Makes HTTP calls and shows each in one line: who makes it, what is answered, and what rang.
struct DemoCalls {
    /// Columns for the call; a longer one pushes the answer to the right.
    private static let width = 66

    private let stage: DemoStage
    private let streams: Streams

    init(_ stage: DemoStage, _ streams: Streams) {
        self.stage = stage
        self.streams = streams
    }

    /// Makes a user's call, and shows it as `shown`.
    ///
    /// `comment` makes of the answer's body what is said beside the status; without it, what rang is said.
    @discardableResult
    func make(
        _ who: String, _ shown: String, _ method: String, _ url: String, _ fields: [(name: String, value: String)],
        _ body: String = "", comment: ((String) -> String)? = nil
    ) throws -> (status: Int, body: String) {
        let before = rungCounts()
        let answer = try PlainRequest.call(method, url, fields: fields, body: Array(body.utf8), timeout: .seconds(40))
        let rung = Self.rang(since: before, now: stage.hub.devices())
        var told = [Self.code(answer.body), comment?(answer.body)].compactMap { $0 }
        if comment == nil || !rung.isEmpty { told.append(rung.isEmpty ? "nothing rang" : "rang: \(rung)") }
        let call = Self.padded(who, 5) + Self.padded(shown, Self.width)
        try streams.out("  \(call)\(answer.status) \(told.joined(separator: ", "))")
        try streams.flush()
        return answer
    }

    private func rungCounts() -> [String: Int] {
        Dictionary(stage.hub.devices().map { ($0.handle, $0.rungCount) }, uniquingKeysWith: +)
    }

    /// The devices on which something rang, and how often where it was more than once.
    private static func rang(since before: [String: Int], now devices: [DeviceReport]) -> String {
        devices.compactMap { device -> String? in
            let count = device.rungCount - (before[device.handle] ?? 0)
            guard count > 0 else { return nil }
            return DemoDevice.name(of: device.handle) + (count > 1 ? " \(count) times" : "")
        }.joined(separator: ", ")
    }

    /// The code of a problem; nil for an answer that is none.
    private static func code(_ body: String) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["code"] as? String
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
