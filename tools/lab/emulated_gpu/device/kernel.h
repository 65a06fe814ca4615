#pragma once

#include <cstddef>
#include <string>

namespace rocelane::lab {

// What the emulation has to know of the NCCL library whose kernels it stands in for.
struct NcclImage {
  int version;                    // as ncclGetVersion reports it, e.g. 22809
  const int* dev_func_row_to_id;  // the library's table from function row to kernel function id
};

// Whether the memory layouts of this NCCL's device structures are described here.
bool layouts_known(int nccl_version);

// Runs one NCCL kernel to its end on the calling thread: all its channels take turns, so that a
// rank needs one thread and no core is spun away. `arguments` is a private 64-byte aligned copy of
// the argument block. Returns empty, also when the communicator was aborted, or a sentence that
// says what is not emulated or went wrong.
std::string run_kernel(const NcclImage& image, const void* arguments, size_t bytes);

}  // namespace rocelane::lab
