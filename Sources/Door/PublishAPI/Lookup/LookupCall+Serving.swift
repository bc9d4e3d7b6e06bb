package import GatewayAPI
package import HTTPServing
import Users

extension LookupCall {
    /// The call of a back end whose key was right.
    package init(
        _ operation: APIOperation.Lookup, of id: String, request: HTTPServerRequest, by holder: KeyHolder, reply: Reply
    ) {
        self.init(
            operation: operation, id: id, request: request, asker: Asker(holder.publisher), answer: { reply.answer($0) },
            stream: reply.streaming(to: holder), client: ClientNetwork(holder.client), holding: reply.rights.hold(holder))
    }
}
