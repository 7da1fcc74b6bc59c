// The journal's record of a footprint: which bytes each block touches through each pointer.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "analysis/footprint.hpp"
#include "dro/fields.hpp"
#include "dro/records/widening.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

template <>
inline constexpr std::array names<analysis::Precision> = {"exact", "bounded", "whole_buffer"};

template <>
inline constexpr auto elements<analysis::Symbol> =
    [](auto& symbol) { return std::tie(symbol.name, symbol.value); };

template <>
inline constexpr auto members<Relation::Piece> = [](auto& piece, auto& member) {
  member("divisions", piece.divisions);
  member.unless_empty("equal", piece.equal);
  member.unless_empty("at_least", piece.at_least);
};

template <>
inline constexpr auto members<Relation> = [](auto& relation, auto& member) {
  member("parameters", relation.parameters);
  member("pieces", relation.pieces);
};

template <>
inline constexpr auto members<analysis::Access> = [](auto& access, auto& member) {
  member("precision", access.precision);
  member.unless_empty("relation", access.relation);
  member.unless_empty("reason", access.reason);
};

template <>
inline constexpr auto members<analysis::ArgumentFootprint> = [](auto& argument, auto& member) {
  member.unless_empty("reads", argument.reads);
  member.unless_empty("may_writes", argument.may_writes);
  member.unless_empty("must_writes", argument.must_writes);
};

template <>
inline constexpr auto members<analysis::Footprint> = [](auto& footprint, auto& member) {
  auto& shape = footprint.shape;
  member("kernel", footprint.kernel);
  member("grid", shape.grid);
  member("block", shape.block);
  member("dynamic_shared_bytes", shape.dynamic_shared_bytes);
  member("shape_values", shape.shape_values);
  member("symbols", footprint.symbols);
  member("arguments", footprint.arguments);
  member.unless_empty("opaque", footprint.opaque_reason);
};

struct FootprintRecord {
  static constexpr std::string_view kind = "footprint";
  static constexpr Role role = Role::input;
  FootprintId id = 0;
  analysis::Footprint footprint;
};

template <>
inline constexpr auto members<FootprintRecord> = [](auto& record, auto& member) {
  member("id", record.id);
  members<analysis::Footprint>(record.footprint, member);
};

}  // namespace sluice::dro
