/// What stands at `range` of `list`; less, or nothing, where the list ends before.
public func part<Element>(_ range: Range<Int>, of list: [Element]) -> ArraySlice<Element> {
    list.prefix(max(0, range.upperBound)).dropFirst(max(0, range.lowerBound))
}
