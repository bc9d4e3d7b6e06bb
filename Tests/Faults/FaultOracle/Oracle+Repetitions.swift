public import PushModel

/// A request that was published more than once.
public struct RepetitionFact: Sendable {
    /// Where its records stand, in the order of their offsets.
    public var places: [Place]
    /// How each of them ended; no element for one that has no result, and several for one that has several.
    public var states: [[ResultState]]

    /// Whether exactly one of the records was taken, and every other one was told as a repetition.
    var isSentOnce: Bool {
        states.allSatisfy { $0.count == 1 } && states.count { $0 != [.duplicate] } == 1
    }
}

extension Evidence {
    /// Sets the repetitions of requests apart: their records and their results.
    ///
    /// What is left of each request is the record that was taken, and it is judged as if it had not been repeated. A call of another one stays,
    /// and counts as a repeated one.
    public mutating func setRepetitionsApart() {
        var states: [Place: [ResultState]] = [:]
        for result in results { states[result.origin, default: []].append(result.state) }
        var places: [Int: [Place]] = [:]
        for input in inputs {
            if case .request(let user, isFlawed: false) = input.content { places[user, default: []].append(input.place) }
        }
        var apart: Set<Place> = []
        for repeated in places.values.map({ $0.sorted() }).sorted(by: { $0[0] < $1[0] }) where repeated.count > 1 {
            repetitions.append(RepetitionFact(places: repeated, states: repeated.map { states[$0] ?? [] }))
            let taken = repeated.first { states[$0] != [.duplicate] } ?? repeated[0]
            apart.formUnion(repeated.filter { $0 != taken })
        }
        guard !apart.isEmpty else { return }
        published -= apart.count
        inputs.removeAll { apart.contains($0.place) }
        results.removeAll { apart.contains($0.origin) }
        // The records that are gone from the evidence leave gaps, as markers do.
        hasMarkers = true
    }
}

/// Requests that were published more than once.
extension Oracle {
    /// Requests of which not exactly one record was taken.
    func repetitions() -> Finding? {
        guard !evidence.repetitions.isEmpty else { return nil }
        return .none(
            .repetitions,
            evidence.repetitions.filter { !$0.isSentOnce }.map { repetition in
                "the records at \(repetition.places) ended as \(repetition.states.map { $0.map(\.rawValue) })"
            })
    }
}
