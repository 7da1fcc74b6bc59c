#include "runtime/races/race_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "relation/isl_relation.hpp"

namespace sluice::runtime {
namespace {

// About a tenth of a second; two sets for which it does not suffice are compared by their hulls.
constexpr unsigned long operation_budget = 300'000;
// Of a buffer that is used in more ways than this, the oldest are forgotten.
constexpr size_t most_records = 4096;
constexpr size_t most_answers = 1 << 16;

}  // namespace

RaceCheck::RaceCheck(FaultReport& report) : report_(report) {}
RaceCheck::~RaceCheck() = default;

RaceCheck::SetId RaceCheck::range_of(int64_t bytes) {
  const auto [entry, is_new] = ranges_.try_emplace(bytes, sets_.size());
  if (is_new) sets_.push_back(byte_set(context_, {0, bytes}));
  return entry->second;
}

void RaceCheck::add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) {
  std::vector<Use>& uses = uses_[id];
  uses.clear();
  std::vector<int64_t> values;
  for (const analysis::Symbol& symbol : footprint.symbols)
    values.push_back(symbol.value);
  const auto add = [&](size_t slot, const analysis::Access& access, bool writes, bool is_must) {
    if (!access.present()) return;
    Use use{slot, 0, true, writes, false};
    const bool is_known =
        access.precision != analysis::Precision::whole_buffer && access.relation.is_whole();
    const auto relation = within_grid(
        context_, is_known ? map_at(context_.get(), access.relation, values) : isl::map(),
        footprint.shape.grid);
    if (relation) {
      use.whole_buffer = false;
      use.certain = access.precision == analysis::Precision::exact && (is_must || !writes);
      use.set = sets_.size();
      sets_.push_back(coalesced(relation->range()));
    }
    uses.push_back(use);
  };
  for (size_t slot = 0; slot < footprint.arguments.size(); ++slot) {
    const analysis::ArgumentFootprint& argument = footprint.arguments[slot];
    add(slot, argument.reads, false, false);
    add(slot, argument.must_writes, true, true);
    add(slot, argument.may_writes, true, false);
  }
}

void RaceCheck::launch(const StreamKey& stream, const Action& action, dro::FootprintId footprint,
                       std::span<const AccessedBytes> pointers,
                       std::span<const dro::BoundArgument> bound) {
  const ActionTime time = clocks_.act(stream);
  const auto shared = std::make_shared<const Action>(action);
  std::vector<Record> records;
  for (const Use& use : uses_[footprint]) {
    const AccessedBytes& where = pointers[use.slot];
    if (where.buffer == 0) continue;
    const SetId set = use.whole_buffer ? range_of(int64_t(where.bytes)) : use.set;
    const int64_t offset = use.whole_buffer ? 0 : int64_t(bound[use.slot].offset);
    records.push_back({time, shared, where, set, offset, use.writes, use.certain});
  }
  for (const Record& record : records)
    meet(record);
}

void RaceCheck::copy(const StreamKey& stream, const Action& action,
                     std::span<const CopyRange> ranges) {
  report_.copied();
  const ActionTime time = clocks_.act(stream);
  const auto shared = std::make_shared<const Action>(action);
  for (const CopyRange& range : ranges) {
    meet({time, shared, range.where, range_of(range.bytes.size()), range.bytes.begin, range.writes,
          true});
  }
}

// meet() compares a record with all that are live on its buffer, and makes it live itself.
void RaceCheck::meet(const Record& record) {
  std::vector<Record>& live = records_[record.where.buffer];
  Record* same = nullptr;
  for (Record& other : live) {
    if (other.time.stream == record.time.stream) {
      const bool is_same = other.set == record.set && other.offset == record.offset &&
                           other.writes == record.writes && other.certain == record.certain;
      if (is_same) same = &other;
      continue;
    }
    if ((!record.writes && !other.writes) || clocks_.is_ordered(other.time)) continue;
    if (const auto common = common_bytes(other, record)) tell(other, record, *common);
  }
  if (same != nullptr) {
    *same = record;
    return;
  }
  if (live.size() >= most_records) live.erase(live.begin(), live.begin() + most_records / 2);
  live.push_back(record);
}

std::optional<RaceCheck::Common> RaceCheck::common_bytes(const Record& a, const Record& b) {
  const int64_t shift = b.offset - a.offset;
  if (common_.size() > most_answers) common_.clear();
  const auto [entry, is_new] = common_.try_emplace(std::make_tuple(a.set, b.set, shift));
  if (is_new) {
    const IslContext::Budget budget(context_, operation_budget);
    const isl::map move(context_.get(), fmt::format("{{ A[o] -> A[o + {}] }}", shift));
    const isl::set both = sets_[a.set].intersect(sets_[b.set].apply(move));
    if (both.is_null()) {
      entry->second = common_hull(sets_[a.set], sets_[b.set], shift);
    } else if (const auto range = hull(both)) {
      entry->second = Common{*range, true};
    }
  }
  std::optional<Common> common = entry->second;
  if (common) {
    common->range.begin += a.offset;
    common->range.end += a.offset;
  }
  return common;
}

std::optional<RaceCheck::Common> RaceCheck::common_hull(const isl::set& a, const isl::set& b,
                                                        int64_t shift) {
  const IslContext::Budget unlimited(context_, 0);
  const auto left = hull(a), right = hull(b);
  if (!left || !right) return std::nullopt;
  const Range range{std::max(left->begin, right->begin + shift),
                    std::min(left->end, right->end + shift)};
  if (range.empty()) return std::nullopt;
  return Common{range, false};
}

void RaceCheck::tell(const Record& earlier, const Record& later, const Common& common) {
  const uint64_t times = ++pairs_[{earlier.action->name, later.action->name}];
  if (times > 1) return;
  const auto deed = [](const Record& record) {
    const size_t stream = record.time.stream;
    const std::string where =
        stream == 0 ? " on the default stream" : fmt::format(" on stream {}", stream);
    const std::string verb = record.certain ? (record.writes ? "writes" : "reads")
                                            : (record.writes ? "may write" : "may read");
    const std::string text = action_text(*record.action, where) + " " + verb;
    return record.where.argument < 0
               ? text
               : fmt::format("{} through argument {}", text, record.where.argument);
  };
  const int64_t last = std::min(common.range.end, int64_t(later.where.bytes)) - 1;
  Fault fault{.kind = "races", .rule = "race-between-streams"};
  fault.is_certain = earlier.certain && later.certain && common.is_known;
  fault.kernel =
      fmt::format("{}, {}", short_name(earlier.action->name), short_name(later.action->name));
  fault.message =
      fmt::format("{}: bytes {} to {} of buffer {} ({} bytes); nothing orders these two:",
                  fault.is_certain ? "race" : "possible race", common.range.begin, last,
                  later.where.buffer, later.where.bytes);
  fault.details = {deed(earlier), deed(later)};
  fault.site = site_text(later.action->site, later.action->name);
  report_.add(fault);
}

void RaceCheck::buffer_destroyed(dro::BufferId buffer) {
  records_.erase(buffer);
}

}  // namespace sluice::runtime
