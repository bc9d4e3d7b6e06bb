import Basics

/// The form of a request as a JSON Schema, made of the names and limits that the reader goes by.
///
/// What it cannot say, the reader refuses all the same: a platform named twice under two names or without content, a moment that is not
/// there in the calendar, a user's name of more than 255 bytes. Members that are null count where a number of members is limited.
extension RequestReader {
    static var schema: JSONTree {
        // Only pushfan writes the others.
        let fields = Field.allCases.filter { $0 != .replay && $0 != .parent }
        let content: [Field] = [.message, .payloads, .template]
        let conflicts: [[Field]] = [[.timeToLive, .expiresAt], [.template, .message], [.template, .payloads]]
        return JSONSchema.input(fields.map { ($0.rawValue, schema(of: $0)) }, required: [Field.audience.rawValue])
            .adding([
                "not": [
                    "anyOf": .array(
                        conflicts.map { ["allOf": .array($0.map { JSONSchema.isSet($0.rawValue) })] } + [
                            ["not": ["anyOf": .array(content.map { JSONSchema.isSet($0.rawValue) })]]
                        ])
                ]
            ])
            .named("Request")
    }

    private static func schema(of field: Field) -> JSONTree {
        switch field {
        case .schemaVersion: JSONSchema.version
        case .id: JSONSchema.text(RequestLimits.identifier, of: .identifier).described("Identity, copied into the result.")
        case .source: JSONSchema.text(RequestLimits.source).described("Who publishes it; names the request together with id.")
        case .tenant: JSONSchema.text(RequestLimits.slug, of: .slug).described("For whom it is.")
        case .hub: JSONSchema.text(RequestLimits.slug, of: .slug).described("The hub to send through.")
        case .createdAt: JSONSchema.moment.described("When the publisher made it; ttl_seconds counts from here.")
        case .audience: audience
        case .platforms:
            JSONSchema.list(of: platform, count: RequestLimits.platforms, isDistinct: true).described("Each must have content.")
        case .message: message
        case .template: JSONSchema.map(RequestLimits.template).described("Properties for templates that devices registered.")
        case .payloads: JSONSchema.map(of: payload.orNull, count: RequestLimits.payloads, names: platform)
        case .timeToLive: JSONSchema.integer(RequestLimits.timeToLive).described("Lifetime in seconds.")
        case .expiresAt: JSONSchema.moment.described("When it is of no more use.")
        case .notBefore: JSONSchema.moment.described("No call is made before it.")
        case .priority: JSONSchema.words(priorities.names).named("Priority").described("How urgently a device shows it.")
        case .collapseKey: JSONSchema.text(RequestLimits.collapseKey, of: .printable)
        case .dedupe: dedupe
        case .orderingKey: JSONSchema.text(RequestLimits.orderingKey).described("Requests with one key are sent one by one.")
        case .options: JSONSchema.input(OptionField.allCases.map { ($0.rawValue, schema(of: $0)) }).named("RequestOptions")
        case .labels: JSONSchema.map(RequestLimits.labels, names: .labelName)
        case .replay: replay
        case .parent: parent
        }
    }

    /// A platform under any of its names. Those that differ by case alone would be one name in generated code, so it is no list of words.
    private static var platform: JSONTree {
        JSONSchema.text(pattern: "^(\(Platform.names.names.joined(separator: "|")))$")
    }

    private static var dedupe: JSONTree {
        JSONSchema.input(
            [
                ("key", JSONSchema.text(RequestLimits.dedupeKey)),
                (
                    "window_seconds",
                    JSONSchema.integer(RequestLimits.dedupeWindow).withDefault(.number(PushRequest().dedupeWindow))
                ),
            ], required: ["key"]
        ).named("Dedupe")
    }

    private static func schema(of option: OptionField) -> JSONTree {
        switch option {
        case .dryRun, .testSend: JSONSchema.boolean.withDefault(false)
        case .maxAttempts: JSONSchema.integer(RequestLimits.attempts)
        case .onAmbiguous:
            JSONSchema.words(ambiguityPolicies.names).named("AmbiguityPolicy").withDefault(
                .text("\(PushRequest.Options().onAmbiguous)"))
        case .resultDetail:
            JSONSchema.words(resultDetails.names).named("ResultDetail").withDefault(
                .text("\(PushRequest.Options().resultDetail)"))
        case .trackOutcome: JSONSchema.boolean
        }
    }

    /// Labels as they are in a result.
    public static var labels: JSONTree {
        JSONSchema.map(RequestLimits.labels, names: .labelName, isInput: false).named("Labels")
    }
}

extension RequestReader {
    private static var audience: JSONTree {
        JSONSchema.input(AudienceKind.allCases.map { ($0.rawValue, schema(of: $0)) })
            .adding(JSONSchema.condition(["oneOf": .array(AudienceKind.allCases.map { JSONSchema.isSet($0.rawValue) })]))
            .named("Audience").described("Who gets it: exactly one member that is set.")
    }

    private static func schema(of kind: AudienceKind) -> JSONTree {
        switch kind {
        case .users: JSONSchema.list(of: userName, count: RequestLimits.recipients, isDistinct: true)
        case .installations:
            JSONSchema.list(of: JSONSchema.text(RequestLimits.tag, of: .tag), count: RequestLimits.recipients, isDistinct: true)
        case .categories:
            JSONSchema.list(of: JSONSchema.text(RequestLimits.tag, of: .tag), count: RequestLimits.categories, isDistinct: true)
        case .devices: JSONSchema.list(of: device, count: RequestLimits.recipients)
        case .tagExpression: JSONSchema.text(RequestLimits.tagExpression)
        case .broadcast: ["type": "boolean", "const": true]
        }
    }

    /// A name has no control character, and no blank at either end.
    private static var userName: JSONTree {
        let control = #"\u0000-\u001F\u007F-\u009F\u2028\u2029"#
        let edge = #"[^\s\#(control)]"#
        return JSONSchema.text(1...UserName.maximumByteCount, pattern: "^\(edge)([^\(control)]*\(edge))?$")
            .described("A user's name: \(UserName.addressableRule).")
    }

    private static var device: JSONTree {
        JSONSchema.object(
            [("platform", platform), ("handle", JSONSchema.text(1...DeviceToken.maximumByteCount))],
            required: deviceFields.map(\.description)
        ).adding(
            JSONSchema.condition([
                "anyOf": [
                    handle(token) { $0 == .apple }, handle(#"^\s*\{[\s\S]*\}\s*$"#) { $0 == .browser },
                    handle(CharacterClass.visible.pattern) { $0 != .apple && $0 != .browser },
                ]
            ])
        ).named("Device")
    }

    /// The handles of some platforms.
    private static func handle(_ pattern: String, of isMeant: (Platform) -> Bool) -> JSONTree {
        let names = Platform.names.names.filter { Platform(name: $0).map(isMeant) ?? false }
        return ["properties": ["platform": JSONSchema.words(names), "handle": ["pattern": .text(pattern)]]]
    }

    /// Bytes as two hexadecimal digits each, and brackets and blanks anywhere.
    private static var token: String {
        let (digit, others) = ("[0-9A-Fa-f]", #"[<> \t\r\n]*"#)
        return "^\(others)(\(digit)\(others)\(digit)\(others)){1,\(DeviceToken.maximumDigitCount / 2)}$"
    }

    private static var message: JSONTree {
        let content: [MessageField] = [.title, .body, .data]
        return JSONSchema.input(MessageField.allCases.map { ($0.rawValue, schema(of: $0)) })
            .adding(JSONSchema.condition(["anyOf": .array(content.map { JSONSchema.isSet($0.rawValue) })])).named("Message")
    }

    private static func schema(of field: MessageField) -> JSONTree {
        switch field {
        case .title, .subtitle: JSONSchema.text(RequestLimits.title)
        case .body: JSONSchema.text(RequestLimits.body)
        case .imageURL: JSONSchema.text(RequestLimits.imageURL, pattern: #"^[A-Za-z][A-Za-z0-9+.\-]*:[^\u0000-\u0020\u007F]+$"#)
        case .deepLink: JSONSchema.text(RequestLimits.deepLink)
        case .sound: JSONSchema.text(RequestLimits.sound)
        case .badge: JSONSchema.integer(RequestLimits.badge)
        case .actionCategory, .threadID: JSONSchema.text(RequestLimits.group)
        case .silent: JSONSchema.boolean.withDefault(false)
        case .data: JSONSchema.map(RequestLimits.data)
        }
    }

    private static var payload: JSONTree {
        JSONSchema.input(
            [
                ("body", ["type": ["object", "string"]]),
                ("content_type", JSONSchema.words(contentTypes.names).named("PayloadType")),
                ("headers", JSONSchema.map(RequestLimits.headers, names: .headerName, values: .printable)),
            ], required: ["body"]
        ).named("Payload")
    }
}

extension RequestReader {
    /// The block of a replay, as it is in a result, too.
    static var replay: JSONTree {
        JSONSchema.object(
            ReplayField.allCases.map { ($0.rawValue, schema(of: $0)) }, required: neededReplayFields.map(\.description),
            isOpen: true
        ).named("ReplayOrigin")
    }

    private static func schema(of field: ReplayField) -> JSONTree {
        switch field {
        case .root, .parent, .job: JSONSchema.text(RequestLimits.identifier, of: .identifier)
        case .parentOrigin: JSONSchema.text(RequestLimits.parentOrigin)
        case .parentPublishedAt: JSONSchema.moment
        case .generation: JSONSchema.integer(RequestLimits.generation)
        case .actor: JSONSchema.text(RequestLimits.actor)
        case .reason: JSONSchema.text(RequestLimits.reason)
        case .modified: JSONSchema.list(of: JSONSchema.text(RequestLimits.modification), count: RequestLimits.modified)
        case .sends: JSONSchema.list(of: JSONSchema.integer(RequestLimits.sendIndex), count: RequestLimits.sends)
        }
    }

    /// The block of a part of a large request, as it is in a result, too.
    static var parent: JSONTree {
        let fields = ParentField.allCases.filter { $0 != .remaining }
        return JSONSchema.object(
            fields.map { ($0.rawValue, schema(of: $0)) }, required: fields.map(\.rawValue), isOpen: true
        ).named("RequestPart")
    }

    private static func schema(of field: ParentField) -> JSONTree {
        switch field {
        case .id: JSONSchema.text(RequestLimits.identifier, of: .identifier)
        case .key: JSONSchema.text(1...ParentKey.maximumByteCount, of: .identifier)
        case .partition: JSONSchema.integer(0...Int64(Int32.max))
        case .chunk: JSONSchema.integer(0...Int64(ParentRecord.maximumChunks) - 1)
        case .chunks: JSONSchema.integer(1...Int64(ParentRecord.maximumChunks))
        case .publishedAt: JSONSchema.moment
        case .remaining: JSONSchema.list(of: ["type": "object"])
        }
    }
}
