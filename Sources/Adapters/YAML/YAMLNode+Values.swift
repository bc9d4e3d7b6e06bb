internal import Basics

extension YAMLNode {
    /// The rule for paths.
    package static let pathRule = "expected the path of a file, from / on"

    /// The text of a scalar.
    package var text: String? { if case .scalar(let text, _) = value { text } else { nil } }

    /// The texts of a list, or the only one.
    package var texts: [String]? {
        guard case .sequence(let nodes) = value else { return text.map { [$0] } }
        let texts = nodes.compactMap(\.text)
        return texts.count == nodes.count ? texts : nil
    }

    /// The text of a path from the root on.
    package var path: String? {
        guard let text, text.hasPrefix("/"), text.utf8.count <= 4096, !text.utf8.contains(0) else { return nil }
        return text
    }

    /// The sentence about a key that there is not.
    package static func unknown(
        _ key: String, among known: [String], shown: (String) -> String = YAMLNode.shown
    ) -> String {
        let hint = Spelling.nearest(to: key, among: known).map { "; did you mean \($0)?" } ?? ""
        return "there is no key \(shown(key))\(hint)"
    }

    /// A key as it may be shown: what resembles no name may be a secret.
    package static func shown(_ key: String) -> String {
        let isName = key.utf8.count <= 32 && key.utf8.allSatisfy { $0.isSmallLetter || $0 == UInt8(ascii: "_") }
        return isName ? "\"\(key)\"" : "of such a name"
    }
}
