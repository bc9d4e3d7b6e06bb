import Basics
import EventLoop

/// One run of a worker. Its name outlives it, and this does not.
///
/// It stands at the end of the client id under which the worker is in its group, so that all who ask the group see who has a name.
public struct Incarnation: Sendable, Hashable {
    /// The place where its process has its number, or nil where that is not known.
    var place: UInt64?
    /// The process's number.
    var process: Int32
    /// The moment at which the process began, in ticks of its machine, or nil where that is not known.
    var start: UInt64?
    /// A number by chance, for what the others do not tell apart.
    var number: UInt64

    /// A run. `place` has the words for its place where they are known, `process` is more than 0, and `number` is by chance.
    init(place: String?, process: Int32, start: UInt64?, number: UInt64) {
        self.place = place.map { FNV1a.hash(of: $0.utf8) }
        self.process = process
        self.start = start
        self.number = number
    }

    /// A run of a worker in this process, another one each time.
    public static func ofThisProcess() -> Incarnation {
        let process = ProcessMark.own
        return Incarnation(
            place: ProcessMark.place, process: process.id, start: process.start, number: UInt64.random(in: 0 ... .max))
    }

    /// Reads it off a client id. Nil if none is present.
    init?(clientID: String) {
        guard let last = clientID.split(separator: ".", omittingEmptySubsequences: false).last else { return nil }
        let words = last.split(separator: "-", omittingEmptySubsequences: false)
        guard words.count == 5, words[0] == Self.mark, let process = Int32(words[2], radix: 16), process > 0,
            let number = UInt64(words[4], radix: 16)
        else { return nil }
        place = UInt64(words[1], radix: 16)
        start = UInt64(words[3], radix: 16)
        self.process = process
        self.number = number
    }

    /// The client id of this run, at most 100 characters. It begins with 30 characters of `name`.
    func clientID(_ name: String) -> String {
        func text(_ number: UInt64?) -> String { number.map { String($0, radix: 16) } ?? "" }
        return "\(name.prefix(30)).\(Self.mark)-\(text(place))-\(String(process, radix: 16))-\(text(start))-\(text(number))"
    }

    /// True if the two see each other's processes by their numbers.
    func isBeside(_ other: Incarnation) -> Bool { place != nil && place == other.place }

    /// True if the process of this run is known, by the run `own`, to have ended.
    func isGone(seenBy own: Incarnation) -> Bool { isBeside(own) && ProcessMark(id: process, start: start).isGone }

    /// The address of a worker's name among the processes beside this run: at most 100 bytes.
    func address(of name: String, in group: String) -> String {
        "pushfan \(String(place ?? 0, radix: 16)) \(String(FNV1a.hash(of: "\(group)\n\(name)".utf8), radix: 16))"
    }

    private static let mark = "i"
}

/// The holder of a worker's name in its group, as far as one look can show.
enum NameHolder: Sendable, Equatable, CaseIterable {
    /// No member.
    case nobody
    /// The worker that looks, now or before.
    case own
    /// Another run, which has ended.
    case ended
    /// Another run, which lives for all that is known.
    case other
    /// A member whose client id tells nothing.
    case unnamed

    /// Judges what was found: `isGone` if the holder's process is known to have ended, `hasLeft` if positions say that it has
    /// finished its work. No holder stands for one that does not say.
    init(holder: Incarnation?, own: Incarnation, isGone: Bool, hasLeft: Bool) {
        if holder == own {
            self = .own
        } else if isGone || hasLeft {
            self = .ended
        } else {
            self = holder == nil ? .unnamed : .other
        }
    }
}
