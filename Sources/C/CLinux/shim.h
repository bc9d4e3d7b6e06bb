// The parts of Linux that the Glibc module leaves out. Only the target `EventLoop` imports this.
#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>

// Swift cannot call prctl itself, whose number of arguments is open.
static inline int timer_slack(void) { return prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL); }
static inline int set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds, 0UL, 0UL, 0UL); }

// unistd.h declares it for GNU programs only.
extern int pipe2(int ends[2], int flags);

// F_GETPIPE_SZ, which fcntl.h has for GNU programs only.
static inline int pipe_size(int end) { return fcntl(end, 1032); }

// The name of the calling thread, of which the system takes 15 bytes.
static inline int name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0UL, 0UL, 0UL); }
