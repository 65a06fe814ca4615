#pragma once

// A piece of a file system that exists only while somebody looks at it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rocelane::softverbs {

struct File {
  std::string content;
  int read_error = 0;  // errno of every read; the file opens all the same
};

struct SymbolicLink {
  std::string target;  // absolute
};

enum class NodeKind : uint8_t { kFile, kLink, kDirectory };

struct Node;

struct Child {
  std::string name;
  NodeKind kind = NodeKind::kFile;
  std::function<Node()> make;
};

struct Directory {
  std::vector<Child> children;
  bool shared = false;  // the machine may have a directory of that name too, with more in it
};

struct Node {
  std::variant<File, SymbolicLink, Directory> is;

  NodeKind kind() const { return static_cast<NodeKind>(is.index()); }
};

inline Child file(std::string name, std::function<File()> make) {
  return {std::move(name), NodeKind::kFile, [make = std::move(make)] { return Node{make()}; }};
}

inline Child line(std::string name, std::string text) {
  return file(std::move(name), [text = std::move(text)] { return File{text + "\n", 0}; });
}

inline Child link(std::string name, std::string target) {
  return {std::move(name), NodeKind::kLink,
          [target = std::move(target)] { return Node{SymbolicLink{target}}; }};
}

inline Child directory(std::string name, std::function<Directory()> make) {
  return {std::move(name), NodeKind::kDirectory, [make = std::move(make)] { return Node{make()}; }};
}

// Children whose names may be paths: those that share a first component go into one directory of
// that name.
Directory directory_of_paths(std::vector<Child> children, bool shared);

// What a path leads to.
struct Found {
  std::string path;  // without links, except for the last component when that was not followed
  Node node;
};
struct Elsewhere {
  std::string path;  // the machine's: a shared directory has nothing of that name, or a link of
                     // ours leads there
};
struct Missing {
  int error = 0;
};
using Answer = std::variant<Found, Elsewhere, Missing>;

// Follows `path`, absolute, as a kernel does: component by component, `..` after links.
Answer follow(const Directory& root, std::string_view path, bool follow_last);

}  // namespace rocelane::softverbs
