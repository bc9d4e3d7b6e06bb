import Crypto
import Glibc
import Kafka
import SQLite

/// The file of an hour among those that may stand at its path one after another.
struct HourFile: Sendable, Hashable {
    let hour: Int64
    /// Grows each time that the file is removed.
    let making: Int
}

/// The place in a partition behind which requests are not in the index.
struct IndexPosition: Equatable {
    /// The next offset.
    var next: Int64
    /// The newest record that was read, and its time: a topic that was made again has another one there.
    var witness: Witness?

    struct Witness: Equatable {
        let offset: Int64
        let time: Int64
    }
}

/// The files of an index of requests, for the one thread that fills it.
///
/// Positions are written behind the requests before them. So after a crash some requests come twice, and none is missing: doubles are
/// known by their places. Of two processes with one folder the second has to wait.
final class RequestStore {
    /// The number in the header of the file of positions (sqlite.org, Database File Format, section 1.3).
    private static let applicationID: UInt32 = 0x7066_7271
    private static let version = 2
    /// The files that are kept open for adding.
    private static let openLimit = 4
    private static let saltByteCount = 32

    private static let tables = """
        CREATE TABLE source(
            salt BLOB NOT NULL, mark BLOB NOT NULL, topics BLOB NOT NULL, epoch INTEGER NOT NULL, cluster BLOB, since INTEGER);
        CREATE TABLE position(
            topic BLOB, partition INTEGER, next INTEGER NOT NULL, witness INTEGER, time INTEGER,
            PRIMARY KEY (topic, partition)) WITHOUT ROWID;
        """ + DueOrigins.table

    let secrets: IndexSecrets
    let epoch: Int64
    /// The moment since which all requests are in it, or nil before the first filling.
    private(set) var since: Int64?
    /// The moment before which no request is taken.
    private(set) var floor: Int64
    /// The files, the oldest hour first.
    private(set) var files: [HourFile] = []
    /// The requests in them, each moment counted.
    private(set) var count = 0

    private let folder: String
    private let state: Database
    private var due: DueOrigins
    /// The hours that were given up since they were asked for last.
    private var givenUp: Set<Int64> = []
    private var counts: [Int64: Int] = [:]
    private var makings: [Int64: Int] = [:]
    private var open: [(hour: Int64, bucket: RequestBucket)] = []

    /// Opens the index of a folder, and makes another one where it was made under other settings.
    init(_ settings: RequestIndexSettings, topics: [String]) throws(IndexFailure) {
        folder = settings.folder
        try IndexFolder.make(folder)
        let path = folder + "/" + IndexFolder.stateName
        do throws(IndexAbsence) { try IndexLocation.checkThatItIsNobodyElses(path, id: Self.applicationID) } catch {
            throw .absence(error)
        }
        let names = Array(topics.joined(separator: "\n").utf8)
        (state, secrets, epoch) = try Self.open(path, names: settings.names, topics: names)
        since = try IndexFailure.database { [state] () throws(SQLiteError) in try state.integer("SELECT since FROM source") }
        floor = since ?? 0
        due = try IndexFailure.database { [state] () throws(SQLiteError) in try DueOrigins(state) }
        try IndexFailure.database { () throws(SQLiteError) in try findFiles() }
    }

    /// Opens the file of positions, and replaces its content where that has other settings.
    private static func open(
        _ path: String, names: RequestIndexSettings.Names, topics: [UInt8]
    ) throws(IndexFailure) -> (Database, IndexSecrets, epoch: Int64) {
        let state = try IndexFailure.database { () throws(SQLiteError) in
            let state = try Database(path: path, waiting: .milliseconds(200))
            // Nobody else may fill it, and the lock goes with the process.
            try state.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; BEGIN EXCLUSIVE; COMMIT")
            return state
        }
        if let kept = try IndexFailure.database({ () throws(SQLiteError) in try read(state, names: names, topics: topics) }) {
            return (state, kept.secrets, kept.epoch)
        }
        guard let salt = try? randomBytes(saltByteCount), let secrets = try? IndexSecrets(names, salt: salt) else {
            throw .absence(.database(path: path, message: "no random key can be made"))
        }
        return try IndexFailure.database { () throws(SQLiteError) in
            try state.write { () throws(SQLiteError) in
                try state.execute(
                    "DROP TABLE IF EXISTS source; DROP TABLE IF EXISTS position; DROP TABLE IF EXISTS due; " + tables)
                let insert = try state.prepare("INSERT INTO source VALUES (?, ?, ?, abs(random() / 2), NULL, NULL)")
                for (index, value) in [salt, secrets.mark, topics].enumerated() { try insert.bind(value, at: index) }
                try insert.run()
                try state.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            }
            return (state, secrets, try state.integer("SELECT epoch FROM source") ?? 0)
        }
    }

    /// The keys and the number of an index that was made under these settings, or nil.
    private static func read(
        _ state: Database, names: RequestIndexSettings.Names, topics: [UInt8]
    ) throws(SQLiteError) -> (secrets: IndexSecrets, epoch: Int64)? {
        guard try state.integer("PRAGMA user_version") == Int64(version) else { return nil }
        let source = try state.prepare("SELECT salt, mark, topics, epoch FROM source")
        guard try source.step(), let salt = source.bytes(0), let epoch = source.integer(3), source.bytes(2) == topics,
            let secrets = try? IndexSecrets(names, salt: salt), source.bytes(1) == secrets.mark
        else { return nil }
        return (secrets, epoch)
    }

    /// Takes over the files of this index, and removes those of another.
    private func findFiles() throws(SQLiteError) {
        for name in IndexFolder.names(in: folder) {
            guard let hour = IndexFolder.hour(ofFile: name), name.hasSuffix(".sqlite") else { continue }
            // An end without warning may leave one that nothing was written to.
            guard byteCount(of: hour) > 0 else {
                removeFile(hour)
                continue
            }
            do throws(SQLiteError) {
                let bucket = try RequestBucket(path: path(of: hour), epoch: epoch, secrets: secrets, isMade: false)
                counts[hour] = try bucket.count()
                files.append(HourFile(hour: hour, making: 0))
            } catch {
                guard error.isDamage else { throw error }
                // One of another index leaves no gap, for then nothing is in this one yet.
                if since == nil { removeFile(hour) } else { try giveUp(hour) }
            }
        }
        files.sort { $0.hour < $1.hour }
        count = counts.values.reduce(0, +)
    }

    private func path(of hour: Int64) -> String { IndexFolder.path(of: hour, in: folder) }

    // MARK: Positions

    /// The name of the cluster that it was filled from, or nil before the first filling.
    func cluster() throws(SQLiteError) -> [UInt8]? {
        let source = try state.prepare("SELECT cluster FROM source")
        return try source.step() ? source.bytes(0) : nil
    }

    /// Begins the first filling.
    func begin(cluster: String, since moment: Int64) throws(SQLiteError) {
        let update = try state.prepare("UPDATE source SET cluster = ?")
        try update.bind(Array(cluster.utf8), at: 0)
        try update.run()
        try raise(since: moment)
        floor = max(floor, moment)
    }

    /// The places where reading goes on.
    func positions() throws(SQLiteError) -> [TopicPartition: IndexPosition] {
        var positions: [TopicPartition: IndexPosition] = [:]
        let rows = try state.prepare("SELECT topic, partition, next, witness, time FROM position")
        while try rows.step() {
            guard let topic = rows.bytes(0), let partition = rows.integer(1), let next = rows.integer(2) else { continue }
            var position = IndexPosition(next: next)
            if let offset = rows.integer(3), let time = rows.integer(4) { position.witness = .init(offset: offset, time: time) }
            positions[TopicPartition(topic: String(decoding: topic, as: UTF8.self), partition: Int32(clamping: partition))] =
                position
        }
        return positions
    }

    /// Notes places behind requests that were added.
    func save(_ positions: [TopicPartition: IndexPosition]) throws(SQLiteError) {
        guard !positions.isEmpty else { return }
        try state.write { () throws(SQLiteError) in
            let insert = try state.prepare("INSERT OR REPLACE INTO position VALUES (?, ?, ?, ?, ?)")
            for (partition, position) in positions {
                try insert.bind(Array(partition.topic.utf8), at: 0)
                try insert.bind(Int64(partition.partition), at: 1)
                try insert.bind(position.next, at: 2)
                try insert.bind(position.witness?.offset, at: 3)
                try insert.bind(position.witness?.time, at: 4)
                try insert.run()
            }
        }
    }

    // MARK: Requests

    /// Adds requests. Returns the hours whose files are damaged: these are removed, and lack all that they had.
    func add(_ rows: borrowing RequestRows) throws(SQLiteError) -> [Int64] {
        var damaged: [Int64] = []
        for (hour, numbers) in rows.hours {
            try due.note(numbers, of: rows, hour: hour)
            do throws(SQLiteError) {
                let added = try bucket(of: hour).add(numbers, of: rows)
                counts[hour, default: 0] += added
                count += added
            } catch {
                guard error.isDamage else { throw error }
                damaged.append(hour)
                try giveUp(hour)
            }
        }
        return damaged
    }

    private func bucket(of hour: Int64) throws(SQLiteError) -> RequestBucket {
        if let index = open.firstIndex(where: { $0.hour == hour }) {
            let entry = open.remove(at: index)
            open.append(entry)
            return entry.bucket
        }
        let bucket = try RequestBucket(path: path(of: hour), epoch: epoch, secrets: secrets, isMade: true)
        if open.count == Self.openLimit { open.removeFirst() }
        open.append((hour, bucket))
        if !files.contains(where: { $0.hour == hour }) {
            files.append(HourFile(hour: hour, making: makings[hour] ?? 0))
            files.sort { $0.hour < $1.hour }
        }
        return bucket
    }

    /// Removes the file of an hour whose content is wrong. What is older counts as missing, until `finishRefilling`.
    func giveUp(_ hour: Int64) throws(SQLiteError) {
        givenUp.insert(hour)
        remove(hour)
        try raise(since: IndexHour.start(of: hour + 1))
    }

    /// The moment from which on lanes have to be read to have all requests of an hour again, in milliseconds since 1970.
    func beginning(of hour: Int64) -> Int64 { due.beginning(of: hour) }

    /// Takes out the hours that were given up.
    func takeGivenUp() -> Set<Int64> {
        defer { givenUp = [] }
        return givenUp
    }

    /// Notes that what was given up is there again.
    func finishRefilling() throws(SQLiteError) {
        guard since != nil, since != floor else { return }
        since = floor
        try state.execute("UPDATE source SET since = \(floor)")
    }

    /// Notes that what was given up does not come again.
    func forgetGap() { floor = max(floor, since ?? 0) }

    /// Removes the hours that are too old, and the oldest ones while there are too many bytes.
    func removeOld(before moment: Int64, byteLimit: Int, now: Int64) throws(SQLiteError) {
        var sizes = files.map { (hour: $0.hour, byteCount: byteCount(of: $0.hour)) }
        var total = sizes.reduce(0) { $0 + $1.byteCount }
        while let oldest = sizes.first,
            IndexHour.start(of: oldest.hour + 1) <= moment || (total > byteLimit && oldest.hour < IndexHour.hour(of: now))
        {
            sizes.removeFirst()
            total -= oldest.byteCount
            // In this order: a gap that nobody knows of would be taken for silence.
            let end = IndexHour.start(of: oldest.hour + 1)
            floor = max(floor, end)
            try raise(since: end)
            try due.forget(oldest.hour)
            remove(oldest.hour)
        }
    }

    private func raise(since moment: Int64) throws(SQLiteError) {
        guard moment > since ?? .min else { return }
        try state.execute("UPDATE source SET since = \(moment)")
        since = moment
    }

    private func byteCount(of hour: Int64) -> Int {
        var status = stat()
        return stat(path(of: hour), &status) == 0 ? Int(status.st_size) : 0
    }

    private func remove(_ hour: Int64) {
        open.removeAll { $0.hour == hour }
        files.removeAll { $0.hour == hour }
        makings[hour, default: 0] += 1
        count -= counts.removeValue(forKey: hour) ?? 0
        removeFile(hour)
    }

    private func removeFile(_ hour: Int64) {
        for end in ["", "-journal"] { unlink(path(of: hour) + end) }
    }
}
