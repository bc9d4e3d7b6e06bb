import Foundation
import HubEmulator

/// Publishes requests one by one, and shows on whose screens they ring.
struct DemoRequests {
    let stage: DemoStage
    let text: DemoText

    func play() throws {
        try text.heading("1  A person's phone")
        try send(
            "demo-1", audience: #""audience": {"users": ["alice"]}, "#,
            content: Self.message(title: "Order shipped", body: "Your parcel is on its way"))
        try text.heading("2  A user's three devices, and categories in three languages")
        try send(
            "demo-2", audience: #""audience": {"users": ["bea"]}, "#,
            content: Self.message(title: "Table for two", body: "Tonight at eight, see you there"))
        try text.say("")
        try send(
            "demo-3", audience: #""audience": {"categories": ["World", "Sports"]}, "#,
            content: #""template": {"headline_en": "It works", "headline_de": "Es geht", "headline_ja": "速報 pushfanが動いた"}"#)
    }

    private static func message(title: String, body: String) -> String {
        #""message": {"title": "\#(title)", "body": "\#(body)"}"#
    }

    private func send(_ id: String, audience: String, content: String) throws {
        let rings = DemoRings(stage.hub)
        let last = stage.hub.calls().last?.id ?? 0
        try stage.publish([#"{"schema_version": 1, "id": "\#(id)", "source": "/demo", \#(audience)\#(content)}"#])
        try text.step("request", meaning: #"{"id": "\#(id)", \#(audience)\#(content), …}"#)
        let result = try self.result(of: id)
        // The workers' probes of the hub have no format.
        let calls = stage.hub.calls(after: last).filter { $0.isSend && $0.format != nil }
        try text.step(
            "hub calls", meaning: calls.map { "\($0.format ?? "") to \($0.tags ?? "everybody")" }.joined(separator: ", "))
        try text.show(rings.screens)
        let milliseconds = (result["timings"] as? [String: Any])?["total_ms"] as? Int ?? 0
        let error = (result["error"] as? [String: Any])?["message"] as? String
        let reason = error.map { ": \($0)" } ?? ""
        try text.step("result", meaning: "\(result["state"] as? String ?? "?") after \(milliseconds) ms\(reason)")
    }

    private func result(of id: String) throws -> [String: Any] {
        var result: [String: Any] = [:]
        try DemoPatience.wait(for: "the result of \(id)") {
            guard let next = stage.nextResult(), next.id == id else { return "none has come" }
            result = try JSONSerialization.jsonObject(with: Data(next.value)) as? [String: Any] ?? [:]
            return nil
        }
        return result
    }
}
