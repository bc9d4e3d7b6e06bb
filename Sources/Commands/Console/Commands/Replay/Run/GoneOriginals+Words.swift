import Kafka
import Replay
import Replays

extension GoneOriginals {
    /// The warning to a person before the replay begins. Several lines, the last without its end.
    package var text: String {
        var lines = ["\(count) of the original requests are no longer kept since the plan was made; they will be left out:"]
        for item in samples { lines.append("  \(Sanitised.line(item.requestID))  \(item.place)") }
        if count > samples.count { lines.append("  and \(count - samples.count) more") }
        for place in beginnings {
            let begin = place.offset == .max ? "is no more" : "begins at offset \(place.offset) now"
            lines.append("partition \(place.partition) of \(Sanitised.line(place.topic)) \(begin)")
        }
        for partition in remade {
            lines.append(
                "partition \(partition.partition) of \(Sanitised.line(partition.topic)) was made again, with other records")
        }
        return lines.joined(separator: "\n")
    }
}
