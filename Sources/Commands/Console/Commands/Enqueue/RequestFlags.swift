import PushModel
import ResultQuery

/// The flags that describe one request, and the JSON they become.
enum RequestFlags {
    static let audience = FlagGroup(
        "Audience (exactly one kind)",
        Flag("user", "NAME", "A user", letter: "u", isRepeatable: true),
        Flag("category", "TAG", "A tag; devices with any of them are reached", isRepeatable: true),
        Flag("tag-expression", "TEXT", "A tag expression such as 'a && !b'"),
        Flag("installation", "ID", "An installation", isRepeatable: true),
        Flag("device", "PLATFORM:HANDLE", "A device by its handle", isRepeatable: true),
        Flag("broadcast", nil, "Every device of the hub"),
        Flag("audience-file", "FILE", "Users, or platforms and handles, one a line: CSV or NDJSON, a million or more"))

    static let content = FlagGroup(
        "Content (message, payloads or template)",
        Flag("title", "TEXT", "The heading"), Flag("subtitle", "TEXT", "The line below the heading"),
        Flag("body", "TEXT", "The text"), Flag("data", "NAME=VALUE", "A value for the app", isRepeatable: true),
        Flag("deep-link", "URL", "What a tap opens"), Flag("image", "URL", "A picture"),
        Flag("badge", "N", "The app icon's number; 0 clears it"), Flag("sound", "NAME", "A sound, or 'default'"),
        Flag("thread", "ID", "Notifications of one thread are shown together"),
        Flag("silent", nil, "Wake the app without showing anything"),
        Flag("payload", "PLATFORM=@FILE", "A native payload, verbatim; or PLATFORM=JSON", isRepeatable: true),
        Flag("template", "NAME=VALUE", "A property for the devices' templates", isRepeatable: true))

    static let delivery = FlagGroup(
        "Delivery",
        Flag("platform", "NAME", "apple, fcmv1, windows, ...; also apns, fcm, wns", isRepeatable: true),
        Flag("hub", "NAME", "The hub, by its name at the worker"),
        Flag("ttl", "DURATION", "How long the request is of use, at most 28d"),
        Flag("not-before", "TIME", "Not to be sent before: 2026-11-21T17:00:00Z, or a length of time from now"),
        Flag("collapse-key", "TEXT", "Takes the place of an undelivered push with the same key"),
        Flag("ordering-key", "TEXT", "Requests with one key are sent in order"),
        Flag("priority", "WORD", "How urgent it is", choices: ["high", "normal", "low"]),
        Flag("option", "NAME=VALUE", "One of the contract's options, such as max_attempts=8", isRepeatable: true),
        Flag("label", "NAME=VALUE", "Is copied into the result", isRepeatable: true),
        Flag("id", "ID", "The request's identity", default: "a new UUIDv7"),
        Flag("source", "TEXT", "Who publishes it"))

    static let names = [audience, content, delivery].flatMap { $0.flags.map(\.name) }

    /// The request that the flags describe, as JSON that is still to be checked. `now` is in milliseconds since 1970.
    static func json(_ arguments: Arguments, now: Int64) throws(CommandFailure) -> [UInt8] {
        var request = JSONObject([
            "schema_version": 1, "id": arguments.value("id"), "source": arguments.value("source"), "hub": arguments.value("hub"),
        ])
        request.add("audience", raw: try audience(arguments))
        request.add("platforms", texts: arguments.values("platform"))
        try addContent(arguments, to: &request)
        if let life = try arguments.duration("ttl") { request.add("ttl_seconds", value: Int(life.components.seconds)) }
        if let text = arguments.value("not-before") {
            guard let moment = TimeWords.moment(text, now: now, isPast: false) else {
                throw .usage("--not-before: \(Sanitised.quoted(text)) is no time; expected 2026-11-21T17:00:00Z or 10m")
            }
            request.add("not_before", value: moment.text)
        }
        request.add([
            "priority": arguments.value("priority"), "collapse_key": arguments.value("collapse-key"),
            "ordering_key": arguments.value("ordering-key"),
        ])
        let options = try pairs("option", arguments)
        if !options.isEmpty { request.add("options", raw: self.options(options)) }
        request.add("labels", pairs: try pairs("label", arguments))
        return request.bytes
    }

    private static func audience(_ arguments: Arguments) throws(CommandFailure) -> [UInt8] {
        let kinds = audience.flags.map(\.name).filter(arguments.has)
        guard kinds.count <= 1 else {
            throw .usage("one request has one kind of audience; given are --\(kinds.joined(separator: " and --"))")
        }
        guard !kinds.isEmpty else {
            throw .usage(
                "an audience must be named", hint: "say for whom it is: --user alice, --category World, --installation ID, ...")
        }
        var audience = JSONObject()
        // The names of the file are added part by part.
        if arguments.has("audience-file") { audience.add("users", texts: ["sample"]) }
        audience.add([
            "users": arguments.values("user"), "categories": arguments.values("category"),
            "tag_expression": arguments.value("tag-expression"), "installations": arguments.values("installation"),
        ])
        if arguments.has("broadcast") { audience.add("broadcast", value: true) }
        var devices: [[UInt8]] = []
        for text in arguments.values("device") {
            // A text without a colon is a handle alone, which no message repeats.
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw .usage("--device: expected PLATFORM:HANDLE, such as apple:…") }
            guard Platform(name: parts[0]) != nil else { throw .usage("--device: \(Platform.refusal(of: parts[0]))") }
            devices.add(["platform": parts[0], "handle": parts[1]])
        }
        if !devices.isEmpty { audience.add("devices", array: devices) }
        return audience.bytes
    }

    private static func addContent(_ arguments: Arguments, to request: inout JSONObject) throws(CommandFailure) {
        var message = JSONObject([
            "title": arguments.value("title"), "subtitle": arguments.value("subtitle"), "body": arguments.value("body"),
            "image_url": arguments.value("image"), "deep_link": arguments.value("deep-link"), "sound": arguments.value("sound"),
        ])
        if let badge = try arguments.integer("badge", in: 0...99_999) { message.add("badge", value: badge) }
        message.add("thread_id", value: arguments.value("thread"))
        if arguments.has("silent") { message.add("silent", value: true) }
        message.add("data", pairs: try pairs("data", arguments))
        if !message.isEmpty { request.add("message", raw: message.bytes) }
        var payloads = JSONObject()
        for (platform, text) in try pairs("payload", arguments) {
            let content = text.hasPrefix("@") ? try InputFile.read(String(text.dropFirst())) : Array(text.utf8)
            var payload = JSONObject()
            if isObject(content) {
                payload.add("body", raw: content)
            } else {
                payload.add("body", value: String(decoding: content, as: UTF8.self))
            }
            payloads.add(platform, raw: payload.bytes)
        }
        if !payloads.isEmpty { request.add("payloads", raw: payloads.bytes) }
        let properties = try pairs("template", arguments)
        guard !message.isEmpty || !payloads.isEmpty || !properties.isEmpty else {
            throw .usage("there is nothing to send", hint: "give --title or --body, --payload or --template")
        }
        request.add("template", pairs: properties)
    }

    /// Numbers, true and false stand for themselves. Everything else is text.
    private static func options(_ pairs: [(name: String, value: String)]) -> [UInt8] {
        var options = JSONObject()
        for (name, value) in pairs {
            if let number = Int(value) {
                options.add(name, value: number)
            } else if value == "true" || value == "false" {
                options.add(name, value: value == "true")
            } else {
                options.add(name, value: value)
            }
        }
        return options.bytes
    }

    /// Every `NAME=VALUE` of a flag, in order.
    static func pairs(_ flag: String, _ arguments: Arguments) throws(CommandFailure) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for text in arguments.values(flag) {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage("--\(flag): expected NAME=VALUE")
            }
            pairs.append((String(text[..<equals]), String(text[text.index(after: equals)...])))
        }
        return pairs
    }

    private static func isObject(_ bytes: [UInt8]) -> Bool {
        var document = JSONDocument()
        do { try document.read(bytes.span) } catch { return false }
        return document.kind(of: document.root) == .object
    }
}
