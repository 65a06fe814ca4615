#include "net/abi/wall.h"

#include <exception>
#include <new>

#include "base/log.h"
#include "net/abi/log_bridge.h"
#include "net/abi/translate.h"

namespace rocelane::net::abi {

NcclResult report(const Error& error) {
  if (!error.already_said) {
    log_warn("{}", error.what);
  }
  return to_nccl(error.code);
}

NcclResult report_exception(const char* call) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    warn_without_memory(call, "failed because the process has no memory left.");
    return kNcclSystemError;
  } catch (const std::exception& exception) {
    warn_without_memory(call, exception.what());
  } catch (...) {
    warn_without_memory(call, "failed with an exception of an unknown type: please report this.");
  }
  return kNcclInternalError;
}

}  // namespace rocelane::net::abi
