#include "dro/boxes/box_separation.hpp"

#include <algorithm>
#include <utility>

#include "base/number/floor_divide.hpp"
#include "dro/boxes/elimination.hpp"
#include "dro/boxes/form_bounds.hpp"
#include "dro/boxes/single_positions.hpp"

namespace sluice::dro {
namespace {

constexpr size_t byte = IntegerForm::byte;
constexpr size_t first_existential = IntegerForm::first_existential;
constexpr uint32_t most_places = 1U << 17;

// Separation works on one piece. Whoever finds that it cannot go on, returns false.
class Separation {
 public:
  Separation(std::vector<IntegerForm> constraints, size_t variables, const Dim3& grid,
             Budget& budget)
      : forms_(std::move(constraints)),
        variables_(variables),
        extents_{grid.x, grid.y, grid.z},
        budget_(budget) {}

  std::optional<BlockBoxes> run() {
    // Forms are compared with each other, a few times.
    if (!budget_.take(forms_.size() * forms_.size())) return std::nullopt;
    if (!find_strides() || !count_from_zero() || !substitute() || !reduce_all() || !assign_axes())
      return std::nullopt;
    BlockBoxes boxes;
    if (!find_domain(boxes) || !find_levels(boxes)) return std::nullopt;
    // Levels that merge are gone through again.
    if (!budget_.take(boxes.levels.size() * places_of(boxes) / 8)) return std::nullopt;
    return tidied(std::move(boxes));
  }

 private:
  bool find_strides();
  bool count_from_zero();
  bool substitute();
  bool reduce_all();
  bool reduce(IntegerForm& form);
  bool assign_axes();
  bool find_domain(BlockBoxes& boxes) const;
  bool find_levels(BlockBoxes& boxes) const;
  bool find_level(size_t variable, BoxLevel& level, const Interval& domain) const;

  bool is_simple(const IntegerForm& form) const;

  std::vector<IntegerForm> forms_;
  FormBounds known_;
  const size_t variables_;
  const std::array<uint32_t, 3> extents_;
  Budget& budget_;
  std::array<int64_t, IntegerForm::most_variables> strides_ = {};
  std::array<int, IntegerForm::most_variables> axis_of_ = {};
};

// The stride of an existential variable is what it stands beside the byte with; it must be the same
// wherever both stand.
bool Separation::find_strides() {
  for (size_t v = first_existential; v < variables_; ++v) {
    bool used = false;
    for (const IntegerForm& form : forms_) {
      const int64_t own = form.terms[v], of_byte = form.terms[byte];
      used = used || own != 0;
      if (own == 0 || of_byte == 0) continue;
      if (own % of_byte != 0) return false;
      const int64_t stride = -own / of_byte;
      if (strides_[v] != 0 && strides_[v] != stride) return false;
      strides_[v] = stride;
    }
    if (!used) continue;
    if (strides_[v] == 0) return false;
    if (strides_[v] < 0) {
      strides_[v] = -strides_[v];
      for (IntegerForm& form : forms_)
        form.terms[v] = -form.terms[v];
    }
    known_.by_stride.push_back(v);
  }
  std::sort(known_.by_stride.begin(), known_.by_stride.end(),
            [this](size_t a, size_t b) { return strides_[a] < strides_[b]; });
  int64_t inner = 1;
  for (const size_t v : known_.by_stride) {
    if (strides_[v] <= inner || strides_[v] % inner != 0) return false;
    inner = strides_[v];
  }
  return true;
}

// count_from_zero() undoes what isl does to floor(o / 256) where it is shorter to say floor((o +
// 256 x) / 256): a variable that counts from a place which moves with the block counts from a fixed
// one again. As a change of variables that can be undone it loses nothing.
bool Separation::count_from_zero() {
  for (const size_t v : known_.by_stride) {
    for (size_t axis = 0; axis < 3; ++axis) {
      bool is_fixed = false;
      int64_t moved = 0;
      for (const IntegerForm& form : forms_) {
        const int64_t own = form.terms[v], of_axis = form.terms[axis];
        if (own == 0 || form.terms[byte] == 0) continue;
        is_fixed = is_fixed || of_axis == 0;
        if (of_axis % own == 0) moved = -of_axis / own;
      }
      if (is_fixed) continue;
      for (IntegerForm& form : forms_) {
        if (!add_product(form.terms[axis], form.terms[v], moved)) return false;
      }
    }
  }
  return true;
}

// substitute() puts in what the byte is: c + sum of stride * variable, where c takes its place.
// Where a variable counts positions through all outer levels (a row of all planes and not of one),
// which shows in that it stands with no outer variable and the byte, it first becomes the position
// within the next level. Both are changes of variables that can be undone, so nothing is lost
// whether they help or not.
bool Separation::substitute() {
  for (size_t i = known_.by_stride.size(); i-- > 1;) {
    const size_t inner = known_.by_stride[i - 1], outer = known_.by_stride[i];
    const bool together = std::any_of(forms_.begin(), forms_.end(), [&](const IntegerForm& form) {
      return form.terms[byte] != 0 && form.terms[inner] != 0 && form.terms[outer] != 0;
    });
    if (together) continue;
    for (IntegerForm& form : forms_) {
      for (size_t k = i; k < known_.by_stride.size(); ++k) {
        const size_t v = known_.by_stride[k];
        if (!add_product(form.terms[v], form.terms[inner], strides_[v] / strides_[inner]))
          return false;
      }
    }
  }
  for (IntegerForm& form : forms_) {
    for (const size_t v : known_.by_stride) {
      if (!add_product(form.terms[v], form.terms[byte], strides_[v])) return false;
    }
  }
  return true;
}

// A simple form has at most one of x, y, z and at most one other variable.
bool Separation::is_simple(const IntegerForm& form) const {
  const auto used = [](int64_t term) { return term != 0; };
  const auto others = form.terms.begin() + byte;
  return std::count_if(form.terms.begin(), others, used) <= 1 &&
         std::count_if(others, form.terms.end(), used) <= 1;
}

// reduce_all() goes from the inner levels outwards, since bounds come from the levels within.
bool Separation::reduce_all() {
  std::stable_sort(
      forms_.begin(), forms_.end(),
      [this](const IntegerForm& a, const IntegerForm& b) { return known_.top(a) < known_.top(b); });
  known_.sources = forms_;
  for (IntegerForm& form : forms_) {
    if (!reduce(form)) return false;
    known_.sources.push_back(form);
  }
  return true;
}

bool Separation::reduce(IntegerForm& form) {
  while (!is_simple(form)) {
    const size_t level = known_.top(form);
    if (level == 0) return false;
    const int64_t divisor = std::abs(form.terms[known_.by_stride[level - 1]]);
    IntegerForm outer, rest;
    FormBounds::split(form, divisor, outer, rest);
    const auto range = known_.bounds(rest, level);
    if (!range) return false;
    // divisor * a + rest >= 0 is a + floor(rest / divisor) >= 0 for whole numbers.
    const int64_t low = floor_divide(range->first + form.constant, divisor);
    if (low != floor_divide(range->last + form.constant, divisor)) return false;
    for (int64_t& term : outer.terms)
      term /= divisor;
    outer.constant = low;
    if (divisor == 1 && !is_simple(outer)) return false;
    form = outer;
  }
  return true;
}

bool Separation::assign_axes() {
  axis_of_.fill(BoxLevel::no_axis);
  for (const IntegerForm& form : forms_) {
    for (int axis = 0; axis < 3; ++axis) {
      if (form.terms[static_cast<size_t>(axis)] == 0) continue;
      for (size_t v = byte; v < variables_; ++v) {
        if (form.terms[v] == 0) continue;
        if (axis_of_[v] != BoxLevel::no_axis && axis_of_[v] != axis) return false;
        axis_of_[v] = axis;
      }
    }
  }
  return true;
}

// find_domain() bounds each coordinate: by constraints that have nothing else, and by what follows
// from the bounds of each variable beside it. It must lie in the grid.
bool Separation::find_domain(BlockBoxes& boxes) const {
  std::vector<IntegerForm> own;
  for (const IntegerForm& form : forms_) {
    const bool alone = std::all_of(form.terms.begin() + byte, form.terms.end(),
                                   [](int64_t term) { return term == 0; });
    if (alone) own.push_back(form);
  }
  for (size_t v = byte; v < variables_; ++v) {
    if (axis_of_[v] == BoxLevel::no_axis) continue;
    const auto axis = static_cast<size_t>(axis_of_[v]);
    for (const IntegerForm& lower : forms_) {
      if (lower.terms[v] <= 0) continue;
      for (const IntegerForm& upper : forms_) {
        if (upper.terms[v] >= 0) continue;
        IntegerForm sum;
        if (!add_product(sum.terms[axis], lower.terms[axis], -upper.terms[v]) ||
            !add_product(sum.terms[axis], upper.terms[axis], lower.terms[v]) ||
            !add_product(sum.constant, lower.constant, -upper.terms[v]) ||
            !add_product(sum.constant, upper.constant, lower.terms[v])) {
          return false;
        }
        own.push_back(sum);
      }
    }
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    std::optional<int64_t> low, high;
    for (const IntegerForm& form : own) {
      const int64_t term = form.terms[axis];
      if (term > 0) {
        const int64_t least = -floor_divide(form.constant, term);
        low = std::max(low.value_or(least), least);
      } else if (term < 0) {
        const int64_t most = floor_divide(form.constant, -term);
        high = std::min(high.value_or(most), most);
      }
    }
    if (!low || !high) return false;
    boxes.domain[axis] = {*low, *high};
    if (*low > *high) continue;
    if (*low < 0 || *high >= extents_[axis] || extents_[axis] > most_places) return false;
  }
  // What is left without variables holds or does not.
  if (std::any_of(own.begin(), own.end(), [](const IntegerForm& form) {
        return form.terms == IntegerForm().terms && form.constant < 0;
      })) {
    boxes.domain[0] = {};
  }
  return true;
}

bool Separation::find_levels(BlockBoxes& boxes) const {
  for (size_t i = known_.by_stride.size() + 1; i-- > 0;) {
    const size_t v = i == 0 ? byte : known_.by_stride[i - 1];
    BoxLevel& level = boxes.levels.emplace_back();
    level.stride = i == 0 ? 1 : strides_[v];
    level.axis = axis_of_[v];
    const bool has_axis = level.axis != BoxLevel::no_axis;
    const auto axis = static_cast<size_t>(has_axis ? level.axis : 0);
    const uint64_t places = has_axis ? extents_[axis] : 1;
    if (places > most_places || !budget_.make<Interval>(places) ||
        !budget_.take(places * forms_.size() / 8)) {
      return false;
    }
    level.at.resize(places);
    if (!find_level(v, level, has_axis ? boxes.domain[axis] : Interval{0, 0})) return false;
  }
  return true;
}

// find_level() puts each coordinate into the constraints of one variable.
bool Separation::find_level(size_t variable, BoxLevel& level, const Interval& domain) const {
  for (int64_t place = domain.first; place <= domain.last; ++place) {
    std::optional<int64_t> low, high;
    for (const IntegerForm& form : forms_) {
      const int64_t own = form.terms[variable];
      if (own == 0) continue;
      int64_t rest = form.constant;
      if (level.axis != BoxLevel::no_axis &&
          !add_product(rest, form.terms[static_cast<size_t>(level.axis)], place)) {
        return false;
      }
      if (own > 0) {
        const int64_t least = -floor_divide(rest, own);
        low = std::max(low.value_or(least), least);
      } else {
        const int64_t most = floor_divide(rest, -own);
        high = std::min(high.value_or(most), most);
      }
    }
    if (!low || !high) return false;
    level.at[static_cast<size_t>(place)] = {*low, *high};
  }
  return true;
}

}  // namespace

std::optional<BlockBoxes> separate(const std::vector<IntegerForm>& constraints, size_t variables,
                                   const Dim3& grid, Budget& budget) {
  if (auto boxes = Separation(constraints, variables, grid, budget).run()) return boxes;
  std::vector<IntegerForm> named = constraints;
  if (const size_t more = name_single_positions(named, variables); more > 0) {
    if (auto boxes = Separation(named, variables + more, grid, budget).run()) return boxes;
  }
  std::vector<IntegerForm> fewer = constraints;
  if (eliminate_exactly(fewer, variables, budget) == 0) return std::nullopt;
  return Separation(std::move(fewer), variables, grid, budget).run();
}

}  // namespace sluice::dro
