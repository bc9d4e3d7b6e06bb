package import CurlHTTP
import HTTP1
import HubAuth
package import HubREST
package import JobSupport
package import Outcomes
import PushModel

/// The container in which a hub lists the devices that push services refused: the hub names its address, and a storage account
/// serves it.
///
/// The link to it is a key of its own. It is requested again when it opens nothing any more, and is in no message.
package final class FeedbackContainer {
    /// The content of a blob from some place on.
    enum Reading {
        /// Bytes, and whether the blob ends with them.
        case piece([UInt8], isLast: Bool)
        /// There is nothing more.
        case end
        /// There is no such blob any more.
        case gone
        /// Its name cannot stand in a path.
        case unusable
    }

    /// The most bytes that are read at once: 1 MiB, some two thousand entries.
    static let pieceByteCount: Int64 = 1 << 20
    /// The most blobs that a container may have here.
    private static let maximumBlobs = 100_000
    /// The most names of a page. The service allows 5,000.
    private static let pageCount = 1000

    /// The hub: `contoso.servicebus.windows.net/newshub`.
    let place: String
    /// The hub's name, as results have it.
    let hubName: String
    private let connections: ConnectionPoolConfiguration
    private let userAgent: String
    private let timeout: Duration
    private let now: @Sendable () -> Int64
    private let isCancelled: @Sendable () -> Bool
    private let hub: WebPeer
    private var client: HubClient
    private var link: FeedbackLink?
    private var storage: (address: WebAddress, peer: WebPeer)?

    /// A container that is not asked yet. It belongs to one thread at a time. `name` is the hub's name, as results have it.
    package init(
        of configuration: HubConfiguration, name: String, connections: ConnectionPoolConfiguration, userAgent: String,
        context: JobContext
    ) throws(JobFailure) {
        do throws(HubAuthError) {
            client = try HubClient(configuration, userAgent: userAgent)
        } catch {
            throw .peer(.misconfigured, "the hub cannot be called: \(error)")
        }
        place = "\(configuration.endpoint.authority)/\(configuration.hub.text)"
        hubName = name
        (self.connections, self.userAgent) = (connections, userAgent)
        (timeout, now, isCancelled) = (context.timeout, context.now, context.isCancelled)
        hub = try WebPeer(
            named: "the hub \(place)", configuration: connections, timeout: context.timeout, isCancelled: context.isCancelled)
    }

    /// Every blob there is now, each once, the oldest day first.
    package func blobs() throws(JobFailure) -> [BlobListing.Blob] {
        var blobs: [BlobListing.Blob] = []
        var names: Set<String> = []
        var marker: String?
        repeat {
            let answer = try fetch { $0.listing(after: marker, count: Self.pageCount) }
            guard let answer, answer.status == 200 else { throw refusal(of: "the list of blobs", status: answer?.status) }
            let page: BlobListing
            do throws(TelemetryFault) {
                page = try BlobListing(reading: answer.body, now: Timestamp(milliseconds: now()))
            } catch {
                throw .peer(.failed, "\(storageName) gives a list of blobs that cannot be read: \(error)")
            }
            for blob in page.blobs where names.insert(blob.name).inserted { blobs.append(blob) }
            guard blobs.count <= Self.maximumBlobs, page.nextMarker == nil || page.nextMarker != marker else {
                throw .peer(.failed, "\(storageName) gives a list of blobs without an end")
            }
            marker = page.nextMarker
            if marker != nil, page.blobs.isEmpty, isCancelled() { break }
        } while marker != nil
        return blobs.sorted { ($0.age, $0.name) < ($1.age, $1.name) }
    }

    /// Reads the bytes of a blob that come next behind `position`.
    func read(_ name: String, from position: Int64) throws(JobFailure) -> Reading {
        let answer = try fetch(position..<position + Self.pieceByteCount) { $0.blob(name) }
        guard let answer else { return .unusable }
        switch answer.status {
        case 206:
            let bytes = Array(answer.bytes[answer.bodyRange])
            guard let range = ContentRange(answer.string(of: "Content-Range") ?? ""), range.start == position,
                bytes.count <= Self.pieceByteCount
            else { throw .peer(.failed, "\(storageName) gives another part of a blob than was asked for") }
            let end = position + Int64(bytes.count)
            return bytes.isEmpty ? .end : .piece(bytes, isLast: range.total.map { end >= $0 } ?? false)
        // A server that knows no ranges gives the whole, as far as it is small enough to be taken.
        case 200:
            guard Int64(answer.bodyRange.count) > position else { return .end }
            return .piece(Array(answer.bytes[answer.bodyRange].dropFirst(Int(position))), isLast: true)
        case 416: return .end
        case 404: return .gone
        default: throw refusal(of: name, status: answer.status)
        }
    }

    /// Queries the storage account, and once more with a new link when the present one opens nothing any more. Nil when there is
    /// nothing to query.
    private func fetch(
        _ range: Range<Int64>? = nil, from uri: (FeedbackLink) -> String?
    ) throws(JobFailure) -> Answer? {
        var answer: Answer?
        for _ in 0..<2 {
            let present: FeedbackLink
            if let link { present = link } else { present = try open() }
            guard let uri = uri(present) else { return nil }
            guard let address = WebAddress(uri), address.scheme == .https || connections.scheme == .http else {
                throw .peer(.failed, "\(hub.name) names a container that is not reached by https")
            }
            let part = range.map { "Range: bytes=\($0.lowerBound)-\($0.upperBound - 1)\r\n" } ?? ""
            let request =
                "GET \(address.target) HTTP/1.1\r\nHost: \(address.authority)\r\nUser-Agent: \(userAgent)\r\n\(part)\r\n"
            answer = try peer(at: address).answer(to: Array(request.utf8))
            guard answer?.status == 403 || answer?.status == 401 else { break }
            self.link = nil
        }
        return answer
    }

    private var storageName: String { storage?.peer.name ?? "the storage account" }

    private func peer(at address: WebAddress) throws(JobFailure) -> WebPeer {
        if let storage, storage.address.host == address.host, storage.address.port == address.port,
            storage.address.scheme == address.scheme
        {
            return storage.peer
        }
        var configuration = connections
        (configuration.scheme, configuration.host, configuration.port) = (address.scheme, address.host, address.port)
        configuration.limits.bodyByteCount = BlobListing.maximumByteCount
        let peer = try WebPeer(
            named: "the storage account at \(address.authority)", configuration: configuration, timeout: timeout,
            isCancelled: isCancelled)
        storage = (address, peer)
        return peer
    }

    private func refusal(of what: String, status: Int?) -> JobFailure {
        let isForbidden = status == 401 || status == 403
        return .peer(
            isForbidden ? .refused : .failed, "\(storageName) does not give \(what): it answers \(status ?? 0)")
    }

    /// Requests the link from the hub.
    private func open() throws(JobFailure) -> FeedbackLink {
        while true {
            var request = ByteWriter()
            let serial: UInt64
            do throws(HubAuthError) {
                serial = try client.writeFeedbackRequest(now: now() / 1000, into: &request)
            } catch {
                throw .peer(.failed, "a token could not be signed: \(error.description)")
            }
            let answer = try hub.answer(to: request.bytes)
            if answer.status == 401, client.rejected(token: serial).allowsRetry { continue }
            guard answer.status == 200 else { throw hubRefusal(answer) }
            client.accepted(token: serial)
            guard let found = FeedbackLink(answer.body) else {
                throw .peer(.failed, "\(hub.name) answers with no link to a container")
            }
            link = found
            return found
        }
    }

    private func hubRefusal(_ answer: Answer) -> JobFailure {
        let said = HubAnswer(answer, now: now())
        let detail = said.detail.map { answer.string($0) } ?? ""
        let text = detail.isEmpty ? "\(answer.status)" : "\(answer.status), \(detail)"
        switch answer.status {
        case 403 where detail.lowercased().contains("tier"):
            return .peer(.refused, "\(hub.name) has no feedback, which is for the Standard tier: \(text)")
        case 401, 403:
            return .peer(
                .refused, "\(hub.name) does not let us read the feedback: \(text)",
                hint: "the policy of the connection string may lack a right; one with Manage has all")
        case 404:
            return .peer(
                .misconfigured, "\(hub.name) is not there: \(text)", hint: PeerFailure.missingHubRemedy)
        default: return .peer(.failed, "\(hub.name) answers \(text)")
        }
    }
}

/// `bytes 0-99/1234` (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    /// The offset of the first byte.
    let start: Int64
    /// The number of bytes, or nil when the server does not report it.
    let total: Int64?

    init?(_ text: String) {
        guard text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, ends.count == 2, let start = Int64(ends[0]), let end = Int64(ends[1]), start >= 0, end >= start
        else { return nil }
        self.start = start
        total = Int64(parts[1])
        guard total != nil || parts[1] == "*" else { return nil }
    }
}
