// A program that ends while one of its threads polls, with the verbs opened as NCCL opens them: by
// dlopen, so that the end of the program is not the end of their library.
//
//   softverbs_exit_while_polling LIBRARY

#include <cstdio>
#include <thread>

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <unistd.h>

namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  void* const address = dlsym(library, name);
  if (address == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    _exit(2);
  }
  return reinterpret_cast<Function*>(address);
}

}  // namespace

int main(int count, char** arguments) {
  void* const library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) {
    std::fprintf(stderr, "usage: softverbs_exit_while_polling LIBRARY, which can be opened\n");
    return 2;
  }
  auto* const list_devices = symbol<ibv_device**(int*)>(library, "ibv_get_device_list");
  auto* const open_device = symbol<ibv_context*(ibv_device*)>(library, "ibv_open_device");
  auto* const create_queue =
      symbol<ibv_cq*(ibv_context*, int, void*, ibv_comp_channel*, int)>(library, "ibv_create_cq");
  ibv_device** const devices = list_devices(nullptr);
  ibv_context* const context =
      devices == nullptr || devices[0] == nullptr ? nullptr : open_device(devices[0]);
  ibv_cq* const queue =
      context == nullptr ? nullptr : create_queue(context, 16, nullptr, nullptr, 0);
  if (queue == nullptr) {
    std::fprintf(stderr, "no completion queue\n");
    return 2;
  }
  std::thread([queue] {
    ibv_wc completion{};
    for (;;) {
      ibv_poll_cq(queue, 1, &completion);
    }
  }).detach();
  constexpr useconds_t kSoonUs = 20'000;
  usleep(kSoonUs);
  return 0;
}
