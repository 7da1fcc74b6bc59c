#include "dro/boxes/relation_boxes.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

namespace sluice::dro {
namespace {

constexpr size_t most_pieces = 16;
constexpr int64_t largest_constant = int64_t{1} << 60;

// add_form() puts the parameters in; false where numbers grow too large.
bool add_form(const Relation::Row& row, std::span<const int64_t> values, int64_t sign,
              std::vector<IntegerForm>& forms) {
  IntegerForm form;
  form.constant = sign * row[0];
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t product = 0;
    if (__builtin_mul_overflow(sign * row[1 + i], values[i], &product) ||
        __builtin_add_overflow(form.constant, product, &form.constant)) {
      return false;
    }
  }
  for (size_t i = 1 + values.size(); i < row.size(); ++i)
    form.terms[i - 1 - values.size()] = sign * row[i];
  forms.push_back(form);
  return std::abs(form.constant) < largest_constant;
}

}  // namespace

std::optional<std::vector<IntegerForm>> forms_of(const Relation::Piece& piece,
                                                 std::span<const int64_t> values) {
  const size_t variables = IntegerForm::first_existential + piece.divisions;
  if (variables > IntegerForm::most_variables || !piece.is_small()) return std::nullopt;
  std::vector<IntegerForm> forms;
  forms.reserve(2 * piece.equal.size() + piece.at_least.size());
  bool good = true;
  for (const Relation::Row& row : piece.equal) {
    for (const int64_t sign : {1, -1})
      good = good && add_form(row, values, sign, forms);
  }
  for (const Relation::Row& row : piece.at_least)
    good = good && add_form(row, values, 1, forms);
  if (!good) return std::nullopt;
  return forms;
}

std::optional<Boxes> boxes_of(const Relation& relation, std::span<const int64_t> values,
                              const Dim3& grid, Budget& budget) {
  if (relation.pieces.size() > most_pieces) return std::nullopt;
  Boxes boxes;
  for (const Relation::Piece& piece : relation.pieces) {
    const auto forms = forms_of(piece, values);
    if (!forms) return std::nullopt;
    auto found = separate(*forms, IntegerForm::first_existential + piece.divisions, grid, budget);
    if (!found) return std::nullopt;
    if (!touches_nothing(*found)) boxes.push_back(std::move(*found));
  }
  return boxes;
}

}  // namespace sluice::dro
