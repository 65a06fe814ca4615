#pragma once

// Whether a path that a program hands to a file function is ours, and what to do then.

#include <cerrno>
#include <new>
#include <string>
#include <variant>

#include "softverbs/sysfs/node.h"

namespace rocelane::softverbs {

struct Forward {};  // the next function's business, as asked
struct Redirect {
  std::string path;  // the next function's business, under another name
};
using Verdict = std::variant<Forward, Redirect, Found, Missing>;

// `folder`: as openat() takes it. Keeps errno.
Verdict judge(int folder, const char* path, bool follow_last) noexcept;

// Calls `ours` with what was found, or `theirs` with the folder and the path to hand on; else sets
// errno.
template <class Result, class Ours, class Theirs>
Result answer(int folder, const char* path, bool follow_last, Result failed, Ours ours,
              Theirs theirs) {
  const Verdict verdict = judge(folder, path, follow_last);
  if (const auto* found = std::get_if<Found>(&verdict)) {
    try {
      return ours(*found);
    } catch (const std::bad_alloc&) {
      errno = ENOMEM;
      return failed;
    }
  }
  if (const auto* missing = std::get_if<Missing>(&verdict)) {
    errno = missing->error;
    return failed;
  }
  if (const auto* redirect = std::get_if<Redirect>(&verdict)) {
    return theirs(folder, redirect->path.c_str());
  }
  return theirs(folder, path);
}

}  // namespace rocelane::softverbs

// What stands in front of the C library's function of the same name.
#define SOFTVERBS_STANDS_IN extern "C" __attribute__((visibility("default")))
