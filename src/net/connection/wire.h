#pragma once

// Reading and writing plain structs as bytes. Both ends are little-endian; that is part of the
// protocol.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace rocelane::net {

static_assert(std::endian::native == std::endian::little,
              "the wire formats are little-endian and written without conversion");

template <class T>
requires std::is_trivially_copyable_v<T> T read_struct(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
requires std::is_trivially_copyable_v<T>
void write_struct(std::span<std::byte> bytes, const T& value) {
  std::memcpy(bytes.data(), &value, sizeof(T));
}

template <size_t N>
void write_text(std::array<char, N>& field, std::string_view text) {
  field.fill('\0');
  std::copy_n(text.begin(), std::min(text.size(), N - 1), field.begin());
}

// A peer's text ends up in our log: only printable characters, whatever was sent, and never more
// than write_text writes.
template <size_t N>
std::string read_text(const std::array<char, N>& field) {
  std::string text(field.begin(), std::find(field.begin(), field.end() - 1, '\0'));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace rocelane::net
