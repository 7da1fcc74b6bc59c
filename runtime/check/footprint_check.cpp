#include "runtime/check/footprint_check.hpp"

#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "dro/journal/journal.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {

// KernelFindings adds up the blocks of one kernel.
class FootprintCheck::KernelFindings final : public Findings {
 public:
  KernelFindings(std::string kernel, std::atomic<uint64_t>& violations) : violations_(violations) {
    record_.kernel = std::move(kernel);
  }

  void add(const BlockFindings& findings) override {
    const std::lock_guard lock(mutex_);
    ++record_.blocks;
    for (size_t i = 0; i < findings.arguments.size(); ++i) {
      const BlockFindings::Argument& from = findings.arguments[i];
      dro::CheckRecord::Argument& to = record_.arguments[i];
      to.read_bytes_claimed += from.reads.claimed;
      to.read_bytes_touched += from.reads.touched;
      to.written_bytes_claimed += from.writes.claimed;
      to.written_bytes_touched += from.writes.touched;
      to.must_write_bytes += from.must_writes;
    }
    for (const Violation& violation : findings.violations) {
      ++record_.violations;
      ++violations_;
      // The same instruction is wrong in block after block.
      if (told_.emplace(violation.kind, violation.argument, violation.line).second) {
        log::error("{}", violation_text(record_.kernel, violation));
      }
    }
  }

  // begin_launch() returns how many launches of the kernel were begun before.
  uint64_t begin_launch(const std::vector<BoundPointer>& pointers, uint32_t blocks) {
    const std::lock_guard lock(mutex_);
    *record_.launched_blocks += blocks;
    // Kernels of one name in two modules may differ in their arguments.
    for (size_t i = record_.arguments.size(); i < pointers.size(); ++i) {
      record_.arguments.push_back({.name = pointers[i].name});
    }
    return record_.launches++;
  }

  void count_unchecked() {
    const std::lock_guard lock(mutex_);
    ++record_.unchecked;
  }

  dro::CheckRecord record() {
    const std::lock_guard lock(mutex_);
    return record_;
  }

 private:
  std::atomic<uint64_t>& violations_;
  std::mutex mutex_;
  dro::CheckRecord record_;
  std::set<std::tuple<Violation::Kind, std::string, uint32_t>> told_;
};

void FootprintCheck::add_footprint(dro::FootprintId id, const analysis::Footprint& footprint) {
  const std::lock_guard lock(mutex_);
  Result<std::unique_ptr<FootprintClaims>> claims = FootprintClaims::create(footprint, relations_);
  if (!claims) log::warning("{}: not checked: {}", footprint.kernel, claims.error().line());
  claims_[id] = claims ? std::move(*claims) : nullptr;
}

std::shared_ptr<megakernel::BlockRunner> FootprintCheck::watch(const std::string& kernel,
                                                               dro::FootprintId id,
                                                               std::vector<BoundPointer> pointers,
                                                               size_t parameter_bytes) {
  const std::shared_ptr<KernelFindings> findings = findings_of(kernel);
  std::shared_ptr<FootprintClaims> claims;
  {
    const std::lock_guard lock(mutex_);
    claims = claims_[id];
  }
  if (claims == nullptr) {
    findings->count_unchecked();
    return nullptr;
  }
  const uint64_t before = findings->begin_launch(pointers, claims->block_count());
  const BlockChoice choice = BlockChoice::of_launch(claims->block_count(), most_blocks_, before);
  return std::make_shared<LaunchCheck>(
      std::move(claims), std::move(pointers), choice, parameter_bytes,
      [this](const SluiceAccessSink* sink) { device_.set_access_sink(sink); }, findings);
}

std::shared_ptr<megakernel::BlockRunner> FootprintCheck::watch(const Known& launch) {
  const KernelCall& call = launch.kernel;
  return watch(call.function->kernel->name, launch.bound->footprint->id,
               {call.pointers.begin(), call.pointers.end()}, call.parameters.size());
}

void FootprintCheck::unchecked(const std::string& kernel, const std::string& /*reason*/) {
  findings_of(kernel)->count_unchecked();
}

void FootprintCheck::finished(dro::JournalWriter* journal) {
  if (journal == nullptr) return;
  for (const dro::CheckRecord& record : records())
    journal->note(record);
}

std::vector<dro::CheckRecord> FootprintCheck::records() {
  const std::lock_guard lock(mutex_);
  std::vector<dro::CheckRecord> records;
  for (const auto& [kernel, findings] : kernels_)
    records.push_back(findings->record());
  return records;
}

std::shared_ptr<FootprintCheck::KernelFindings> FootprintCheck::findings_of(
    const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<KernelFindings>& findings = kernels_[kernel];
  if (findings == nullptr) findings = std::make_shared<KernelFindings>(kernel, violations_);
  return findings;
}

std::string violation_text(const std::string& kernel, const Violation& violation) {
  const std::string block =
      fmt::format("({}, {}, {})", violation.block.x, violation.block.y, violation.block.z);
  if (violation.kind == Violation::Kind::missing_must_write) {
    return fmt::format(
        "kernel {}: block {} did not write byte {} of argument {}, which its footprint says it "
        "must",
        kernel, block, violation.offset, violation.argument);
  }
  const std::string place =
      violation.argument.empty()
          ? fmt::format("address 0x{:x}, in no argument's buffer", violation.offset)
          : fmt::format("byte {} of argument {}", violation.offset, violation.argument);
  const std::string line = violation.line == 0 ? "" : fmt::format(", PTX line {}", violation.line);
  return fmt::format("kernel {}{}: block {} {} {} bytes outside its footprint: {}", kernel, line,
                     block, violation.kind == Violation::Kind::read ? "reads" : "writes",
                     violation.bytes, place);
}

}  // namespace sluice::runtime
