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
// Launches of a kernel that are traced, since that takes tens of times as long: the first, since
// nobody knows yet what comes beside it, and of one that may race so many that data may vary.
constexpr uint64_t most_traced = 1;
constexpr uint64_t most_traced_of_suspects = 64;
// Pairs that wait for what they touched, the oldest of which are forgotten.
constexpr size_t most_suspected = 4096;

}  // namespace

RaceCheck::RaceCheck(FaultReport& report, IslContext& context)
    : report_(report), context_(context) {}
RaceCheck::~RaceCheck() = default;

bool RaceCheck::Uses::all_certain() const {
  return std::ranges::all_of(all, &SlotUse::certain);
}

void RaceCheck::add(dro::FootprintId id, std::shared_ptr<FootprintBytes> footprint) {
  Uses& uses = uses_[id];
  uses = {{}, std::move(footprint)};
  for (size_t slot = 0; slot < uses.bytes->slots(); ++slot) {
    for (const Use how : {Use::reads, Use::must_writes, Use::may_writes}) {
      const analysis::Access& access = uses.bytes->access(slot, how);
      if (!access.present()) continue;
      const bool is_whole =
          access.precision == analysis::Precision::whole_buffer || !access.relation.is_whole();
      uses.all.push_back({slot, how, is_whole, !is_whole && uses.bytes->is_exact(slot, how)});
    }
  }
}

isl::set RaceCheck::known(const ByteSet& set) {
  return set.footprint != nullptr ? set.footprint->set(set.slot, set.use)
                                  : byte_set(context_, {0, set.bytes});
}

std::shared_ptr<TracedBytes> RaceCheck::launch(const StreamKey& stream, const Action& action,
                                               dro::FootprintId footprint,
                                               std::span<const AccessedBytes> pointers,
                                               std::span<const dro::BoundArgument> bound) {
  settle();
  const ActionTime time = clocks_.act(stream);
  const auto shared = std::make_shared<const Action>(action);
  const Uses& uses = uses_[footprint];
  std::shared_ptr<TracedBytes> traced;
  if (!uses.all_certain() && clocks_.has_several()) traced = std::make_shared<TracedBytes>();
  std::vector<Record> records;
  for (const SlotUse& use : uses.all) {
    const AccessedBytes& where = pointers[use.slot];
    if (where.buffer == 0) continue;
    Record record{.time = time, .action = shared, .where = where};
    if (use.whole_buffer) {
      record.set.bytes = int64_t(where.bytes);
    } else {
      record.set = {uses.bytes, use.slot, use.use};
      record.offset = int64_t(bound[use.slot].offset);
    }
    record.writes = use.use != Use::reads;
    record.certain = use.certain;
    if (!use.certain) record.traced = traced;
    records.push_back(std::move(record));
  }
  for (const Record& record : records)
    meet(record);
  if (traced == nullptr || is_traced(action.name)) return traced;
  traced->give_up();
  return nullptr;
}

bool RaceCheck::is_traced(const std::string& kernel) {
  Traced& traced = traced_[kernel];
  if (traced.launches >= (traced.is_suspect ? most_traced_of_suspects : most_traced)) return false;
  ++traced.launches;
  return true;
}

void RaceCheck::copy(const StreamKey& stream, const Action& action,
                     std::span<const CopyRange> ranges) {
  report_.copied();
  settle();
  const ActionTime time = clocks_.act(stream);
  const auto shared = std::make_shared<const Action>(action);
  for (const CopyRange& range : ranges) {
    Record record{.time = time, .action = shared, .where = range.where};
    record.set.bytes = range.bytes.size();
    record.offset = range.bytes.begin;
    record.writes = range.writes;
    record.certain = true;
    meet(record);
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
    const auto common = common_bytes(other, record);
    if (!common) continue;
    if (other.certain && record.certain && common->is_known) {
      tell(other, record, common->range);
    } else {
      suspect(other, record);
    }
  }
  if (same != nullptr) {
    *same = record;
    return;
  }
  if (live.size() >= most_records) live.erase(live.begin(), live.begin() + most_records / 2);
  live.push_back(record);
}

void RaceCheck::suspect(const Record& earlier, const Record& later) {
  if (pairs_.contains({earlier.action->name, later.action->name})) return;
  for (const Record* record : {&earlier, &later})
    if (!record->certain) traced_[record->action->name].is_suspect = true;
  suspected_.emplace_back(earlier, later);
  if (suspected_.size() > most_suspected) suspected_.pop_front();
}

void RaceCheck::settle() {
  std::deque<std::pair<Record, Record>> to_come;
  for (auto& [earlier, later] : std::exchange(suspected_, {})) {
    if (is_to_come(earlier, later)) {
      to_come.emplace_back(std::move(earlier), std::move(later));
      continue;
    }
    const std::optional<ByteIntervals> common = runtime::common_bytes(earlier, later);
    if (common && !common->empty()) tell(earlier, later, *common->hull());
  }
  suspected_ = std::move(to_come);
}

void RaceCheck::finished(dro::JournalWriter* /*journal*/) {
  settle();
}

std::optional<RaceCheck::Common> RaceCheck::common_bytes(const Record& a, const Record& b) {
  const int64_t shift = b.offset - a.offset;
  if (common_.size() > most_answers) common_.clear();
  const auto [entry, is_new] = common_.try_emplace(std::make_tuple(a.set, b.set, shift));
  if (is_new) {
    const IslContext::Budget budget(context_, operation_budget);
    const isl::map move(context_.get(), fmt::format("{{ A[o] -> A[o + {}] }}", shift));
    const isl::set left = known(a.set), right = known(b.set);
    const isl::set both = left.intersect(right.apply(move));
    if (left.is_null() || right.is_null()) {
      entry->second = Common{{}, false};
    } else if (both.is_null()) {
      entry->second = common_hull(left, right, shift);
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

void RaceCheck::tell(const Record& earlier, const Record& later, const Range& common) {
  const uint64_t times = ++pairs_[{earlier.action->name, later.action->name}];
  if (times > 1) return;
  const auto deed = [](const Record& record) {
    const size_t stream = record.time.stream;
    const std::string where =
        stream == 0 ? " on the default stream" : fmt::format(" on stream {}", stream);
    const std::string text =
        action_text(*record.action, where) + (record.writes ? " writes" : " reads");
    return record.where.argument < 0
               ? text
               : fmt::format("{} through argument {}", text, record.where.argument);
  };
  const int64_t last = std::min(common.end, int64_t(later.where.bytes)) - 1;
  Fault fault{.kind = "races", .rule = "race-between-streams"};
  fault.kernel =
      fmt::format("{}, {}", short_name(earlier.action->name), short_name(later.action->name));
  fault.message = fmt::format(
      "race: bytes {} to {} of buffer {} ({} bytes); nothing orders these two:", common.begin, last,
      later.where.buffer, later.where.bytes);
  fault.details = {deed(earlier), deed(later)};
  fault.site = site_text(later.action->site, later.action->name);
  report_.add(fault);
}

void RaceCheck::buffer_destroyed(dro::BufferId buffer) {
  records_.erase(buffer);
}

}  // namespace sluice::runtime
