#include "analysis/shape/shape_policy.hpp"

#include <algorithm>
#include <bit>

#include "analysis/shape/footprint_comparison.hpp"

namespace sluice::analysis {
namespace {

constexpr size_t most_examples = 16;
constexpr size_t most_families = 16;
constexpr size_t most_symbols = 4;
// Giving a family's footprint the numbers of a launch, and comparing it.
constexpr Budget::Cost comparison_cost = {1'000'000, uint64_t{64} << 20U};
// Ranges beyond this let nearly every index wrap around in 32 bits.
constexpr int64_t largest_bound = 1 << 24;

bool touches_something(const Footprint& footprint) {
  return std::any_of(footprint.arguments.begin(), footprint.arguments.end(),
                     [](const ArgumentFootprint& argument) {
                       return argument.reads.present() || argument.may_writes.present() ||
                              argument.must_writes.present();
                     });
}

bool is_exact(const Footprint& footprint) {
  return std::all_of(footprint.arguments.begin(), footprint.arguments.end(),
                     [](const ArgumentFootprint& argument) {
                       return argument.reads.precision == Precision::exact &&
                              argument.may_writes.precision == Precision::exact &&
                              argument.must_writes.precision == Precision::exact;
                     });
}

int64_t magnitude(int64_t value) {
  return value == INT64_MIN ? INT64_MAX : std::abs(value);
}

}  // namespace

Footprint ShapePolicy::footprint(const LaunchShape& shape) {
  Footprint footprint = answer(shape);
  is_of_family_ = !footprint.symbols.empty();
  return footprint;
}

Footprint ShapePolicy::answer(const LaunchShape& shape) {
  const auto family = std::find_if(families_.begin(), families_.end(),
                                   [&](const auto& known) { return known.covers(shape); });
  if (family != families_.end()) {
    families_.splice(families_.begin(), families_, family);
    return families_.front().at(shape);
  }
  Numbers difference;
  const Footprint* found = nearest(shape, difference);
  if (found == nullptr) return specialised(shape);
  const Footprint example = *found;
  // Where the example is widened, as for an index that wraps around, this shape may not be.
  std::optional<Footprint> own;
  if (!is_exact(example)) own = specialised(shape);
  for (const Numbers& numbers : {with_all_extents(difference, example.shape, shape), difference}) {
    if (refused_.contains(numbers)) continue;
    if (auto footprint = symbolic(example, shape, numbers, own)) return *std::move(footprint);
  }
  return own ? *std::move(own) : specialised(shape);
}

// symbolic() starts a family of two shapes that differ in `numbers` at most, if it is as good as
// the first's footprint. Where it is not as good as the second's `own`, which is that one's answer
// then, the first is an example no longer.
std::optional<Footprint> ShapePolicy::symbolic(const Footprint& example, const LaunchShape& shape,
                                               const Numbers& numbers,
                                               const std::optional<Footprint>& own) {
  const ShapeFamily tried = family_of(example.shape, shape, numbers);
  // Numbers near the limits of their type leave no room for a range.
  if (!is_within(tried, example.shape) || !is_within(tried, shape)) return std::nullopt;
  ++analyses_;
  const Footprint footprint = maker_.make(tried);
  if (own && !is_as_good_as(footprint, *own)) {
    std::erase_if(examples_, [&](const Footprint& known) { return known.shape == example.shape; });
    return own;
  }
  // Compared with its parameters first: a relation that is empty for the example says nothing.
  if (is_as_good_as(footprint, example)) {
    families_.emplace_front(tried, footprint, maker_.form().signature.shape_scalars);
    Budget budget(comparison_cost);
    if (are_equally_exact(families_.front().at(example.shape), example, budget)) {
      if (families_.size() > most_families) families_.pop_back();
      return families_.front().at(shape);
    }
    families_.pop_front();
  }
  refused_.insert(numbers);
  return std::nullopt;
}

// with_all_extents() adds the grid's extents: where it shrinks with a pivot, they change at later
// launches.
ShapePolicy::Numbers ShapePolicy::with_all_extents(const Numbers& numbers, const LaunchShape& a,
                                                   const LaunchShape& b) {
  const auto scalars = ShapeNumber(a.shape_values.size());
  Numbers all = numbers;
  for (ShapeNumber extent = scalars; extent < scalars + 3; ++extent) {
    const bool is_line = value_of(a, extent, 4) == 1 || value_of(b, extent, 4) == 1;
    if (!is_line && std::find(all.begin(), all.end(), extent) == all.end()) all.push_back(extent);
  }
  std::sort(all.begin(), all.end());
  return all.size() <= most_symbols ? all : numbers;
}

Footprint ShapePolicy::specialised(const LaunchShape& shape) {
  ++analyses_;
  Footprint footprint = maker_.make({shape, {}});
  if (touches_something(footprint)) {
    examples_.push_front(footprint);
    if (examples_.size() > most_examples) examples_.pop_back();
  }
  return footprint;
}

// nearest() is the example that differs in the fewest numbers, all of which can be symbolic; the
// latest of several.
Footprint* ShapePolicy::nearest(const LaunchShape& shape, Numbers& difference) {
  Footprint* found = nullptr;
  for (Footprint& example : examples_) {
    const LaunchShape& other = example.shape;
    if (other.block != shape.block || other.dynamic_shared_bytes != shape.dynamic_shared_bytes) {
      continue;
    }
    Numbers numbers;
    for (ShapeNumber i = 0; i < shape.shape_values.size() + 3; ++i) {
      if (value_of(shape, i, bytes_of(i)) != value_of(other, i, bytes_of(i))) numbers.push_back(i);
    }
    const bool possible = numbers.size() <= most_symbols &&
                          std::all_of(numbers.begin(), numbers.end(),
                                      [&](ShapeNumber i) { return can_be_symbolic(i); });
    if (!possible || numbers.empty()) continue;
    if (found == nullptr || numbers.size() < difference.size()) {
      found = &example;
      difference = numbers;
    }
  }
  return found;
}

bool ShapePolicy::can_be_symbolic(ShapeNumber number) const {
  const AccessForm& form = maker_.form();
  if (number >= form.scalar_arguments.size()) return true;
  return form.function->getArg(form.scalar_arguments[number])->getType()->isIntegerTy();
}

bool ShapePolicy::is_within(const ShapeFamily& family, const LaunchShape& shape) const {
  return std::all_of(family.symbols.begin(), family.symbols.end(), [&](const SymbolicNumber& s) {
    const int64_t value = value_of(shape, s.number, bytes_of(s.number));
    return s.low <= value && value <= s.high;
  });
}

uint32_t ShapePolicy::bytes_of(ShapeNumber number) const {
  const auto& scalars = maker_.form().signature.shape_scalars;
  return number < scalars.size() ? std::min(scalars[number].size, 8U) : 4;
}

// A range has room for what is likely to come: up to the largest extent of the launch and the
// largest of its scalars, and twice what was seen. Larger values find a family of their own.
ShapeFamily ShapePolicy::family_of(const LaunchShape& a, const LaunchShape& b,
                                   const Numbers& numbers) const {
  const auto scalars = ShapeNumber(a.shape_values.size());
  int64_t largest = 1;
  for (const LaunchShape* shape : {&a, &b}) {
    const Dim3 &grid = shape->grid, &block = shape->block;
    for (const int64_t extent :
         {int64_t{grid.x} * block.x, int64_t{grid.y} * block.y, int64_t{grid.z} * block.z}) {
      largest = std::max(largest, std::min(extent, largest_bound));
    }
    for (ShapeNumber i = 0; i < scalars; ++i) {
      const int64_t value = value_of(*shape, i, bytes_of(i));
      if (value <= largest_bound) largest = std::max(largest, value);
    }
  }
  ShapeFamily family{b, {}};
  for (const ShapeNumber number : numbers) {
    const int64_t first = value_of(a, number, bytes_of(number));
    const int64_t second = value_of(b, number, bytes_of(number));
    const bool is_extent = number >= scalars;
    const int64_t seen = std::max(magnitude(first), magnitude(second));
    const unsigned bits = 8 * bytes_of(number);
    const int64_t most = bits >= 64 ? INT64_MAX / 4 : (int64_t{1} << (bits - 1)) - 1;
    int64_t room = is_extent ? 2 * seen : std::max(largest, seen >= most / 2 ? seen : 2 * seen);
    room = std::min(int64_t(std::bit_ceil(uint64_t(room))), most);
    int64_t low = is_extent ? 1 : 0;
    if (first < 0 || second < 0) low = -room;
    family.symbols.push_back({number, low, room});
  }
  return family;
}

}  // namespace sluice::analysis
