package import Intake
package import Publishing
import PushModel

/// Something wrong with a request, and where it was given.
package struct InputFault: Sendable, Equatable {
    /// The file, with the line if there are several requests in it, or `the flags`.
    package let place: String
    /// The fault in words.
    package let message: String
}

extension InputFault {
    /// A fault of a request that could be read.
    init(_ fault: RequestFault, at place: String) {
        self.init(place: place, message: (fault.pointer.isEmpty ? "" : "\(fault.pointer): ") + fault.message)
    }

    /// A place in a text that is no JSON, and that begins at `line` of the file.
    init(_ error: JSONError, in json: [UInt8], named name: String, from line: Int) {
        guard error.reason != .empty else {
            self.init(place: "\(name):\(line)", message: error.sentence)
            return
        }
        let mistake = error.mistake(in: json.span)
        self.init(place: "\(name):\(line + mistake.line - 1):\(mistake.column)", message: mistake.cause)
    }
}

/// Accepts requests, and reports the faults of the others.
package struct RequestChecker {
    private let reader: StrictReader
    private let now: Timestamp
    /// Finds the requests that workers would refuse, or nil if that is found later.
    private var trial: RequestTrial?
    private var request = PushRequest()
    /// The requests without faults.
    package private(set) var valid: [OutgoingRequest] = []
    /// The faults of the other requests.
    package private(set) var faults: [InputFault] = []
    /// The possible faults of requests without faults, by the settings of the worker that gets them.
    package private(set) var warnings: [InputFault] = []

    /// A checker without requests. `now` is in milliseconds since 1970. Without a trial it checks the form alone.
    package init(now: Int64, trial: RequestTrial? = nil, reader: StrictReader = StrictReader()) {
        self.now = Timestamp(milliseconds: now)
        self.trial = trial
        self.reader = reader
    }

    /// Checks one request. It is JSON, because any other text has a line and a column in its file.
    package mutating func check(_ json: [UInt8], at place: String) {
        let (what, isEvent) = reader.read(json, now: now, into: &request)
        switch what {
        case .request: take(json, isEvent: isEvent, at: place)
        case .rejected(let found): faults += found.map { InputFault($0, at: place) }
        case .unreadable(let reason): faults.append(InputFault(place: place, message: reason.message))
        }
    }

    /// Notes a fault that was found elsewhere.
    mutating func add(_ fault: InputFault) {
        faults.append(fault)
    }

    private mutating func take(_ json: [UInt8], isEvent: Bool, at place: String) {
        guard request.hasOwnID || !isEvent else {
            return faults.append(InputFault(StrictReader.missingEventID, at: place))
        }
        let findings = trial?.findings(in: request, now: now) ?? []
        let refusals = findings.filter { !$0.isBySettings }
        guard refusals.isEmpty else { return faults += refusals.map { InputFault($0.fault, at: place) } }
        warnings += findings.map { InputFault($0.fault, at: place) }
        valid.append(OutgoingRequest(request.withoutNulls(json, isEvent: isEvent), saying: request, isEvent: isEvent))
    }
}
