// At exit OpenSSL takes away what it keeps for each thread; a thread that ends after that leaves its generators of random bytes, which
// LeakSanitizer then finds. Loaded before the tests (LD_PRELOAD), this has OpenSSL keep all until the process is gone.

#include <openssl/crypto.h>

__attribute__((constructor)) static void keep(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
