// The files of the web page, as bytes of the program. A new file needs an array here and a line in the list below.
// Clang takes #embed in every version of C (19 or later) and compiles again when a file has changed.
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "CWebFiles.h"

static const unsigned char index_html[] = {
#embed "files/index.html"
};
static const unsigned char style_css[] = {
#embed "files/style.css"
};
static const unsigned char icon_svg[] = {
#embed "files/icon.svg"
};
static const unsigned char main_js[] = {
#embed "files/main.js"
};
static const unsigned char view_js[] = {
#embed "files/view.js"
};
static const unsigned char api_js[] = {
#embed "files/api.js"
};
static const unsigned char json_js[] = {
#embed "files/json.js"
};
static const unsigned char live_js[] = {
#embed "files/live.js"
};
static const unsigned char kit_js[] = {
#embed "files/kit.js"
};
static const unsigned char overview_js[] = {
#embed "files/overview.js"
};
static const unsigned char failures_js[] = {
#embed "files/failures.js"
};
static const unsigned char requests_js[] = {
#embed "files/requests.js"
};
static const unsigned char request_js[] = {
#embed "files/request.js"
};
static const unsigned char holds_js[] = {
#embed "files/holds.js"
};
static const unsigned char replays_js[] = {
#embed "files/replays.js"
};

#define WEB_FILE(name, bytes) { name, bytes, sizeof bytes }

static const struct pushfan_web_file files[] = {
  WEB_FILE("index.html", index_html),
  WEB_FILE("style.css", style_css),
  WEB_FILE("icon.svg", icon_svg),
  WEB_FILE("main.js", main_js),
  WEB_FILE("view.js", view_js),
  WEB_FILE("api.js", api_js),
  WEB_FILE("json.js", json_js),
  WEB_FILE("live.js", live_js),
  WEB_FILE("kit.js", kit_js),
  WEB_FILE("overview.js", overview_js),
  WEB_FILE("failures.js", failures_js),
  WEB_FILE("requests.js", requests_js),
  WEB_FILE("request.js", request_js),
  WEB_FILE("holds.js", holds_js),
  WEB_FILE("replays.js", replays_js),
};

const struct pushfan_web_file *pushfan_web_file(size_t place) {
  return place < sizeof files / sizeof *files ? &files[place] : NULL;
}
