import Publishing
package import PushModel

extension RequestLife {
    /// The number of its kept results that say of a repetition that it was not sent.
    package var duplicateCount: Int { own.count { $0.isRepetition } }

    /// The life as one JSON object.
    package var json: [UInt8] {
        var object = JSONObject()
        members(into: &object)
        return object.bytes
    }

    /// Adds `results` and `replays`, oldest first, each as it stands in Kafka, the `state` unless nothing is known, whether it is `final`,
    /// and the number of `duplicates`.
    package func members(into object: inout JSONObject) {
        object.add("results", array: own.map(\.line))
        object.add("replays", array: replays.map(\.line))
        // While it is all that there is, the first request with the id has no result.
        let isOpen = latest?.repeatsItsID == true
        object.add("state", value: isOpen ? nil : latest?.state)
        object.add("final", value: final != nil && !isOpen)
        object.add("duplicates", value: duplicateCount)
    }
}
