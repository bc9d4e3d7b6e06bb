import Basics
package import Dispatch
package import HubServer
import SQLite

/// The bulk jobs of a hub in its file, and their files in a folder beside it.
///
/// One job is carried out at a time, on a thread of its own. Those that a former process has not ended have failed.
package final class FileJobs: JobStore {
    /// Jobs, and files, that are kept. The oldest are forgotten first.
    private static let capacity: Int64 = 1000
    /// Milliseconds for which a file is kept: 7 days.
    private static let lifetime: Int64 = 7 * 86_400_000
    /// The most jobs that wait, so that none is forgotten before it has begun.
    private static let mostWaiting = 100

    /// Bytes of a file in one answer.
    package let answerByteCount = 16 << 20

    private let file: HubFile
    private let folder: JobFolder
    private let byteCapacity: Int64
    private let retryPause: DispatchTimeInterval
    private let clock: @Sendable () -> Int64
    private let queue = JobQueue()

    /// The jobs of a file.
    ///
    /// - Parameters:
    ///   - file: The hub's file. The folder of the jobs' files is called like it, with `.files` behind.
    ///   - byteCapacity: Bytes of all files together. Default: 1 GiB.
    ///   - retryPause: The time before work tries again what the file refused.
    ///   - clock: Milliseconds since 1970.
    package init(
        _ file: HubFile, byteCapacity: Int64 = 1 << 30, retryPause: DispatchTimeInterval = .seconds(1),
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.file, self.byteCapacity, self.retryPause, self.clock) = (file, byteCapacity, retryPause, clock)
        folder = JobFolder(file.path + ".files")
        // Without this they would seem to go on. The file may be full: it is tried again at the next start.
        try? file.change { (connection) throws(RefusedCall) in
            try connection.run(
                "UPDATE job SET status = ?, failure = ? WHERE status = ?",
                with: [
                    .text(HubJob.Status.failed.rawValue), .text("The hub was ended before the job was done"),
                    .text(HubJob.Status.started.rawValue),
                ])
        }
        if let names = try? names() { folder.removeAll(without: names) }
        try? forgetOld()
        queue.start { [weak self] in try? self?.forgetOld() }
    }

    deinit { queue.close() }

    /// Ends the job that is carried out at its next portion, and begins none any more.
    package func close(until deadline: DispatchTime = .distantFuture) {
        queue.close()
        queue.waitForEnd(until: deadline)
    }

    package func keep(_ job: HubJob) throws(RefusedCall) {
        try file.change { (connection) throws(RefusedCall) in
            let seal = connection.seal
            try connection.run(
                """
                INSERT INTO job (id, kind, output, input, created, status, failure, output_name, failed_name)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status,
                failure = excluded.failure, output_name = excluded.output_name, failed_name = excluded.failed_name
                """,
                with: [
                    .text(job.id), .text(job.kind.rawValue), .bytes(try seal.sealed(Array(job.outputContainer.utf8))),
                    .bytes(try seal.sealed(Array((job.importFile ?? "").utf8))), .number(job.createdAt),
                    .text(job.status.rawValue), .text(job.failure), .text(job.outputName), .text(job.failedName),
                ])
            try connection.run(
                "DELETE FROM job WHERE number <= (SELECT max(number) FROM job) - ?", with: [.number(Self.capacity)])
        }
    }

    package func job(_ id: String) throws(RefusedCall) -> HubJob? {
        try file.read { (connection) throws(RefusedCall) in
            try connection.row(
                """
                SELECT id, kind, output, input, created, status, failure, output_name, failed_name FROM job WHERE id = ?
                """, with: [.text(id)]
            ) { (row) throws(RefusedCall) in try Self.job(row, seal: connection.seal) }
        }
    }

    package func jobs() throws(RefusedCall) -> [HubJob] {
        try file.read { (connection) throws(RefusedCall) in
            try connection.rows(
                """
                SELECT id, kind, output, input, created, status, failure, output_name, failed_name FROM job ORDER BY number
                """, with: []
            ) { (row) throws(RefusedCall) in try Self.job(row, seal: connection.seal) }
        }
    }

    private static func job(_ row: Statement, seal: HandleSeal) throws(RefusedCall) -> HubJob {
        guard let kind = HubJob.Kind(rawValue: try row.string(1)), let status = HubJob.Status(rawValue: try row.string(5)) else {
            throw .unreadable
        }
        let input = String(decoding: try seal.opened(row.blob(3)), as: UTF8.self)
        var job = HubJob(
            id: try row.string(0), kind: kind, outputContainer: String(decoding: try seal.opened(row.blob(2)), as: UTF8.self),
            importFile: input.isEmpty ? nil : input, createdAt: try row.number(4))
        job.status = status
        (job.failure, job.outputName) = (row.optionalString(6), row.optionalString(7))
        job.failedName = row.optionalString(8)
        return job
    }

    package func file(_ path: String) throws(RefusedCall) -> (any JobFile)? {
        while true {
            let (name, seal) = try file.read { (connection) throws(RefusedCall) in
                (try Self.name(of: path, on: connection), connection.seal)
            }
            guard let name else { return nil }
            if let found = try folder.file(name, seal: seal) { return found }
            // Another has taken its place meanwhile, or it was removed by hand.
            let present = try file.read { (connection) throws(RefusedCall) in try Self.name(of: path, on: connection) }
            if present == name { return nil }
        }
    }

    /// The name in the folder of the file that clients know by a path.
    private static func name(of path: String, on connection: HubConnection) throws(RefusedCall) -> String? {
        try connection.row("SELECT name FROM job_file WHERE path = ?", with: [.text(path)]) { (row) throws(RefusedCall) in
            try row.string(0)
        }
    }

    package func draft(_ path: String) throws(RefusedCall) -> any JobFileDraft {
        let seal = try file.read { (connection) throws(RefusedCall) in connection.seal }
        return try folder.draft(seal: seal, limit: byteCapacity) { [self] name, count throws(RefusedCall) in
            try note(path, as: name, byteCount: count)
        }
    }

    package func removeFile(_ path: String) throws(RefusedCall) {
        let name = try file.change { (connection) throws(RefusedCall) in
            let name = try Self.name(of: path, on: connection)
            try connection.run("DELETE FROM job_file WHERE path = ?", with: [.text(path)])
            return name
        }
        if let name { folder.remove(name) }
    }

    package func submit(_ job: HubJob, work: @escaping @Sendable () -> Void) throws(RefusedCall) -> Bool {
        guard queue.waitingCount < Self.mostWaiting else { return false }
        try keep(job)
        queue.append(work)
        return true
    }

    package func checkRunning() throws(RefusedCall) {
        if queue.isClosed { throw .unavailable("The hub was stopped before the job was done") }
    }

    package func waitToRetry() throws(RefusedCall) {
        queue.pause(for: retryPause)
        try checkRunning()
    }

    /// Removes files that are kept for too long.
    package func forgetOld() throws(RefusedCall) { try forget(except: nil) }

    /// Notes a file that is there in place of the former one, and makes room for it.
    private func note(_ path: String, as name: String, byteCount: Int64) throws(RefusedCall) {
        let now = clock()
        let former = try file.change { (connection) throws(RefusedCall) in
            let former = try Self.name(of: path, on: connection)
            try connection.run("DELETE FROM job_file WHERE path = ?", with: [.text(path)])
            try connection.run(
                "INSERT INTO job_file (path, name, byte_count, written) VALUES (?, ?, ?, ?)",
                with: [.text(path), .text(name), .number(byteCount), .number(now)])
            return former
        }
        if let former, former != name { folder.remove(former) }
        // The file is there by now: room is made at the next one, if not now.
        try? forget(except: path)
    }

    /// Forgets the oldest files until the others are few and small enough, and those that are too old.
    private func forget(except path: String?) throws(RefusedCall) {
        let (oldest, byteCapacity) = (clock() - Self.lifetime, byteCapacity)
        let gone = try file.change { (connection) throws(RefusedCall) in
            let files = try connection.rows(
                "SELECT path, name, byte_count, written FROM job_file ORDER BY number DESC", with: []
            ) { (row) throws(RefusedCall) in
                (path: try row.string(0), name: try row.string(1), byteCount: try row.number(2), written: try row.number(3))
            }
            var (gone, count, sum): ([String], Int64, Int64) = ([], 0, 0)
            for file in files {
                (count, sum) = (count + 1, sum + file.byteCount)
                guard file.path != path, count > Self.capacity || sum > byteCapacity || file.written < oldest else { continue }
                (count, sum) = (count - 1, sum - file.byteCount)
                gone.append(file.name)
                try connection.run("DELETE FROM job_file WHERE path = ?", with: [.text(file.path)])
            }
            return gone
        }
        for name in gone { folder.remove(name) }
    }

    /// The names in the folder of the files that are known.
    private func names() throws(RefusedCall) -> Set<String> {
        try file.read { (connection) throws(RefusedCall) in
            Set(
                try connection.rows("SELECT name FROM job_file", with: []) { (row) throws(RefusedCall) in try row.string(0) })
        }
    }
}
