public import Basics

/// The link to a hub's feedback container. It carries a signature that opens the container, so no description shows it.
public struct FeedbackLink: Sendable, Equatable, Concealed {
    /// Scheme, host, port and path, without a slash at the end.
    private let place: String
    /// The signature and what belongs to it, as it stands behind the question mark.
    private let signature: String

    /// Always `<redacted>`.
    public var description: String { "<redacted>" }

    /// Reads the hub's answer. Nil for what is no absolute `https` or `http` URI with a path and a query, as ``ErrorDetailsLink``
    /// takes them.
    public init?(_ answer: Span<UInt8>) {
        guard answer.count <= 4096 else { return nil }
        var text = answer.indices.map { answer[$0] }[...]
        while let first = text.first, first <= 0x20 { text.removeFirst() }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        guard let link = ErrorDetailsLink(String(decoding: text, as: UTF8.self)), !link.uri.contains("#") else { return nil }
        let parts = link.uri.split(separator: "?", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        place = parts[0].hasSuffix("/") ? String(parts[0].dropLast()) : String(parts[0])
        signature = String(parts[1])
        guard place.split(separator: "/", omittingEmptySubsequences: true).count > 2 else { return nil }
    }

    /// The link to a page of the names in the container.
    ///
    /// - Parameters:
    ///   - marker: What the page before said; nil for the first one.
    ///   - count: The most names that it may have.
    /// - Returns: The link.
    public func listing(after marker: String?, count: Int) -> String {
        let marker = marker.map { "&marker=\(PercentEncoding.encoded($0))" } ?? ""
        return "\(place)?restype=container&comp=list&maxresults=\(count)\(marker)&\(signature)"
    }

    /// The link to a blob, or nil for a name that would be another path, such as one with the segment `..`.
    public func blob(_ name: String) -> String? {
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        return "\(place)/\(PercentEncoding.encoded(name, by: .path))?\(signature)"
    }
}
