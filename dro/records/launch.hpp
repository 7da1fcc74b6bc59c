// The journal's record of a launch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dro/fields.hpp"
#include "dro/records/widening.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// StreamName is a stream in the journal. Device is its context's, as the driver counts devices.
struct StreamName {
  uint64_t number = 0;  // 0: the default stream, else counted from 1 in order of first use
  uint64_t device = 0;
  friend bool operator==(const StreamName&, const StreamName&) = default;
};

// LaunchDetails is what people want to know of a launch beside its dependences.
struct LaunchDetails {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  StreamName stream;
  // Why a launch that the tracker understood was nevertheless given to the driver as it was (a
  // device without block code, say); empty where the megakernel ran it. The reason of an opaque
  // launch comes with on_opaque_launch().
  std::string passed_through;
  std::optional<analysis::Widening> widening = {};  // where the analysis is why
  friend bool operator==(const LaunchDetails&, const LaunchDetails&) = default;

  const char* how() const { return passed_through.empty() ? "tasks" : "passed_through"; }
};

// LaunchRecord is one launch: tracked where it has a footprint and is not given up, else opaque to
// the tracker.
struct LaunchRecord {
  static constexpr std::string_view kind = "launch";
  static constexpr Role role = Role::input;
  LaunchNumber number = 0;
  LaunchDetails details;  // passed_through holds the reason for an opaque launch too
  std::optional<FootprintId> footprint;
  // A tracked launch whose dependences would have cost too much, so that it was ordered as an
  // opaque one is: true, else nothing.
  std::optional<bool> opaque;
  InternedId interned = 0;
  std::vector<BoundArgument> arguments;
  std::vector<std::pair<LaunchNumber, DroId>> dependences;  // (master, dro)

  bool is_opaque() const { return !footprint || opaque.has_value(); }
};

template <>
inline constexpr auto elements<BoundArgument> =
    [](auto& argument) { return std::tie(argument.buffer, argument.offset); };

// LaunchEntry is one launch as the tracker sees it.
struct LaunchEntry {
  LaunchNumber number = 0;
  FootprintId footprint = 0;
  std::span<const BoundArgument> arguments;  // one for each pointer slot of the footprint
  // Launches before this one are ordered before the launch anyhow, and nobody wants to hear of
  // them: where many are live, they are forgotten.
  LaunchNumber oldest = 0;
};

// record_of() is the record of a tracked launch.
LaunchRecord record_of(const LaunchEntry& entry, const LaunchDetails& details, InternedId interned,
                       std::span<const Dependence> dependences);

// given_up_record() is that of one whose dependences would have cost too much.
inline constexpr const char* why_given_up = "finding its dependences would have cost too much";
LaunchRecord given_up_record(const LaunchEntry& entry, LaunchDetails details, InternedId interned);

// The batch of what waits to be written relies on the number being first and the dependences last.
template <>
inline constexpr auto members<LaunchRecord> = [](auto& record, auto& member) {
  auto& details = record.details;
  member("number", record.number);
  member("kernel", details.kernel);
  member("grid", details.grid);
  member("block", details.block);
  member("stream", details.stream.number);
  member.unless_empty("device", details.stream.device);
  std::string how = details.how();  // follows from the reason: written for people
  member("how", how);
  member.unless_empty("reason", details.passed_through);
  member("widening", details.widening);
  member("footprint", record.footprint);
  if (!record.footprint) return;
  member("opaque", record.opaque);
  member("interned", record.interned);
  member("arguments", record.arguments);
  member("dependences", record.dependences);
};

}  // namespace sluice::dro
