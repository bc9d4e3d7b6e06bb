import Groups
import JobSupport

extension OrderReach {
    /// The most workers that one line names.
    private static let mostNamed = 10

    /// The warning for who names a hub that is not known.
    static func unknownHubText(_ name: String) -> String {
        "neither the settings here nor a report of a worker name the hub \(Sanitised.quoted(name)): is it spelled as there?"
    }

    /// A line for each kind of worker that goes on as if there were no order.
    func warnings(topic: String) -> [String] {
        var lines: [String] = []
        if !ignorant.isEmpty {
            let verbs = ignorant.count == 1 ? ("knows", "goes") : ("know", "go")
            lines.append(
                "\(ignorant.count) of \(Counted.text(count, "worker", "workers")) \(verbs.0) no holds, and \(verbs.1) on, until updated: "
                    + Self.list(ignorant))
        }
        if !blind.isEmpty {
            let verb = blind.count == 1 ? "does" : "do"
            lines.append(
                "\(blind.count) of \(Counted.text(count, "worker", "workers")) \(verb) not read \(Sanitised.line(topic)) at present: "
                    + "\(Self.list(blind)); `pushfan status` says why")
        }
        return lines
    }

    /// The number of workers that obey, and the names of those that do not yet.
    var progressText: String {
        if count == 0 { return "no worker reports itself at present; one that starts reads the order before its first call" }
        let obeyed = Counted.text(obeying.count, "worker obeys it", "workers obey it")
        return pending.isEmpty ? obeyed : "\(obeyed), and in time did not: \(Self.list(pending))"
    }

    private static func list(_ workers: [String]) -> String {
        let named = workers.prefix(mostNamed).map { Sanitised.line($0, atMost: 128) }.joined(separator: ", ")
        return workers.count > mostNamed ? "\(named) and \(workers.count - mostNamed) more" : named
    }
}
