package import HTTPServing

/// A fault of the gateway for one call, with which its clients are tried. Nothing makes one in production.
package struct Interception: Sendable {
    /// The answer to a call that is not made. Nil to make it.
    package var refusal: HTTPServerResponse?
    /// Changes the answer on its way.
    package var change: @Sendable (inout HTTPServerResponse) -> Void

    /// A fault of these parts.
    package init(refusal: HTTPServerResponse?, change: @escaping @Sendable (inout HTTPServerResponse) -> Void) {
        (self.refusal, self.change) = (refusal, change)
    }
}
