import Console
import Foundation
import HubEmulator

/// The rings on devices since it was made.
struct DemoRings {
    private let hub: EmulatedHub
    private let before: [String: Int]

    init(_ hub: EmulatedHub) {
        self.hub = hub
        before = Dictionary(hub.devices().map { ($0.handle, $0.rungCount) }, uniquingKeysWith: +)
    }

    /// The devices on which something rang.
    private var rung: [(name: String, count: Int, last: RingReport?)] {
        hub.devices().compactMap { device in
            let count = device.rungCount - (before[device.handle] ?? 0)
            return count > 0 ? (DemoDevice.name(of: device.handle), count, device.rung.last) : nil
        }
    }

    /// Their names, and how often it rang where that was more than once.
    var names: String {
        rung.map { $0.count > 1 ? "\($0.name) \($0.count) times" : $0.name }.joined(separator: ", ")
    }

    /// Their screens, beside one another.
    var screens: [String] {
        PhoneScreen.lines(
            beside: rung.map { ring in
                let (title, text) = Self.words(of: ring.last?.body ?? "")
                return PhoneScreen(name: ring.name, title: title, text: text)
            })
    }

    /// The text that a person reads of a payload of Apple, Google or Windows.
    private static func words(of body: String) -> (title: String, text: String) {
        guard let root = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] else {
            let texts = body.matches(of: /<text>(.*?)<\/text>/).map { String($0.output.1) }
            return (texts.first ?? "", texts.dropFirst().joined(separator: " "))
        }
        let alert = (root["aps"] as? [String: Any])?["alert"]
        if let text = alert as? String { return ("", text) }
        let shown = alert ?? (root["message"] as? [String: Any])?["notification"]
        let words = shown as? [String: Any] ?? [:]
        return (words["title"] as? String ?? "", words["body"] as? String ?? "")
    }
}
