#include "dro/strides/relation_strides.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "dro/boxes/elimination.hpp"
#include "dro/boxes/form_bounds.hpp"
#include "dro/boxes/relation_boxes.hpp"
#include "dro/strides/integer_loops.hpp"
#include "dro/strides/thread_numbers.hpp"

namespace sluice::dro {
namespace {

constexpr size_t most_parts_of_relation = 16;
// More overlapping elements of neighbouring threads are no row of an array.
constexpr size_t most_shifts = 16;
constexpr int64_t largest_place = int64_t{1} << 44;

bool has(const IntegerForm& form, size_t variable) {
  return form.terms[variable] != 0;
}

// is_zero() says whether constraints show by themselves that a variable can be nothing else: of a
// grid of one row, that no block lies outside.
bool is_zero(const std::vector<IntegerForm>& forms, size_t variable) {
  const auto bounds = [&](int64_t sign) {
    return std::ranges::any_of(forms, [&](IntegerForm form) {
      const int64_t own = std::exchange(form.terms[variable], 0);
      return form.constant == 0 && form.terms == IntegerForm().terms &&
             (sign > 0 ? own > 0 : own < 0);
    });
  };
  return bounds(1) && bounds(-1);
}

// ByteBounds is what constraints say of the byte, which is a thread's: at least all `lower`, at
// most all `upper`.
struct ByteBounds {
  std::vector<IntegerForm> lower, upper;
};

// byte_bounds() is nothing where only multiples of the byte are bounded.
std::optional<ByteBounds> byte_bounds(const std::vector<IntegerForm>& forms) {
  ByteBounds bounds;
  for (const IntegerForm& form : forms) {
    IntegerForm rest = form;
    const int64_t own = std::exchange(rest.terms[IntegerForm::byte], 0);
    if (own == 0) continue;
    if (own != 1 && own != -1) return std::nullopt;
    for (int64_t& term : rest.terms)
      term *= -own;
    rest.constant *= -own;
    (own > 0 ? bounds.lower : bounds.upper).push_back(rest);
  }
  return bounds;
}

// ByteWindow is a bound from below and one from above that rise together: each thread's bytes begin
// at `start`, and are so many, but for what `others` leave out.
struct ByteWindow {
  IntegerForm start;
  int64_t length = 0;
  ByteBounds others;
};

std::optional<ByteWindow> byte_window(ByteBounds bounds) {
  for (size_t i = 0; i < bounds.lower.size(); ++i) {
    for (size_t k = 0; k < bounds.upper.size(); ++k) {
      const IntegerForm &lower = bounds.lower[i], &upper = bounds.upper[k];
      if (lower.terms != upper.terms || lower.terms == IntegerForm().terms) continue;
      ByteWindow window{lower, upper.constant - lower.constant + 1, {}};
      if (window.length < 1) return std::nullopt;
      bounds.lower.erase(bounds.lower.begin() + static_cast<std::ptrdiff_t>(i));
      bounds.upper.erase(bounds.upper.begin() + static_cast<std::ptrdiff_t>(k));
      window.others = std::move(bounds);
      return window;
    }
  }
  return std::nullopt;
}

// at_values() is a form where its variables have these values; nothing where that is too large.
std::optional<int64_t> at_values(const IntegerForm& form, const IntegerLoops::Values& values) {
  int64_t sum = form.constant;
  for (size_t v = 0; v < values.size(); ++v) {
    if (!add_product(sum, form.terms[v], values[v])) return std::nullopt;
  }
  return sum;
}

// PieceStrides reads one piece.
class PieceStrides {
 public:
  PieceStrides(std::vector<IntegerForm> forms, size_t variables, Budget& budget)
      : forms_(std::move(forms)), variables_(variables), budget_(budget), parts_(budget) {}

  std::optional<Strides> run() {
    const auto numbers = thread_numbers(forms_, variables_);
    const bool good = !numbers                                 ? by_blocks()
                      : numbers->variable == IntegerForm::byte ? by_bytes(*numbers)
                                                               : by_threads(*numbers);
    if (!good) return std::nullopt;
    const auto parts = parts_.finish();
    if (!parts) return std::nullopt;
    Strides strides;
    for (const int64_t shift : shifts_) {
      for (BlockStrides part : *parts) {
        part.byte += shift;
        strides.push_back(std::move(part));
      }
    }
    return strides;
  }

 private:
  using Values = IntegerLoops::Values;

  // loops_over() runs through all variables of the forms but two, then through those that are
  // given.
  template <class Visit>
  bool loops_over(const std::vector<IntegerForm>& forms, std::vector<size_t> first, size_t last,
                  size_t without, const Visit& visit) {
    for (size_t v = IntegerForm::first_existential; v < variables_; ++v) {
      const auto used = [v](const IntegerForm& form) { return has(form, v); };
      if (v != last && v != without && std::ranges::any_of(forms, used)) first.push_back(v);
    }
    first.push_back(last);
    const auto loops = IntegerLoops::make(forms, first, budget_);
    return loops && loops->run(budget_, [&](const Values& values, int64_t end) {
      return visit(values, values[last], end);
    });
  }

  bool add(BlockStrides part) {
    const auto is_far = [](int64_t place) { return place < 0 || place > largest_place; };
    if (is_far(part.position) || is_far(part.byte) || part.length > largest_place) return false;
    return parts_.add(std::move(part));
  }

  // by_bytes() has a position for each byte.
  bool by_bytes(const ThreadNumbers& numbers) {
    std::vector<IntegerForm> forms = numbers.forms;
    std::vector<size_t> outer;
    if (!numbers.are_all()) {
      forms.insert(forms.end(), numbers.tiles.begin(), numbers.tiles.end());
      outer.push_back(IntegerForm::x);
    }
    return loops_over(
        forms, outer, IntegerForm::byte, IntegerForm::byte,
        [&](const Values&, int64_t first, int64_t last) {
          return add({numbers.block, first - numbers.first, first, last - first + 1, {}});
        });
  }

  // by_blocks() has as many positions for each block as it touches bytes at a time.
  bool by_blocks() {
    return loops_over(forms_, {IntegerForm::x}, IntegerForm::byte, IntegerForm::byte,
                      [&](const Values& values, int64_t first, int64_t last) {
                        const int64_t length = last - first + 1;
                        if (length > largest_place) return false;
                        int64_t position = 0;
                        if (__builtin_mul_overflow(values[IntegerForm::x], length, &position))
                          return false;
                        return add({length, position, first, length, {}});
                      });
  }

  // by_threads() has as many positions for each thread as it touches bytes that no other does.
  bool by_threads(const ThreadNumbers& numbers) {
    const auto bounds = byte_bounds(numbers.forms);
    const auto window = bounds ? byte_window(*bounds) : std::nullopt;
    if (!window) return false;
    std::vector<IntegerForm> forms;
    for (const IntegerForm& form : numbers.forms) {
      if (!has(form, IntegerForm::byte)) forms.push_back(form);
    }
    // Where a thread has bytes at all, what bounds them from below is not above the rest.
    for (const IntegerForm& lower : bounds->lower) {
      for (const IntegerForm& upper : bounds->upper) {
        IntegerForm both = upper;
        bool good = add_product(both.constant, lower.constant, -1);
        for (size_t v = 0; v < both.terms.size(); ++v)
          good = good && add_product(both.terms[v], lower.terms[v], -1);
        if (!good) return false;
        forms.push_back(both);
      }
    }
    std::vector<size_t> outer;
    if (!numbers.are_all()) {
      forms.insert(forms.end(), numbers.tiles.begin(), numbers.tiles.end());
      outer.push_back(IntegerForm::x);
    }
    const int64_t step = window->start.terms[numbers.variable];
    if (step < 0) return false;
    const auto add_row = [&](const Values& values, int64_t first, int64_t last) {
      const auto whole = has_all_bytes(*window, numbers.variable, values, first, last);
      return whole && (!*whole || add_threads(numbers, *window, values, first, last));
    };
    return loops_over(forms, outer, numbers.variable, IntegerForm::byte, add_row) &&
           repeat_shifted(step, window->length);
  }

  // has_all_bytes() is true where neighbouring threads have all bytes of their windows, false where
  // they have none, and nothing where it is something else.
  static std::optional<bool> has_all_bytes(const ByteWindow& window, size_t variable, Values values,
                                           int64_t first, int64_t last) {
    bool all = true;
    const auto look = [&](const IntegerForm& bound, bool is_lower) {
      for (const int64_t thread : {first, last}) {
        values[variable] = thread;
        const auto start = at_values(window.start, values), edge = at_values(bound, values);
        if (!start || !edge) return false;
        const int64_t end = *start + window.length - 1;
        const bool has_all = is_lower ? *edge <= *start : *edge >= end;
        const bool has_none = is_lower ? *edge > end : *edge < *start;
        // What holds of the first and the last holds of all between them.
        if (!has_all && (!has_none || (thread == last && all && first != last))) return false;
        if (thread == last && !all && has_all) return false;
        all = has_all;
      }
      return true;
    };
    for (const IntegerForm& lower : window.others.lower) {
      if (!look(lower, true)) return std::nullopt;
      if (!all) return false;
    }
    for (const IntegerForm& upper : window.others.upper) {
      if (!look(upper, false)) return std::nullopt;
      if (!all) return false;
    }
    return true;
  }

  // add_threads() adds what neighbouring threads touch; of bytes that several touch, those that the
  // first of them does.
  bool add_threads(const ThreadNumbers& numbers, const ByteWindow& window, Values values,
                   int64_t first, int64_t last) {
    values[numbers.variable] = first;
    const auto start = at_values(window.start, values);
    if (!start) return false;
    const int64_t step = window.start.terms[numbers.variable];
    const int64_t threads = last - first + 1, number = first - numbers.first;
    const int64_t own = step > 0 ? std::min(step, window.length) : window.length;
    if (std::max(threads, numbers.block) > largest_place / std::max(step, own) || number < 0 ||
        number > largest_place / own) {
      return false;
    }
    if (own == step) return add({numbers.block * own, number * own, *start, threads * own, {}});
    BlockStrides part{numbers.block * own, number * own, *start, own, {}};
    if (threads > 1) part.levels.push_back({threads, own, step});
    return add(std::move(part));
  }

  // repeat_shifted() has each thread touch all its bytes, where its next begins among them.
  bool repeat_shifted(int64_t step, int64_t length) {
    if (step == 0 || step >= length) return true;
    shifts_.clear();
    for (int64_t shift = 0; shift < length - step; shift += step)
      shifts_.push_back(shift);
    shifts_.push_back(length - step);
    return shifts_.size() <= most_shifts;
  }

  const std::vector<IntegerForm> forms_;
  const size_t variables_;
  Budget& budget_;
  StrideGathering parts_;
  std::vector<int64_t> shifts_ = {0};  // by which everything comes again
};

}  // namespace

std::optional<Strides> strides_of(const Relation& relation, std::span<const int64_t> values,
                                  const Dim3& grid, Budget& budget) {
  if (relation.pieces.size() > most_parts_of_relation || grid.y != 1 || grid.z != 1)
    return std::nullopt;
  Strides strides;
  for (const Relation::Piece& piece : relation.pieces) {
    auto forms = forms_of(piece, values);
    if (!forms) return std::nullopt;
    if (!is_zero(*forms, IntegerForm::y) || !is_zero(*forms, IntegerForm::z)) return std::nullopt;
    for (IntegerForm& form : *forms) {
      form.terms[IntegerForm::y] = form.terms[IntegerForm::z] = 0;
      form = tightened(form);
    }
    const size_t variables = IntegerForm::first_existential + piece.divisions;
    auto found = PieceStrides(std::move(*forms), variables, budget).run();
    if (!found) return std::nullopt;
    strides.insert(strides.end(), found->begin(), found->end());
  }
  if (strides.size() > most_parts || !lie_in(strides, grid)) return std::nullopt;
  return strides;
}

}  // namespace sluice::dro
