// rewrite_check FILE...: rewrites every kernel of the PTX in programs, fat binaries and PTX files
// to a task body, assembles the bodies, and says in Markdown what became of each file and why.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "megakernel/body_check.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/parser.hpp"

namespace {

namespace fs = std::filesystem;
using namespace sluice;
using megakernel::testing::Assembled;
using megakernel::testing::RewrittenModule;

struct Figures {
  size_t kernels = 0;
  size_t assembled = 0;
  size_t failed = 0;  // rewritten, and refused by ptxas
};

class Check {
 public:
  explicit Check(unsigned architecture) : architecture_(architecture) {}

  void file(const std::string& path) {
    const auto images = ptx::read_file(path);
    if (!images) return note(path, images.error().line());
    Figures& figures = figures_[path];
    std::string no_ptx;
    for (const ptx::CodeImage& image : *images) {
      const auto texts = image.best_ptx();
      if (!texts) {
        no_ptx = texts.error().line();
        continue;
      }
      for (const std::string& text : *texts)
        unit(path, text, figures);
    }
    if (figures.kernels != 0) return;
    figures_.erase(path);
    if (!no_ptx.empty()) note(path, no_ptx);
  }

  // What the process returns: 0 where at least `percent` of the kernels were rewritten and
  // assemble.
  int report(const std::vector<std::string>& outside, double percent) const {
    Figures all;
    std::printf("| program | kernels | rewritten and assembled |\n| --- | --- | --- |\n");
    for (const auto& [path, figures] : figures_) {
      std::printf("| %s | %zu | %zu |\n", fs::path(path).filename().c_str(), figures.kernels,
                  figures.assembled);
      all.kernels += figures.kernels;
      all.assembled += figures.assembled;
      all.failed += figures.failed;
    }
    size_t beyond = 0;
    std::printf("\n| kernels | refused, because |\n| --- | --- |\n");
    for (const auto& [reason, kernels] : reasons_) {
      bool is_outside = false;
      for (const std::string& rule : outside)
        is_outside = is_outside || reason.find(rule) != std::string::npos;
      if (is_outside) beyond += kernels.size();
      std::printf("| %zu%s | %s |\n", kernels.size(), is_outside ? " (outside the rules)" : "",
                  reason.c_str());
    }
    std::printf("\n| kernel | reason |\n| --- | --- |\n");
    for (const auto& [reason, kernels] : reasons_) {
      for (const std::string& kernel : kernels)
        std::printf("| `%s` | %s |\n", kernel.c_str(), reason.c_str());
    }
    std::printf("\n| %zu kernels whose bodies keep states of lanes |\n| --- |\n",
                meeting_lanes_.size());
    for (const std::string& kernel : meeting_lanes_)
      std::printf("| `%s` |\n", kernel.c_str());
    for (const auto& [path, reason] : notes_)
      std::printf("\nnot read: %s: %s\n", fs::path(path).filename().c_str(), reason.c_str());
    const size_t fitting = all.kernels - beyond;
    const double share =
        fitting == 0 ? 0
                     : 100.0 * static_cast<double>(all.assembled) / static_cast<double>(fitting);
    std::printf(
        "\n%zu kernels in %zu files; %zu fit the rules; of these %zu (%.1f %%) are rewritten and "
        "assembled for sm_%u, %zu are rewritten and refused by ptxas\n",
        all.kernels, figures_.size(), fitting, all.assembled, share, architecture_, all.failed);
    return share >= percent ? 0 : 1;
  }

 private:
  void note(const std::string& path, std::string reason) {
    notes_.emplace_back(path, std::move(reason));
  }

  void unit(const std::string& path, const std::string& text, Figures& figures) {
    const auto module = ptx::parse(text, path);
    if (!module) return note(path, module.error().line());
    const RewrittenModule rewritten = megakernel::testing::rewrite_module(*module, architecture_);
    figures.kernels += rewritten.kernels.size() + rewritten.refusals.size();
    for (const auto& refusal : rewritten.refusals)
      reasons_[without_place(refusal.reason)].push_back(refusal.kernel);
    meeting_lanes_.insert(meeting_lanes_.end(), rewritten.meeting_lanes.begin(),
                          rewritten.meeting_lanes.end());
    if (rewritten.kernels.empty()) return;
    const unsigned architecture =
        std::max(architecture_, megakernel::testing::target_number(*module));
    if (assemble(rewritten.text, architecture).accepted) {
      figures.assembled += rewritten.kernels.size();
      return;
    }
    // One by one, to find those that ptxas refuses.
    for (const std::string& kernel : rewritten.kernels) {
      const Assembled alone = assemble(
          megakernel::testing::rewrite_module(*module, architecture, kernel).text, architecture);
      if (alone.accepted) {
        ++figures.assembled;
        continue;
      }
      ++figures.failed;
      reasons_["ptxas: " + first_error(alone.output)].push_back(kernel);
    }
  }

  static std::string first_error(const std::string& output) {
    for (const char* word : {"error", "fatal"}) {
      const size_t begin = output.find(word);
      if (begin != std::string::npos) return output.substr(begin, output.find('\n', begin) - begin);
    }
    return output.substr(0, output.find('\n'));
  }

  // "it reads %envreg3 (PTX line 12)" without the line.
  static std::string without_place(const std::string& reason) {
    return reason.substr(0, reason.find(" (PTX line"));
  }

  static Assembled assemble(const std::string& text, unsigned architecture) {
    const fs::path file = fs::temp_directory_path() / fmt::format("rewrite_check_{}.ptx", getpid());
    std::ofstream(file) << text;
    Assembled result = megakernel::testing::run_ptxas(file.string(), architecture);
    fs::remove(file);
    return result;
  }

  const unsigned architecture_;
  std::map<std::string, Figures> figures_;
  std::map<std::string, std::vector<std::string>> reasons_;
  std::vector<std::string> meeting_lanes_;
  std::vector<std::pair<std::string, std::string>> notes_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: rewrite_check [--arch 75] FILE...\n");
    return 2;
  }
  unsigned architecture = 75;
  int first = 1;
  if (std::string(arguments[1]) == "--arch" && count > 3) {
    architecture = static_cast<unsigned>(std::atoi(arguments[2]));
    first = 3;
  }
  Check check(architecture);
  for (int i = first; i < count; ++i)
    check.file(arguments[i]);
  // What the design leaves to ordinary launches, whatever the rewriter could do.
  const std::vector<std::string> outside = {
      "texture", "surface", "%envreg", "%gridid",    "clusters", "tex ", "suld",          "sust",
      "txq",     "tld4",    "wgmma",   "setmaxnreg", "mbarrier", "cp ",  "griddepcontrol"};
  return check.report(outside, 97);
}
