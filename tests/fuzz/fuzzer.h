#pragma once

// What every fuzzer has. It is libFuzzer's interface and a little more for the driver beside it, so
// that the same file works with either.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

// One input. What a decoder makes of it is held against what it promises.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace rocelane::fuzz {

using Input = std::vector<uint8_t>;

// Inputs that are accepted, to begin with. The driver needs one at least.
std::vector<Input> good_inputs();
// Makes what stands before the interesting part (magic, lengths, digests) fit the rest, as far as
// the format has any: otherwise hardly a changed input gets past it.
void mend(Input& input);

// How many inputs were accepted; 0 after a run means that it tested refusals alone.
inline uint64_t accepted_count = 0;
inline void note_accepted() { ++accepted_count; }

// Also in builds without assertions.
inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "fuzz: broken promise: %s\n", what);
    std::abort();
  }
}

template <class T>
Input bytes_of(const T& value) {
  Input bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline Input bytes_of_text(std::string_view text) { return {text.begin(), text.end()}; }

inline void append(Input& input, const Input& more) {
  input.insert(input.end(), more.begin(), more.end());
}

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return size == 0 ? std::string_view()
                   : std::string_view(reinterpret_cast<const char*>(data), size);
}

// Fit for one line of a log. Beyond ASCII only the ellipsis, which we write ourselves.
inline bool is_one_printable_line(std::string_view text) {
  constexpr std::string_view kEllipsis = "…";
  while (!text.empty()) {
    if (text.starts_with(kEllipsis)) {
      text.remove_prefix(kEllipsis.size());
    } else if (text.front() >= ' ' && text.front() <= '~') {
      text.remove_prefix(1);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace rocelane::fuzz
