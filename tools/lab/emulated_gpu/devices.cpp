#include "devices.h"

#include <array>
#include <atomic>

#include <fmt/format.h>

#include "report.h"
#include "settings.h"

namespace rocelane::lab {
namespace {

thread_local int current = 0;
std::array<std::atomic<cudaError_t>, kMaxGpus> errors{};

std::atomic<cudaError_t>& error_of(int device) { return errors.at(static_cast<size_t>(device)); }

}  // namespace

bool is_device(int device) {
  return settings().ok() && device >= 0 && device < settings()->gpu_count;
}

int current_device() { return current; }
void set_current_device(int device) { current = device; }

void fail_device(int device, cudaError_t error, std::string_view sentence) {
  cudaError_t none = cudaSuccess;
  if (error_of(device).compare_exchange_strong(none, error)) {
    report(fmt::format("GPU {} failed: {}", device, sentence));
  }
}

cudaError_t device_error(int device) { return error_of(device).load(); }
void clear_device_error(int device) { error_of(device).store(cudaSuccess); }

}  // namespace rocelane::lab
