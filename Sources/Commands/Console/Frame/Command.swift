/// One command, as data: its name, its arguments, its explanation, and its action.
public struct Command: Sendable {
    /// The audience of a command, by which the overview is ordered.
    public enum Section: String, Sendable, CaseIterable {
        case everyone = "Everyone"
        case publishers = "Publishers"
        case operators = "Operators"
        case results = "Results"
    }

    /// One or two words: `enqueue`, `topics create`.
    public let name: String
    /// The audience of the command.
    public let section: Section
    /// One sentence without a full stop.
    public let summary: String
    /// The operands behind the flags in the usage line, such as `[FILE...]`, empty when there may be none.
    public let operands: String
    /// The most operands there may be.
    public let maximumOperands: Int
    /// The operands are a filter: `-hub:shop` is one of them, and no flag.
    public let acceptsFilter: Bool
    /// Three or more lines that can be run as they are.
    public let examples: [String]
    /// The flags, grouped.
    public let groups: [FlagGroup]
    /// The last line: where to read on.
    public let readOn: String
    /// Every setting is a flag as well: `--kafka.group_id NAME`.
    public let acceptsSettings: Bool
    /// Does the work.
    public let run: @Sendable (Invocation) throws(CommandFailure) -> ExitCode

    /// Describes a command.
    ///
    /// - Parameters:
    ///   - name: One or two words.
    ///   - section: The audience of the command.
    ///   - summary: One sentence without a full stop.
    ///   - operands: The operands behind the flags in the usage line.
    ///   - maximumOperands: The most operands there may be.
    ///   - acceptsFilter: Whether the operands are a filter.
    ///   - examples: At least three lines that can be run as they are.
    ///   - groups: The flags, grouped, to which `--help` is added.
    ///   - readOn: The command or page with more.
    ///   - acceptsSettings: Whether every setting is a flag as well.
    ///   - run: Does the work.
    public init(
        _ name: String, _ section: Section, _ summary: String, operands: String = "", maximumOperands: Int = 0,
        acceptsFilter: Bool = false, examples: [String], groups: [FlagGroup] = [], readOn: String,
        acceptsSettings: Bool = true, run: @escaping @Sendable (Invocation) throws(CommandFailure) -> ExitCode
    ) {
        self.name = name
        self.section = section
        self.summary = summary
        self.operands = operands
        self.maximumOperands = maximumOperands
        self.acceptsFilter = acceptsFilter
        self.examples = examples
        self.groups = groups
        self.readOn = readOn
        self.acceptsSettings = acceptsSettings
        self.run = run
    }

    /// Every flag of the command itself.
    var flags: [Flag] { groups.flatMap(\.flags) + [Self.helpFlag] }

    static let helpFlag = Flag("help", nil, "Show this page", letter: "h")
}
