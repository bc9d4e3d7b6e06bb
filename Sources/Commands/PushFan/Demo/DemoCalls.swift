import Console
import Foundation
import JobSupport

/// Makes HTTP calls and shows each: its user, the answer, and the rings.
struct DemoCalls {
    /// Columns for the user, and for the call. The answer to a longer call stands in the next line.
    private static let userWidth = 5
    private static let callWidth = 40

    let stage: DemoStage
    let text: DemoText

    /// Makes a user's call, and shows it as `shown`, with a comment on the answer's body beside the status, by default the rings.
    @discardableResult
    func make(
        _ who: String, shown: String, method: String, url: String, fields: [(name: String, value: String)],
        body: String = "", comment: ((String) -> String)? = nil
    ) throws -> (status: Int, body: String) {
        let rings = DemoRings(stage.hub)
        let answer = try PlainRequest.call(method, url: url, fields: fields, body: Array(body.utf8), timeout: .seconds(40))
        let rung = rings.names
        var told = [Self.code(answer.body), comment?(answer.body)].compactMap { $0 }
        if comment == nil || !rung.isEmpty { told.append(rung.isEmpty ? "nothing rang" : "rang: \(rung)") }
        let call = DemoText.padded(who, to: Self.userWidth) + DemoText.padded(shown, to: Self.callWidth)
        let result = "\(answer.status) \(told.joined(separator: ", "))"
        let isLong = DisplayWidth.of(call + result) > DemoText.width - 2
        try text.show(isLong ? [call, DemoText.padded("", to: Self.userWidth) + "→ " + result] : [call + result])
        return answer
    }

    /// The code of a problem, or nil for another answer.
    private static func code(_ body: String) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["code"] as? String
    }
}

extension PlainRequest {
    /// Makes a call to a URL that begins with `http://`.
    static func call(
        _ method: String, url: String, fields: [(name: String, value: String)] = [], body: [UInt8] = [], timeout: Duration
    ) throws -> (status: Int, body: String) {
        guard let target = HealthTarget(url: url) else { throw Failure.impossible(url) }
        return try call(method, at: target, fields: fields, body: body, timeout: timeout)
    }
}
