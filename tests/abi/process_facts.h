#pragma once

// What this process holds: read from /proc/self, so that a library can be shown to leave nothing
// behind.

#include <stdbool.h>

typedef struct {
  int threads;
  int descriptors;
} ProcessFacts;

ProcessFacts process_facts(void);

// A joined thread may stay in /proc for a moment: waits up to a second for `before` to come back.
// Otherwise says what is left and returns false.
bool process_facts_are_back(ProcessFacts before, const char* after_what);
