// libmicrohttpd, the HTTP server library. Only the target `HTTPServing` imports this.
#pragma once
#include <microhttpd.h>
