/// The amounts that many hold of what is kept for all. Whoever holds most is known, and loses something first when room is needed.
///
/// A change takes the logarithm of the number of holders. Whoever holds nothing is not remembered.
package struct Holdings<Holder: Hashable & Sendable>: Sendable {
    /// A heap, the greatest amount first.
    private var heap: [(holder: Holder, amount: Int)] = []
    private var places: [Holder: Int] = [:]
    /// All that is held.
    package private(set) var total = 0

    /// Nothing is held.
    package init() {}

    /// The holder of most, one of them where several hold as much, or nil where nothing is held.
    package var greediest: Holder? { heap.first?.holder }

    /// The number of those that hold something.
    var holderCount: Int { heap.count }

    /// The amount that a holder has.
    package subscript(holder: Holder) -> Int { places[holder].map { heap[$0].amount } ?? 0 }

    /// Changes what a holder has by an amount, which may be negative. No one has less than nothing.
    package mutating func change(_ holder: Holder, by amount: Int) {
        let known = places[holder]
        let amount = max(amount, -(known.map { heap[$0].amount } ?? 0))
        guard amount != 0 else { return }
        let place = known ?? heap.count
        if known == nil {
            heap.append((holder, 0))
            places[holder] = place
        }
        total += amount
        heap[place].amount += amount
        guard heap[place].amount == 0 else { return settle(place) }
        swap(place, with: heap.count - 1)
        heap.removeLast()
        places[holder] = nil
        if place < heap.count { settle(place) }
    }

    /// Moves the holder at a place to where its amount belongs.
    private mutating func settle(_ start: Int) {
        var place = start
        while place > 0, heap[place].amount > heap[(place - 1) / 2].amount {
            swap(place, with: (place - 1) / 2)
            place = (place - 1) / 2
        }
        while true {
            var largest = place
            for child in (2 * place + 1)...(2 * place + 2) where child < heap.count {
                if heap[child].amount > heap[largest].amount { largest = child }
            }
            guard largest != place else { return }
            swap(place, with: largest)
            place = largest
        }
    }

    private mutating func swap(_ first: Int, with second: Int) {
        guard first != second else { return }
        heap.swapAt(first, second)
        places[heap[first].holder] = first
        places[heap[second].holder] = second
    }
}
