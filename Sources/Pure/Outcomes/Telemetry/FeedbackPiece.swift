import XML

/// The content of one piece of a feedback blob: `PnsFeedback` documents one behind another, in UTF-8 whatever they declare (page
/// HubProtocol, "Feedback").
///
/// A blob may have any size, and the hub may still be writing it, so that it is read in pieces. A piece begins where a document does, and
/// may end anywhere; the next one begins behind the last whole document of this one.
public struct FeedbackPiece: Sendable, Equatable {
    /// A document of more bytes is none: no entry that a hub writes comes near. A piece of as many, or more, without a whole document is
    /// broken.
    public static let maximumEntryByteCount = 64 << 10

    /// The devices, in the blob's order.
    public private(set) var devices: [RefusedDevice] = []
    /// Whole documents that are no entries, or lack what one must have. They are passed over.
    public private(set) var unreadableCount = 0
    /// The fault of the first of them.
    public private(set) var fault: TelemetryFault?
    /// The number of bytes of the piece that whole documents take. 0 when there is none, or what the piece begins with is no XML.
    public private(set) var byteCount = 0

    /// Reads a piece.
    public init(reading piece: Span<UInt8>) {
        var scanner = XMLScanner(ofAnswer: piece, allowing: .anyNumberOfRoots)
        // Whatever ends the reading, be it a document that is cut or one that is broken, the whole ones before it count.
        do throws(TelemetryFault) {
            while case .start(let name) = try scanner.event() {
                try readEntry(name, from: &scanner)
                byteCount = scanner.position
            }
            byteCount = piece.count
        } catch {}
    }

    /// Reads an entry. Throws where reading cannot go on: the end of the document is unknown.
    private mutating func readEntry(_ name: Range<Int>, from scanner: inout XMLScanner) throws(TelemetryFault) {
        do throws(TelemetryFault) {
            guard scanner.isName(name, equalTo: "PnsFeedback") else { throw .otherEntry }
            devices.append(try RefusedDevice(from: &scanner))
        } catch {
            guard error.isOfContent else { throw error }
            while !scanner.isOutside { _ = try scanner.event() }
            unreadableCount += 1
            fault = fault ?? error
        }
    }
}
