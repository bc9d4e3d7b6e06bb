import JobSupport

/// The reason for which a file is no audience of a request.
package enum AudienceFailure: RoomFailure, Equatable {
    /// The request without its audience breaks the contract, in a sentence.
    case invalidRequest(String)
    /// The file is a pipe or the like. It could not be read twice.
    case noOrdinaryFile(path: String)
    /// The line of that number, from 1, has more bytes than the limit.
    case longLine(path: String, number: Int, limit: Int)
    /// The file was changed while it was read.
    case changedFile(path: String)
    /// No line holds a recipient.
    case noRecipient(path: String)
    /// Every one of these hubs has the categories, so that none gets a share of them.
    case sharedCategories(hubs: [String])
    /// A template cannot be sent to device handles.
    case handlesWithTemplate
    /// The request would have more parts than the limit.
    case manyParts(count: Int, limit: Int)
    /// Each part would repeat more bytes that are not its audience than the limit.
    case longParts(count: Int, byteCount: Int, limit: Int)
    /// A record may have more bytes than the client (`message.max.bytes`) or the topic (`max.message.bytes`) takes.
    case longRecord(topic: String, byteCount: Int, limit: Int, isClients: Bool)
    /// The request of that id was begun with another file or content, or for other platforms or hubs.
    case otherRequest(id: String)
}
