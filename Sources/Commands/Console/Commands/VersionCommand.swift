import Kafka
import PushModel

extension Command {
    static let version = Command(
        "version", .everyone, "Print the version of pushfan, its commit and the version of its Kafka library",
        examples: ["pushfan version", "pushfan version -o json", "pushfan --version"],
        groups: [.output([.table, .json])], readOn: "pushfan help", acceptsSettings: false,
        run: { (invocation) throws(CommandFailure) in
            let build = invocation.program.build
            if invocation.arguments.format() == .table {
                try invocation.streams.out("pushfan \(build.version) (\(build.words), librdkafka \(KafkaLibrary.version))")
            } else {
                let object = JSONObject([
                    "version": build.version, "commit": build.commit, "date": build.date, "librdkafka": KafkaLibrary.version,
                ])
                try invocation.streams.out(object.bytes + [UInt8(ascii: "\n")])
            }
            return .done
        })
}
