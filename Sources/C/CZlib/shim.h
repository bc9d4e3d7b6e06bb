// zlib. Only the target `Gzip` imports this: Swift sees no macro that calls a function.
#pragma once
#define ZLIB_CONST
#include <zlib.h>

/// `inflateInit2` for gzip and nothing else (zlib.h: 16 more than the window's 15 bits).
static inline int push_zlib_begin(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }

/// `deflateInit2` for gzip and nothing else, as small as it gets.
static inline int push_zlib_begin_packing(z_stream *stream) {
  return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
}
