// liblz4. Only the target `LZ4` imports this: bytes are bytes here, not characters.
#pragma once
#include <lz4.h>

/// `LZ4_compress_fast` with the acceleration that loses no space.
static inline int push_lz4_pack(const void *bytes, int count, void *block, int room) {
  return LZ4_compress_fast((const char *)bytes, (char *)block, count, room, 1);
}

static inline int push_lz4_unpack(const void *block, int count, void *bytes, int room) {
  return LZ4_decompress_safe((const char *)block, (char *)bytes, count, room);
}
