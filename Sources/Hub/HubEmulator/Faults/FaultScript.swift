import HubServer
import Basics
import HTTPServing

/// The armed faults with their counts. They are tried in order, and the first that strikes is the call's fault.
struct FaultScript: Sendable {
    struct Entry: Sendable {
        let fault: Fault
        /// Decides by chance.
        var dice: FaultDice
        /// Calls that satisfied the conditions.
        var metCount = 0
        /// Calls that it struck.
        var struckCount = 0
        /// Milliseconds since 1970 at which a running outage ends.
        var outageEnd: Int64?

        /// A fault that has struck nothing yet, with its place among the armed ones, from 0 on.
        init(_ fault: Fault, place: Int) {
            self.fault = fault
            dice = FaultDice(seed: fault.seed, place: place)
        }
    }

    private(set) var entries: [Entry] = []

    init(_ faults: [Fault] = []) {
        append(faults)
    }

    mutating func append(_ faults: [Fault]) {
        for fault in faults { entries.append(Entry(fault, place: entries.count)) }
    }

    /// The first fault that strikes a call, if any. `now` is milliseconds since 1970.
    mutating func strike(_ request: HTTPServerRequest, now: Int64) -> Fault? {
        for index in entries.indices where entries[index].strikes(request, now: now) {
            entries[index].struckCount += 1
            return entries[index].fault
        }
        return nil
    }
}

extension FaultScript.Entry {
    fileprivate mutating func strikes(_ request: HTTPServerRequest, now: Int64) -> Bool {
        if let outageEnd, now < outageEnd { return true }
        guard fault.conditions.areMet(by: request) else { return false }
        metCount += 1
        if case .closeAfter(let answers) = fault.effect, request.ordinalOnConnection % answers != 0 { return false }
        guard metCount > fault.after, (metCount - fault.after) % fault.every == 0 else { return false }
        guard fault.chance >= 1 || dice.strikes(chance: fault.chance) else { return false }
        if case .outage(let duration, _) = fault.effect {
            guard outageEnd == nil else { return false }
            outageEnd = now + duration.wholeMilliseconds
            return true
        }
        return fault.count.map { struckCount < $0 } ?? true
    }
}

extension Fault.Conditions {
    /// True if the request meets the conditions.
    func areMet(by request: HTTPServerRequest) -> Bool {
        if let method, !method.equalsIgnoringCase(request.method) { return false }
        if let path, !request.target.lowercased().contains(path.lowercased()) { return false }
        if let format, request.headers["ServiceBusNotification-Format"]?.equalsIgnoringCase(format) != true { return false }
        if let handle, request.headers["ServiceBusNotification-DeviceHandle"] != handle { return false }
        if let tags {
            guard let sent = request.headers["ServiceBusNotification-Tags"] else { return false }
            let words = sent.split { " ()|&!".contains($0) }
            return sent.equalsIgnoringCase(tags) || words.contains { String($0).equalsIgnoringCase(tags) }
        }
        return true
    }
}
