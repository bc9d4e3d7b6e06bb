import Basics
import EventLoop
import HubAuth
import HubEmulator
import HubServer

/// The breaking-news tutorial's app: it registers a template at the hub itself, with a key that may listen, and categories as tags.
///
/// Its library looks up at the start what the hub has of the device, asks for an id only where there is none, and always writes the
/// whole registration.
final class NewsApp {
    /// A push service, with its words in the hub's registrations.
    enum Service: String {
        case apple = "Apple"
        case android = "FcmV1"
        case windows = "Windows"

        /// The element of the handle, which is also what it is looked up by.
        var handleElement: String {
            switch self {
            case .apple: "DeviceToken"
            case .android: "FcmV1RegistrationId"
            case .windows: "ChannelUri"
            }
        }
    }

    /// The template that the device's texts are made with.
    struct Template {
        var name = "simpleAPNSTemplate"
        var body = #"{"aps":{"alert":"$(messageParam)"}}"#
    }

    let hub: HubSession
    let handle: String
    /// What is kept under `BreakingNewsCategories`.
    private(set) var categories: [String] = []
    private let service: Service
    private let template: Template
    /// Nil until the hub was asked what it has of the device.
    private var registrationID: String?

    init(_ port: Int, handle: String, on service: Service = .apple, template: Template = Template()) {
        hub = HubSession(port: port, AppStage.listenPolicy)
        self.handle = handle
        self.service = service
        self.template = template
    }

    /// The app starts, and registers again with the categories that it keeps.
    ///
    /// - Throws: `AppSession.Failure` with the status that the app logs.
    func start() throws {
        let id: String
        if let registrationID {
            id = registrationID
        } else {
            id = try foundID() ?? newID()
        }
        registrationID = id
        let answer = try hub.call("PUT", "registrations/\(id)", "api-version=2013-04", ["Content-Type: application/xml"], entry)
        guard answer.status == 200 else { throw AppSession.Failure(status: answer.status) }
    }

    /// The button "subscribe", with the switches that are on.
    ///
    /// - Throws: `AppSession.Failure` with the status that the app logs.
    func subscribe(to categories: [String]) throws {
        self.categories = categories
        try start()
    }

    /// What an earlier installation of the app has left at the hub under the template's name.
    private func foundID() throws -> String? {
        let value = String(decoding: HubSession.rfc3986.encode(handle.utf8), as: UTF8.self)
        let name = "\(service.handleElement.prefix(1).lowercased())\(service.handleElement.dropFirst())"
        let answer = try hub.call("GET", "registrations/", "$filter=\(name)+eq+'\(value)'&api-version=2013-04", [])
        guard answer.status == 200 else { throw AppSession.Failure(status: answer.status) }
        let own = answer.body.split(separator: "<entry ").first { $0.contains("<TemplateName>\(template.name)</TemplateName>") }
        return own.flatMap { Self.part(of: $0, between: "<RegistrationId>", and: "</RegistrationId>") }
    }

    private func newID() throws -> String {
        let answer = try hub.call("POST", "registrationids/", "api-version=2013-04", [])
        guard answer.status == 201, let id = Self.part(of: answer.head[...], between: "/registrationids/", and: "?") else {
            throw AppSession.Failure(status: answer.status)
        }
        return id
    }

    private var entry: String {
        let type = "\(service.rawValue)TemplateRegistrationDescription"
        let tags = categories.isEmpty ? "" : "<Tags>\(categories.joined(separator: ","))</Tags>"
        let element = service.handleElement
        var details = "<BodyTemplate><![CDATA[\(template.body)]]></BodyTemplate>"
        switch service {
        case .apple: details += "<Expiry>0</Expiry>"
        case .windows:
            details += "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
        case .android: break
        }
        return #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml"><"# + type
            + #" xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#
            + #" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
            + "\(tags)<\(element)>\(handle)</\(element)>\(details)<TemplateName>\(template.name)</TemplateName>"
            + "</\(type)></content></entry>"
    }

    private static func part(of text: Substring, between start: String, and end: String) -> String? {
        guard let first = text.firstRange(of: start) else { return nil }
        let rest = text[first.upperBound...]
        return rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
    }
}

/// Somebody who calls the hub with a key: an app, the news desk, or a back end of older days.
final class HubSession {
    /// How the app's library escapes.
    static let rfc3986 = PercentEncoding(leaving: "-._~", writesSpaceAsPlus: false, hexCase: .upper)

    private let session: AppSession
    private let policy: HubPolicy

    init(port: Int, _ policy: HubPolicy) {
        session = AppSession(port: port)
        self.policy = policy
    }

    /// Makes one call of a path below the hub's name, signed for its own URL with the scheme that tokens have.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ query: String, _ fields: [String], _ body: String = ""
    ) throws -> (status: Int, head: String, body: String) {
        let target = "/demo/\(path)?\(query)"
        let token = try SASToken.sign(
            resource: "http://127.0.0.1:\(session.port)\(target)", policy: policy.name, key: SecretKey(policy.key),
            expiry: WallClock.millisecondsSince1970() / 1000 + 1200,
            style: SASToken.Style(resource: Self.rfc3986, signature: Self.rfc3986))
        let field = "Authorization: " + String(decoding: token.headerValue, as: UTF8.self)
        return try session.call(method, target, [field] + fields, body)
    }

    /// Sends news to a category, or to a tag expression, as the tutorial's app and its console program do.
    ///
    /// - Returns: The status; the tutorial's app takes 200 alone for success, and hubs answer 201.
    func send(_ text: String, to tags: String) throws -> Int {
        try call(
            "POST", "messages/", "api-version=2015-01",
            [
                "ServiceBusNotification-Tags: \(tags)", "ServiceBusNotification-Format: template",
                "Content-Type: application/json;charset=utf-8",
            ], #"{"messageParam":"Breaking \#(tags) News : \#(text)"}"#
        ).status
    }

    /// Registers a device natively, as the tutorials' own back end did.
    ///
    /// - Returns: The status.
    func registerNatively(_ handle: String, on service: NewsApp.Service, tags: String) throws -> Int {
        let (type, element) = ("\(service.rawValue)RegistrationDescription", service.handleElement)
        let content =
            #"<\#(type) xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
            + "<Tags>\(tags)</Tags><\(element)>\(handle)</\(element)></\(type)>"
        return try call(
            "POST", "registrations/", "api-version=2015-01", ["Content-Type: application/atom+xml;type=entry;charset=utf-8"],
            #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\#(content)</content></entry>"#
        ).status
    }
}
