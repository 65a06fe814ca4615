#pragma once

// Reads the telemetry page of another process, or of this one, while it is written. Needs base and
// include/rocelane only, so tools and tuner can use it.
//
// No page makes it crash, hang or read outside a slot: it reads with pread, never through a
// mapping, and believes nothing. One reader serves one thread; several readers do not disturb each
// other nor the writer.

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/health/page_reading.h"

namespace rocelane::telemetry {

struct PageOnDisk {
  std::string path;
  uint32_t pid = 0;
};
// The pages of user `uid` in `directory`, also those of processes that have ended.
std::vector<PageOnDisk> list_pages(const std::string& directory, uint32_t uid);

class TelemetryReader {
 public:
  // The page of process `pid` of user `uid`; where there are several, the one in use.
  static Result<TelemetryReader> open(const std::string& directory, uint32_t uid, uint32_t pid);
  static Result<TelemetryReader> open_file(const std::string& path, uint32_t uid);

  // All that is in use now. An error when the header makes no sense or the file ends early.
  Result<PageReading> read() const;

 private:
  TelemetryReader(std::string path, uint32_t uid, FileDescriptor file)
      : path_(std::move(path)), uid_(uid), file_(std::move(file)) {}

  Result<PageHeader> read_header() const;

  std::string path_;
  uint32_t uid_;
  FileDescriptor file_;
};

}  // namespace rocelane::telemetry
