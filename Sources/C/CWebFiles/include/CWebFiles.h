#pragma once
#include <stddef.h>

/// A file of the web page.
struct pushfan_web_file {
  /// The file's name with its ending.
  const char *_Nonnull name;
  /// The file, byte for byte, without a terminator.
  const unsigned char *_Nonnull bytes;
  size_t size;
};

/// A file by its place in the list, from 0, or NULL beyond the last.
const struct pushfan_web_file *_Nullable pushfan_web_file(size_t place);
