import PushModel

/// The most bytes of bodies.
enum BodyLimit {
    /// Of one request.
    static let request = RequestReader.maximumRecordByteCount
    /// Of a batch.
    static let batch = 4 << 20
    /// Of any other body.
    static let other = 64 << 10
}
