/// A first-in, first-out queue that reuses its memory.
struct Ring<Element> {
    private var places: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: consuming Element) {
        if count == places.count { grow() }
        places[place(count)] = element
        count += 1
    }

    /// Puts an element before all others.
    mutating func prepend(_ element: consuming Element) {
        if count == places.count { grow() }
        head = place(places.count - 1)
        places[head] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        if count == 0 { return nil }
        let element = places[head].take()
        head = place(1)
        count -= 1
        return element
    }

    private func place(_ offset: Int) -> Int {
        let place = head + offset
        return place < places.count ? place : place - places.count
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(max(8, count * 2))
        for offset in 0..<count { larger.append(places[place(offset)].take()) }
        for _ in count..<max(8, count * 2) { larger.append(nil) }
        places = larger
        head = 0
    }
}
