// From isl's relations to rows of integers, and back.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "isl/isl-noexceptions.h"
#include "relation/isl_context.hpp"
#include "relation/relation.hpp"

namespace sluice {

// rows_of() is a relation { B[x, y, z] -> A[o] } whose parameters are among `parameters`, in their
// order; without names they are taken as they stand. Nothing where it is null, or something else,
// or has numbers beyond 64 bits.
std::optional<Relation> rows_of(const isl::map& relation,
                                std::span<const std::string> parameters = {});

// map_of() is the same for isl, with the tuples' names; the parameters are called p0, p1 ... where
// no names are given. isl's own reader of text looks after each comparison whether anything is
// left, which takes milliseconds; this takes microseconds. Null where isl gives up.
isl::map map_of(isl::ctx context, const Relation& relation,
                std::span<const std::string> parameters = {});

// map_at() is the same where the parameters have these values, without parameters. Null where there
// are too few values or isl gives up.
isl::map map_at(isl::ctx context, const Relation& relation, std::span<const int64_t> values);

// text_of() is what isl prints: { B[x, y, z] -> A[o] : ... }, for people.
std::string text_of(const Relation& relation, std::span<const std::string> parameters = {});

// within_grid() is the relation itself, an error where it has blocks outside the grid.
Result<isl::map> within_grid(const IslContext& context, isl::map access, const Dim3& grid);

// conjunction_of() is the rows of a set, with its dimensions in place of x, y, z and o. Nothing
// where it is null, or has numbers beyond 64 bits.
std::optional<Relation::Piece> conjunction_of(isl_basic_set* set);

}  // namespace sluice
