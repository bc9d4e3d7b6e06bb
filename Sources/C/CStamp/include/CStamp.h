#pragma once

/// The commit whose sources were built: 7 to 64 small hexadecimal digits, or "unknown".
const char *_Nonnull pushfan_commit(void);

/// The day of that commit in UTC, such as "2026-11-27", or "unknown".
const char *_Nonnull pushfan_date(void);
