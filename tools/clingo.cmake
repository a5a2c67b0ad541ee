# Read by tools/cmake when clingo is configured. Its sources are compiled in groups, and with the standard headers compiled once: most of the
# time of the build goes into headers. libclingo defines the same names in several files, so it is not grouped; larger groups of libgringo do
# not compile.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# What a crate of level "s" is built as: the development profile, where the time of the build counts more.
set(CMAKE_CXX_FLAGS_MINSIZEREL "-O1 -DNDEBUG")
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.19 AND CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
  function(planforge_compile_in_groups)
    foreach(target libpotassco libclasp libreify)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
    endforeach()
    set_target_properties(libgringo PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
    foreach(target libgringo libclingo)
      target_precompile_headers(${target} PRIVATE
        <algorithm> <functional> <iostream> <map> <memory> <regex> <sstream> <string> <unordered_map> <unordered_set> <vector>)
    endforeach()
  endfunction()
  cmake_language(DEFER CALL planforge_compile_in_groups)
endif()
