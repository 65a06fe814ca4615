# Finds the NCCL library and the CUDA headers for the lab: a CUDA toolkit, or the wheels that tools/setup unpacked.
# The plugins need neither.
set(rocelane_wheels ${PROJECT_SOURCE_DIR}/build/wheels/nvidia)
set(rocelane_cuda_home /usr/local/cuda)
if(DEFINED ENV{CUDA_HOME})
  set(rocelane_cuda_home $ENV{CUDA_HOME})
endif()
find_library(NCCL_LIBRARY NAMES libnccl.so.2 NO_DEFAULT_PATH
             PATHS ${rocelane_cuda_home}/lib64 ${rocelane_cuda_home}/lib ${rocelane_wheels}/nccl/lib)
find_path(NCCL_INCLUDE_DIR nccl.h NO_DEFAULT_PATH
          PATHS ${rocelane_cuda_home}/include ${rocelane_wheels}/nccl/include)
find_path(CUDA_INCLUDE_DIR cuda_runtime_api.h NO_DEFAULT_PATH
          PATHS ${rocelane_cuda_home}/include ${rocelane_wheels}/cu13/include)

if(NOT NCCL_LIBRARY OR NOT NCCL_INCLUDE_DIR OR NOT CUDA_INCLUDE_DIR)
  message(FATAL_ERROR
    "The lab needs NCCL and the CUDA headers. Looked in ${rocelane_cuda_home} and ${rocelane_wheels}. "
    "Run tools/setup, which fetches them as wheels, or set CUDA_HOME to a CUDA 13 toolkit.")
endif()

# Headers only; vendor headers are not held to our warnings.
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${CUDA_INCLUDE_DIR} ${NCCL_INCLUDE_DIR})

add_library(nccl SHARED IMPORTED)
set_target_properties(nccl PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY} IMPORTED_SONAME libnccl.so.2)
target_link_libraries(nccl INTERFACE cuda_headers)
