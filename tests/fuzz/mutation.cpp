#include "mutation.h"

#include <algorithm>
#include <array>

namespace rocelane::fuzz {
namespace {

constexpr std::array<uint64_t, 15> kEdges{
    0,      1,          2,          0x7f,       0x80,        0xff,       0x7fff, 0x8000,
    0xffff, 0x7fffffff, 0x80000000, 0xffffffff, ~0ULL >> 1U, 1ULL << 63, ~0ULL};
constexpr std::string_view kMeaningful = "[]{}=\"'#.,*->\n\r\\ 09eE+_/";

size_t below(size_t most, Random& random) { return static_cast<size_t>(random() % most); }

void put_edge(Input& input, size_t at, Random& random) {
  const uint64_t value = kEdges[below(kEdges.size(), random)];
  const size_t width = std::min(size_t{1} << below(4, random), input.size() - at);
  std::memcpy(input.data() + at, &value, width);
}

void put_piece(Input& input, size_t at, const Input& of, bool over, Random& random) {
  if (of.empty()) {
    return;
  }
  const size_t from = below(of.size(), random);
  const size_t length = 1 + below(std::min<size_t>(of.size() - from, 64), random);
  const auto piece = of.begin() + static_cast<ptrdiff_t>(from);
  const auto place = input.begin() + static_cast<ptrdiff_t>(at);
  if (over) {
    std::copy_n(piece, std::min(length, input.size() - at), place);
  } else {
    input.insert(place, piece, piece + static_cast<ptrdiff_t>(length));
  }
}

void draw_out(Input& input, Random& random) {
  for (size_t more = 1 + below(32, random); more > 0; --more) {
    input.push_back(static_cast<uint8_t>(random()));
  }
}

void erase_piece(Input& input, size_t at, Random& random) {
  const size_t length = 1 + below(std::min<size_t>(input.size() - at, 32), random);
  const auto from = input.begin() + static_cast<ptrdiff_t>(at);
  input.erase(from, from + static_cast<ptrdiff_t>(length));
}

void change(Input& input, std::span<const Input> good, Random& random) {
  if (input.empty()) {
    draw_out(input, random);
    return;
  }
  const size_t at = below(input.size(), random);
  const Input& other = good[below(good.size(), random)];
  switch (below(16, random)) {
    case 0:
      return input.resize(at);
    case 1:
      return draw_out(input, random);
    case 2:
      return erase_piece(input, at, random);
    case 3:
      return put_piece(input, at, other, false, random);
    case 4:
    case 5:
      return put_piece(input, at, other, true, random);
    case 6:
      input[at] = static_cast<uint8_t>(kMeaningful[below(kMeaningful.size(), random)]);
      return;
    case 7:
    case 8:
    case 9:
      return put_edge(input, at, random);
    case 10:
    case 11:
    case 12:
      input[at] = static_cast<uint8_t>(random());
      return;
    default:
      input[at] ^= static_cast<uint8_t>(1U << below(8, random));
  }
}

}  // namespace

Input mutant(std::span<const Input> good, Random& random) {
  Input input = good[below(good.size(), random)];
  for (size_t changes = 1 + below(8, random); changes > 0; --changes) {
    change(input, good, random);
  }
  if (random() % 2 == 0) {
    mend(input);
  }
  size_t most = 0;
  for (const Input& each : good) {
    most = std::max(most, each.size() * 2);
  }
  input.resize(std::min(input.size(), most));
  return input;
}

}  // namespace rocelane::fuzz
