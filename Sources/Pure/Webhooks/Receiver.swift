public import ResultQuery

/// A receiver of callbacks, as its file says it.
public struct Receiver: Sendable, Equatable {
    /// The form of a body.
    public enum Form: String, Sendable, CaseIterable {
        /// As on the results topic.
        case result
        /// A structured CloudEvent whose data that is.
        case cloudevent
    }

    /// Its name: letters, digits, `.`, `_` and `-`, 1 to 100.
    public var name: String
    /// The address that results go to.
    public var url: ReceiverURL
    /// The secrets whose signatures are sent, 1 or 2.
    public var secrets: [WebhookSecret]
    /// The filter for the results that it wants, or nil for all.
    public var filter: ResultFilter?
    /// The kinds that it wants, of `final`, `interim` and `outcome`.
    public var kinds: Set<String> = ["final", "outcome"]
    /// The tenant whose results it gets, or nil for all.
    public var tenant: String?
    /// The sources whose results it gets, or none for all.
    public var sources: Set<String> = []
    /// The form of a body.
    public var form = Form.result
    /// The most calls a second, or nil for no limit.
    public var rate: Double?
    /// The most calls at once, 1 to 1,000.
    public var inFlight = 16
    /// The time limit of a call, in milliseconds.
    public var timeout: Int64 = 10_000
    /// The time after which a result that was not taken is a dead letter, in milliseconds.
    public var giveUpAfter: Int64 = 86_400_000

    /// A receiver with these, and everything else as it is without a word.
    public init(name: String, url: ReceiverURL, secrets: [WebhookSecret]) {
        (self.name, self.url, self.secrets) = (name, url, secrets)
    }
}
