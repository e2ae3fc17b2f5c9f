# SPDX-License-Identifier: Apache-2.0
# rhizome_module(<name>
#   COLD                 nobody waits for its code: its files may be compiled together (RHIZOME_TOGETHER)
#   ACTS                 touches the world: its tests are not part of `pure_tests` (the sanitizer runs)
#   SOURCES  a.cpp …     the library `rhizome_<name>`; none makes a header-only library
#   MODULES  base …      modules of ours it links (src/layers.txt decides what may be included)
#   LIBS     x::y …      libraries from outside, private to this module
#   TESTS    a_test.cpp … one program `<name>_test`; a file `x_<label>_test.cpp` carries that ctest label, others `unit`
#   TEST_LIBS …          libraries that only the tests use
#   FUZZ     a_fuzz.cpp … one libFuzzer program each (preset `asan`)
#   BENCHES  a_bench.cpp … collected into the one program behind `./run bench`
#   BENCH_LIBS …         anchors that only benchmarks use
# )
# A test suite in `x_<label>_test.cpp` is named `…<Label>` (`JsonVectors`, `CodecProperty`): ctest selects by that suffix.

set(RHIZOME_LABELS unit vectors property sim kill root kubectl oracle soak fuzz)
set_property(GLOBAL PROPERTY rhizome_pure_tests "")

function(rhizome_test_program name)
  cmake_parse_arguments(arg "PURE" "" "SOURCES;LIBS;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE rhizome_flags rhizome_test_support ${arg_LIBS} GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM rhizome_pch_test)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT RHIZOME_SANITIZE)
    # What is tested is compiled as users have it; optimising the tests themselves takes longer than it saves.
    target_compile_options(${name} PRIVATE "$<$<CONFIG:Release>:-Og>")
  endif()
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()

  set(pure "")
  if(arg_PURE)
    set(pure pure)
  endif()
  set(present "")
  foreach(source IN LISTS arg_SOURCES)
    if(NOT source MATCHES "_test\\.cpp$")
      continue()  # what the tests need
    endif()
    set(label unit)
    if(source MATCHES "_([a-z]+)_test\\.cpp$")
      if("${CMAKE_MATCH_1}" IN_LIST RHIZOME_LABELS)
        set(label "${CMAKE_MATCH_1}")
      endif()
    endif()
    list(APPEND present "${label}")
  endforeach()
  list(REMOVE_DUPLICATES present)

  set(labelled "")
  foreach(label IN LISTS RHIZOME_LABELS)
    if(NOT label STREQUAL "unit")
      string(SUBSTRING ${label} 0 1 first)
      string(TOUPPER ${first} first)
      string(SUBSTRING ${label} 1 -1 rest)
      set(pattern_${label} "*${first}${rest}.*")
      list(APPEND labelled "${pattern_${label}}")
    endif()
  endforeach()
  string(JOIN ":" labelled ${labelled})

  string(REGEX REPLACE "_test$" "" stem ${name})
  foreach(label IN LISTS present)
    if(label STREQUAL "unit")
      set(filter "-${labelled}")
    else()
      set(filter "${pattern_${label}}")
    endif()
    add_test(NAME ${stem}.${label} COMMAND ${name} "--gtest_filter=${filter}" --gtest_brief=1
             WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(${stem}.${label} PROPERTIES
      LABELS "${label};${pure}" TIMEOUT 1800
      # A filter that selects nothing would pass without testing anything.
      FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites ran"
      ENVIRONMENT "RHIZOME_SOURCE=${CMAKE_SOURCE_DIR};RHIZOME_BUILD=${CMAKE_BINARY_DIR}")
  endforeach()
endfunction()

function(rhizome_module name)
  cmake_parse_arguments(arg "ACTS;COLD" "" "SOURCES;MODULES;LIBS;TESTS;TEST_LIBS;FUZZ;BENCHES;BENCH_LIBS" ${ARGN})
  list(TRANSFORM arg_MODULES PREPEND rhizome_)

  if(arg_SOURCES)
    add_library(rhizome_${name} STATIC ${arg_SOURCES})
    target_link_libraries(rhizome_${name} PUBLIC rhizome_flags ${arg_MODULES} PRIVATE ${arg_LIBS})
    target_precompile_headers(rhizome_${name} REUSE_FROM rhizome_pch_code)
    if(NOT arg_COLD AND NOT RHIZOME_SANITIZE)
      set_target_properties(rhizome_${name} PROPERTIES UNITY_BUILD OFF)
    endif()
  else()
    add_library(rhizome_${name} INTERFACE)
    target_link_libraries(rhizome_${name} INTERFACE rhizome_flags ${arg_MODULES})
  endif()

  if(RHIZOME_FUZZ)
    foreach(source IN LISTS arg_FUZZ)
      get_filename_component(stem ${source} NAME_WE)
      add_executable(${stem} ${source})
      target_link_libraries(${stem} PRIVATE rhizome_flags rhizome_${name} ${arg_LIBS} -fsanitize=fuzzer)
      set_target_properties(${stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
      set_property(GLOBAL APPEND PROPERTY rhizome_fuzz_targets ${stem})
    endforeach()
    if(arg_ACTS)
      return()
    endif()
  endif()

  if(arg_TESTS)
    if(arg_ACTS)
      set(pure "")
    else()
      set(pure PURE)
    endif()
    rhizome_test_program(${name}_test ${pure} SOURCES ${arg_TESTS} LIBS rhizome_${name} ${arg_TEST_LIBS})
    if(NOT arg_ACTS)
      set_property(GLOBAL APPEND PROPERTY rhizome_pure_tests ${name}_test)
    endif()
  endif()
  foreach(source IN LISTS arg_BENCHES)
    set_property(GLOBAL APPEND PROPERTY rhizome_bench_sources "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
  endforeach()
  if(arg_BENCHES)
    set_property(GLOBAL APPEND PROPERTY rhizome_bench_libs rhizome_${name} ${arg_BENCH_LIBS})
  endif()
endfunction()

# Targets made of what all modules declared. Called once, last.
function(rhizome_finish)
  if(RHIZOME_FUZZ)
    get_property(targets GLOBAL PROPERTY rhizome_fuzz_targets)
    add_custom_target(fuzz_targets DEPENDS ${targets})
  endif()
  get_property(tests GLOBAL PROPERTY rhizome_pure_tests)
  add_custom_target(pure_tests DEPENDS ${tests})
  if(RHIZOME_FUZZ)
    return()
  endif()

  get_property(sources GLOBAL PROPERTY rhizome_bench_sources)
  get_property(libs GLOBAL PROPERTY rhizome_bench_libs)
  list(REMOVE_DUPLICATES libs)
  if(NOT sources)
    return()
  endif()
  add_executable(rhizome_bench EXCLUDE_FROM_ALL ${sources})
  set_target_properties(rhizome_bench PROPERTIES UNITY_BUILD OFF)  # files of all modules
  target_link_libraries(rhizome_bench PRIVATE rhizome_flags rhizome_bench_support ${libs} ${RHIZOME_ALLOCATOR})
endfunction()
