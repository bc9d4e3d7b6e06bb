/// What is done to brokers that live on.
extension Stage {
    /// The longest wait for work to go on; a longer one is judged as one of this length.
    private static let patience = Duration.seconds(90)

    /// Waits until every partition has had a new result since the last fault ended. Whether that was soon enough is judged at the
    /// end.
    func awaitWork() {
        try? Clock.wait(for: "every partition to go on", within: Self.patience) { watch.awaited.isEmpty || isSettled }
        let late = watch.awaited
        note(late.isEmpty ? "every partition goes on" : "without a new result: \(late.sorted())")
        if isSettled { watch.unmark() } else { watch.giveUp() }
    }

    /// Stops a node in order, which hands its partitions over.
    func stopBroker(node: Int) throws {
        note("broker stops: node \(node)")
        try broker.stop(node: node)
    }

    /// Lets a node, or all of them, stand still for a time.
    func freezeBroker(node: Int? = nil, for time: Duration) throws {
        note("broker frozen\(node.map { ": node \($0)" } ?? "")")
        beginOutage()
        try broker.freeze(node: node)
        Clock.pause(time)
        try broker.thaw(node: node)
        endOutage()
        note("broker goes on after \(time)")
        watch.mark()
    }

    /// Moves the leader of every partition of every topic, Kafka's own too, to where it was at first.
    ///
    /// - Throws: `SuiteError.late` when a node is not in sync again within 60 s.
    func restoreLeaders() throws {
        try Clock.wait(for: "all nodes to be in sync", within: .seconds(60), every: .seconds(1)) {
            do {
                try broker.tool("leader-election", ["--election-type", "PREFERRED", "--all-topic-partitions"])
                return true
            } catch SuiteError.failed {
                return false
            }
        }
        note("leaders are where they were at first")
    }

    /// Changes a setting of a topic.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - change: `--add-config` or `--delete-config`.
    ///   - setting: `key=value`, or the key.
    /// - Throws: The tool failed.
    func configure(_ topic: String, _ change: String, _ setting: String) throws {
        try broker.tool("configs", ["--alter", "--entity-type", "topics", "--entity-name", topic, change, setting])
    }

    /// Lets the results topic refuse every record, after 3 s of work, and then take them again.
    ///
    /// - Parameter time: For how long it refuses.
    /// - Throws: The tool failed.
    func refuseResults(for time: Duration) throws {
        Clock.pause(.seconds(3))
        try configure(topics.results, "--add-config", "max.message.bytes=100")
        note("the results topic refuses")
        beginOutage()
        Clock.pause(time)
        try configure(topics.results, "--delete-config", "max.message.bytes")
        endOutage()
        note("the results topic takes results again")
        watch.mark()
    }
}
