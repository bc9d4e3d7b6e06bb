import Intake
import JobSupport
import PushModel

extension RequestReport {
    /// The reason for which nothing is sent, or nil if something is.
    var refusal: String? {
        guard case .refused(let fault) = fate else { return nil }
        let pointer = fault.pointer.isEmpty ? "" : Sanitised.line(fault.pointer) + ": "
        return "\(fault.code.rawValue): \(pointer)\(fault.message)"
    }

    /// The cost of its calls, or nil if there are none.
    var estimate: PlanEstimate? { if case .sent(let sending) = fate { sending.estimate } else { nil } }

    var text: String {
        guard case .sent(let sending) = fate else { return "nothing would be sent: \(refusal ?? "")" }
        let name = id.map { "request \($0)" } ?? "a request that gets its id when it is written"
        var lines = ["\(name): \(sending.estimate.text)", "(\(record))"] + sending.notes.map { "(\($0))" }
        for (index, call) in sending.calls.enumerated() {
            lines += ["", "call \(index + 1) of \(sending.estimate.callCount): \(call.title)"] + call.lines
        }
        return lines.joined(separator: "\n")
    }

    /// The topic to which it is written, and the times between which it may be sent.
    private var record: String {
        let times = [notBefore.map { ", not sent before \($0.text)" }, expiresAt.map { ", expires at \($0.text)" }]
        return "it is written to \(topic), lane \(lane)\(times.compactMap(\.self).joined())"
    }
}

extension PlanEstimate {
    var text: String {
        let calls = callCount == 1 ? "1 call" : "\(callCount) calls"
        let rate = limits.callsPerSecond > 0 ? ", \(limits.callsPerSecond) a second" : ""
        let limit = "\(limits.callsAtOnce) at once, \(TimeText.length(milliseconds: limits.callMilliseconds)) each\(rate)"
        let parts = partCount > 0 ? " in \(partCount) parts" : ""
        let isRounded = partCount > 0 ? "about " : ""
        return "\(calls)\(parts), \(isRounded)\(byteCount) bytes, about \(TimeText.length(milliseconds: milliseconds)) (\(limit))"
    }
}

extension CallPreview {
    /// One line that names it.
    fileprivate var title: String {
        let whole = part > 1 ? "\(platformName), part \(part)" : platformName
        return "\(whole), to \(audience), \(body.count) of at most \(maximumBodyByteCount) bytes"
    }

    fileprivate var lines: [String] {
        let body = Sanitised.line(String(decoding: body, as: UTF8.self), atMost: maximumBodyByteCount + 1)
        return head.map { "  " + Sanitised.line($0, atMost: 8192) } + ["", "  " + body]
    }
}
