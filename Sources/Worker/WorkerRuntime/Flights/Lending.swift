/// Lends a property of an object without copying it.
///
/// Whoever passes on such a property copies it first, with a count of references for each array in it, because anybody could change
/// the object's own meanwhile. Only who asks for it as `inout` has it to himself. With a request that is 350 instructions each time.
@inline(__always)
func lend<Value, Result, Failure: Error>(
    _ value: inout Value, to body: (borrowing Value) throws(Failure) -> Result
) throws(Failure) -> Result {
    try body(value)
}

/// Lends two properties of an object without copying them.
@inline(__always)
func lend<First, Second, Result, Failure: Error>(
    _ first: inout First, and second: inout Second, to body: (borrowing First, borrowing Second) throws(Failure) -> Result
) throws(Failure) -> Result {
    try body(first, second)
}

/// Lends three properties of an object without copying them.
@inline(__always)
func lend<First, Second, Third, Result, Failure: Error>(
    _ first: inout First, and second: inout Second, and third: inout Third,
    to body: (borrowing First, borrowing Second, borrowing Third) throws(Failure) -> Result
) throws(Failure) -> Result {
    try body(first, second, third)
}
