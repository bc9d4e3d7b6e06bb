import PushModel

extension Evidence {
    /// Takes in what was published over HTTP. The records are then the requests topic, and those of one number but the one that was taken are
    /// set apart.
    ///
    /// - Parameters:
    ///   - calls: The calls.
    ///   - records: The whole requests topic.
    ///   - topic: Its name, which each 202 must give.
    public mutating func setHTTP(calls: [HTTPCallFact], records: [HTTPRecordFact], topic: String) {
        httpCalls = calls
        httpRecords = records
        httpTopic = topic
        inputs = records.map { InputFact($0.place, .request(user: $0.number, isFlawed: false), at: $0.at) }
        // The calls themselves say what must be there.
        published = inputs.count
        setRepetitionsApart()
    }
}

/// What gateways answered, and what is on the topic.
extension Oracle {
    func http() -> [Finding] {
        guard !evidence.httpCalls.isEmpty else { return [] }
        let calls = Dictionary(grouping: evidence.httpCalls, by: \.number)
        let records = Dictionary(grouping: evidence.httpRecords, by: \.number)
        let numbers = Set(calls.keys).union(records.keys).sorted()
        func finding(_ invariant: Invariant, _ example: (Int, [HTTPCallFact], [HTTPRecordFact]) -> String?) -> Finding {
            .none(invariant, numbers.compactMap { example($0, calls[$0] ?? [], records[$0] ?? []) })
        }
        return [
            .none(.accepted, evidence.httpCalls.filter { !isTrue($0, records[$0.number] ?? []) }.map(\.line)),
            finding(.surplusRecords, surplus), finding(.requestIDs, ids), finding(.sameAnswer, answers), sentOverHTTP(),
        ]
    }

    /// Whether a call that was accepted has its record; without an offset it is somewhere in the partition.
    private func isTrue(_ call: HTTPCallFact, _ records: [HTTPRecordFact]) -> Bool {
        guard call.isAccepted else { return true }
        guard let id = call.id, let partition = call.partition, call.topic == evidence.httpTopic else { return false }
        return records.contains { record in
            record.id == id && record.place.partition == partition && call.offset.map { $0 == record.place.offset } ?? true
        }
    }

    /// Each place that was told has one record, and each call in doubt one at most. A 503, and any other refusal, has none.
    private func surplus(_ number: Int, _ calls: [HTTPCallFact], _ records: [HTTPRecordFact]) -> String? {
        let most = Set(calls.filter(\.isAccepted).map(\.place)).count + calls.count(where: \.isInDoubt)
        guard records.count > most else { return nil }
        return "key n\(number) has the records \(records.map(\.place)) after the answers \(calls.map(\.status))"
    }

    private func ids(_ number: Int, _ calls: [HTTPCallFact], _ records: [HTTPRecordFact]) -> String? {
        let ids = Set(calls.compactMap(\.id) + records.map(\.id))
        return ids.count > 1 ? "key n\(number) has the ids \(ids.sorted())" : nil
    }

    private func answers(_ number: Int, _ calls: [HTTPCallFact], _ records: [HTTPRecordFact]) -> String? {
        for (gateway, own) in Dictionary(grouping: calls.filter(\.isAccepted), by: \.gateway) {
            let places = Set(own.map(\.place))
            if places.count > 1 { return "\(gateway) answered key n\(number) with the places \(places.sorted())" }
        }
        return nil
    }

    /// Of several records of a number the results are judged as those of repetitions. What is left of each number must have been sent.
    private func sentOverHTTP() -> Finding {
        .none(
            .sentOverHTTP,
            evidence.results.filter { $0.state != .sent }.map { "the record at \($0.origin) ended as \($0.state.rawValue)" })
    }
}
