package import Basics
import Users

/// The caller of `/v1` whose key is right: a back end with its key, or the page with the cookie of a session.
package struct KeyHolder: Sendable {
    package let publisher: Publisher
    /// The address of its client, or nil where it is not known.
    package let client: NumericAddress?
    /// Says if the key or the session still is there, with the same rights.
    let isStillThere: @Sendable () -> Bool

    package init(publisher: Publisher, client: NumericAddress?, isStillThere: @escaping @Sendable () -> Bool) {
        self.publisher = publisher
        self.client = client
        self.isStillThere = isStillThere
    }

    /// The holder of the shares that its calls take.
    package var claimant: Claimant { Claimant(keyID: publisher.keyID, tenant: publisher.tenant, client: ClientNetwork(client)) }
}
