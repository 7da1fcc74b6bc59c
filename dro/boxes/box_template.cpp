#include "dro/boxes/box_template.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "dro/boxes/box_separation.hpp"

namespace sluice::dro {
namespace {

constexpr size_t most_pieces = 16;
constexpr int64_t largest_constant = int64_t{1} << 60;

// with_values() puts the parameters in; nothing where numbers grow too large.
std::optional<IntegerForm> with_values(const Constraint& constraint, size_t variables,
                                       std::span<const int64_t> values, int64_t sign) {
  IntegerForm form;
  const auto& from = constraint.coefficients;
  for (size_t i = 0; i < variables; ++i)
    form.terms[i] = sign * from[i];
  form.constant = sign * from.back();
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t product = 0;
    if (__builtin_mul_overflow(sign * from[variables + i], values[i], &product) ||
        __builtin_add_overflow(form.constant, product, &form.constant)) {
      return std::nullopt;
    }
  }
  if (std::abs(form.constant) >= largest_constant) return std::nullopt;
  return form;
}

}  // namespace

std::optional<BoxTemplate> BoxTemplate::make(const isl::map& relation) {
  BoxTemplate made;
  const isl::stat done = relation.foreach_basic_map([&](const isl::basic_map& piece) {
    const BasicSet set = lifted_piece(piece);
    if (set == nullptr || made.pieces_.size() == most_pieces) return isl::stat::error();
    const int variables = isl_basic_set_dim(set.get(), isl_dim_set);
    if (variables < 4 || variables > static_cast<int>(IntegerForm::most_variables)) {
      return isl::stat::error();
    }
    std::vector<unsigned> order;
    for (int i = 0; i < variables; ++i)
      order.push_back(static_cast<unsigned>(i));
    auto constraints = constraints_of(set.get(), order);
    if (!constraints) return isl::stat::error();
    made.pieces_.push_back({static_cast<size_t>(variables), std::move(*constraints)});
    return isl::stat::ok();
  });
  if (!done.is_ok()) return std::nullopt;
  return made;
}

std::optional<BoxTemplate> BoxTemplate::make(const RelationText& relation) {
  if (relation.pieces.size() > most_pieces) return std::nullopt;
  BoxTemplate made;
  for (const RelationText::Piece& text : relation.pieces) {
    Piece& piece = made.pieces_.emplace_back();
    piece.variables = relation_dims + text.divisions;
    if (piece.variables > IntegerForm::most_variables) return std::nullopt;
    const auto add = [&](const RelationText::Form& form, bool equality) {
      std::vector<int64_t> coefficients(piece.variables + 1);
      std::copy(form.begin() + 1, form.end(), coefficients.begin());
      coefficients.back() = form.front();
      piece.constraints.push_back({std::move(coefficients), equality});
    };
    for (const RelationText::Form& form : text.equal)
      add(form, true);
    for (const RelationText::Form& form : text.at_least)
      add(form, false);
  }
  return made;
}

std::optional<Boxes> BoxTemplate::at(std::span<const int64_t> values, const Dim3& grid) const {
  Boxes boxes;
  for (const Piece& piece : pieces_) {
    std::vector<IntegerForm> forms;
    for (const Constraint& constraint : piece.constraints) {
      for (const int64_t sign : {1, -1}) {
        if (sign < 0 && !constraint.equality) continue;
        const auto form = with_values(constraint, piece.variables, values, sign);
        if (!form) return std::nullopt;
        forms.push_back(*form);
      }
    }
    auto found = separate(std::move(forms), piece.variables, grid);
    if (!found) return std::nullopt;
    if (!touches_nothing(*found)) boxes.push_back(std::move(*found));
  }
  return boxes;
}

}  // namespace sluice::dro
