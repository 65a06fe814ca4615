#include "test_log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;  // the library's own threads warn too
static bool g_everything;
static int g_warnings;
static char g_last[1024];

void test_log(NcclLogLevel level, unsigned long flags, const char* file, int line,
              const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&g_mutex);
  if (level == kNcclLogWarn) {
    ++g_warnings;
    snprintf(g_last, sizeof(g_last), "%s", text);
  }
  if (g_everything) {
    printf("      [%d %#lx %s:%d] %s\n", (int)level, flags, file, line, text);
  }
  pthread_mutex_unlock(&g_mutex);
}

void test_log_show_everything(void) { g_everything = true; }
int test_log_warnings(void) { return g_warnings; }
const char* test_log_last_warning(void) { return g_last; }

void test_log_reset(void) {
  g_warnings = 0;
  g_last[0] = '\0';
}
