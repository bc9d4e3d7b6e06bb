public import Delivery
import EventLoop

extension Incarnation {
    /// A run of a worker in this process.
    ///
    /// - Returns: Another one each time.
    public static func ofThisProcess() -> Incarnation {
        let process = ProcessMark.own
        return Incarnation(
            place: ProcessMark.place, process: process.id, start: process.start, number: UInt64.random(in: 0 ... .max))
    }

    /// True if the process of this run is known, by the run `own`, to have ended.
    func isGone(seenBy own: Incarnation) -> Bool { isBeside(own) && ProcessMark(id: process, start: start).isGone }
}
