/// The tables of notifications, their feedback, and bulk jobs.
enum MessageTables {
    /// Makes the tables of version 1.
    ///
    /// What a notification needs on its way only is in `payload`, and goes when it ends. A `feedback` is a blob of the feedback container,
    /// and its refusals in the order of their numbers are its content.
    static let sql = """
        CREATE TABLE message (
            number INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, call INTEGER NOT NULL, format BLOB NOT NULL,
            audience INTEGER NOT NULL, tags BLOB, version BLOB NOT NULL, accepted INTEGER NOT NULL, due INTEGER NOT NULL,
            deadline INTEGER NOT NULL, device_end INTEGER, platform INTEGER, device INTEGER, started INTEGER, ended INTEGER,
            ending INTEGER);
        CREATE INDEX message_now ON message (due, number, accepted, ended) WHERE ended IS NULL AND due <= accepted;
        CREATE INDEX message_scheduled ON message (due, number, accepted, ended) WHERE ended IS NULL AND due > accepted;
        CREATE INDEX message_ended ON message (ended) WHERE ended IS NOT NULL;
        CREATE TABLE payload (message INTEGER PRIMARY KEY, sealed BLOB NOT NULL, body BLOB NOT NULL);
        CREATE TABLE message_count (
            message INTEGER, platform INTEGER, name BLOB, count INTEGER NOT NULL, ordinal INTEGER NOT NULL,
            PRIMARY KEY (message, platform, name)) WITHOUT ROWID;
        CREATE TABLE feedback (
            number INTEGER PRIMARY KEY, day BLOB NOT NULL, ordinal INTEGER NOT NULL, name BLOB NOT NULL UNIQUE,
            byte_count INTEGER NOT NULL, modified INTEGER NOT NULL, UNIQUE (day, ordinal));
        CREATE INDEX feedback_modified ON feedback (modified);
        CREATE TABLE refusal (
            number INTEGER PRIMARY KEY, feedback INTEGER NOT NULL, message INTEGER NOT NULL, time INTEGER NOT NULL,
            outcome BLOB NOT NULL, platform INTEGER NOT NULL, handle BLOB NOT NULL, registration BLOB NOT NULL,
            installation BLOB);
        CREATE INDEX refusal_feedback ON refusal (feedback);
        CREATE INDEX refusal_message ON refusal (message);
        CREATE TABLE job (
            number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind BLOB NOT NULL, output BLOB NOT NULL, input BLOB,
            created INTEGER NOT NULL, status BLOB NOT NULL, failure BLOB, output_name BLOB, failed_name BLOB);
        CREATE TABLE job_file (
            number INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, name BLOB NOT NULL, byte_count INTEGER NOT NULL,
            written INTEGER NOT NULL);
        """

    /// Claims about the rows, each with a count of those that contradict it.
    static let rules: [(claim: String, violations: String)] = [
        (
            "a notification that is not at its end has its payload",
            "SELECT count(*) FROM message WHERE ended IS NULL AND number NOT IN (SELECT message FROM payload)"
        ),
        (
            "a payload has a notification that is not at its end",
            "SELECT count(*) FROM payload WHERE message NOT IN (SELECT number FROM message WHERE ended IS NULL)"
        ),
        (
            "a notification's end has a kind",
            "SELECT count(*) FROM message WHERE (ended IS NULL) <> (ending IS NULL)"
        ),
        (
            "a count has its notification",
            "SELECT count(*) FROM message_count WHERE message NOT IN (SELECT number FROM message)"
        ),
        (
            "a refusal has its notification",
            "SELECT count(*) FROM refusal WHERE message NOT IN (SELECT number FROM message)"
        ),
        (
            "a refusal has its blob",
            "SELECT count(*) FROM refusal WHERE feedback NOT IN (SELECT number FROM feedback)"
        ),
        (
            "a blob has a refusal",
            "SELECT count(*) FROM feedback WHERE number NOT IN (SELECT feedback FROM refusal)"
        ),
    ]

    /// Counts the notifications that are not at their end.
    static let unfinished = "SELECT count(*) FROM message WHERE ended IS NULL"
}
