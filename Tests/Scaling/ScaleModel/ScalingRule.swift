/// The number of workers, as a ScaledObject of KEDA says it.
package struct ScalingRule: Sendable {
    /// The measure of a trigger.
    package enum Signal: Sendable {
        /// The largest `pushfan_oldest_waiting_seconds`.
        case oldestWaiting
        /// The largest `pushfan_consumer_lag_seconds`.
        case lag
        /// The sum of `pushfan_inflight_sends`.
        case callsInFlight
        /// Records behind the positions of the group, as KEDA's trigger `kafka` counts them.
        case lagRecords
    }

    /// The figures beyond which seconds do not count, because no worker would shorten them.
    package struct Gate: Sendable {
        /// The share of time in which the hub asked for a pause.
        package var throttled: Double
        /// The share of time in which calls waited for the rate.
        package var rateWait: Double
        /// The state of the circuit, on average: 0 closed, 2 open.
        package var circuit: Double
        /// The share of the calls that may be in flight, at the busiest worker. Below it no worker is busy.
        package var busy: Double
        /// The most that the seconds count as then.
        package var ceiling: Double
    }

    /// One measurement, and the value that it should have.
    package struct Trigger: Sendable {
        package var signal: Signal
        package var target: Double
        /// True if the target is for each worker (AverageValue), not for all together (Value).
        package var isForEach: Bool
        package var gate: Gate?

        package init(_ signal: Signal, target: Double, isForEach: Bool, gate: Gate? = nil) {
            self.signal = signal
            self.target = target
            self.isForEach = isForEach
            self.gate = gate
        }
    }

    /// The most that the number may change by within a time.
    package struct Policy: Sendable, Equatable {
        package var value: Int
        /// True if `value` is of a hundred workers.
        package var isPercent: Bool
        /// 1 to 1,800 s.
        package var seconds: Int

        package init(_ value: Int, isPercent: Bool, seconds: Int) {
            self.value = value
            self.isPercent = isPercent
            self.seconds = seconds
        }
    }

    /// The restraint in one direction.
    package struct Behaviour: Sendable, Equatable {
        /// Seconds of earlier wishes that count, too, 0 to 3,600.
        package var window: Int
        /// The one that allows most decides.
        package var policies: [Policy]

        package init(window: Int, policies: [Policy]) {
            self.window = window
            self.policies = policies
        }
    }

    /// The fewest and the most workers.
    package var replicas: ClosedRange<Int>
    package var triggers: [Trigger]
    package var growth: Behaviour
    package var shrinking: Behaviour

    package init(replicas: ClosedRange<Int>, triggers: [Trigger], growth: Behaviour, shrinking: Behaviour) {
        self.replicas = replicas
        self.triggers = triggers
        self.growth = growth
        self.shrinking = shrinking
    }
}

extension ScalingRule {
    /// A fixed number of workers.
    package static func fixed(_ count: Int) -> Self {
        Self(
            replicas: count...count, triggers: [], growth: .init(window: 0, policies: []),
            shrinking: .init(window: 0, policies: []))
    }

    /// The usual first try: KEDA's trigger `kafka` with a thousand records for each worker, and no restraint.
    package static func byRecords(_ replicas: ClosedRange<Int>) -> Self {
        let free = Behaviour(window: 0, policies: [.init(100, isPercent: false, seconds: 15)])
        return Self(
            replicas: replicas, triggers: [.init(.lagRecords, target: 1000, isForEach: true)], growth: free, shrinking: free)
    }
}
