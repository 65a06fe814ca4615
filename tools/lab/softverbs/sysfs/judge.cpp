#include "softverbs/sysfs/judge.h"

#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softverbs/sysfs/handle.h"
#include "softverbs/sysfs/source.h"
#include "softverbs/sysfs/tree.h"

namespace rocelane::softverbs {
namespace {

// The source may open files itself. Initial-exec: its place is there before anything else of a
// thread.
__attribute__((tls_model("initial-exec"))) constinit thread_local bool answering = false;

class Answering {
 public:
  Answering() : errno_(errno) { answering = true; }
  ~Answering() {
    answering = false;
    errno = errno_;
  }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  int errno_;
};

bool cannot_be_ours(int folder, const char* path) {
  if (path == nullptr) {
    return true;
  }
  return path[0] == '/' ? !may_be_device_file(path) : folder == AT_FDCWD;
}

bool machine_has(const std::string& path) {
  return ::syscall(SYS_faccessat, AT_FDCWD, path.c_str(), F_OK) == 0;
}

bool is_shared(const Node& node) {
  const auto* directory = std::get_if<Directory>(&node.is);
  return directory != nullptr && directory->shared;
}

Verdict look_up(const Source& source, const std::string& path, bool follow_last) {
  static const int cpus = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  Answer found = follow(device_files(source, cpus), path, follow_last || path.ends_with('/'));
  if (auto* elsewhere = std::get_if<Elsewhere>(&found)) {
    return Redirect{std::move(elsewhere->path)};
  }
  if (auto* missing = std::get_if<Missing>(&found)) {
    return *missing;
  }
  auto& node = std::get<Found>(found);
  if (is_shared(node.node) && machine_has(node.path)) {
    return Redirect{std::move(node.path)};
  }
  return std::move(node);
}

}  // namespace

Verdict judge(int folder, const char* path, bool follow_last) noexcept {
  if (cannot_be_ours(folder, path) || answering) {
    return Forward{};
  }
  const Source* source = current_source();
  if (source == nullptr) {
    return Forward{};
  }
  const Answering here;
  try {
    const std::string_view asked(path);
    if (asked.starts_with('/')) {
      return look_up(*source, std::string(asked), follow_last);
    }
    const std::string folder_path = path_of_handle(folder);
    if (folder_path.empty()) {
      return Forward{};
    }
    return look_up(*source, asked.empty() ? folder_path : folder_path + "/" + std::string(asked),
                   follow_last);
  } catch (...) {
    return Missing{ENOMEM};
  }
}

}  // namespace rocelane::softverbs
