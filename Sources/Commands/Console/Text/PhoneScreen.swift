/// A small lock screen with one notification, drawn with the characters of a terminal.
public struct PhoneScreen: Sendable {
    /// Columns of a screen with its frame.
    public static let width = 24
    /// Columns for the text.
    private static let room = width - 4
    private static let gap = "  "

    private let rows: [String]

    /// Draws a screen.
    ///
    /// - Parameters:
    ///   - name: The owner of the phone, shown above the notification.
    ///   - title: The heading of the notification, which may be empty.
    ///   - text: The text of the notification, which may be empty.
    public init(name: String, title: String, text: String) {
        let shown = [title, text].filter { !$0.isEmpty }.flatMap { DisplayWidth.wrap(Sanitised.line($0), to: Self.room) }
        rows = [Sanitised.line(name), ""] + shown
    }

    /// Draws screens beside one another, all equally high.
    ///
    /// - Parameter screens: The screens, of which three take 76 columns.
    /// - Returns: The lines, without blanks at their ends.
    public static func lines(beside screens: [PhoneScreen]) -> [String] {
        let height = screens.map(\.rows.count).max() ?? 0
        guard height > 0 else { return [] }
        let edge = String(repeating: "─", count: width - 2)
        let middle = (0..<height).map { row in
            screens.map { "│ \(padded(row < $0.rows.count ? $0.rows[row] : "")) │" }.joined(separator: gap)
        }
        let top = screens.map { _ in "╭\(edge)╮" }.joined(separator: gap)
        let bottom = screens.map { _ in "╰\(edge)╯" }.joined(separator: gap)
        return [top] + middle + [bottom]
    }

    private static func padded(_ text: String) -> String {
        let text = DisplayWidth.cut(text, to: room)
        return text + String(repeating: " ", count: max(0, room - DisplayWidth.of(text)))
    }
}
