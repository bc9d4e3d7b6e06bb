// libsqlite3. Only the target `SQLite` imports this: Swift sees neither variadic functions nor constants that are casts.
#pragma once
#include <sqlite3.h>

// An empty value is a value: SQLite takes a null pointer for NULL.
static inline int push_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int push_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int push_sqlite_allow_reset(sqlite3 *database, int isAllowed) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_RESET_DATABASE, isAllowed, (int *)0);
}
