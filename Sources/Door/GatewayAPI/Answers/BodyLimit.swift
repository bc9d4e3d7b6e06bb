import PushModel

/// The most bytes of bodies.
package enum BodyLimit {
    /// Of one request.
    package static let request = RequestReader.maximumRecordByteCount
    /// Of a batch.
    package static let batch = 4 << 20
    /// Of any other body.
    package static let other = 64 << 10
}
