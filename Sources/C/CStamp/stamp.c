// Commit and date of a build. They stand in a target of their own, so that a build of another commit compiles hardly anything again.
// Package.swift gives both as words without quotes, after it has looked at their form.
#include "CStamp.h"

#define TEXT_OF(words) #words
#define TEXT(macro) TEXT_OF(macro)

const char *pushfan_commit(void) { return TEXT(PUSHFAN_COMMIT); }
const char *pushfan_date(void) { return TEXT(PUSHFAN_DATE); }
