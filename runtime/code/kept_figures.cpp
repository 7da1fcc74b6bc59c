#include "runtime/code/kept_figures.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sluice::runtime {
namespace {

// A day, in nanoseconds: a file may say anything.
constexpr uint64_t most_kept = 86'400'000'000'000;
constexpr const char* name_of_unfinished = "unfinished analysis";

std::string name_of(const Policy::Mark::Size& size) {
  return fmt::format("new {} {} {} {}", size.block.x, size.block.y, size.block.z, size.grid);
}

}  // namespace

Policy::Mark::Size& size_of(Kernel& kernel, const Dim3& grid, const Dim3& block) {
  Policy::Mark::Size& size = kernel.pay.size(grid.count(), block);
  if (size.account.steps.is_read()) return size;
  std::vector<uint64_t> kept = kernel.model->figures(name_of(size));
  if (!kept.empty()) {
    size.account.in_vain = static_cast<int64_t>(std::min(kept.front(), most_kept));
    kept.erase(kept.begin());
  }
  size.account.steps.read(std::move(kept));
  return size;
}

KeptFigures figures_of(const Policy::Mark::Size& size) {
  KeptFigures kept{name_of(size), {static_cast<uint64_t>(size.account.in_vain)}};
  const std::vector<uint64_t>& steps = size.account.steps.all();
  kept.figures.insert(kept.figures.end(), steps.begin(), steps.end());
  return kept;
}

int64_t unfinished_analysis(Kernel& kernel) {
  std::atomic<int64_t>& before = kernel.unfinished.before;
  if (before == Kernel::Unfinished::unknown) {
    const std::vector<uint64_t> kept = kernel.model->figures(name_of_unfinished);
    before = kept.empty() ? 0 : static_cast<int64_t>(std::min(kept[0], most_kept));
  }
  return before;
}

void keep_finished(Kernel& kernel) {
  kernel.unfinished.from = Kernel::Unfinished::unknown;
  if (kernel.unfinished.before.exchange(0) > 0) kernel.model->keep_figures(name_of_unfinished, {0});
}

void keep_unfinished(Kernel& kernel, int64_t spent) {
  const int64_t from = kernel.unfinished.from.exchange(Kernel::Unfinished::unknown);
  if (from < 0) return;
  const int64_t before = std::max<int64_t>(0, kernel.unfinished.before);
  kernel.model->keep_figures(name_of_unfinished, {static_cast<uint64_t>(spent - from + before)});
}

void keep_in_vain(Kernel& kernel, const Policy& policy) {
  if (kernel.model == nullptr || !policy.compares()) return;
  for (Policy::Mark::Size& size : kernel.pay.sizes) {
    Policy::Account& account = size.account;
    const int64_t spent = account.spent + account.reading;
    if (spent == 0) continue;
    const int64_t in_vain = is_in_vain(policy, account) ? account.in_vain + spent : 0;
    account.spent = account.reading = 0;  // a kernel may have several functions
    if (std::exchange(account.in_vain, in_vain) == in_vain) continue;
    const KeptFigures kept = figures_of(size);
    kernel.model->keep_figures(kept.name, kept.figures);
  }
}

}  // namespace sluice::runtime
