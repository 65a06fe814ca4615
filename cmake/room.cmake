# room(<path below src> SOURCES … MAY_INCLUDE <rooms> LINK <external targets>)
#
# A room is one static library and the folder of the same name. Its headers are reachable as "<path>/x.h", and only
# by rooms that name it in MAY_INCLUDE: each room exports a folder that holds one link, to itself. An include
# that the dependency table does not allow therefore does not compile.
function(room path)
  cmake_parse_arguments(ROOM "" "" "SOURCES;MAY_INCLUDE;LINK" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  set(target rocelane_${name})

  set(door ${PROJECT_BINARY_DIR}/rooms/${name})
  get_filename_component(parent ${door}/${path} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${door}/${path} SYMBOLIC)

  if(ROOM_SOURCES)
    add_library(${target} STATIC ${ROOM_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${door})
  foreach(other ${ROOM_MAY_INCLUDE})
    string(REPLACE "/" "_" other_name ${other})
    target_link_libraries(${target} ${scope} rocelane_${other_name})
  endforeach()
  target_link_libraries(${target} ${scope} ${ROOM_LINK})
endfunction()

# GoogleTest's headers are half of what a test takes to compile. Programs with the same flags share
# them compiled.
function(precompile_googletest target)
  if(NOT TARGET googletest_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/googletest_headers.cpp "int main() {}\n")
    add_executable(googletest_headers ${PROJECT_BINARY_DIR}/googletest_headers.cpp)
    target_link_libraries(googletest_headers PRIVATE GTest::gmock GTest::gtest_main)
    target_precompile_headers(googletest_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM googletest_headers)
endfunction()

# room_test(<name> SOURCES … ROOMS …): a GoogleTest program of the unit tests; every case becomes a ctest entry.
function(room_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;ROOMS;LINK" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  foreach(other ${TEST_ROOMS})
    string(REPLACE "/" "_" other_name ${other})
    target_link_libraries(${name} PRIVATE rocelane_${other_name})
  endforeach()
  target_link_libraries(${name} PRIVATE ${TEST_LINK} GTest::gmock GTest::gtest_main)
  precompile_googletest(${name})
  gtest_discover_tests(${name} PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
endfunction()
