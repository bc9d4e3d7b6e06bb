public import Testing

/// What `Deploy/test` chooses and orders tests by.
extension Tag {
    /// Reaches code that several threads share: ThreadSanitizer looks at it.
    @Tag public static var threads: Self
    /// Is of a module with a C library or raw memory of its own: AddressSanitizer looks at it.
    @Tag public static var c: Self
    /// A suite that waits for half a minute or longer: `.ci/run-tests` begins with it.
    @Tag public static var waits: Self
}

extension Trait where Self == ConditionTrait {
    /// Needs many seconds of real time, and runs with `Deploy/test --full` only.
    public static var takesLong: Self {
        .enabled(if: TestVariables.value(of: "FULL") == "1", "left to Deploy/test --full")
    }

    /// Needs what the embedded broker has not, such as transactions, and runs where `PUSHFAN_TEST_KAFKA` names a real one.
    public static var needsKafka: Self { .enabled(if: TestVariables.kafka != nil, "PUSHFAN_TEST_KAFKA names no broker") }
}
