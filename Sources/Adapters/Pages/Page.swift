import CPages

/// A page of the documentation, as the program carries it.
///
/// The pages are the files of `Sources/Commands/PushFan/PushFan.docc`. `CPages` makes bytes of them.
public struct Page: Sendable {
    /// The file's name without its ending, such as `LargeRequests`.
    public let name: String
    /// The file, byte for byte: Markdown in UTF-8.
    public let bytes: [UInt8]

    /// The name in lower case, as a person types it.
    public var topic: String { name.lowercased() }

    /// The first sentence below the title.
    public var summary: String {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let paragraph = lines.drop { $0.isEmpty || $0.hasPrefix("#") }.prefix { !$0.isEmpty }.joined(separator: " ")
        var sentence: [Substring] = []
        for word in paragraph.split(separator: " ") {
            sentence.append(word)
            if word.hasSuffix(".") { break }
        }
        return sentence.joined(separator: " ")
    }

    /// The page that a person means.
    ///
    /// - Parameter word: A topic in upper or lower case, with hyphens or without, or the beginning of one.
    /// - Returns: nil when there is no such topic, or several begin like that.
    public static func find(_ word: String) -> Page? {
        let word = word.lowercased().filter { $0 != "-" }
        let begun = all.filter { $0.topic.hasPrefix(word) }
        return begun.first { $0.topic == word } ?? (begun.count == 1 ? begun.first : nil)
    }

    /// Every page, in the order of the README.
    public static let all: [Page] = {
        var pages: [Page] = []
        while let page = pushfan_page(pages.count)?.pointee {
            let bytes = UnsafeBufferPointer(start: page.bytes, count: page.size)
            pages.append(Page(name: String(cString: page.name), bytes: Array(bytes)))
        }
        return pages
    }()
}
