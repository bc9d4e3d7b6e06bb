package import PushModel

/// Another request with the same title to the same person.
package struct Twin: Sendable, Equatable {
    package let id: String
    let publishedAt: Timestamp
    package let state: String

    package init(id: String, publishedAt: Timestamp, state: String) {
        self.id = id
        self.publishedAt = publishedAt
        self.state = state
    }

    package var json: [UInt8] { JSONObject(["id": id, "published_at": publishedAt.text, "state": state]).bytes }
}
