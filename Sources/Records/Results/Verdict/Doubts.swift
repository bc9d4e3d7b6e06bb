import Publishing

/// The reasons for which devices may have rung twice, by the results of a request and of its replays.
struct Doubts {
    private let life: RequestLife
    private let final: ResultRecord

    /// The doubts about the result that counts.
    init(_ life: RequestLife, final: ResultRecord) { (self.life, self.final) = (life, final) }

    /// The doubts, the gravest first.
    var all: [RequestStory.Doubt] {
        guard let own = ResultCalls(final) else { return [] }
        var doubts: [RequestStory.Doubt] = own.hasLostAnswer ? [.lostAnswer] : []
        let sent = life.own.filter { $0.kind == "final" }.compactMap(ResultCalls.init).filter(\.reaches)
        let kinds = Set(sent.map(\.id)).count
        if kinds > 1 { doubts.append(.sentTwice(kinds)) }
        if life.replays.compactMap(ResultCalls.init).contains(where: own.isInDoubt) { doubts.append(.repeatedDoubt) }
        if sent.count > kinds { doubts.append(.secondResult) }
        return doubts
    }
}
