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
static const unsigned char main_js[] = {
#embed "files/main.js"
};

#define WEB_FILE(name, bytes) { name, bytes, sizeof bytes }

static const struct pushfan_web_file files[] = {
  WEB_FILE("index.html", index_html),
  WEB_FILE("style.css", style_css),
  WEB_FILE("main.js", main_js),
};

const struct pushfan_web_file *pushfan_web_file(size_t place) {
  return place < sizeof files / sizeof *files ? &files[place] : NULL;
}
