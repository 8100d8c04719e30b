# SPDX-License-Identifier: GPL-3.0-or-later
# The agent for hosts of other architectures than this computer's, each by a build of its own with
# Debian's cross compiler. Such an agent lies beside the other one; the workbench sends the one that
# `uname -m` of the host asks for.
function(knobscope_add_cross_agent arch)
    find_program(KNOBSCOPE_CXX_${arch} ${arch}-linux-gnu-g++)
    if(NOT KNOBSCOPE_CROSS_AGENTS OR KNOBSCOPE_SANITIZE OR NOT KNOBSCOPE_CXX_${arch} OR
       CMAKE_SYSTEM_PROCESSOR STREQUAL arch)
        return()
    endif()
    set(built ${PROJECT_BINARY_DIR}/agent-${arch}/bin/knobscope-agent-${arch})
    include(ExternalProject)
    ExternalProject_Add(knobscope-agent-${arch}
        SOURCE_DIR ${PROJECT_SOURCE_DIR}
        BINARY_DIR ${PROJECT_BINARY_DIR}/agent-${arch}
        STAMP_DIR ${PROJECT_BINARY_DIR}/agent-${arch}/stamps
        TMP_DIR ${PROJECT_BINARY_DIR}/agent-${arch}/tmp
        CMAKE_ARGS -DKNOBSCOPE_AGENT_ONLY=ON -DKNOBSCOPE_WERROR=${KNOBSCOPE_WERROR}
                   -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_SYSTEM_NAME=Linux
                   -DCMAKE_SYSTEM_PROCESSOR=${arch} -DCMAKE_CXX_COMPILER=${KNOBSCOPE_CXX_${arch}}
        BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target knobscope-agent
        # Its own build system knows which sources have changed.
        BUILD_ALWAYS ON
        # Alone: two builds at once would start twice as many compilers as there are CPUs.
        USES_TERMINAL_BUILD ON
        INSTALL_COMMAND ${CMAKE_COMMAND} -E copy_if_different ${built}
                        ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/
        BUILD_BYPRODUCTS ${built})
endfunction()

knobscope_add_cross_agent(aarch64)
