import PushModel

/// Another request with the same title to the same person.
struct Twin: Sendable, Equatable {
    let id: String
    let publishedAt: Timestamp
    let state: String

    package var json: [UInt8] { JSONObject(["id": id, "published_at": publishedAt.text, "state": state]).bytes }
}
