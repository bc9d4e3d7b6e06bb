import Kafka
import PushModel

extension Command {
    static let version = Command(
        "version", .everyone, "Print the version of pushfan and of its Kafka library",
        examples: ["pushfan version", "pushfan version -o json", "pushfan --version"],
        groups: [.output([.table, .json])], readOn: "pushfan help", acceptsSettings: false,
        run: { (invocation) throws(CommandFailure) in
            if invocation.arguments.format() == .table {
                try invocation.streams.out("pushfan \(Program.version) (librdkafka \(KafkaLibrary.version))")
            } else {
                let object = JSONObject(["version": Program.version, "librdkafka": KafkaLibrary.version])
                try invocation.streams.out(object.bytes + [UInt8(ascii: "\n")])
            }
            return .done
        })
}
