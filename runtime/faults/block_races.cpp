#include "runtime/faults/block_races.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace sluice::runtime {
BlockRaces::Sharing BlockRaces::sharing_of(const LaunchView& view) {
  Sharing sharing;
  for (size_t slot = 0; slot < view.bytes.slots(); ++slot) {
    const dro::BoundArgument& bound = view.bound(slot);
    size_t with = 0;
    while (with < slot && (bound.buffer == 0 || view.bound(with).buffer != bound.buffer))
      ++with;
    sharing.emplace_back(with, static_cast<int64_t>(bound.offset - view.bound(with).offset));
  }
  return sharing;
}

void BlockRaces::launched(dro::FootprintId id, const LaunchView& view) {
  if (view.launch.kernel.call->grid.count() < 2) return;
  const auto [entry, is_new] = judged_[id].try_emplace(sharing_of(view));
  auto& [sharing, judged] = *entry;
  if (!is_new && !judged.depends_on_scalars) return;
  if (!is_new && !judged.scalars.insert(view.scalars()).second) return;
  judged.depends_on_scalars = judge(view, sharing);
  if (is_new && judged.depends_on_scalars) judged.scalars.insert(view.scalars());
}

bool BlockRaces::judge(const LaunchView& view, const Sharing& sharing) {
  bool depends = false;
  for (size_t writes = 0; writes < sharing.size(); ++writes) {
    if (!view.bytes.is_exact(writes, Use::must_writes)) continue;
    for (size_t other = 0; other < sharing.size(); ++other) {
      if (sharing[other].first != sharing[writes].first) continue;
      if (other >= writes && view.bytes.is_exact(other, Use::must_writes))
        depends |= judge_writes(view, sharing, writes, other);
      if (view.bytes.is_exact(other, Use::reads))
        depends |= judge_reads(view, sharing, writes, other);
    }
  }
  return depends;
}

BlockConflicts::Answer BlockRaces::meet(const LaunchView& view, const Sharing& sharing, size_t a,
                                        Use a_use, size_t b, Use b_use) {
  const BlockConflicts::Touched left{&view.bytes.access(a, a_use).relation, sharing[a].second};
  const BlockConflicts::Touched right{&view.bytes.access(b, b_use).relation, sharing[b].second};
  const BlockConflicts::Answer answer =
      conflicts_.find(left, right, view.bytes.values(), view.launch.kernel.call->grid);
  if (!answer.is_known) report_.in_part("to compare its blocks would take too long");
  return answer;
}

bool BlockRaces::is_new(const LaunchView& view, size_t a, size_t b) {
  return told_.emplace(view.kernel(), std::min(a, b), std::max(a, b)).second;
}

// These are true where blocks meet.
bool BlockRaces::judge_writes(const LaunchView& view, const Sharing& sharing, size_t a, size_t b) {
  const auto conflict = meet(view, sharing, a, Use::must_writes, b, Use::must_writes).conflict;
  if (!conflict) return false;
  const analysis::SlotValues *left = view.values(a), *right = view.values(b);
  if (left == nullptr || right == nullptr) {
    report_.in_part("what its blocks write cannot be followed");
    return true;
  }
  const bool differ = left->stores_differ || right->stores_differ;
  if (!differ || !is_new(view, a, b)) return true;
  const size_t with = sharing[a].first;
  Fault fault = view.fault(
      "races", "race-between-blocks",
      fmt::format("race: bytes {} to {} of buffer {} ({} bytes); two blocks of one launch write "
                  "them, and not the same values:",
                  view.in_buffer(with, conflict->bytes.begin),
                  view.in_buffer(with, conflict->bytes.end) - 1, view.bound(a).buffer,
                  view.buffer_bytes(a)));
  const auto deed = [&](const BlockIndex& block, size_t slot, const analysis::SlotValues& values) {
    return fmt::format("{} writes through {}{}", view.block_text(block), view.slot_text(slot),
                       code_text(values.stores));
  };
  fault.details.push_back(deed(conflict->first, a, *left));
  fault.details.push_back(deed(conflict->second, b, *right));
  place(fault, left->stores);
  report_.add(fault);
  return true;
}

bool BlockRaces::judge_reads(const LaunchView& view, const Sharing& sharing, size_t writes,
                             size_t reads) {
  const auto conflict = meet(view, sharing, writes, Use::must_writes, reads, Use::reads).conflict;
  if (!conflict) return false;
  const analysis::SlotValues *written = view.values(writes), *read = view.values(reads);
  if (written == nullptr || read == nullptr) {
    report_.in_part("what its blocks write cannot be followed");
    return true;
  }
  // Atomics and volatile accesses may be how blocks agree on who reads when. A block that has
  // written the same value before reads that, whoever else has written it too.
  const bool may_be_own = !written->stores_differ && !read->written_before.empty();
  if (may_be_own || read->has_strong_loads || read->loads.empty() || !is_new(view, writes, reads))
    return true;
  const size_t with = sharing[writes].first;
  Fault fault = view.fault(
      "races", "race-between-blocks",
      fmt::format("race: bytes {} to {} of buffer {} ({} bytes); one block reads what another of "
                  "the same launch writes:",
                  view.in_buffer(with, conflict->bytes.begin),
                  view.in_buffer(with, conflict->bytes.end) - 1, view.bound(writes).buffer,
                  view.buffer_bytes(writes)));
  fault.details.push_back(fmt::format("{} writes through {}{}", view.block_text(conflict->first),
                                      view.slot_text(writes), code_text(written->stores)));
  fault.details.push_back(fmt::format("{} reads through {}{}", view.block_text(conflict->second),
                                      view.slot_text(reads), code_text(read->loads)));
  place(fault, read->loads);
  report_.add(fault);
  return true;
}

}  // namespace sluice::runtime
