#pragma once

// The log function the tests hand to init, in NCCL's place.

#include "nccl_plugin/common.h"

__attribute__((format(printf, 5, 6))) void test_log(NcclLogLevel level, unsigned long flags,
                                                    const char* file, int line, const char* format,
                                                    ...);
void test_log_show_everything(void);
int test_log_warnings(void);              // since the last reset
const char* test_log_last_warning(void);  // "" when there was none
void test_log_reset(void);
