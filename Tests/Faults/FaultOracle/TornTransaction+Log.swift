extension TornTransaction {
    /// The torn transactions that a broker's log tells of.
    ///
    /// - Parameters:
    ///   - lines: The lines of the log, in order.
    ///   - group: The group; its workers' transactional ids are `GROUP:WORKER`.
    /// - Returns: Those that were to be committed, and of which markers were left out.
    public static func read(_ lines: some Sequence<Substring>, group: String) -> [TornTransaction] {
        var resumed: [String: TornTransaction] = [:]
        var torn: [TornTransaction] = []
        for line in lines where line.contains(" markers for ") {
            if let found = line.firstMatch(
                of: /TransitMetadata\((\S+?),\d+,COMMIT,.*?txnStartTimestamp=(\d+), txnLastUpdateTimestamp=(\d+)/),
                found.1.hasPrefix("\(group):"), let begin = Int64(found.2), let end = Int64(found.3)
            {
                resumed[String(found.1)] = TornTransaction(
                    worker: String(found.1.dropFirst(group.count + 1)), begin: begin, end: end)
            } else if let found = line.firstMatch(of: /Couldn't find leader endpoint for .* markers for (\S+), these partitions/),
                let transaction = resumed.removeValue(forKey: String(found.1))
            {
                torn.append(transaction)
            }
        }
        return torn
    }
}
