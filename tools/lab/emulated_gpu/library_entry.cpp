#include "nccl_library.h"

// All libraries of the process are mapped by now, and no other thread runs yet.
__attribute__((constructor)) static void enter_process() { rocelane::lab::attach_nccl(); }
