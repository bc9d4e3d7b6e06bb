import HubServer
import Basics

/// Reads a line of a ``TelemetryScript``.
///
/// A notification: `hidden[=10s]` (unknown for so long, or for good), then `state=WORD[/DURATION]` as often as needed, each with
/// its counts behind it (`apple.Success=3`, `counts=none`), `canceled=WORD`. It is for sends with `tags=`, `format=`, `handle=`.
/// A device: `refuse=OUTCOME` with `device=HANDLE` and `platform=WORD`, the platform under its format name.
/// Both: `after=N`, `every=N`, `count=N`. States and outcomes are any words, as readers must bear unknown ones.
struct TelemetryParser {
    static let fieldNames = [
        "hidden", "state", "counts", "canceled", "refuse", "device", "platform", "tags", "format", "handle", "after", "every",
        "count",
    ]

    private var progress = TelemetryScript.Progress()
    private var conditions = Fault.Conditions()
    private var outcome: String?
    private var device: String?
    private var platform: HubPlatform?
    private var after = 0
    private var every = 1
    private var count: Int?
    private var given: [String] = []

    static func parse(_ text: String) throws(TelemetryScriptError) -> TelemetryScript {
        var parser = TelemetryParser()
        for field in text.split(separator: ",") {
            let trimmed = field.trimmingBlanks
            let equals = trimmed.firstIndex(of: "=")
            let name = String(trimmed[..<(equals ?? trimmed.endIndex)])
            let value = equals.map { String(trimmed[trimmed.index(after: $0)...]) } ?? ""
            if name.contains(".") {
                try parser.readCount(name, from: value)
            } else {
                try parser.read(name.lowercased(), from: value)
            }
        }
        return try parser.script(text)
    }

    private mutating func read(_ field: String, from value: String) throws(TelemetryScriptError) {
        guard Self.fieldNames.contains(field) else { throw .unknownField(field) }
        if given.contains(field), field != "state", field != "counts" { throw .repeatedField(field) }
        given.append(field)
        switch field {
        case "hidden": progress.hidden = value.isEmpty ? nil : try TelemetryScriptError.duration(field, from: value)
        case "state": try readState(value)
        case "counts":
            guard value == "none" else { throw .badValue(field: field, value: value, expected: "none") }
            try changeCounts(of: field) { $0 = OutcomeCounts() }
        case "canceled": progress.canceledState = try Self.word(field, from: value)
        case "refuse": outcome = try Self.word(field, from: value)
        case "device": device = value
        case "platform": platform = try Self.platform(field, from: value)
        case "tags": conditions.tags = value
        case "format": conditions.format = value
        case "handle": conditions.handle = value
        case "after": after = try TelemetryScriptError.number(field, from: value, in: 0...1_000_000_000)
        case "every": every = try TelemetryScriptError.number(field, from: value, in: 1...1_000_000_000)
        default: count = try TelemetryScriptError.number(field, from: value, in: 1...1_000_000_000)
        }
    }

    private mutating func readState(_ value: String) throws(TelemetryScriptError) {
        if let last = progress.steps.last, last.duration == nil { throw .endlessState(last.state) }
        let parts = value.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let state = try Self.word("state", from: String(parts[0]))
        let duration = parts.count > 1 ? try TelemetryScriptError.duration("state", from: String(parts[1])) : nil
        progress.steps.append(TelemetryScript.Step(state: state, duration: duration, counts: nil))
    }

    /// Reads `apple.Success=3`.
    private mutating func readCount(_ field: String, from value: String) throws(TelemetryScriptError) {
        let parts = field.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let platform = try Self.platform(field, from: String(parts[0]))
        let name = try Self.word(field, from: String(parts[1]))
        let number = try TelemetryScriptError.number(field, from: value, in: 0...1_000_000_000)
        try changeCounts(of: field) { $0.add(name, on: platform, count: number) }
    }

    private mutating func changeCounts(
        of field: String, by change: (inout OutcomeCounts) -> Void
    ) throws(TelemetryScriptError) {
        guard let last = progress.steps.indices.last else { throw .needs(field: field, other: "state") }
        var counts = progress.steps[last].counts ?? OutcomeCounts()
        change(&counts)
        progress.steps[last].counts = counts
    }

    private func script(_ text: String) throws(TelemetryScriptError) -> TelemetryScript {
        let ofNotification = given.first { ["hidden", "state", "canceled", "tags", "format", "handle"].contains($0) }
        let ofDevice = given.first { ["refuse", "device", "platform"].contains($0) }
        var script: TelemetryScript
        switch (ofNotification, ofDevice) {
        case (.some(let first), .some(let second)): throw .conflict(first, second)
        case (nil, nil): throw .empty
        case (.some, nil):
            guard given.contains(where: { ["hidden", "state", "canceled"].contains($0) }) else { throw .empty }
            script = TelemetryScript(text: text, effect: .progress(progress))
        case (nil, .some(let field)):
            guard let outcome else { throw .needs(field: field, other: "refuse") }
            script = TelemetryScript(text: text, effect: .refusal(outcome: outcome, device: device, platform: platform))
        }
        script.conditions = conditions
        script.after = after
        script.every = every
        script.count = count
        return script
    }

    private static func word(_ field: String, from value: String) throws(TelemetryScriptError) -> String {
        guard (1...64).contains(value.utf8.count), value.utf8.allSatisfy(\.isLetterOrDigit) else {
            throw .badValue(field: field, value: value, expected: "a word of letters and digits")
        }
        return value
    }

    private static func platform(_ field: String, from value: String) throws(TelemetryScriptError) -> HubPlatform {
        guard let platform = HubPlatform(format: value) else {
            let known = HubPlatform.allCases.map(\.format).joined(separator: ", ")
            throw .badValue(field: field, value: value, expected: "one of \(known)")
        }
        return platform
    }
}
