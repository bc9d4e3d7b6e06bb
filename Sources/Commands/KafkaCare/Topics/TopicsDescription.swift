package import Delivery
package import PushModel

/// The topics that others write or read, as AsyncAPI 3.0 has it. Topics that pushfan alone uses are left out.
package struct TopicsDescription: Sendable {
    private struct Channel {
        let name: String
        let address: String
        let summary: String
        let messages: [Message]
        /// Of pushfan: whether it reads or writes the topic.
        let action: Action
    }

    private enum Action: String {
        case send, receive
    }

    /// The kind of records in a topic.
    fileprivate enum Message: String, CaseIterable {
        case request, result, deadLetter, cancellation, order, deadHandle
    }

    private let channels: [Channel]
    private let resultsHaveHeaders: Bool

    /// Describes the topics under their names. Without `resultsHaveHeaders` no header of a result is named.
    package init(_ topics: Topics, resultsHaveHeaders: Bool = true) {
        self.resultsHaveHeaders = resultsHaveHeaders
        channels = [
            Channel(
                name: "requestsHigh", address: topics.requestsHigh, summary: "Requests that a person waits for.",
                messages: [.request], action: .receive),
            Channel(
                name: "requests", address: topics.requests, summary: "Ordinary requests.", messages: [.request], action: .receive),
            Channel(
                name: "requestsBulk", address: topics.requestsBulk, summary: "Requests that go to many.", messages: [.request],
                action: .receive),
            Channel(
                name: "control", address: topics.control,
                summary: "Cancels requests, and has orders that hold, limit or cancel what they name. It has one partition.",
                messages: [.cancellation, .order], action: .receive),
            Channel(
                name: "results", address: topics.results, summary: "One result for each request, and outcomes of calls.",
                messages: [.result], action: .send),
            Channel(
                name: "deadLetters", address: topics.deadLetters, summary: "Records that could not be understood.",
                messages: [.deadLetter], action: .send),
            Channel(
                name: "handles", address: topics.handles, summary: "Devices that a push service will not serve again.",
                messages: [.deadHandle], action: .send),
        ]
    }

    /// The description as an AsyncAPI document.
    package func document(version: String) -> JSONTree {
        [
            "asyncapi": "3.0.0",
            "info": [
                "title": "pushfan's topics", "version": .text(version),
                "description": "Topics of Kafka by which requests come to pushfan, and by which it says what became of them.",
            ],
            "defaultContentType": "application/json",
            "channels": .members(channels.map { ($0.name, Self.described($0)) }),
            "operations": .members(channels.map { ($0.action.rawValue + Self.capitalised($0.name), Self.operation(on: $0)) }),
            "components": ["messages": .members(Message.allCases.map { ($0.rawValue, described($0)) })],
        ]
    }

    private static func described(_ channel: Channel) -> JSONTree {
        let messages = channel.messages.map(\.rawValue)
        return [
            "address": .text(channel.address), "summary": .text(channel.summary),
            "messages": .members(messages.map { ($0, ["$ref": .text("#/components/messages/\($0)")]) }),
        ]
    }

    private static func operation(on channel: Channel) -> JSONTree {
        let place = "#/channels/\(channel.name)"
        return [
            "action": .text(channel.action.rawValue), "channel": ["$ref": .text(place)],
            "messages": .array(channel.messages.map { ["$ref": .text("\(place)/messages/\($0.rawValue)")] }),
        ]
    }

    private static func capitalised(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    private func described(_ message: Message) -> JSONTree {
        let hasHeaders = message != .result || resultsHaveHeaders
        var described: JSONTree = [
            "name": .text(message.rawValue), "summary": .text(message.summary),
            "headers": hasHeaders ? message.headers : JSONSchema.object([], isOpen: true),
            "bindings": ["kafka": ["key": message.key, "bindingVersion": "0.5.0"]],
        ]
        if let payload = message.payload { described = described.adding(["payload": payload]) }
        return described
    }
}

extension TopicsDescription.Message {
    fileprivate var summary: String {
        switch self {
        case .request: "A push request. All headers may be missing; those of a CloudEvent are read."
        case .result: "A result. Read committed records only; two with one result_id are one."
        case .deadLetter: "A record as it came, key and value byte for byte. It has no result."
        case .cancellation: "Cancels the request whose id stands in the key. The value may be anything that is not empty."
        case .order: "Holds, limits or cancels the requests that its key names. With `released` in the value it has ended."
        case .deadHandle: "A device of which the handle should be removed. The handle itself is not there."
        }
    }

    /// The record's key.
    fileprivate var key: JSONTree {
        switch self {
        case .request:
            JSONSchema.text().described("ordering_key, else dedupe.key, else id; none where none of them is given.")
        case .result: JSONSchema.text().described("The request's id.")
        case .deadLetter: JSONSchema.text().described("The key of the record.")
        case .cancellation:
            JSONSchema.text(pattern: "^cancel/.+$").described("The word cancel/ and the request's id, in partition 0.")
        case .order:
            JSONSchema.text(pattern: #"^order/\{.+\}$"#)
                .described("The word order/ and a JSON object with all that the order says (page Kafka), in partition 0.")
        case .deadHandle: Self.fingerprint
        }
    }

    fileprivate var headers: JSONTree {
        switch self {
        case .request:
            JSONSchema.object(
                RecordHeaders.Name.allCases.map { ($0.spelling, Self.headerValue) }, isOpen: true)
        case .result:
            JSONSchema.object(
                ResultHeader.allCases.map { ($0.rawValue, $0.fixedValue.map { ["const": .text($0)] } ?? JSONSchema.text()) },
                required: ResultHeader.allCases.filter(\.isAlwaysThere).map(\.rawValue), isOpen: true)
        case .deadLetter:
            JSONSchema.object(
                DeadLetterHeader.allCases.map { ($0.name.description, JSONSchema.text()) },
                required: DeadLetterHeader.allCases.filter(\.isAlwaysThere).map(\.name.description), isOpen: true)
        case .cancellation, .order, .deadHandle: JSONSchema.object([], isOpen: true)
        }
    }

    /// The record's value, or nil if it may be anything.
    fileprivate var payload: JSONTree? {
        switch self {
        case .request: MessageSchema.request.body
        case .result: MessageSchema.result.body
        case .deadLetter: nil
        case .cancellation:
            JSONSchema.object([("reason", JSONSchema.text(0...100).described("Why."))], isOpen: true)
        case .order:
            JSONSchema.object(
                [
                    ("schema_version", ["const": 1]),
                    (
                        "released",
                        JSONSchema.object(
                            [("by", JSONSchema.text()), ("reason", JSONSchema.text()), ("at", JSONSchema.moment)],
                            required: ["by", "at"], isOpen: true)
                    ),
                ], required: ["schema_version"], isOpen: true)
        case .deadHandle:
            JSONSchema.object(
                [
                    ("schema_version", ["const": 1]), ("fingerprint", Self.fingerprint), ("platform", JSONSchema.text()),
                    ("reason", JSONSchema.text()), ("at", JSONSchema.moment), ("hub", JSONSchema.text()),
                    ("installation_id", JSONSchema.text()), ("registration_id", JSONSchema.text()),
                ], required: ["schema_version", "fingerprint", "platform", "reason", "at", "hub"], isOpen: true)
        }
    }

    private static var headerValue: JSONTree { JSONSchema.text(0...RecordHeaders.maximumValueByteCount) }

    private static var fingerprint: JSONTree {
        JSONSchema.text(pattern: "^[0-9a-f]{64}$").described("The SHA-256 of the handle.")
    }
}
