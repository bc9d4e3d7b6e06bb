import HTTPServing

/// The place that a browser's call comes from (Fetch Metadata; RFC 6454).
package enum CallOrigin {
    /// True if a call with a cookie may be of another site.
    ///
    /// `Sec-Fetch-Site` decides: `same-origin`, and `none` for a person who has typed the address, which suffices for reading. A browser
    /// without that field may read, and for anything else its `Origin` must be the call's own, whose scheme is `https` or `http`.
    static func isForeign(_ request: HTTPServerRequest, isSecure: Bool) -> Bool {
        let headers = request.headers
        let site = headers.list("Sec-Fetch-Site")
        if request.method == "GET" || request.method == "HEAD" {
            return !(site == nil || site == "same-origin" || site == "none")
        }
        if let site { return site != "same-origin" }
        let scheme = isSecure ? "https://" : "http://"
        guard let origin = headers.single("Origin"), origin.startsIgnoringCase(with: scheme), let host = headers.single("Host"),
            !host.isEmpty
        else { return true }
        let standing = isSecure ? ":443" : ":80"
        let own = authority(host, withoutPort: standing)
        return !authority(String(origin.dropFirst(scheme.count)), withoutPort: standing).equalsIgnoringCase(own)
    }

    /// A host and its port, if that is another than its scheme's own (RFC 9110, section 4.2.3).
    private static func authority(_ text: String, withoutPort standing: String) -> String {
        for ending in [standing, ":"] where text.hasSuffix(ending) { return String(text.dropLast(ending.count)) }
        return text
    }
}
