#include "runtime/faults/fault_report.hpp"

#include "base/json_text.hpp"
#include "base/log.hpp"
#include "dro/records/widening.hpp"

namespace sluice::runtime {
namespace {

using analysis::Access;
using analysis::Precision;

uint64_t sum(const std::map<std::string, uint64_t>& counts) {
  uint64_t all = 0;
  for (const auto& [reason, count] : counts)
    all += count;
  return all;
}

// why_in_part() is why a footprint does not show all that a launch does; empty where it does.
std::string why_in_part(const analysis::Footprint& footprint) {
  for (const analysis::ArgumentFootprint& argument : footprint.arguments) {
    for (const Access* access : {&argument.reads, &argument.may_writes, &argument.must_writes}) {
      if (!access->present() || access->precision == Precision::exact) continue;
      return access->reason.empty() ? "its bytes are not known exactly"
                                    : dro::sentence_of(access->reason);
    }
  }
  for (const analysis::ArgumentFootprint& argument : footprint.arguments) {
    if (argument.may_writes.present())
      return "it has atomics, or writes that depend on data or may not happen";
  }
  return {};
}

}  // namespace

void FaultReport::add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) {
  why_in_part_[id] = why_in_part(footprint);
}

void FaultReport::launched(const Known& launch) {
  const std::string& reason = why_in_part_[launch.bound->footprint->id];
  if (reason.empty()) {
    ++whole_;
  } else {
    ++in_part_[reason];
  }
}

void FaultReport::unchecked(const std::string& /*kernel*/, const std::string& reason) {
  ++unchecked_[reason];
}

void FaultReport::finished(dro::JournalWriter* /*journal*/) {
  const uint64_t in_part = sum(in_part_), not_at_all = sum(unchecked_);
  const uint64_t launches = whole_ + in_part + not_at_all;
  if (!checks().report.empty()) {
    append("checked", JsonText::object({{"copies", copies_},
                                        {"in_part", in_part_},
                                        {"launches", launches},
                                        {"unchecked", unchecked_},
                                        {"whole", whole_}}));
    return;
  }
  for (const auto& [reason, count] : unchecked_)
    log::error("{} launches not checked: {}", count, reason);
  for (const auto& [reason, count] : in_part_)
    log::error("{} launches checked in part: {}", count, reason);
  log::error("{} faults in {} launches, {} of them checked whole, and {} copies", found(), launches,
             whole_, copies_);
}

}  // namespace sluice::runtime
