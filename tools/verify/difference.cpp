#include "tools/verify/difference.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace sluice::tools {
namespace {

// Sequence is the copies of one stream by one thread, in their order.
struct Sequence {
  size_t process = 0;
  const ProcessRecord* of = nullptr;
  std::vector<const dro::CopyRecord*> copies;
};

std::vector<Sequence> sequences_of(const RunRecord& run) {
  std::vector<Sequence> sequences;
  for (size_t i = 0; i < run.processes.size(); ++i) {
    const ProcessRecord& process = run.processes[i];
    std::map<std::pair<uint64_t, uint64_t>, size_t> places;
    for (const dro::CopyRecord& copy : process.copies) {
      const auto [place, is_new] = places.try_emplace({copy.thread, copy.stream}, sequences.size());
      if (is_new) sequences.push_back({i, &process, {}});
      sequences[place->second].copies.push_back(&copy);
    }
  }
  return sequences;
}

bool are_alike(const dro::CopyRecord& a, const dro::CopyRecord& b) {
  const auto call = [](const dro::CopyRecord& copy) {
    return std::tie(copy.function, copy.row_bytes, copy.rows, copy.slices, copy.piece_bytes);
  };
  return call(a) == call(b);
}

bool are_equal(const dro::CopyRecord* a, const dro::CopyRecord* b) {
  return are_alike(*a, *b) && a->pieces == b->pieces;
}

std::optional<Difference> first_difference(const Sequence& a, const Sequence& b) {
  const auto [in_a, in_b] = std::ranges::mismatch(a.copies, b.copies, are_equal);
  const bool a_ends = in_a == a.copies.end(), b_ends = in_b == b.copies.end();
  if (a_ends && b_ends) return std::nullopt;
  // A process that was cut off may have made copies that it could not note.
  if ((a_ends && !a.of->is_whole) || (b_ends && !b.of->is_whole)) return std::nullopt;
  Difference found;
  found.first_process = a.of;
  found.moment = {a.process, a_ends ? UINT64_MAX : (*in_a)->number};
  if (!a_ends) found.first = *in_a;
  if (!b_ends) {
    found.second = *in_b;
    found.second_process = b.of;
  }
  if (!a_ends && !b_ends && are_alike(**in_a, **in_b)) {
    const auto pieces = std::ranges::mismatch((*in_a)->pieces, (*in_b)->pieces);
    found.piece = static_cast<size_t>(pieces.in1 - (*in_a)->pieces.begin());
  }
  return found;
}

// drop_equal() takes away what is equal as a whole.
void drop_equal(std::vector<Sequence>& a, std::vector<Sequence>& b) {
  std::erase_if(a, [&](const Sequence& sequence) {
    const auto same = std::ranges::find_if(b, [&](const Sequence& other) {
      return std::ranges::equal(sequence.copies, other.copies, are_equal);
    });
    if (same == b.end()) return false;
    b.erase(same);
    return true;
  });
}

}  // namespace

std::optional<Difference> first_difference(const RunRecord& first, const RunRecord& second) {
  std::vector<Sequence> a = sequences_of(first);
  std::vector<Sequence> b = sequences_of(second);
  drop_equal(a, b);
  // A run that lacks a whole sequence has an empty one.
  const auto fill = [](std::vector<Sequence>& less, size_t size, const RunRecord& run) {
    static const ProcessRecord none{.is_whole = true};
    const ProcessRecord* const process = run.processes.empty() ? &none : &run.processes.back();
    while (less.size() < size)
      less.push_back({run.processes.size(), process, {}});
  };
  fill(a, b.size(), first);
  fill(b, a.size(), second);
  std::optional<Difference> earliest;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto found = first_difference(a[i], b[i]);
    if (found && (!earliest || found->moment < earliest->moment)) earliest = found;
  }
  return earliest;
}

}  // namespace sluice::tools
