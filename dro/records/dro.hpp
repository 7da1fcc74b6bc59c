// The journal's record of a DRO.
#pragma once

#include <string_view>

#include "dro/fields.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

struct DroRecord {
  static constexpr std::string_view kind = "dro";
  static constexpr Role role = Role::found;
  Dro dro;
};

template <>
inline constexpr auto members<DroRecord> = [](auto& record, auto& member) {
  auto& dro = record.dro;
  member("id", dro.id);
  member("master", dro.master);
  member("master_state", dro.master_state);
  member("slave", dro.slave);
  member("hazards", dro.hazards);
  member("retires_master", dro.retires_master);
  member("buffers", dro.buffers);
  member("edges", dro.edges);
};

}  // namespace sluice::dro
