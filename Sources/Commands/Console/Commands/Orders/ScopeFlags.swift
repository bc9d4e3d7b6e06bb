import PushModel

/// The flags that name the requests of an order, and the scope they become.
enum ScopeFlags {
    static let group = FlagGroup(
        "Scope (requests that have all of it)",
        Flag("hub", "NAME", "Calls to this hub, by its name at the worker"),
        Flag("tenant", "NAME", "Requests of a tenant"),
        Flag("source", "TEXT", "Requests of a source"),
        Flag("lane", "WORD", "Requests of a lane", choices: ["high", "normal", "bulk", "own"]),
        Flag("label", "NAME=VALUE", "Requests with a label", isRepeatable: true),
        Flag("user", "NAME", "Requests whose audience names this user"),
        Flag("request", "ID", "One request, with all its parts and replays"),
        Flag("everything", nil, "Every request; not with any of the others"))

    static let names = group.flags.map(\.name)

    /// The scope that the flags name, or nil where none of them is there.
    static func scope(_ arguments: Arguments) throws(CommandFailure) -> OrderScope? {
        guard arguments.firstGiven(of: names) != nil else { return nil }
        let narrowing = names.filter { $0 != "everything" && arguments.has($0) }
        if arguments.has("everything") {
            guard narrowing.isEmpty else {
                throw .usage("--everything has no exceptions; leave it out, or --\(narrowing.joined(separator: " and --"))")
            }
            return .everything
        }
        var scope = OrderScope()
        scope.hub = try text("hub", arguments)
        scope.tenant = try text("tenant", arguments)
        scope.source = try text("source", arguments)
        scope.lane = arguments.value("lane")
        scope.user = try text("user", arguments)
        scope.request = try text("request", arguments)
        scope.labels = try labels(arguments)
        return scope
    }

    /// The scope that the flags name. A usage failure says how to name one.
    static func requiredScope(_ arguments: Arguments) throws(CommandFailure) -> OrderScope {
        if let scope = try scope(arguments) { return scope }
        throw .usage(
            "which requests? name a scope", hint: "such as --hub NAME, --tenant NAME or --label NAME=VALUE, or --everything")
    }

    private static func text(_ flag: String, _ arguments: Arguments) throws(CommandFailure) -> String? {
        guard let text = arguments.value(flag) else { return nil }
        try check(text, of: flag)
        return text
    }

    private static func labels(_ arguments: Arguments) throws(CommandFailure) -> [OrderScope.Label] {
        let pairs = try RequestFlags.pairs("label", arguments)
        guard pairs.count <= OrderScope.maximumLabels else {
            throw .usage("--label: at most \(OrderScope.maximumLabels) labels are allowed")
        }
        var labels: [OrderScope.Label] = []
        for (name, value) in pairs {
            try check(name, of: "label")
            try check(value, of: "label")
            guard !labels.contains(where: { $0.name == name }) else {
                throw .usage("--label: a request has one value of \(Sanitised.quoted(name)) and no second one")
            }
            labels.append(.init(name, value: value))
        }
        return labels
    }

    private static func check(_ text: String, of flag: String) throws(CommandFailure) {
        guard (1...OrderScope.maximumByteCount).contains(text.utf8.count) else {
            throw .usage("--\(flag): expected 1 to \(OrderScope.maximumByteCount) bytes")
        }
    }
}
