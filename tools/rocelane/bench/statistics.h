#pragma once

#include <vector>

namespace rocelane::bench {

// The middle of several measurements of the same thing, and how far apart they are.
struct Quartiles {
  double first = 0;
  double median = 0;
  double third = 0;

  // Distance of the outer quartiles in parts of the median: 0.1 is 10 %.
  double spread() const { return median == 0 ? 0 : (third - first) / median; }
};

// `part` of the values lie below it: 0.5 is the median. Between two values it is interpolated.
// 0 for no values.
double quantile(std::vector<double> values, double part);
Quartiles quartiles(const std::vector<double>& values);

}  // namespace rocelane::bench
