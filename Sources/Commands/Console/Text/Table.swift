import PushModel

/// Rows in columns, as wide as what is in them.
public struct Table {
    /// A column's heading, and whether its values are numbers.
    struct Column: ExpressibleByStringLiteral {
        let title: String
        var isNumber = false
        /// Left out of a table that is not wide.
        var isWide = false
        /// Left out if a terminal is too narrow for all columns. The smallest number goes first.
        var spare: Int?
    }

    /// Columns of a terminal that a table with wrapping cells takes at most.
    static let maximumWrappedWidth = 120
    /// Columns of a terminal that a table's column keeps.
    private static let minimumColumnWidth = 8

    private let columns: [Column]
    private var rows: [[String]] = []
    /// The rows for programs, as JSON objects.
    private(set) var objects: [[UInt8]] = []
    /// On a terminal long cells go on in the next line, instead of the last column being cut.
    public var wrapsCells = false

    init(_ columns: [Column]) {
        self.columns = columns
    }

    /// An empty table of texts.
    public init(_ titles: String...) {
        columns = titles.map { Column(title: $0) }
    }

    /// Adds a row. Control characters in it are replaced.
    public mutating func add(_ cells: String...) {
        add(cells)
    }

    /// Adds a row. Control characters in it are replaced.
    mutating func add(_ cells: [String]) {
        rows.append(cells.map { Sanitised.line($0, atMost: 4096) })
    }

    /// Adds a row that is the same for people and programs. A member that is nil is a hyphen in it.
    mutating func add(_ members: KeyValuePairs<String, (any JSONMember)?>) {
        add(members.map { ($0.value as? [String])?.joined(separator: ", ") ?? $0.value.map { "\($0)" } ?? "-" })
        objects.append(JSONObject(members).bytes)
    }

    var narrow: Table { columns.contains(where: \.isWide) ? without { columns[$0].isWide } : self }

    /// The table without as many of its spare columns as the terminal has no room for. If it is too wide even so, it wraps its
    /// cells.
    func fitting(_ traits: Streams.Traits) -> Table {
        guard let width = traits.width, columns.contains(where: { $0.spare != nil }) else { return self }
        var table = self
        while table.totalWidth > width, let first = table.firstSpare { table = table.without { $0 == first } }
        if table.totalWidth > width { table.wrapsCells = true }
        return table
    }

    /// The place of the column that is left out first.
    private var firstSpare: Int? {
        columns.indices.filter { columns[$0].spare != nil }.min { columns[$0].spare ?? 0 < columns[$1].spare ?? 0 }
    }

    /// The table without those columns that `isLeftOut` names by their places.
    private func without(_ isLeftOut: (Int) -> Bool) -> Table {
        let kept = columns.indices.filter { !isLeftOut($0) }
        var table = Table(kept.map { columns[$0] })
        table.wrapsCells = wrapsCells
        table.rows = rows.map { row in kept.map { row[$0] } }
        return table
    }

    /// The width of each column if there is room for all.
    private var widths: [Int] {
        var widths = columns.map { DisplayWidth.of($0.title) }
        for row in rows {
            for (index, cell) in row.enumerated() where index < widths.count {
                widths[index] = max(widths[index], DisplayWidth.of(cell))
            }
        }
        return widths
    }

    private var totalWidth: Int { widths.reduce(-2) { $0 + $1 + 2 } }

    /// The lines of CSV, the columns' names first. A `-` of the table becomes an empty cell.
    var csv: [String] {
        [CSV.line(columns.map { $0.title.lowercased().replacing(" ", with: "_") })]
            + rows.map { row in CSV.line(row.map { $0 == "-" ? "" : $0 }) }
    }

    /// The lines, headings first. At the terminal's edge the last column is cut, or every long cell wrapped.
    public func lines(_ traits: Streams.Traits) -> [String] {
        var widths = self.widths
        if let width = traits.width { fit(&widths, to: width) }
        let heading = Colour.bold.paint(line(columns.map(\.title), widths, colours: nil), traits)
        let isWrapped = wrapsCells && traits.width != nil
        let shown = isWrapped ? rows.flatMap { Self.wrapped($0, to: widths) } : rows
        return [heading] + shown.map { line($0, widths, colours: traits) }
    }

    private func fit(_ widths: inout [Int], to width: Int) {
        guard wrapsCells else {
            guard let last = widths.indices.last else { return }
            let before = widths.dropLast().reduce(0) { $0 + $1 + 2 }
            widths[last] = min(widths[last], max(Self.minimumColumnWidth, width - before))
            return
        }
        var excess = widths.reduce(-2) { $0 + $1 + 2 } - min(width, Self.maximumWrappedWidth)
        while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > Self.minimumColumnWidth
        {
            widths[widest] -= 1
            excess -= 1
        }
    }

    /// The rows that together show all of `row`.
    private static func wrapped(_ row: [String], to widths: [Int]) -> [[String]] {
        let pieces = zip(row, widths).map { DisplayWidth.wrap($0, to: $1) }
        let height = pieces.map(\.count).max() ?? 0
        return (0..<height).map { (index: Int) -> [String] in
            pieces.map { (lines: [String]) -> String in index < lines.count ? lines[index] : "" }
        }
    }

    private func line(_ cells: [String], _ widths: [Int], colours: Streams.Traits?) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() where index < widths.count {
            let text = DisplayWidth.cut(cell, to: widths[index])
            let padding = String(repeating: " ", count: widths[index] - DisplayWidth.of(text))
            let painted = colours.flatMap { traits in Colour.of(state: text)?.paint(text, traits) } ?? text
            let isLast = index == cells.count - 1
            line += columns[index].isNumber ? padding + painted : painted + (isLast ? "" : padding)
            line += isLast ? "" : "  "
        }
        return line
    }
}

extension Table.Column {
    init(stringLiteral title: String) { self.init(title: title) }

    static func number(_ title: String, isWide: Bool = false, spare: Int? = nil) -> Self {
        Self(title: title, isNumber: true, isWide: isWide, spare: spare)
    }
}

extension [[UInt8]] {
    /// Adds a JSON object with these members, without those that are nil or empty lists.
    mutating func add(_ members: KeyValuePairs<String, (any JSONMember)?>) { append(JSONObject(members).bytes) }
}

extension Invocation {
    /// Writes a table whose rows are the same for people and programs, in the requested form.
    func out(_ table: Table) throws(CommandFailure) { try streams.out(arguments.format(), table, table.objects) }
}

extension Streams {
    /// Writes data in the requested form.
    func out(_ format: OutputFormat, _ table: Table, _ objects: [[UInt8]]) throws(CommandFailure) {
        switch format {
        case .table: for line in table.narrow.fitting(traits).lines(traits) { try out(line) }
        case .wide: for line in table.lines(traits) { try out(line) }
        case .csv: for line in table.csv { try out(line) }
        case .ndjson:
            for object in objects { try out(object + [UInt8(ascii: "\n")]) }
        case .json:
            try out([UInt8(ascii: "[")])
            for (index, object) in objects.enumerated() {
                try out((index == 0 ? [] : [UInt8(ascii: ",")]) + [UInt8(ascii: "\n")] + object)
            }
            try out(objects.isEmpty ? "]" : "\n]")
        }
    }
}
