#pragma once

#include <functional>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace rocelane::softverbs {

// The folder in shared memory that holds a run: its segment and the pipes of its events. Private to
// the user. It exists while some process of the run lives; what a crash leaves behind is removed by
// the next run of that user.
class RunFolder {
 public:
  // Joins the run of that name or begins it. While the returned folder is `fresh`, others wait at
  // its door: prepare the segment, then call `announce`.
  static Result<RunFolder> join(const std::string& run);

  RunFolder(RunFolder&&) = default;
  RunFolder& operator=(RunFolder&&) = default;

  bool fresh() const { return fresh_; }
  void announce();
  const std::string& path() const { return path_; }
  int segment() const { return segment_.get(); }

  // For the last action of this process in the run: `last` is called when no other process is in
  // it, while nobody can join; the folder is removed afterwards.
  void leave(const std::function<void()>& last);

 private:
  RunFolder() = default;

  std::string path_;
  FileDescriptor door_;     // its lock: joining and leaving, one at a time
  FileDescriptor segment_;  // its shared lock: this process is in the run
  bool fresh_ = false;
};

// Removes the folders of this user's runs that no process is in any more.
void remove_abandoned_runs();

}  // namespace rocelane::softverbs
