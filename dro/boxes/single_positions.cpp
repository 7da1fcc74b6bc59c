#include "dro/boxes/single_positions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace sluice::dro {
namespace {

// stride_beside_byte() is what a coordinate stands beside the byte with, where that is the same in
// all forms with the byte but those with a variable that may count through all its positions, as
// rows do through planes; else 0.
int64_t stride_beside_byte(const std::vector<IntegerForm>& forms, size_t axis) {
  std::optional<int64_t> stride;
  int64_t counted = 1;  // the largest stride of such variables
  for (const IntegerForm& form : forms) {
    const int64_t own = form.terms[axis], of_byte = form.terms[IntegerForm::byte];
    if (of_byte == 0) continue;
    const auto inner = std::find_if(form.terms.begin() + IntegerForm::first_existential,
                                    form.terms.end(), [](int64_t term) { return term != 0; });
    if (own == 0 && inner != form.terms.end()) {
      counted = std::max(counted, std::abs(*inner / of_byte));
      continue;
    }
    if (own % of_byte != 0 || stride.value_or(-own / of_byte) != -own / of_byte) return 0;
    stride = -own / of_byte;
  }
  return stride.value_or(0) % counted == 0 ? stride.value_or(0) : 0;
}

}  // namespace

size_t name_single_positions(std::vector<IntegerForm>& forms, size_t variables) {
  const std::array<int64_t, 3> strides = {
      stride_beside_byte(forms, 0), stride_beside_byte(forms, 1), stride_beside_byte(forms, 2)};
  size_t position = variables;
  for (size_t axis = 0; axis < 3 && position < IntegerForm::most_variables; ++axis) {
    if (strides[axis] == 0) continue;
    for (IntegerForm& form : forms) {
      if (form.terms[IntegerForm::byte] != 0) std::swap(form.terms[position], form.terms[axis]);
    }
    for (const int64_t sign : {1, -1}) {
      IntegerForm& equal = forms.emplace_back();
      equal.terms[position] = sign;
      equal.terms[axis] = -sign;
    }
    ++position;
  }
  return position - variables;
}

}  // namespace sluice::dro
