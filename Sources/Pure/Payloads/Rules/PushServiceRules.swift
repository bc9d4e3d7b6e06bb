public import PushModel
internal import XML

/// A fault of a native push, as its push service would find it.
enum RuleFault {
    case body(JSONDocument.Node, String)
    /// A header that contradicts another one or the body.
    case header(StaticString, String)

    var sentence: String {
        switch self {
        case .body(_, let sentence), .header(_, let sentence): sentence
        }
    }
}

extension JSONDocument {
    /// The fault of a native body for `platform`, at the first place where something is wrong, or nil.
    func nativeFault(in body: Node, for platform: Platform, beside given: NativeHeaders) -> RuleFault? {
        guard kind(of: body) == .object else { return .body(body, "The body must be a JSON object.") }
        switch platform {
        case .apple: return appleFault(in: body, beside: given)
        case .fcmv1: return fcmFault(in: body)
        case .gcm: return legacyFCMFault(in: body)
        case .adm: return fault(in: body, by: AmazonRules.body).map { .body($0.node, $0.sentence) }
        case .windows, .baidu, .browser, .xiaomi: return nil
        }
    }
}

/// The rules of push services that hubs do not check: one table for each platform, which the formatter and the emulator apply.
///
/// A hub answers 201 to such a push, and no device gets it.
public enum PushServiceRules {
    /// A row of a platform's table.
    public struct Row: Sendable, Equatable {
        /// The field, or several of one object in braces, or the header.
        public let field: String
        /// The rule: words behind the field's name.
        public let rule: String
        /// The name of the page that has the rule.
        public let source: String
        /// The page's address.
        public let address: String
    }

    /// The refusal of a push.
    public struct Refusal: Sendable, Equatable {
        /// True if the push is too large, false if something in it is wrong.
        public let isTooLarge: Bool
        /// A plain sentence that names the rule and no value.
        public let sentence: String
    }

    /// The rules about headers of `platform`.
    static func headers(for platform: Platform) -> [HeaderRule] {
        switch platform {
        case .apple: AppleRules.headers
        case .windows: WindowsRules.headers
        case .fcmv1, .gcm, .adm, .baidu, .browser, .xiaomi: []
        }
    }

    /// The refusal that a push service would answer with, or nil when it takes the push.
    ///
    /// - Parameters:
    ///   - body: The body. A hub hands XML on in UTF-8, whatever encoding it declares.
    ///   - document: The same, read, where it is JSON.
    ///   - headers: The headers that the hub hands on, by name and value.
    ///   - platform: The push service's platform.
    /// - Returns: The first broken rule.
    public static func refusal(
        of body: Span<UInt8>, document: JSONDocument?, headers: [(name: String, value: String)], by platform: Platform
    ) -> Refusal? {
        var given = NativeHeaders()
        for header in headers {
            if let fault = given.note(header.name.utf8Span.span, value: header.value.utf8Span.span, for: platform) {
                return Refusal(isTooLarge: false, sentence: fault)
            }
        }
        if platform == .windows {
            guard let type = given.wnsType else { return Refusal(isTooLarge: false, sentence: "x-wns-type must stand there.") }
            do throws(WindowsRules.BodyFault) {
                _ = try WindowsRules.type(of: body, stated: type, allowing: .anyEncoding)
            } catch {
                return Refusal(isTooLarge: false, sentence: error.sentence)
            }
        }
        if let document, let fault = document.nativeFault(in: document.root, for: platform, beside: given) {
            return Refusal(isTooLarge: false, sentence: fault.sentence)
        }
        let limit = PayloadLimit.bodyByteCount(for: platform, beside: given)
        guard body.count > limit else { return nil }
        return Refusal(
            isTooLarge: true, sentence: "The body for \(platform.name) has \(body.count) bytes; at most \(limit) are allowed.")
    }

    /// The table of `platform`. Empty where nothing is published.
    public static func rows(for platform: Platform) -> [Row] {
        var rows: [Row] = []
        func add(_ field: String, rule: String, from source: RuleSource) {
            rows.append(Row(field: field, rule: rule, source: "\(source.name)", address: "\(source.address)"))
        }
        func add(_ fields: [FieldRule], below path: String) {
            var groups: [(names: [String], rule: FieldRule)] = []
            for field in fields {
                if let last = groups.indices.last, !groups[last].rule.form.hasRules, !field.form.hasRules,
                    groups[last].rule.form.words == field.form.words, groups[last].rule.source == field.source
                {
                    groups[last].names.append("\(field.name)")
                } else {
                    groups.append((["\(field.name)"], field))
                }
            }
            for (names, field) in groups {
                let name = path + (names.count == 1 ? names[0] : "{\(names.joined(separator: ", "))}")
                var rule = "must " + field.form.words
                if case .strings(.some) = field.form {
                    rule += "; keys are not from or message_type, nor begin with google. or gcm."
                }
                let isApples = name == "message.apns.headers"
                add(name, rule: isApples ? rule + " under the rules of Apple" : rule, from: field.source)
                if isApples { continue }
                switch field.form {
                case .open(let members), .closed(let members), .textOrOpen(let members): add(members, below: name + ".")
                case .headers(let headers):
                    for header in headers { add("\(name).\(header.name)", rule: header.words, from: header.source) }
                default: break
                }
            }
        }
        for header in headers(for: platform) { add("\(header.name)", rule: header.words, from: header.source) }
        switch platform {
        case .fcmv1: if case .closed(let fields) = FCMRules.body { add(fields, below: "") }
        case .gcm: if case .open(let fields) = FCMRules.legacyBody { add(fields, below: "") }
        case .adm: if case .open(let fields) = AmazonRules.body { add(fields, below: "") }
        case .apple, .windows, .baidu, .browser, .xiaomi: break
        }
        for conflict in conflicts(for: platform) { add(conflict.field, rule: conflict.rule, from: conflict.source) }
        return rows
    }

    private static func conflicts(for platform: Platform) -> [(field: String, rule: String, source: RuleSource)] {
        switch platform {
        case .apple: AppleRules.conflicts
        case .fcmv1: FCMRules.conflicts
        case .gcm: FCMRules.legacyConflicts
        case .windows: [("x-wns-type", "must stand there; pushfan writes it by the body's root", .windowsHeaders)]
        case .adm, .baidu, .browser, .xiaomi: []
        }
    }
}
