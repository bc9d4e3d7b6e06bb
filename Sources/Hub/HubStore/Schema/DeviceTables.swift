/// The tables of devices, their registrations, tags and installations.
enum DeviceTables {
    /// Makes the tables of version 1.
    ///
    /// The first bits of a device's `id` are its platform's code, so that the devices of a platform are neighbours. The last bit of a
    /// registration's `sequence` is 1 if it has a template. Neither numbers of devices nor sequences are given twice.
    static let sql = """
        CREATE TABLE device (id INTEGER PRIMARY KEY, handle BLOB NOT NULL, fingerprint BLOB NOT NULL UNIQUE);
        CREATE TABLE registration (
            sequence INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, device INTEGER NOT NULL, etag INTEGER NOT NULL,
            written_at INTEGER NOT NULL, expires_at INTEGER, content BLOB NOT NULL, sealed BLOB);
        CREATE INDEX registration_device ON registration (device);
        CREATE INDEX registration_expiry ON registration (expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE tag (name BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE tagged (
            tag INTEGER, device INTEGER, registration INTEGER, PRIMARY KEY (tag, device, registration)) WITHOUT ROWID;
        CREATE TABLE installation (
            number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, is_expired INTEGER NOT NULL, document BLOB NOT NULL,
            registrations BLOB NOT NULL, channel_holder INTEGER, expires_at INTEGER);
        CREATE INDEX installation_expiry ON installation (expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE device_tally (
            row INTEGER PRIMARY KEY, next_device INTEGER NOT NULL, next_sequence INTEGER NOT NULL, next_tag INTEGER NOT NULL,
            device_count INTEGER NOT NULL, registration_count INTEGER NOT NULL, installation_count INTEGER NOT NULL);
        INSERT INTO device_tally VALUES (1, 1, 1, 1, 0, 0, 0);
        """

    /// Claims that are true of the rows, each with a count of those that contradict it.
    static let rules: [(claim: String, violations: String)] = [
        (
            "a posting has its registration",
            """
            SELECT count(*) FROM tagged LEFT JOIN registration
            ON registration.sequence = tagged.registration AND registration.device = tagged.device WHERE sequence IS NULL
            """
        ),
        ("a posting has its tag", "SELECT count(*) FROM tagged WHERE tag NOT IN (SELECT id FROM tag)"),
        ("a tag has a posting", "SELECT count(*) FROM tag WHERE id NOT IN (SELECT tag FROM tagged)"),
        (
            "a registration has its device",
            "SELECT count(*) FROM registration WHERE device NOT IN (SELECT id FROM device)"
        ),
        (
            "a device has a registration",
            "SELECT count(*) FROM device WHERE id NOT IN (SELECT device FROM registration)"
        ),
        (
            "an installation's handle is in its own registration",
            """
            SELECT count(*) FROM installation
            WHERE channel_holder IS NOT NULL AND channel_holder NOT IN (SELECT sequence FROM registration)
            """
        ),
        (
            "the number of devices is right",
            "SELECT abs(device_count - (SELECT count(*) FROM device)) FROM device_tally"
        ),
        (
            "the number of registrations is right",
            "SELECT abs(registration_count - (SELECT count(*) FROM registration)) FROM device_tally"
        ),
        (
            "the number of installations is right",
            "SELECT abs(installation_count - (SELECT count(*) FROM installation)) FROM device_tally"
        ),
    ]
}
