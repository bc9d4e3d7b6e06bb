import Basics
import FanOut
import GatewayAPI
import HubREST

/// A page of the devices of a user, list by list: those of both tags at each hub, one hub after the other. Without effects.
///
/// It ends behind the registrations that are enough, so that no user has more devices than fit into an answer.
struct UserListing: Sendable {
    /// The registrations of hubs that are enough for a page.
    static let size = 500
    /// The registrations of one call, and as how many each counts at least that is followed by another.
    private static let (callSize, leastCount) = (100, 10)

    private let tags: [String]
    private let hubs: [String]
    private var hub = 0
    private var tag = 0
    private var token: RegistrationPage.Token?
    private var count = 0
    private var devices: UserDevices

    /// A page from the beginning, or from where the page before has ended. It fails for a cursor of another list.
    init(_ devices: UserDevices, of user: DeviceUser, at hubs: [String], from cursor: String?) throws(APIProblem) {
        (self.devices, self.hubs, tags) = (devices, hubs, user.tags)
        guard let cursor else { return }
        let plain = cursor.replacing("-", with: "+").replacing("_", with: "/")
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - plain.utf8.count % 4) % 4)
        let parts = String(decoding: Base64.decode(Array(plain.utf8) + padding) ?? [], as: UTF8.self)
            .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let tag = Int(parts[0]), tags.indices.contains(tag), let hub = hubs.firstIndex(of: parts[2])
        else { throw .badCursor }
        let token = RegistrationPage.Token(parts[1])
        guard token != nil || parts[1].isEmpty else { throw .badCursor }
        (self.hub, self.tag, self.token) = (hub, tag, token)
    }

    /// The next call, and the place of the hub to ask. Nil at the end of the page.
    var call: (call: RegistrationCall, hub: Int)? {
        guard hub < hubs.count, count < Self.size else { return nil }
        return (.listTagged(tag: tags[tag], count: Self.callSize, token: token), hub)
    }

    /// Takes the reply to the call.
    mutating func take(_ reply: RegistrationReply) {
        var next: RegistrationPage.Token?
        if case .page(let page) = reply {
            // The list of the first tag has had those with both.
            let new = page.registrations.filter { registration in
                registration.hasTag(tags[tag]) && !tags[..<tag].contains { registration.hasTag($0) }
            }
            devices.add(new, at: hubs[hub])
            next = page.next == token ? nil : page.next
            // Calls without anything new fill a page in the end, too.
            count += max(new.count, next == nil ? 0 : Self.leastCount)
        }
        token = next
        guard next == nil else { return }
        tag += 1
        if tag == tags.count { (hub, tag) = (hub + 1, 0) }
    }

    /// The page as the API gives it, when there is no call.
    var json: [UInt8] { devices.json(next: cursor) }

    /// The place behind the page. Nil behind the last one.
    private var cursor: String? {
        guard hub < hubs.count else { return nil }
        let text = Base64.encode(Array("\(tag) \(token?.text ?? "") \(hubs[hub])".utf8))
        return String(decoding: text, as: UTF8.self).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

extension UserListing: Concealed {
    /// The name alone.
    var description: String { "UserListing" }
}
