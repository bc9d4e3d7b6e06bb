// libcurl. Only the target `CurlHTTP` imports this.
#pragma once
#include <curl/curl.h>
