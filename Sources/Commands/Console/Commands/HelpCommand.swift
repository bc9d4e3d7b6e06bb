import Basics
import Pages
import PushModel
import ResultQuery
import Settings

extension Command {
    static let help = Command(
        "help", .everyone, "Explain a command or a topic, the settings, filters or the exit codes",
        operands: "[COMMAND|TOPIC|settings|filters|exit-codes]",
        maximumOperands: 2,
        examples: [
            "pushfan help enqueue", "pushfan help large-requests", "pushfan help --page gateway", "pushfan help settings",
            "pushfan help --all", "pushfan help --man man1",
        ],
        groups: [
            .selection([
                Flag("all", nil, "Show the page of every command"),
                Flag("page", nil, "Show the page on TOPIC, also where a command has that name"),
                Flag("man", "DIR", "Write the pages of commands and settings into a folder, in the form of `man`"),
            ])
        ],
        readOn: "pushfan help exit-codes", acceptsSettings: false, run: HelpCommand.run)
}

private enum HelpCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let page = HelpPage(invocation.streams.traits)
        let words = invocation.arguments.operands
        if let folder = invocation.arguments.value("man") {
            try Manual(commands: invocation.program.commands, build: invocation.program.build).write(to: folder)
        } else if invocation.arguments.has("all") {
            for command in invocation.program.commands {
                try invocation.streams.out("pushfan \(command.name)\n\n\(page.page(of: command))\n")
            }
        } else if invocation.arguments.has("page") {
            try topic(words, invocation)
        } else if words.isEmpty {
            try invocation.streams.out(page.overview(of: invocation.program.commands, topics: Page.all))
        } else if words == ["settings"] {
            try settings(invocation.streams)
        } else if words == ["filters"] {
            try filters(invocation.streams)
        } else if words == ["exit-codes"] {
            try exitCodes(invocation.streams)
        } else if let found = invocation.program.find(words), found.wordCount == words.count {
            try invocation.streams.out(page.page(of: found.command))
        } else {
            let group = invocation.program.commands.filter { $0.name.hasPrefix(words[0] + " ") }
            if words.count == 1, !group.isEmpty {
                try invocation.streams.out(page.list(group))
            } else {
                try topic(words, invocation)
            }
        }
        return .done
    }

    private static func topic(_ words: [String], _ invocation: Invocation) throws(CommandFailure) {
        if words.count == 1, let page = Page.find(words[0]) { return try invocation.streams.out(page.bytes) }
        if words.count == 1, let entry = alert(words[0]) { return try invocation.streams.out(entry) }
        let word = words.joined(separator: " ")
        let names = Set(invocation.program.commands.map(\.name) + Page.all.map(\.topic)).sorted()
        let nearest = Spelling.nearest(to: word.lowercased(), among: names)
        throw .usage(
            "there is no command and no topic \(Sanitised.quoted(word))",
            hint: nearest.map { "did you mean '\($0)'?" } ?? "`pushfan help` lists the commands and topics")
    }

    /// The entry of an alert on page Paged.
    private static func alert(_ name: String) -> String? {
        let page = Page.find("paged").map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
        let entries = page.split(separator: "\n### ").dropFirst()
        return entries.first { $0.prefix { $0 != "\n" }.lowercased() == name.lowercased() }
            .map { "\($0)\nThe links lead to pages, which `pushfan help --page NAME` shows." }
    }

    private static func settings(_ streams: Streams) throws(CommandFailure) {
        for line in HelpPage.settingsSources + [""] { try streams.out(line) }
        var table = Table("KEY", "DEFAULT", "MEANING")
        for definition in SettingsSchema.all {
            table.add(definition.name, definition.defaultText ?? "-", definition.summary)
        }
        for line in table.lines(Streams.Traits()) { try streams.out(line) }
    }

    private static func filters(_ streams: Streams) throws(CommandFailure) {
        try streams.out(
            """
            A filter is words, terms and times with blanks between them, and all of them hold: alice hub:shop yesterday
            A word alone is a user, an id, a device, a tag, a label's value or a word of the title; "new year" is one text.
            -hub:test excludes, and so does -alice behind --. state:failed,partial is one or the other.
            label.campaign:"new year" has a blank. error:hub_* has any ending; in quotes a * is a * .
            'attempts:>2' is in quotes because of the shell.
            Times: 14:05 (five minutes around it), today, yesterday 9:00..9:30, 2026-11-28 14:05, 2026-11-21T10:00Z.
            since: and until: take one of them, or a length of time ago: since:90m. A range is without its end.
            A time without a zone is in the terminal's, and a note names it. In quotes, "14:05" is a word.

            """)
        var table = Table("TERM", "VALUES", "MEANING")
        table.wrapsCells = true
        for field in ResultField.allCases {
            table.add(field.rawValue + ":", values(field), field.summary)
        }
        table.add("label.NAME:", "any text", "a label of the request")
        table.add("user:", "any text", "a user to whom it was published")
        table.add("device:", "any text", "a device or an installation to which it was published")
        table.add("title:", "any text", "words of the title")
        table.add("to:", AudienceSummary.Kind.allCases.map(\.rawValue).joined(separator: ", "), "the kind of its audience")
        table.add("since:", "a time", "published, or ended where results are searched, then or later")
        table.add("until:", "a time", "the same before")
        for line in table.lines(streams.traits) { try streams.out(line) }
    }

    private static func values(_ field: ResultField) -> String {
        switch field.values {
        case .words where field == .error: "an error code"
        case .words where field == .state: (ResultState.allCases.map(\.rawValue) + OpenState.words).joined(separator: ", ")
        case .words(let words): words.joined(separator: ", ")
        case .text: "any text"
        case .number: "a number, such as 3, >2 or <=5"
        case .duration: "a length of time, such as >30s"
        }
    }

    private static func exitCodes(_ streams: Streams) throws(CommandFailure) {
        var table = Table([.number("CODE"), "MEANING"])
        for code in ExitCode.allCases { table.add(String(code.rawValue), code.meaning) }
        for line in table.lines(streams.traits) { try streams.out(line) }
    }
}
