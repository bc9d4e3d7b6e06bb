import HubServer

/// One line of the telemetry's script: the progress of notifications' telemetry, or the devices that a push service refuses.
///
/// Written as fields joined by commas, on the command line and at run time alike: `hidden=10s,state=Processing/20s` or
/// `refuse=ExpiredChannel,device=abc`. ``TelemetryParser`` lists the fields.
public struct TelemetryScript: Sendable, Equatable {
    enum Effect: Sendable, Equatable {
        /// The progress of a notification's telemetry.
        case progress(Progress)
        /// A device does not ring, and is counted under `outcome`. A field that is `nil` meets every device.
        case refusal(outcome: String, device: String?, platform: HubPlatform?)
    }

    /// The telemetry of one notification over time.
    struct Progress: Sendable, Equatable {
        /// The time for which the id stays unknown, or `nil` for good.
        var hidden: Duration? = .zero
        /// The steps that follow, one after another. After the last step that ends, the real outcome is shown.
        var steps: [Step] = []
        /// The state of a scheduled notification that was cancelled. Clients disagree on its spelling.
        var canceledState = "Canceled"
    }

    /// One state on the way.
    struct Step: Sendable, Equatable {
        let state: String
        /// The duration of the step, or `nil` for good.
        let duration: Duration?
        /// The counts during the step. With `nil`, the real deliveries once the state is `Completed`, and nothing before.
        var counts: OutcomeCounts?
    }

    /// The line as it was written.
    public let text: String
    let effect: Effect
    /// The sends that a progress applies to.
    var conditions = Fault.Conditions()
    /// The number of matching notifications, or devices, that pass first.
    var after = 0
    /// Only every so many-th is met.
    var every = 1
    /// The number of sends or devices that it meets, or `nil` for all.
    var count: Int?

    /// Reads a line.
    ///
    /// - Parameter text: Fields joined by commas.
    /// - Throws: ``TelemetryScriptError`` naming the field.
    public init(parsing text: String) throws(TelemetryScriptError) {
        self = try TelemetryParser.parse(text)
    }

    init(text: String, effect: Effect) {
        self.text = text
        self.effect = effect
    }
}

/// A mistake in a line of the telemetry's script.
public enum TelemetryScriptError: ScriptError, Equatable, Sendable, CustomStringConvertible {
    /// There are no fields.
    case empty
    /// No such field.
    case unknownField(String)
    /// A value that the field does not allow. `expected` names the allowed ones.
    case badValue(field: String, value: String, expected: String)
    /// A field stands twice.
    case repeatedField(String)
    /// A field that means nothing without another one before it.
    case needs(field: String, other: String)
    /// Two fields that exclude each other.
    case conflict(String, String)
    /// A state behind one that never ends.
    case endlessState(String)

    /// One plain sentence.
    public var description: String {
        switch self {
        case .empty: "a line needs at least one of hidden, state, canceled and refuse"
        case .unknownField(let field):
            "'\(field)' is not a field of a telemetry script; known are \(TelemetryParser.fieldNames.joined(separator: ", "))"
                + " and counts such as apple.Success=3"
        case .badValue(let field, let value, let expected): "'\(field)' cannot be '\(value)': expected \(expected)"
        case .repeatedField(let field): "'\(field)' is given twice"
        case .needs(let field, let other): "'\(field)' needs '\(other)' before it"
        case .conflict(let first, let second): "'\(first)' and '\(second)' cannot be in one line"
        case .endlessState(let state):
            "nothing can follow 'state=\(state)', which never ends; write how long, such as state=\(state)/10s"
        }
    }
}
