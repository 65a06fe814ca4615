#pragma once

// Steps of a table's life. Each prints nothing when it succeeds, and a sentence when it does not.

#include "drive_link.h"

typedef struct {
  const char* name;
  bool (*run)(Link* link);
} Step;

// Over one open link with registered memory.
extern const Step kDataSteps[];
extern const int kDataStepCount;

// Each opens what it needs on the link's context and devices.
extern const Step kLifeSteps[];
extern const int kLifeStepCount;
