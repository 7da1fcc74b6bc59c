// What may use which memory.
#pragma once

#include "random_programs/program.hpp"

namespace sluice::random_programs {

inline bool on_device(Space space) {
  return space == Space::device || space == Space::ordered || space == Space::managed;
}
inline bool for_kernels(Space space) {
  return on_device(space) || space == Space::pinned;
}
inline bool on_host(Space space) {
  return space == Space::pinned || space == Space::pageable;
}
inline bool for_host(Space space) {
  return on_host(space) || space == Space::managed;
}
inline bool of_runtime(Space space) {
  return space == Space::device || space == Space::ordered;
}
inline bool for_copies(Space space) {
  return space != Space::variable;
}

}  // namespace sluice::random_programs
