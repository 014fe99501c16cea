# SPDX-License-Identifier: BSD-3-Clause
# Finds headers and libraries by components, as modules of public projects do: pkg-config gives hints, the vendor's
# directories others, and the search decides.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PC_DOCA_COMMON QUIET doca-common)
find_path(DOCA_INCLUDE_DIR NAMES doca_error.h HINTS ${PC_DOCA_COMMON_INCLUDEDIR} /opt/mellanox/doca/include
  ENV DOCA_ROOT PATH_SUFFIXES include)
foreach(component IN LISTS DOCA_FIND_COMPONENTS)
  pkg_check_modules(PC_DOCA_${component} QUIET doca-${component})
  find_library(DOCA_${component}_LIBRARY NAMES doca_${component}
    HINTS ${PC_DOCA_${component}_LIBDIR} ${PC_DOCA_COMMON_LIBDIR} /opt/mellanox/doca/lib/${DOCA_ARCH}-linux-gnu
    ENV DOCA_ROOT PATH_SUFFIXES lib lib64)
  if(DOCA_${component}_LIBRARY)
    set(DOCA_${component}_FOUND TRUE)
    add_library(DOCA::${component} UNKNOWN IMPORTED)
    set_target_properties(DOCA::${component} PROPERTIES IMPORTED_LOCATION ${DOCA_${component}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${DOCA_INCLUDE_DIR})
  endif()
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DOCA REQUIRED_VARS DOCA_INCLUDE_DIR HANDLE_COMPONENTS)
