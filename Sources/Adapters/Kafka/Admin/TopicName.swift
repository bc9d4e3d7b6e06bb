import Basics

/// The rule for names of topics (Kafka, `org.apache.kafka.common.internals.Topic`).
public enum TopicName {
    /// Checks a name: 1 to 249 letters, digits, dots, underscores and hyphens, neither `.` nor `..`. The error's message says
    /// what is wrong.
    public static func validate(_ name: String) throws(KafkaError) {
        if name.isEmpty { throw .invalidArgument("a topic's name is empty") }
        if name.utf8.count > 249 { throw .invalidArgument("the topic name '\(name.prefix(40))…' is longer than 249 characters") }
        if name == "." || name == ".." { throw .invalidArgument("the topic name '\(name)' is reserved") }
        guard name.utf8.allSatisfy(isAllowed) else {
            throw .invalidArgument("the topic name '\(name)' holds something else than letters, digits, '.', '_' and '-'")
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "._-".utf8.contains(byte)
    }
}
