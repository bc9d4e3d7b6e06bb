// Counts what pushfan's own code takes from the heap. Loaded before the program (LD_PRELOAD), these stand before the C library's functions.
// A call counts if it comes from the program itself, which holds Swift's library, or from that library where it is one of its own; so what
// librdkafka, libcurl and OpenSSL take is left out. `pushfan bench` asks for the count (Sources/Commands/Bench/Meters/AllocationCounter.swift).

#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The C library's functions by their other names: to look them up (dlsym) may take memory.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long allocations;

long pushfan_allocations(void) { return atomic_load_explicit(&allocations, memory_order_relaxed); }

// The code whose calls count.
static struct { uintptr_t begin, end; } code[8];
static int pieces;

static int take(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    // The program has no name here (dl_iterate_phdr(3)).
    if (*object->dlpi_name && !strstr(object->dlpi_name, "/libswiftCore.so")) return 0;
    for (int index = 0; index < object->dlpi_phnum && pieces < 8; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        code[pieces].begin = object->dlpi_addr + part->p_vaddr;
        code[pieces].end = code[pieces].begin + part->p_memsz;
        pieces++;
    }
    return 0;
}

__attribute__((constructor)) static void begin(void) { dl_iterate_phdr(take, NULL); }

static void notice(void *caller) {
    uintptr_t place = (uintptr_t)caller;
    for (int index = 0; index < pieces; index++) {
        if (place < code[index].begin || place >= code[index].end) continue;
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
        return;
    }
}

#define COUNT() notice(__builtin_return_address(0))

void *malloc(size_t size) { COUNT(); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { COUNT(); return __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { COUNT(); return __libc_realloc(memory, size); }
void *aligned_alloc(size_t alignment, size_t size) { COUNT(); return __libc_memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    COUNT();
    if (alignment < sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    void *found = __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}
