/// The requests of one partition, oldest first, counted by the second in which they were published.
struct RequestQueue {
    private var groups: [(second: Int, count: Double)] = []
    private var head = 0
    private(set) var count = 0.0

    mutating func add(_ number: Double, at second: Int) {
        guard number > 0 else { return }
        groups.append((second, number))
        count += number
    }

    /// Takes the oldest ones away, at most `number`.
    mutating func remove(_ number: Double) {
        var rest = min(number, count)
        count = rest == count ? 0 : count - rest
        guard count > 0 else {
            groups.removeAll(keepingCapacity: true)
            head = 0
            return
        }
        while rest > 0, head < groups.count {
            let part = min(rest, groups[head].count)
            groups[head].count -= part
            rest -= part
            if groups[head].count <= 1e-9 { head += 1 }
        }
        if head > 4096 {
            groups.removeFirst(head)
            head = 0
        }
    }

    /// For how many seconds the oldest one behind `skipped` others has been waiting, 0 where there is none.
    func wait(at second: Int, behind skipped: Double = 0) -> Double {
        guard count > skipped else { return 0 }
        var passed = 0.0
        for index in head..<groups.count {
            passed += groups[index].count
            if passed > skipped { return Double(second - groups[index].second) }
        }
        return 0
    }
}
