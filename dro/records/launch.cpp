#include "dro/records/launch.hpp"

namespace sluice::dro {

LaunchRecord record_of(const LaunchEntry& entry, const LaunchDetails& details, InternedId interned,
                       std::span<const Dependence> dependences) {
  LaunchRecord record{entry.number, details, entry.footprint, {}, interned, {}, {}};
  record.arguments.assign(entry.arguments.begin(), entry.arguments.end());
  for (const Dependence& dependence : dependences)
    record.dependences.emplace_back(dependence.master, dependence.dro->id);
  return record;
}

LaunchRecord given_up_record(const LaunchEntry& entry, LaunchDetails details, InternedId interned) {
  details.passed_through = why_given_up;
  LaunchRecord record = record_of(entry, details, interned, {});
  record.opaque = true;
  return record;
}

}  // namespace sluice::dro
