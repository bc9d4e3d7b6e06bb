import FanOut
import HTTPServing

@testable import HubServer

/// Draws registrations, installations and audiences from small sets, so that they meet often.
struct DeviceDraw {
    static let platforms: [HubPlatform] = [.apple, .fcmv1, .windows, .baidu, .browser]
    private static let tags = (0..<24).map { "Tag_\($0)" }

    private(set) var numbers: HubIdentifiers

    init(seed: UInt64) { numbers = HubIdentifiers(seed: seed) }

    mutating func number(below end: Int) -> Int { Int(numbers.next() % UInt64(end)) }

    mutating func isOne(in count: Int) -> Bool { number(below: count) == 0 }

    mutating func one<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    mutating func time() -> Int64 { Int64(number(below: 100)) }

    mutating func registrationID() -> String {
        // Clients may choose ids whose numbers are too long, or begin with a zero.
        one(of: ["\(number(below: 20))-7-1", "00\(number(below: 4))-7-1", "99999999999999999999\(number(below: 4))-7-900"])
    }

    mutating func installationID() -> String { "i\(number(below: 10))" }

    mutating func handle(on platform: HubPlatform) -> String {
        let number = number(below: 8)
        switch platform {
        case .apple:
            let digits = String(repeating: "a\(number)", count: 32)
            return isOne(in: 2) ? digits.uppercased() : digits
        case .windows, .windowsphone, .browser: return "https://push.example/\(number)"
        case .gcm, .fcmv1, .adm, .baidu, .xiaomi: return "handle-\(number)"
        }
    }

    /// A tag in small letters, in capitals, or as it is.
    mutating func tag() -> String {
        let tag = one(of: Self.tags)
        return one(of: [tag, tag.lowercased(), tag.uppercased()])
    }

    mutating func tagList(atMost count: Int) -> [String] { (0..<number(below: count + 1)).map { _ in tag() } }

    mutating func registration() throws -> Registration {
        let platform = one(of: Self.platforms)
        var registration = Registration(
            id: registrationID(), etag: number(below: 9) + 1, platform: platform, handle: handle(on: platform),
            tags: tagList(atMost: 6))
        if isOne(in: 4) { registration.tags.append("$UserId:{u\(number(below: 5))}") }
        for extra in platform.handleExtras where isOne(in: 2) { registration.extras[extra] = "extra-\(number(below: 3))" }
        if isOne(in: 5) { registration.pushVariables = #"{"a":"b"}"# }
        registration.writtenAt = time()
        if isOne(in: 4) { registration.expiresAt = time() }
        guard isOne(in: 2) else { return registration }
        let text = #"{"text":"$(message)","n":\#(number(below: 3))}"#
        var template = Registration.Template(
            name: isOne(in: 3) ? nil : "template\(number(below: 3))", text: text, body: try BodyTemplate(text))
        if isOne(in: 2) { template.headers = ["X-A": "1", "x-a": "é"] }
        if isOne(in: 3) { (template.expiry, template.priority, template.messageType) = ("2030-01-01", "5", "t") }
        registration.template = template
        return registration
    }

    mutating func installation() throws -> StoredInstallation {
        let platform = one(of: Self.platforms)
        var installation = StoredInstallation(id: installationID(), platform: platform, target: try target(on: platform))
        if isOne(in: 2) { installation.userID = "u\(number(below: 5))" }
        if isOne(in: 4) { installation.expirationTime = one(of: ["1970-01-01T00:00:00.050Z", "2099-01-01", "never"]) }
        if isOne(in: 4) { installation.pushVariables = [("a", "b"), ("ü", "")] }
        if platform == .windows, isOne(in: 2) { installation.secondaryTiles = [("tile", try target(on: platform))] }
        return installation
    }

    private mutating func target(on platform: HubPlatform) throws -> InstallationTarget {
        var channel = handle(on: platform)
        if platform == .browser { channel = #"{"endpoint":"\#(channel)","p256dh":"key","auth":"secret"}"# }
        if platform == .baidu { channel = "user-" + channel }
        var target = InstallationTarget(pushChannel: channel, tags: tagList(atMost: 5))
        for number in 0..<number(below: 3) {
            let text = #"{"text":"$(message)"}"#
            var template = InstallationTarget.Template(name: "Name\(number)", text: text, body: try BodyTemplate(text))
            template.tags = tagList(atMost: 2)
            if isOne(in: 2) { (template.headers, template.expiry) = (["apns-priority": "5"], "2030-01-01") }
            target.templates.append(template)
        }
        return target
    }

    mutating func audience(end: DeviceNumber) throws -> DeviceAudience {
        let text = isOne(in: 2) ? alternatives() : form(of: number(below: 6) + 1)
        let expression = isOne(in: 6) ? nil : try TagExpression(parsing: text)
        return DeviceAudience(
            expression: expression, platform: isOne(in: 2) ? nil : one(of: Self.platforms),
            end: isOne(in: 3) ? DeviceNumber(number(below: Int(end) + 1)) : nil, now: time())
    }

    private mutating func alternatives() -> String {
        (0...number(below: TagExpression.maxTagsJoinedByOr)).map { _ in audienceTag() }.joined(separator: " || ")
    }

    /// An expression with so many tags, in one form of many.
    private mutating func form(of count: Int) -> String {
        let negation = one(of: ["", "", "!", "!!"])
        guard count > 1 else { return negation + audienceTag() }
        let first = number(below: count - 1) + 1
        return "\(negation)(\(form(of: first)) \(one(of: ["&&", "||"])) \(form(of: count - first)))"
    }

    private mutating func audienceTag() -> String {
        switch number(below: 8) {
        case 0: "$UserId:{u\(number(below: 6))}"
        case 1: "$installationid:{I\(number(below: 10))}"
        case 2: "name\(number(below: 3))"
        default: tag()
        }
    }
}
