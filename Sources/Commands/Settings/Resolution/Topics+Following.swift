import Delivery

extension Topics {
    /// The topics without a setting: their names follow from that of the requests.
    var following: [String] { [requestsHigh, requestsBulk, requestsOwn, parents, held, secure] + delays }

    /// The variables that earlier versions had for them.
    static let formerVariables = Topics(requests: "kafka.topics.requests").following.map(SettingDefinition.variable)
}
