import JobSupport

public import Settings

/// A command line after it was understood.
public struct Arguments: Sendable {
    /// The words behind the flags.
    public internal(set) var operands: [String] = []
    /// Flags that set settings.
    public internal(set) var settings: [SettingFlag] = []
    /// The settings file that a flag names.
    public internal(set) var configPath: String?
    var values: [String: [String]] = [:]

    /// The value of a flag that is given at most once.
    public func value(_ name: String) -> String? { values[name]?.last }

    /// Every value of a flag, in order.
    public func values(_ name: String) -> [String] { values[name] ?? [] }

    /// The flag is there.
    public func has(_ name: String) -> Bool { values[name] != nil }

    /// Any of the flags is there.
    public func firstGiven(of names: [String]) -> String? { names.first(where: has) }

    /// The whole number that a flag gives.
    ///
    /// - Parameters:
    ///   - name: The flag.
    ///   - range: The allowed range.
    /// - Returns: nil when the flag is absent.
    /// - Throws: A usage failure that names the flag and the range.
    public func integer(_ name: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let allowed = range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
            throw .usage("--\(name): \(Sanitised.quoted(text)) is no number that is allowed; expected \(allowed)")
        }
        return number
    }

    /// The length of time that a flag gives.
    ///
    /// - Parameter name: The flag.
    /// - Returns: nil when the flag is absent.
    /// - Throws: A usage failure that names the flag and the form.
    public func duration(_ name: String) throws(CommandFailure) -> Duration? {
        guard let text = value(name) else { return nil }
        guard let duration = TimeText.duration(text) else {
            throw .usage(
                "--\(name): \(Sanitised.quoted(text)) is no length of time; expected one such as 250ms, 30s, 15m, 1h or 7d")
        }
        return duration
    }

    /// The form of the output.
    ///
    /// - Throws: Never for a command whose flags name the choices.
    public func format(default standard: OutputFormat = .table) -> OutputFormat {
        value("output").flatMap(OutputFormat.init(rawValue:)) ?? standard
    }
}
