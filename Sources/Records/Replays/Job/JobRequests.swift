import Delivery
package import JobSupport
import Kafka

/// The answer to a request to pause, resume or stop a replay.
package enum JobAnswer: Sendable {
    /// The job has done it, or had before.
    case done(JobLog.Job)
    /// The job has ended already.
    case ended(JobRecord.State)
    /// The request is written, and no runner is at work to read it.
    case noRunner
    /// The runner did not answer within the time-out.
    case late
}

extension JobContext {
    /// Asks a job's runner to pause, go on or stop, and waits for its answer.
    package func request(
        _ kind: JobCommand.Kind, of job: JobLog.Job, actor: String
    ) throws(JobFailure) -> JobAnswer {
        let id = job.record.jobID
        let standing = job.state(at: now())
        if standing == .done || standing == .stopped { return .ended(standing) }
        if standing == kind.state { return .done(job) }
        // Opened before, so that the answer does not come unseen.
        let answers = try TopicScan(self, topic: topics.replays).openAtEnd()
        defer { answers.close() }
        try write(JobCommand(jobID: id, kind: kind, actor: actor))
        guard job.isAlive(at: now()) else { return .noRunner }
        let deadline = Deadline(after: timeout)
        var log = JobLog(from: .max)
        while !deadline.hasPassed, !isCancelled() {
            _ = answers.read(timeout: deadline.step) { log.take($0) }
            guard let state = log.jobs[id]?.record.state, state == kind.state || state == .done else { continue }
            if let found = try jobStates().jobs[id] { return .done(found) }
        }
        return .late
    }

    private func write(_ wish: JobCommand) throws(JobFailure) {
        do throws(KafkaError) {
            let producer = try Producer(kafka, transactionalID: nil)
            defer { producer.close(timeout: .zero) }
            let topic = try producer.topic(named: topics.replays)
            try producer.write(key: Array(wish.key.utf8), value: wish.json, to: topic, partition: 0)
            try producer.flush(timeout: timeout)
            if let error = producer.failedDeliveries.first { throw error }
        } catch {
            throw .kafka(error, .write(topic: topics.replays))
        }
    }
}

extension JobCommand.Kind {
    /// The state of a job that does it.
    fileprivate var state: JobRecord.State {
        switch self {
        case .pause: .paused
        case .resume: .running
        case .stop: .stopped
        }
    }
}

extension JobLog {
    /// The job with an id, or with the only one that ends in at least four characters.
    package func job(named id: String) -> Job? {
        if let job = jobs[id] { return job }
        let matching = jobs.values.filter { id.count >= 4 && $0.record.jobID.hasSuffix(id) }
        return matching.count == 1 ? matching.first : nil
    }
}
