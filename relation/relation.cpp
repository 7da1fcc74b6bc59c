#include "relation/relation.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr size_t most_forms = 64;
constexpr int64_t largest_number = int64_t{1} << 40;

}  // namespace

bool Relation::Piece::is_small() const {
  const auto small = [](const Row& row) {
    return std::ranges::all_of(
        row, [](int64_t number) { return -largest_number <= number && number <= largest_number; });
  };
  return equal.size() + at_least.size() <= most_forms && std::ranges::all_of(equal, small) &&
         std::ranges::all_of(at_least, small);
}

bool Relation::is_whole() const {
  return std::ranges::all_of(pieces, [this](const Piece& piece) {
    const auto fits = [columns = byte_column() + 1 + piece.divisions](const Row& row) {
      return row.size() == columns;
    };
    return std::ranges::all_of(piece.equal, fits) && std::ranges::all_of(piece.at_least, fits);
  });
}

}  // namespace sluice
