/// Requests and their results.
extension Oracle {
    func lost() -> Finding {
        var examples: [String] = []
        for input in evidence.inputs {
            if case .request(let user, _) = input.content, results[input.place] == nil {
                examples.append("user \(user) at \(input.place)")
            }
        }
        return .none(.lost, examples)
    }

    /// Results beyond the first of a request. Where the first one is of a transaction that the broker tore, the offsets may not have been
    /// committed with it, and one more result is the broker's doing.
    func repeated() -> [Finding] {
        var (surplus, torn) = (0, 0)
        var examples: [String] = []
        for (place, indices) in results where indices.count > 1 {
            let first = indices.map { evidence.results[$0] }.min { $0.at < $1.at }
            let isTorn = first.map { first in evidence.tornTransactions.contains { $0.holds(first) } } ?? false
            let allowed = isTorn ? 2 : 1
            if isTorn { torn += 1 }
            surplus += indices.count - allowed
            if examples.count < 5, indices.count > allowed { examples.append("\(indices.count) results for \(place)") }
        }
        let judged = Finding(.repeated, measured: Double(surplus), examples: examples)
        guard !evidence.tornTransactions.isEmpty else { return [judged] }
        return [judged, Finding(.torn, measured: Double(torn), allowed: .infinity)]
    }

    /// Results of records that are no requests, results that carry another request's id, and calls for users of no request.
    func foreign() -> Finding {
        var users: [Place: Int] = [:]
        for (user, place) in places { users[place] = user }
        var examples: [String] = []
        for result in evidence.results {
            guard let user = users[result.origin] else {
                examples.append("a result for \(result.origin), where no request is")
                continue
            }
            if let named = result.user, named != user { examples.append("the result for \(result.origin) names user \(named)") }
        }
        for call in evidence.calls {
            if let user = call.user, places[user] == nil { examples.append("a call for user \(user), who is in no request") }
        }
        return .none(.foreign, examples)
    }

    func unreadableLost() -> Finding {
        var kept: [Place: [UInt64]] = [:]
        for letter in evidence.deadLetters { kept[letter.origin, default: []].append(letter.digest) }
        var examples: [String] = []
        for input in evidence.inputs {
            guard case .unreadable(let digest) = input.content else { continue }
            guard let digests = kept[input.place] else {
                examples.append("\(input.place) is not kept")
                continue
            }
            if digests.contains(where: { $0 != digest }) { examples.append("\(input.place) was changed") }
        }
        return .none(.unreadableLost, examples)
    }

    /// Dead letters beyond the first of a record, and those of records that were readable.
    func unreadableRepeated() -> Finding {
        var unreadable: Set<Place> = []
        for input in evidence.inputs {
            if case .unreadable = input.content { unreadable.insert(input.place) }
        }
        var examples: [String] = []
        for letter in evidence.deadLetters where unreadable.remove(letter.origin) == nil {
            examples.append("one dead letter too many for \(letter.origin)")
        }
        return .none(.unreadableRepeated, examples)
    }

    /// Records at or above the committed position, undecodable metadata, and positions behind the end.
    func position() -> Finding {
        var ends: [Int32: Int64] = [:]
        for input in evidence.inputs {
            ends[input.place.partition] = max(ends[input.place.partition] ?? 0, input.place.offset + 1)
        }
        var committed: [Int32: Int64] = [:]
        var examples: [String] = []
        for position in evidence.positions {
            committed[position.partition] = position.committed
            if position.finished == nil { examples.append("the metadata of partition \(position.partition) cannot be read") }
            let end = ends[position.partition] ?? 0
            if let offset = position.committed, offset > end, !evidence.hasMarkers {
                examples.append("partition \(position.partition) ends at \(end), committed is \(offset)")
            }
        }
        for input in evidence.inputs where committed[input.place.partition].map({ $0 <= input.place.offset }) ?? true {
            examples.append("\(input.place) with \(committed[input.place.partition].map { "\($0)" } ?? "nothing") committed")
        }
        return .none(.position, examples)
    }
}
