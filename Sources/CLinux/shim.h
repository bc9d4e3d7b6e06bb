// The parts of Linux that the Glibc module leaves out. Only the target `EventLoop` imports this.
#pragma once
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
