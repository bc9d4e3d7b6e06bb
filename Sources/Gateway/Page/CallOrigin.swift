import HTTPServing

/// The place that a browser's call comes from (Fetch Metadata; RFC 6454).
enum CallOrigin {
    /// True if a call with a cookie may be of another site.
    ///
    /// `Sec-Fetch-Site` decides: `same-origin`, and `none` for a person who has typed the address, which suffices for reading. A browser
    /// without that field may read, and for anything else its `Origin` must be the call's own, whose scheme is `https` or `http`.
    static func isForeign(_ request: HTTPServerRequest, isSecure: Bool) -> Bool {
        let headers = request.headers
        guard headers.count(of: "Sec-Fetch-Site") <= 1 else { return true }
        let site = headers["Sec-Fetch-Site"]
        if request.method == "GET" || request.method == "HEAD" {
            return !(site == nil || site == "same-origin" || site == "none")
        }
        if let site { return site != "same-origin" }
        guard headers.count(of: "Origin") == 1, headers.count(of: "Host") == 1, let origin = headers["Origin"],
            let host = headers["Host"]
        else { return true }
        return !origin.equalsIgnoringCase("\(isSecure ? "https" : "http")://\(host)")
    }
}
