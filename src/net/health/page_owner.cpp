#include "net/health/page_owner.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace rocelane::telemetry {
namespace {

// Of the kernel, as "1d5fac39-c16c-4ce4-b34a-bad841536193"; zeros when it cannot be read.
void read_boot_id(uint8_t (&boot_id)[16]) {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  file >> text;
  text.erase(std::remove(text.begin(), text.end(), '-'), text.end());
  if (text.size() != 2 * std::size(boot_id)) {
    return;
  }
  for (size_t i = 0; i < std::size(boot_id); ++i) {
    unsigned value = 0;
    if (std::sscanf(text.c_str() + 2 * i, "%2x", &value) != 1) {
      std::memset(boot_id, 0, sizeof(boot_id));
      return;
    }
    boot_id[i] = static_cast<uint8_t>(value);
  }
}

// /proc may have been mounted by another PID namespace; its numbers are not ours then.
bool proc_counts_as_we_do() {
  std::array<char, 32> target{};
  const ssize_t length = readlink("/proc/self", target.data(), target.size() - 1);
  return length > 0 && std::string_view(target.data()) == std::to_string(getpid());
}

bool same_bytes(const uint8_t (&a)[16], const uint8_t (&b)[16]) {
  return std::memcmp(a, b, sizeof(a)) == 0;
}

bool is_zero(const uint8_t (&id)[16]) {
  return std::all_of(std::begin(id), std::end(id), [](uint8_t byte) { return byte == 0; });
}

bool is_this_kernel(const OwnerFacts& owner, const OwnerFacts& me) {
  return !is_zero(me.boot_id) && same_bytes(owner.boot_id, me.boot_id);
}

}  // namespace

OwnerFacts read_own_facts() {
  OwnerFacts facts{};
  facts.pid = static_cast<uint32_t>(getpid());
  facts.uid = geteuid();
  read_boot_id(facts.boot_id);
  // The kernel's names have at most 64 characters; a name of 64 fills the field to its end.
  std::array<char, sizeof(facts.host_name) + 1> name{};
  if (gethostname(name.data(), name.size()) == 0) {
    std::memcpy(facts.host_name, name.data(), sizeof(facts.host_name));
  }
  struct stat namespace_file {};
  if (proc_counts_as_we_do() && stat("/proc/self/ns/pid", &namespace_file) == 0) {
    facts.pid_namespace = namespace_file.st_ino;
    facts.start_ticks = read_start_ticks(facts.pid).value_or(0);
  }
  return facts;
}

std::optional<uint64_t> read_start_ticks(uint32_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream file(folder + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    return access(folder.c_str(), F_OK) == 0 ? std::optional<uint64_t>(0) : std::nullopt;
  }
  // "pid (name) state …": the name may hold blanks and parentheses, so count from its end. The
  // state is the third field, the start time the 22nd.
  const size_t name_end = line.rfind(')');
  std::istringstream fields(name_end == std::string::npos ? "" : line.substr(name_end + 1));
  std::string state;
  fields >> state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) {
    fields >> skipped;
  }
  uint64_t ticks = 0;
  fields >> ticks;
  return fields && state != "Z" && state != "X" ? ticks : 0;
}

OwnerFate fate_of(const OwnerFacts& owner, const OwnerFacts& me,
                  const StartTicksOf& start_ticks_of) {
  if (owner.uid != me.uid) {
    return OwnerFate::kForeign;
  }
  if (!is_this_kernel(owner, me)) {
    // An earlier boot of this host, or another host on a shared file system.
    const bool same_host = std::memcmp(owner.host_name, me.host_name, sizeof(me.host_name)) == 0 &&
                           !is_zero(me.boot_id) && !is_zero(owner.boot_id);
    return same_host ? OwnerFate::kEnded : OwnerFate::kForeign;
  }
  if (owner.pid_namespace == 0 || owner.pid_namespace != me.pid_namespace ||
      owner.start_ticks == 0) {
    return OwnerFate::kUnknown;
  }
  if (owner.pid == me.pid && owner.start_ticks == me.start_ticks) {
    return OwnerFate::kUnknown;
  }
  const std::optional<uint64_t> start_ticks = start_ticks_of(owner.pid);
  if (!start_ticks) {
    return OwnerFate::kEnded;
  }
  if (*start_ticks == 0) {
    return OwnerFate::kUnknown;
  }
  return *start_ticks == owner.start_ticks ? OwnerFate::kRunning : OwnerFate::kEnded;
}

}  // namespace rocelane::telemetry
