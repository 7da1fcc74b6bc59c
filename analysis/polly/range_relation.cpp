#include "analysis/polly/range_relation.hpp"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include <llvm/IR/InstIterator.h>

#include "analysis/polly/offset_bounds.hpp"
#include "analysis/polly/widening_reason.hpp"

namespace sluice::analysis {
namespace {

using namespace llvm;

// Each span is a piece of a relation.
constexpr size_t most_spans_of_a_place = 16;
constexpr size_t most_spans_of_a_kind = 64;

// Sloped is spans that move by slope * block index.
struct Sloped {
  std::array<int64_t, 3> slope{};
  std::vector<Range> spans;
};

std::optional<Sloped> sloped(const StoreInst& store, const TouchesOfPlace& touches,
                             const Specialised& kernel, ScalarEvolution& evolution) {
  const auto bounds = bound_offset(Specialised::offset_of(store), kernel, evolution);
  if (!bounds) return std::nullopt;
  Sloped result{bounds->slope, {}};
  for (const Range& span : touches.bytes)
    result.spans.push_back({bounds->low + span.begin, bounds->high + span.end});
  join_ranges(result.spans);
  return result;
}

// Moving is touches of a kind that move alike with the block.
using Moving = std::pair<TouchKind, std::array<int64_t, 3>>;

struct Gathered {
  uint32_t touch = 0;
  WideningReason reason;
  std::vector<Range> spans;
};

}  // namespace

void add_any_byte(const Specialised& kernel, const AccessForm& form, PlacedTouches& placed) {
  for (uint32_t touch : kernel.any_byte) {
    placed.touches.push_back(
        {touch, isl::map(), false, false, {Widening::several_pointers, form.touches[touch].line}});
  }
}

PlacedTouch place_by_range(isl::ctx context, const StoreInst& store, const TouchesOfPlace& touches,
                           const Specialised& kernel, const AccessForm& form,
                           const ShapeFamily& family, ScalarEvolution& evolution,
                           Widening otherwise) {
  PlacedTouch placed;
  placed.touch = touches.touch;
  placed.reason = address_reason(*Specialised::offset_of(store), form, touches.touch, otherwise);
  if (const auto range = sloped(store, touches, kernel, evolution)) {
    placed.bytes =
        sloped_bytes(context, range->slope, coarsened(range->spans, most_spans_of_a_place), family);
  }
  return placed;
}

PlacedTouches place_by_ranges(isl::ctx context, const Specialised& kernel, const AccessForm& form,
                              const ShapeFamily& family, ScalarEvolution& evolution,
                              Widening refusal) {
  const Widening otherwise = refusal == Widening::none ? Widening::not_affine : refusal;
  PlacedTouches placed;
  std::map<Moving, Gathered> ranges;
  for (Instruction& instruction : instructions(*kernel.function)) {
    const auto* place = kernel.place_of(instruction);
    if (place == nullptr) continue;
    const auto& store = cast<StoreInst>(instruction);
    for (const TouchesOfPlace& touches : *place) {
      const auto reason = [&] {
        return address_reason(*Specialised::offset_of(store), form, touches.touch, otherwise);
      };
      const auto range = sloped(store, touches, kernel, evolution);
      if (!range) {
        placed.touches.push_back({touches.touch, isl::map(), false, false, reason()});
        continue;
      }
      auto [gathered, is_new] =
          ranges.try_emplace({kind_of(form.touches[touches.touch]), range->slope});
      if (is_new) gathered->second = {touches.touch, reason(), {}};
      auto& spans = gathered->second.spans;
      spans.insert(spans.end(), range->spans.begin(), range->spans.end());
    }
  }
  for (auto& [how, gathered] : ranges) {
    join_ranges(gathered.spans);
    const auto bytes =
        sloped_bytes(context, how.second, coarsened(gathered.spans, most_spans_of_a_kind), family);
    placed.touches.push_back({gathered.touch, bytes, false, false, gathered.reason});
  }
  add_any_byte(kernel, form, placed);
  return placed;
}

}  // namespace sluice::analysis
