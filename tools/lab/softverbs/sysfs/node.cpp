#include "softverbs/sysfs/node.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <optional>

namespace rocelane::softverbs {
namespace {

constexpr int kMostLinks = 40;

void push_components(std::string_view path, std::deque<std::string>& ahead) {
  std::vector<std::string> components;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) {
      components.emplace_back(path.substr(0, end));
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  ahead.insert(ahead.begin(), components.begin(), components.end());
}

// The way from the root to where a walk has come.
class Way {
 public:
  explicit Way(const Directory& root) : nodes_{{"", Node{root}}} {}

  const Node& here() const { return nodes_.back().second; }
  void enter(std::string name, Node node) { nodes_.emplace_back(std::move(name), std::move(node)); }
  void up() {
    if (nodes_.size() > 1) {
      nodes_.pop_back();
    }
  }
  void restart() { nodes_.resize(1, nodes_.front()); }

  std::string path() const {
    std::string path;
    for (size_t i = 1; i < nodes_.size(); ++i) {
      path += "/" + nodes_[i].first;
    }
    return path.empty() ? "/" : path;
  }

 private:
  std::vector<std::pair<std::string, Node>> nodes_;
};

std::string joined(std::string path, const std::deque<std::string>& ahead) {
  for (const std::string& name : ahead) {
    path += "/" + name;
  }
  return path;
}

const Child* child_named(const Directory& directory, std::string_view name) {
  const auto found = std::ranges::find(directory.children, name, &Child::name);
  return found != directory.children.end() ? &*found : nullptr;
}

}  // namespace

Directory directory_of_paths(std::vector<Child> children, bool shared) {
  Directory result{.children = {}, .shared = shared};
  std::map<std::string, std::vector<Child>> deeper;
  for (Child& child : children) {
    const size_t slash = child.name.find('/');
    if (slash == std::string::npos) {
      result.children.push_back(std::move(child));
      continue;
    }
    const std::string first = child.name.substr(0, slash);
    child.name.erase(0, slash + 1);
    deeper[first].push_back(std::move(child));
  }
  for (auto& [name, inner] : deeper) {
    result.children.push_back(directory(
        name, [inner = std::move(inner), shared] { return directory_of_paths(inner, shared); }));
  }
  return result;
}

Answer follow(const Directory& root, std::string_view path, bool follow_last) {
  std::deque<std::string> ahead;
  push_components(path, ahead);
  Way way(root);
  int links = 0;
  while (!ahead.empty()) {
    const auto* here = std::get_if<Directory>(&way.here().is);
    if (here == nullptr) {
      return Missing{ENOTDIR};
    }
    const std::string name = std::move(ahead.front());
    ahead.pop_front();
    if (name == ".") {
      continue;
    }
    if (name == "..") {
      way.up();
      continue;
    }
    const Child* child = child_named(*here, name);
    if (child == nullptr && here->shared) {
      return Elsewhere{joined(way.path() == "/" ? "/" + name : way.path() + "/" + name, ahead)};
    }
    if (child == nullptr) {
      return Missing{ENOENT};
    }
    Node next = child->make();
    const auto* as_link = std::get_if<SymbolicLink>(&next.is);
    if (as_link == nullptr || (ahead.empty() && !follow_last)) {
      way.enter(name, std::move(next));
      continue;
    }
    if (++links > kMostLinks) {
      return Missing{ELOOP};
    }
    push_components(as_link->target, ahead);
    way.restart();
  }
  return Found{way.path(), way.here()};
}

}  // namespace rocelane::softverbs
