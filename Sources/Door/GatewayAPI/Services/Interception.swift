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

extension GatewayServices {
    /// Has a fault strike a call whose caller is known. Returns true if that has answered it.
    package func strike(_ request: HTTPServerRequest, answeredBy reply: Reply) -> Bool {
        guard let interception = intercept?(request) else { return false }
        reply.change(by: interception.change)
        guard let refusal = interception.refusal else { return false }
        reply.answer(refusal)
        return true
    }
}
