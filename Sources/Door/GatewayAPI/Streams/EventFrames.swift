import HTTPServing
import PushModel

/// What a stream of server-sent events consists of (HTML standard, section 9.2).
package enum EventFrames {
    /// The most bytes of the longest event, that of the fleet.
    package static let limit = 65_536
    /// Status and header fields of a stream. No proxy may keep it back.
    package static let head = APIAnswer(
        status: 200,
        headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"])
    /// How long a client waits before it connects again.
    package static let beginning = Array("retry: 2000\n\n".utf8)
    /// Keeps proxies from ending a silent connection.
    package static let comment = Array(":\n\n".utf8)
    /// The last one; its id says to whoever connects again that nothing more comes.
    package static let end = event("end", id: endID, data: Array("{}".utf8))
    /// The id of the last one.
    package static let endID = "end"

    /// The last one of a stream whose reader may have no more. It has no id, so that whoever connects again says what came before.
    package static func problem(_ problem: APIProblem) -> [UInt8] {
        Array("event: problem\ndata: ".utf8) + problem.json + Array("\n\n".utf8)
    }

    /// One event. Each line of `data` becomes a line of data. Without an id that of the event before stays.
    package static func event(_ name: StaticString, id: String?, data: [UInt8]) -> [UInt8] {
        var frame = ByteWriter(capacity: data.count + 64)
        frame.append("event: ")
        frame.append(name)
        if let id {
            frame.append("\nid: ")
            // A result says its state itself, and a line end in it would begin another field.
            frame.append(String(id.unicodeScalars.filter { $0.value > 0x20 && $0.value < 0x7F }))
        }
        for line in data.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            frame.append("\ndata: ")
            frame.append(line.span)
        }
        frame.append("\n\n")
        return frame.bytes
    }
}
