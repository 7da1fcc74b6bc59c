// The journal's record of an edge table.
#pragma once

#include <string_view>

#include "dro/edges/edge_table.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

struct EdgesRecord {
  static constexpr std::string_view kind = "edges";
  static constexpr Role role = Role::found;
  EdgeTableId id = 0;
  EdgeTable table;
};

template <>
inline constexpr auto members<EdgesRecord> = [](auto& record, auto& member) {
  member("id", record.id);
  members<EdgeTable>(record.table, member);
};

}  // namespace sluice::dro
