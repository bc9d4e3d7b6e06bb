import CSQLite

extension Database {
    /// Lets SQL call a function of two values that says yes or no. Where one of them is NULL, so is the answer.
    ///
    /// - Parameters:
    ///   - name: What SQL calls it.
    ///   - body: Looks at the bytes of both; gives the same answer whenever they are the same.
    /// - Throws: A name that SQLite does not allow.
    public func define(
        _ name: String, as body: @escaping (_ first: Span<UInt8>, _ second: Span<UInt8>) -> Bool
    ) throws(SQLiteError) {
        // SQLite lets go of it when the database is closed, and also when it refuses the function.
        let function = Unmanaged.passRetained(SQLFunction(body)).toOpaque()
        let code = sqlite3_create_function_v2(
            pointer, name, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, function, callFunction, nil, nil,
            releaseFunction)
        try SQLiteError.check(code, in: pointer)
    }
}

/// The object that SQLite keeps for a function.
private final class SQLFunction {
    let body: (Span<UInt8>, Span<UInt8>) -> Bool

    init(_ body: @escaping (Span<UInt8>, Span<UInt8>) -> Bool) { self.body = body }
}

private func callFunction(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard count == 2, let values, let first = bytes(of: values[0]), let second = bytes(of: values[1]),
        let function = sqlite3_user_data(context)
    else { return sqlite3_result_null(context) }
    let isTrue = Unmanaged<SQLFunction>.fromOpaque(function).takeUnretainedValue().body(first.span, second.span)
    sqlite3_result_int(context, isTrue ? 1 : 0)
}

private func releaseFunction(_ function: UnsafeMutableRawPointer?) {
    if let function { Unmanaged<SQLFunction>.fromOpaque(function).release() }
}

/// The bytes of a value, which live as long as the call. Nil for NULL.
private func bytes(of value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard sqlite3_value_type(value) != SQLITE_NULL else { return nil }
    let start = sqlite3_value_blob(value)
    return UnsafeBufferPointer(
        start: start?.assumingMemoryBound(to: UInt8.self), count: Int(sqlite3_value_bytes(value)))
}
