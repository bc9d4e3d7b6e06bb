#pragma once
#include <stddef.h>

/// A page of the documentation.
struct pushfan_page {
  /// The file's name without its ending.
  const char *_Nonnull name;
  /// The file, byte for byte; not terminated.
  const unsigned char *_Nonnull bytes;
  size_t size;
};

/// A page by its place in the README's list, from 0; NULL beyond the last.
const struct pushfan_page *_Nullable pushfan_page(size_t place);
